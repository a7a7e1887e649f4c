"""What users run: the command line and the web page."""
