"""Gates for CI: failing states that somebody wrote down, held against a Report or a Comparison.

What cannot be decided never passes. Pure: nothing here reads a file, prints or exits.
"""
