"""One file a detector: each takes an RGB picture (uint8, height x width x 3) and reports what it found and how sure."""
