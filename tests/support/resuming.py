"""What tests of runs that go on share."""

import hashlib
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pairalign.cli.main import main
from pairalign.formats.part_output import PartOutput

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


def interrupt(command: list[str], monkeypatch: pytest.MonkeyPatch, pieces: int = 3) -> None:
    """Leave a run after some pieces."""
    real = PartOutput.cut
    count = 0

    def cut(self: PartOutput, *arguments: Any, **more: Any) -> None:
        nonlocal count
        real(self, *arguments, **more)
        count += 1
        if count == pieces:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(PartOutput, "cut", cut)
        with pytest.raises(Killed):
            main(command)


def change_manifest(path: Path, **changes: Any) -> None:
    """Change what a manifest has, and its digest; None leaves a value out."""
    manifest = {**json.loads(path.read_text()), **changes}
    manifest = {key: value for key, value in manifest.items() if value is not None}
    manifest.pop("digest", None)
    text = json.dumps(manifest)
    path.write_text(f'{text[:-1]}, "digest": "{zlib.crc32(text.encode()):08x}"}}\n')
