"""The command ``pairalign completion``: scripts for shells, made by shtab from the parser."""

from __future__ import annotations

import argparse
from typing import Any

from pairalign.base.errors import MissingPackageError
from pairalign.cli.program import build_parser

SHELLS = ("bash", "zsh")
_MATRICES = {
    "bash": '_pairalign_matrices() { compgen -W "NAMES" -- "$1"; compgen -f -- "$1"; }',
    "zsh": "_pairalign_matrices() { _alternative 'matrices:matrix:(NAMES)' 'files:file:_files'; }",
}
"""Names of matrices, or files."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Give the command's parser its description and options."""
    parser.description = (
        "Print a script that makes a shell complete commands, options, their values and files."
    )
    parser.epilog = (
        "bash: pairalign completion bash > ~/.local/share/bash-completion/completions/pairalign; "
        "zsh: pairalign completion zsh > _pairalign, in a folder of $fpath."
    )
    parser.add_argument("shell", metavar="|".join(SHELLS), choices=SHELLS)
    parser.set_defaults(run=_complete)


def _complete(options: argparse.Namespace) -> None:
    try:
        import shtab
    except ImportError as error:
        raise MissingPackageError(
            "completion needs shtab: pip install 'pairalign[completion]'"
        ) from error
    from pairalign.scoring.matrices import known_names

    names = " ".join(known_names())
    preamble: Any = {shell: text.replace("NAMES", names) for shell, text in _MATRICES.items()}
    print(shtab.complete(build_parser(), options.shell, preamble=preamble))
