"""ReactionBench: what reactions tell: intensity of moments, the stimulus behind a reaction, and
why.
"""
