"""What people do otherwise than layer norm, RMSNorm, and attention do it, and why they do."""
