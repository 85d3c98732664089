"""``python -m pairalign``."""

import sys

from pairalign.cli import main

if __name__ == "__main__":
    sys.exit(main())
