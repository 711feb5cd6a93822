"""What a formula can become, one target per module."""
