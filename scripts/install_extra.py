"""Install what an extra of setup.cfg needs, into the environment of this Python.

``pip install --editable .[extra]`` does the same, and compiles the native library again.

    python scripts/install_extra.py test check
"""

import configparser
import subprocess
import sys
from pathlib import Path


def main() -> None:
    """Install the requirements of the extras that are named."""
    config = configparser.ConfigParser()
    config.read(Path(__file__).parent.parent / "setup.cfg")
    extras = config["options.extras_require"]
    needed = [
        line.strip() for name in sys.argv[1:] for line in extras[name].splitlines() if line.strip()
    ]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    sys.exit(subprocess.run([*pip, *needed]).returncode)


if __name__ == "__main__":
    main()
