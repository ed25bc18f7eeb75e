"""From files to a network, and back: one module a format."""
