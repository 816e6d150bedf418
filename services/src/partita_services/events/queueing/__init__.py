"""From a stored request to a decided one: the queue, the workers, and the sweeper behind them."""
