"""MMHBench: mental-health understanding in long videos, from two perspectives. Read ``protocol.py`` first."""
