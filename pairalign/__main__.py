"""``python -m pairalign``."""

import sys

from pairalign.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
