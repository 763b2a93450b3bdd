"""See docs/decisions/0010-annotation.md."""
