"""Arrays in, frozen results out: resampling, intervals, ranks, paired tests, agreement, voting. No
records, no files.
"""
