"""The web side of the annotation app; needs the extra ``annotate``."""
