"""onlooker: benchmarks of social understanding in video, from files to numbers that hold.

Importing the package loads nothing heavy: no decoder, no model runtime, no plotting, no web server.
"""

__version__ = "0.1.0"
