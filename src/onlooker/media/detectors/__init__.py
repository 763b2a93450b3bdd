"""One file a detector: each takes pictures (uint8 arrays, RGB or gray as it says) or sound, and reports what it found
or measured and how sure it is. What is found over time in a file stands one folder up: tracks, regions, quality."""
