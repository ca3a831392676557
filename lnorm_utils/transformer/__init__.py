"""A transformer that predicts the next character: its text, its model, its training, its grid."""
