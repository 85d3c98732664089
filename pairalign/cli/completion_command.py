"""The command ``pairalign completion``: scripts for shells, made by shtab from the parser."""

from __future__ import annotations

from typing import Any, ClassVar

from pairalign.base.declaration import place, request
from pairalign.base.packages import needed
from pairalign.cli.program import build_parser
from pairalign.requests.shared import CommandOptions

SHELLS = ("bash", "zsh")
_MATRICES = {
    "bash": '_pairalign_matrices() { compgen -W "NAMES" -- "$1"; compgen -f -- "$1"; }',
    "zsh": "_pairalign_matrices() { _alternative 'matrices:matrix:(NAMES)' 'files:file:_files'; }",
}
"""Names of matrices, or files."""


@request
class CompletionOptions(CommandOptions):
    """The request of ``pairalign completion``."""

    DESCRIPTION: ClassVar[str] = (
        "Print a script that makes a shell complete commands, options, their values and files."
    )
    EPILOG: ClassVar[str | None] = (
        "bash: pairalign completion bash > ~/.local/share/bash-completion/completions/pairalign; "
        "zsh: pairalign completion zsh > _pairalign, in a folder of $fpath."
    )

    shell: str = place("|".join(SHELLS), values=SHELLS)


def run_completion(request: CompletionOptions) -> None:
    """Carry out ``pairalign completion``."""
    with needed("completion", "shtab", "'pairalign[completion]'"):
        import shtab
    from pairalign.scoring.matrices import known_names

    names = " ".join(known_names())
    preamble: Any = {shell: text.replace("NAMES", names) for shell, text in _MATRICES.items()}
    print(shtab.complete(build_parser(), request.shell, preamble=preamble))
