"""For tests of programs that use Partita."""
