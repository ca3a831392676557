"""The mistakes people make in layer norm, RMSNorm, and attention, and the beliefs behind them."""
