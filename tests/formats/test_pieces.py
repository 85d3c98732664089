"""Manifests of parts: what it takes to read one, and when it goes."""

import os
import sys

from pairalign.base.run_files import remove_regular
from pairalign.formats.part_output import replace_leftovers
from pairalign.formats.pieces import Part, read_manifest


def test_a_manifest_is_read_in_as_many_steps_as_it_has_pieces(tmp_path):
    steps = []
    for count in (500, 1000):
        part = Part(str(tmp_path), 1, 1, "paf")
        for number in range(count):
            part.add(number, 1, number % 3, "00000000")
        os.close(part.write(part.begun))
        calls = 0

        def called(*_: object) -> None:
            nonlocal calls
            calls += 1

        sys.setprofile(called)
        try:
            pieces = read_manifest(part.begun).pieces
        finally:
            sys.setprofile(None)
        assert pieces == part.pieces
        steps.append(calls)
    assert steps[1] < 3 * steps[0]


def test_a_damaged_manifest_goes_after_all_pieces(tmp_path, monkeypatch):
    """After a kill, pieces without one would be somebody else's."""
    part = Part(str(tmp_path / "out.tsv.parts"), 1, 1, "tsv")
    os.mkdir(part.folder)
    for path, text in ((part.piece(), "1"), (part.begun, '{"pairalign": ')):
        with open(path, "w") as file:
            file.write(text)
    removed = []

    def remove(path: str) -> None:
        if os.path.exists(path):
            removed.append(path)
        remove_regular(path)

    monkeypatch.setattr("pairalign.formats.pieces.remove_regular", remove)
    replace_leftovers(str(tmp_path / "out.tsv"))
    assert removed == [part.piece(), part.begun]
    assert not os.path.exists(part.folder)
