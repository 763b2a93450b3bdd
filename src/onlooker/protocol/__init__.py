"""The vocabulary in which a benchmark declares itself. Engines know these words, never a benchmark's name."""
