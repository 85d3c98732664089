"""The command ``pairalign devices``."""

from __future__ import annotations

import argparse

from pairalign.engines.kernels import kernel_table
from pairalign.engines.selection import list_devices


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its options."""
    parser.add_argument(
        "--kernels", action="store_true", help="list the kernels and what each can do instead"
    )
    parser.set_defaults(run=_devices)


def _devices(options: argparse.Namespace) -> None:
    if options.kernels:
        print(*kernel_table(), sep="\n")
        return
    for device in list_devices():
        print(f"{device.name:8} {'yes' if device.usable else 'no':4} {device.description}")
