"""See docs/decisions/0001-the-house.md."""
