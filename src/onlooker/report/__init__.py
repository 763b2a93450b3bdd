"""Results as one self-contained page (``page.write_report``) and as figures for a paper (``figures.write_figures``).

What goes in is a ``content.ReportContent``, filled by the command line from files: this engine reads no bundle.
"""
