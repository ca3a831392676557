"""What runs an explorer: its controls, its drawing, and the checks of what it is given."""
