"""Tables of any origin: delimited text, data frames, and which column means what."""
