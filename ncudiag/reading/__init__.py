"""Text to Profile: every page and version of ``ncu --csv``."""
