"""What runs an exercise: it calls an attempt, compares the results, and says what it found."""
