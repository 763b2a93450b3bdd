"""SIV-Bench: social scenes, states and dynamics in short clips. Read ``protocol.py`` first."""
