"""Manifests of parts: what it takes to read one."""

import os
import sys

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
