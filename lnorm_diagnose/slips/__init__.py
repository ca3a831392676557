"""Mistakes in layer norm, RMSNorm, and attention, and the misconceptions behind them."""
