"""Pictures, pages and tables of a model, made without a browser. This package takes the model's plain state."""
