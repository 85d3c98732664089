"""``python -m pairalign``."""

import sys

from pairalign.cli.main import program

if __name__ == "__main__":
    sys.exit(program())
