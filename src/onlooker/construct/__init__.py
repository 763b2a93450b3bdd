"""The engine that makes benchmarks: from a folder of videos to a bundle."""
