"""What is simulated: who does what, and what must hold all the time and in the end."""
