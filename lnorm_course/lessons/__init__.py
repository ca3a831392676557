"""Material for individual lessons, such as a clinic, a transformer, and a file-type network."""
