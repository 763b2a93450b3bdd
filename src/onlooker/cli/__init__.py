"""The command line: one file a noun, no logic. ``main.py`` puts them together."""
