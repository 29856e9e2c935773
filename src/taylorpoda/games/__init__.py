"""v(S): games, the models and tables behind them, and what stands in for an absent feature."""
