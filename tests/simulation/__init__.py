"""Simulations in one thread from one seed: clock, scheduler, network and disk are simulated; Partita's code is real."""
