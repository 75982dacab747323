"""The version, without asking the package's metadata (that costs start-up time)."""

__version__ = "0.1.0"
