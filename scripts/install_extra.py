"""Install what extras of setup.cfg need, into the environment of this Python.

``pip install --editable .[extra]`` does the same, and compiles the native library again.

    python scripts/install_extra.py test check
    python scripts/install_extra.py --wheels test      # compiles nothing

With ``--wheels`` a package that has no wheel for this Python and machine is left out, and a line
says so; only those of the extra's own list, never what they need.
"""

from __future__ import annotations

import configparser
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

# Most modules of what is installed are never imported; Python compiles those that are.
OPTIONS = ("--quiet", "--disable-pip-version-check", "--no-compile")
PIP = [sys.executable, "-m", "pip", "install", *OPTIONS]
NEEDED = ("pytest", "pytest-xdist", "hypothesis")
"""Without these there are no tests: they have wheels for every Python."""


def requirements(extras: list[str]) -> list[str]:
    """Return the requirements of the extras that are named."""
    config = configparser.ConfigParser()
    config.read(Path(__file__).parent.parent / "setup.cfg")
    table = config["options.extras_require"]
    return [line.strip() for name in extras for line in table[name].splitlines() if line.strip()]


def install(needed: list[str], *options: str) -> bool:
    """Install some requirements; whether that went well."""
    return subprocess.run([*PIP, *options, *needed], check=False).returncode == 0


def install_quietly(needed: list[str], *options: str) -> bool:
    """Install some requirements, and keep to itself why that does not go."""
    command = [*PIP, *options, *needed]
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def install_wheels(
    needed: list[str], install_some: Callable[..., bool] = install_quietly
) -> list[str]:
    """Install those that have wheels, all at once or else each half; return the others' names."""
    if install_some(needed, "--only-binary=:all:"):
        return []
    if len(needed) == 1:
        return [re.split(r"[^\w.-]", needed[0], maxsplit=1)[0]]
    halves = needed[: len(needed) // 2], needed[len(needed) // 2 :]
    return [name for half in halves for name in install_wheels(half, install_some)]


def main(arguments: list[str]) -> int:
    """Install; return the exit code."""
    extras = [one for one in arguments if not one.startswith("--")]
    needed = requirements(extras)
    if "--wheels" not in arguments:
        return 0 if install(needed) else 1
    left = install_wheels(needed)
    if missing := sorted(set(left) & set(NEEDED)):
        print(f"Could not install {', '.join(missing)}:", file=sys.stderr)
        return 0 if install(missing, "--only-binary=:all:") else 1
    if left:
        print(
            f"Not installed, since there is no wheel for this Python: {', '.join(left)}. Their "
            f"tests are skipped; to compile them: {sys.executable} -m pip install {' '.join(left)}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
