"""`python -m persimchat`: the command line."""

import sys

from persimchat.app.cli import main

if __name__ == "__main__":
    sys.exit(main())
