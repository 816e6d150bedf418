"""From a request that is stored to one that is decided: the queue, the workers, and the sweeper behind them."""
