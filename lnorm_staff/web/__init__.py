"""The lessons as web pages, with predictions and explorers that work without Python."""
