"""Material for individual lessons, such as faulty networks, a transformer, and Magika."""
