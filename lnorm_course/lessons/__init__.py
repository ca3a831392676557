"""What single lessons have of their own: a clinic, a transformer, a network for file types."""
