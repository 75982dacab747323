"""Answers as one HTML file that works offline: data as JSON, shown on demand by the page's own script."""
