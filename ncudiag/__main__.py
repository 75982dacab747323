"""``python -m ncudiag``: the same as the command ``ncudiag``."""

from ncudiag.cli.main import main

if __name__ == "__main__":
    main()
