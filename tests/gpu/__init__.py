"""What `make gpu` runs on a machine with a GPU, and keeps."""
