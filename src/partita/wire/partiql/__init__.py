"""PartiQL, as far as DynamoDB has it: statements read into trees, and the requests that they stand for."""
