"""Everything in one thread from one seed: clock, scheduler, network and disk are simulated, the product is not."""
