"""Messages spell options as their reader gives them."""

from __future__ import annotations

from pathlib import Path

import pytest

import pairalign
from pairalign.cli.main import main

ASKED = [
    (lambda: pairalign.align(["MKV", "MKL"], max_evalue=1), "needs mode='local'"),
    (lambda: pairalign.align(["MK-V", "MKL"]), r"\(degap=True\)"),
    (lambda: pairalign.align({"a": "", "b": "MKL"}), r"\(on_empty='skip' leaves"),
    (lambda: pairalign.align(["MKV", "MKL"], strand="both"), "alphabet='dna'"),
]


@pytest.mark.parametrize("number", range(len(ASKED)))
def test_python_has_arguments(number: int, tmp_path: Path) -> None:
    call, said = ASKED[number]
    (tmp_path / "x.fa").write_text(">a\nMK-V\n>b\nMKL\n")
    main(["align", str(tmp_path / "x.fa"), "-o", str(tmp_path / "x.paf")])  # leaves nothing behind
    with pytest.raises(ValueError, match=said) as found:
        call()
    assert "--" not in str(found.value)


def test_the_command_line_has_options(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.fa").write_text(">a\nMK-V\n>b\nMKL\n")
    assert main(["align", str(tmp_path / "x.fa"), "-o", str(tmp_path / "x.paf")]) != 0
    assert "remove gaps first (--degap)" in capsys.readouterr().err
