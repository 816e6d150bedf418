"""The probes, one module for each area of DynamoDB."""
