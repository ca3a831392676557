"""What people do otherwise than layer norm does it, its backward pass too, and why they do."""
