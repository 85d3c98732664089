"""Make a virtual environment with pip, also where Python came without ensurepip.

Debian and Ubuntu put ensurepip into a package of its own (python3-venv). Where it is missing, pip's
own wheel is fetched from the package index and installs itself.

    python3 scripts/make_venv.py .venv
"""

import os
import re
import subprocess
import sys
import tempfile
import urllib.parse
import urllib.request
import venv
from pathlib import Path

INDEX = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple")


def fetch_pip(folder: Path) -> Path:
    page_url = INDEX.rstrip("/") + "/pip/"
    with urllib.request.urlopen(page_url) as page:
        links = re.findall(
            r'href="([^"]*/)?(pip-([\d.]+)-py3-none-any\.whl)([^"]*)"', page.read().decode()
        )
    newest = max(links, key=lambda link: [int(part) for part in link[2].split(".")])
    wheel = folder / newest[1]
    url = urllib.parse.urljoin(page_url, newest[0] + newest[1])
    with urllib.request.urlopen(url) as data:
        wheel.write_bytes(data.read())
    return wheel


def main() -> None:
    target = Path(sys.argv[1])
    python = target / "bin" / "python"
    if (target / "bin" / "pip").exists():
        return
    try:
        import ensurepip  # noqa: F401

        venv.create(target, with_pip=True, symlinks=True)
    except ImportError:
        venv.create(target, with_pip=False, symlinks=True)
        with tempfile.TemporaryDirectory() as folder:
            wheel = fetch_pip(Path(folder))
            subprocess.run([python, f"{wheel}/pip", "install", "-q", wheel], check=True)


if __name__ == "__main__":
    main()
