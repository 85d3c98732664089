"""What tests of runs that go on share."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest

from pairalign.cli.main import main
from pairalign.formats.journal import Commit, Journal

OPTIONS = ("--resume", "--commit-every", "0", "-q", "--device", "cpu", "--memory", "16M")


def write_set(path: str, count: int, letters: int, seed: int = 5) -> None:
    """Random proteins, which share a few letters."""
    rng = np.random.default_rng(seed)
    with open(path, "w") as file:
        for i in range(count):
            length = int(rng.integers(letters // 3, letters))
            file.write(f">p{i}\n{''.join(rng.choice(list('ARNDCQEGHILKMFPSTWYV'), length))}\n")


def md5(path: str | Path) -> str:
    return hashlib.md5(Path(path).read_bytes()).hexdigest()


def run(*arguments: str, code: int = 0) -> None:
    assert main(list(arguments)) == code


class Killed(BaseException):
    """What ends a run as a kill does: what would have been cleaned up stays."""


def interrupt(command: list[str], monkeypatch: pytest.MonkeyPatch, commits: int = 3) -> None:
    """Leave a run after some commits."""
    real = Journal.commit
    count = 0

    def commit(self: Journal, one: Commit) -> None:
        nonlocal count
        real(self, one)
        count += 1
        if count == commits:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "commit", commit)
        with pytest.raises(Killed):
            main(command)
