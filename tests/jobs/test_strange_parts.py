"""Parts with strange contents and a valid checksum: merge and update say so, or take them."""

import io
import json
import os
import random
import shutil
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest
from align_command import align
from conftest import examples
from mutants import mutants
from resuming import change_manifest, write_set

from pairalign.cli.main import main
from pairalign.formats import FORMATS

MUTATIONS = examples(12)
PART = Path("parts/part-1-of-2.npz")


def replace(part: Path, data: bytes) -> None:
    """Put other contents into a part, whose manifest says that they are what was written."""
    part.write_bytes(data)
    name, _, rest = part.name.partition(".")
    path = part.with_name(f"{name}.json")
    pieces = json.loads(path.read_text())["pieces"]
    number = int(rest.partition(".")[0]) if rest[0].isdigit() else 1
    place = [k for k, piece in enumerate(pieces) if piece[2]][number - 1]
    pieces[place][2:4] = len(data), f"{zlib.crc32(data):08x}"
    change_manifest(path, pieces=pieces)


def use_parts(capfd: pytest.CaptureFixture[str]) -> set[int]:
    """Merge the parts and add to them; nothing but errors in a line, and nothing is left."""
    codes = set()
    for command in (["merge", "parts"], ["update", "parts", "new.fa", "--device", "cpu"]):
        capfd.readouterr()
        code = main([*command, "-o", "out", "-q"])
        said = capfd.readouterr().err
        assert code in (0, 1), said
        assert len(said.splitlines()) == code, said
        assert os.path.exists("out") == (code == 0)
        Path("out").unlink(missing_ok=True)
        assert not [name for name in os.listdir() if name.startswith(".")]
        codes.add(code)
    return codes


def make_parts(format: str) -> None:
    write_set("old.fa", 7, 24)
    write_set("more.fa", 2, 24, 6)
    Path("new.fa").write_text(Path("more.fa").read_text().replace(">p", ">q"))
    for shard in (1, 2):
        options = ("--format", format, "--window", "4", "-q", "--device", "cpu")
        align("old.fa", "-o", "parts", "--shard", f"{shard}/2", *options)


@pytest.mark.parametrize("format", [name for name in FORMATS if name != "a3m"])  # of one query
def test_any_contents(format, here, capfd):
    make_parts(format)
    shutil.copytree("parts", "kept")
    chance = random.Random(format)
    for number in range(MUTATIONS):
        shutil.rmtree("parts")
        shutil.copytree("kept", "parts")
        names = sorted(one for one in os.listdir("parts") if not one.endswith(".json"))
        part = Path("parts", chance.choice(names))
        replace(part, *mutants(part.read_bytes(), 1, number))
        use_parts(capfd)


def test_a_part_that_ends_within_a_line(here, capfd):
    make_parts("sam")
    part = Path("parts/part-2-of-2.sam")
    replace(part, part.read_bytes()[:-1])
    assert main(["merge", "parts", "-o", "out", "-q"]) == 1
    assert "does not end with the end of a line" in capfd.readouterr().err


STRANGE = {
    "row": np.array([7], np.int32),
    "col": np.array([[1]], np.int32),
    "data": np.array([1], np.int32),
    "shape": np.array([3.5, 2]),
    "weight": np.array(3),
    "kind": np.array([True]),
    "names": np.array(["p0"]),
    "format": np.array(["x", "y"]),
}


@pytest.mark.parametrize("name", [*STRANGE, *(f"no {one}" for one in STRANGE if one != "names")])
def test_arrays_of_a_matrix(name, here, capfd):
    make_parts("npz")
    with np.load(PART) as stored:
        arrays = dict(stored)
    if name in STRANGE:
        count = len(arrays["row"])
        strange = STRANGE[name]
        arrays[name] = np.repeat(strange, count, 0) if name in ("row", "col", "data") else strange
    else:
        del arrays[name.removeprefix("no ")]
    file = io.BytesIO()
    np.savez(file, **arrays)
    replace(PART, file.getvalue())
    assert use_parts(capfd) == {1}


def test_an_array_that_the_file_is_too_small_for(here, capfd):
    make_parts("npz")
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, archive.open("row.npy", "w") as row:
        about = {"descr": "<i4", "fortran_order": False, "shape": (1 << 40,)}
        np.lib.format.write_array_header_1_0(row, about)
    replace(PART, file.getvalue())
    assert use_parts(capfd) == {1}
