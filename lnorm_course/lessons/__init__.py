"""Material for single lessons: a clinic, a transformer, and a network for file types."""
