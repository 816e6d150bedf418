"""The pages in a real browser. This is a package, so that fixtures can have package scope."""
