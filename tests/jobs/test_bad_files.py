"""Files that are read back and are not what was written: one clear line for each, no traceback."""

import json
import os
import resource
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import run, write_random_set
from resuming import change_manifest, interrupt

from pairalign.cli.main import main
from pairalign.formats.pieces import read_manifest
from pairalign.formats.schemas import MOST_MANIFEST_BYTES

A_GIGABYTE = 1 << 30


@pytest.fixture(autouse=True)
def folder(here: Path) -> None:
    write_random_set(Path("in.fa"), 5, 12)


def check(capfd: pytest.CaptureFixture[str], command: str, message: str, code: int = 1) -> None:
    """A command fails with a line that says why."""
    capfd.readouterr()
    assert main(command.split()) == code
    lines = capfd.readouterr().err.splitlines()
    assert lines[-1].startswith("pairalign: error: ")
    assert message in lines[-1]
    assert not any("Traceback" in line for line in lines)


# ---------------------------------------------------------------------------------------------
# manifests


def part(**changes: Any) -> None:
    """Make the first of two parts, and change its manifest; None leaves a value out."""
    assert main(["align", "in.fa", "-o", "parts", "-q", "--shard", "1/2", "--format", "paf"]) == 0
    change_manifest(Path("parts/part-1-of-2.json"), **changes)


def test_what_is_said_of_a_damaged_manifest_helps(capfd):
    part(run=None)
    command = "align in.fa -o parts -q --shard 1/2 --format paf"
    check(capfd, command, "delete it and its pieces, and make its part again")
    for path in Path("parts").glob("part-1-of-2*"):
        path.unlink()
    assert main(command.split()) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "xx"}, "'format' is 'xx', expected one of paf, "),
        ({"format": ["paf"]}, "'format' is a list, expected one of"),
        ({"format": "graph\u001b[31m"}, "'format' is 'graph\\x1b[31m', expected one of"),
        ({"run": []}, "'run' is a list, expected an object"),
        ({"run": None}, "'run' is missing"),
        ({"shard": True}, "'shard' is true, expected a whole number from 1 to 1000000"),
        ({"shard": 0}, "'shard' is '0', expected a whole number from 1 to 1000000"),
        ({"shard": 1.0}, "'shard' is '1.0'"),
        ({"shards": 1_000_000_000}, "'shards' is '1000000000', expected a whole number from 1 to"),
        ({"shards": 1}, "it is that of part 1 of 1"),
        ({"pieces": {}}, "'pieces' is an object, expected a list, each numbers of pairs before"),
        ({"pieces": [[0, 1, 2, "00000000", 1]]}, "'pieces' is a list"),
        ({"pieces": [[-1, 1, 2, "00000000"]]}, "'pieces' is a list"),
        ({"pieces": [[0, 1 << 63, 2, "00000000"]]}, "'pieces' is a list"),
        ({"pieces": [[0, 1, 2.5, "00000000"]]}, "'pieces' is a list"),
        ({"pieces": [[0, 1, 2, 7]]}, "'pieces' is a list"),
        ({"number": 1}, "'number' is unknown"),
        ({"pairalign": 1}, "'pairalign' is '1'"),
        ({"summary": {"kept": -1}}, "'kept' is '-1'"),
        ({"job": {"block": 1}}, "'ranked' is missing"),
        ({"command": "align"}, "'command' is 'align', expected a list, each a text"),
        ({"command": ["align", 3]}, "'command' is a list, expected a list, each a text"),
        ({"more": 3}, "'more' is unknown"),
    ],
)
def test_manifests(changes, message, capfd):
    part(**changes)
    for command in ("merge parts -o all.paf", "merge parts --plan"):
        check(capfd, command, f"'parts/part-1-of-2.json' is damaged ({message}")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"[" * 200_000, "it is nested too deeply"),
        (b'{"run": ' + b'{"a": ' * 100 + b"1" + b"}" * 101, "it is nested too deeply"),
        (b"[]", "it is no object"),
        (b"", "it is no JSON"),
        (b"\xff\xfe", "it is no JSON"),
        (b'{"run": NaN}', "it is no JSON: found NaN"),
        (b'{"start": ' + b"9" * 5000 + b"}", "it is no JSON"),
    ],
)
def test_manifests_that_are_none(text, message, capfd):
    part()
    text = text.replace(b"1" + b"}" * 101, b"1" + b"}" * 100 + other_fields())
    Path("parts/part-1-of-2.json").write_bytes(text)
    check(capfd, "merge parts -o all.paf", f"is damaged ({message}")


def other_fields() -> bytes:
    """The rest of a manifest, after its run."""
    manifest = json.loads(Path("parts/part-1-of-2.json").read_text())
    del manifest["run"]
    return b", " + json.dumps(manifest)[1:].encode()


def test_a_manifest_that_is_a_pipe(capfd):
    part()
    os.unlink("parts/part-1-of-2.json")
    os.mkfifo("parts/part-1-of-2.json")
    check(capfd, "merge parts -o all.paf", "it is no regular file")


def test_a_manifest_without_end(capfd):
    part()
    with open("parts/part-1-of-2.json", "r+b") as file:
        file.truncate(MOST_MANIFEST_BYTES + 1)
    check(capfd, "merge parts -o all.paf", "it is too large")


def forge_piece(manifest: Path, text: bytes) -> None:
    """Have the manifest of a part say that its only piece is that."""
    (piece,) = json.loads(manifest.read_text())["pieces"]
    piece[2:4] = len(text), f"{zlib.crc32(text):08x}"
    change_manifest(manifest, pieces=[piece])


def forge(path: str, **head: Any) -> None:
    """Write the only part of some distances, of which all but the head is as it should be."""
    assert main(["distance", "in.fa", "-o", "parts", "-q", "--shard", "1/1"]) == 0
    line, _, values = Path(path).read_bytes().partition(b"\n")
    described = {**json.loads(line), **head}
    kept = {key: one for key, one in described.items() if one is not None}
    text = json.dumps(kept).encode() + b"\n" + values
    Path(path).write_bytes(text)
    forge_piece(Path("parts/part-1-of-1.json"), text)


@pytest.mark.parametrize(
    ("head", "message"),
    [
        ({"names": None}, "'names' is missing"),
        ({"names": "abcde"}, "'names' is 'abcde', expected a list, each a text"),
        ({"names": [1, 2, 3, 4, 5]}, "'names' is a list, expected a list, each a text"),
        ({"order": [0, 0, 0, 0, 0]}, "'order' is none of the names"),
        ({"order": [0, 1, 2, 3, 1 << 40]}, "'order' is a list"),
        ({"order": [-1, 0, 1, 2, 3]}, "'order' is a list"),
        ({"window": 0}, "'window' is '0'"),
        ({"window": "8"}, "'window' is '8'"),
        ({"measure": 8}, "'measure' is '8', expected a text"),
        (
            {"names": list(map(str, range(40_000))), "order": list(range(40_000))},
            "there are fewer distances than pairs",
        ),
    ],
)
def test_heads_of_distances(head, message, capfd):
    forge("parts/part-1-of-1.distances", **head)
    check(capfd, "merge parts -o all.phylip", message)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"query": [1]}, "a part is no table of this run: no column 'target'"),
        ({"query": ["s1"], "target": ["s2"], "cigar": [3]}, "column 'cigar' is of type int64"),
        ({"query": ["s1"], "target": ["s2"], "cigar": [None]}, "column 'cigar'"),
        (None, "a part is no table of this run"),
    ],
)
def test_parts_of_parquet(columns, message, capfd):
    pytest.importorskip("pyarrow")
    assert (
        main(["align", "in.fa", "-o", "parts", "-q", "--shard", "1/1", "--format", "parquet"]) == 0
    )
    path = Path("parts/part-1-of-1.parquet")
    if columns is None:
        path.write_bytes(b"PAR1 but nothing else PAR1")
    else:
        write_table(path, columns)
    text = path.read_bytes()
    forge_piece(Path("parts/part-1-of-1.json"), text)
    check(capfd, "merge parts -o all.parquet", message)
    assert not os.path.exists("all.parquet")


def test_a_manifest_does_not_decide_what_is_allocated():
    part(shards=1_000_000_000)
    os.rename("parts/part-1-of-2.json", "parts/part-0000000001-of-1000000000.json")
    limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (A_GIGABYTE, A_GIGABYTE))  # noqa: E731
    found = run("merge", "parts", "-o", "all.paf", cwd=Path.cwd(), preexec_fn=limit)
    assert found.returncode == 1
    assert b"expected a whole number from 1 to 1000000" in found.stderr


# ---------------------------------------------------------------------------------------------
# what --resume goes on from


def interrupted(output: str, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> Path:
    """Leave what a run that was ended has left, with another manifest; return where that is."""
    command = ["align", "in.fa", "-o", output, "-q", "--resume", "--commit-every", "0"]
    interrupt([*command, "--window", "3"], monkeypatch, 2)
    path = Path(f"{output}.parts/.part-1-of-1.begun")
    change_manifest(path, **changes)
    return path


@pytest.mark.parametrize(
    "changes",
    [
        {"pieces": None},
        {"pieces": [[0, 11, 0, "00000000"]]},  # of 10
        {"pieces": [[1, 2, 0, "00000000"]]},
        {"pieces": [[0, 2, 0, "00000000"], [3, 2, 0, "00000000"]]},
        {"pieces": [[0, 2, 5, "00000000"]]},
        {"job": []},
        {"job": {"block": 0}},
        {"more": 1},
        {"format": "tsv"},
    ],
)
def test_what_a_run_goes_on_from(changes, capfd, monkeypatch):
    path = interrupted("out.paf", monkeypatch, **changes)
    kept = path.read_bytes()
    check(capfd, "align in.fa -o out.paf --window 3 --resume", "delete it and ")
    assert path.read_bytes() == kept


def test_hits_that_a_run_goes_on_from(capfd, monkeypatch):
    command = "align in.fa -o out.paf --window 3 --max-hits 2 --resume"
    interrupt([*command.split(), "--commit-every", "0", "-q"], monkeypatch, 2)
    path = Path("out.paf.parts/.part-1-of-1.begun")
    change_manifest(path, job={**read_manifest(str(path)).job, "hits": "AAAA"})
    check(capfd, command, f"{path}' is damaged: its hits make no sense; delete it and ")


def test_what_begins_as_no_manifest(capfd):
    path = Path("out.paf.parts/.part-1-of-1.begun")
    path.parent.mkdir()
    for text, said in (
        (b'{"pairalign": 1}', "is damaged ('run' is missing)"),
        (b'{"pairalign": 2, "run": {}}', "is damaged"),
        (b"[]", "is damaged (it is no object)"),
    ):
        path.write_bytes(text)
        check(capfd, "align in.fa -o out.paf --resume", said)
        assert path.read_bytes() == text


# ---------------------------------------------------------------------------------------------
# NumPy files


def npy(header: str, version: bytes = b"\x01\x00", size: int | None = None) -> bytes:
    text = header.encode() + b"\n"
    size_bytes = 2 if version == b"\x01\x00" else 4
    length = (len(text) if size is None else size).to_bytes(size_bytes, "little")
    return b"\x93NUMPY" + version + length + text


def head(shape: str, descr: str = "'<f4'") -> str:
    return f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (npy(head("(-1,)")), "an array of shape (-1,), expected a whole number from 0 to"),
        (npy(head("(-5, -5)")), "an array of shape (-5, -5), expected a whole number"),
        (npy(head("(True,)")), "an array of shape (True,), expected a whole number"),
        (npy(head(f"({10**30},)")), "expected a whole number from 0 to"),
        (npy(head("(5, 4)")), "expected a square"),
        (npy(head("()")), "one or two dimensions"),
        (npy(head("(1, 1, 1)")), "one or two dimensions"),
        (npy(head("(10,)", "'O'")), "expected one array of numbers"),
        (npy(head("(10,)", "[('a', '<f4')]")), "expected one array of numbers"),
        (npy(head("(10,)", "'V999999999999'")), "n"),
        (npy(head("(10,)", "7")), "not a NumPy array"),
        (npy(head("'ten'")), "not a NumPy array"),
        (npy("{'descr': "), "not a NumPy array"),
        (npy("(" * 5000), "not a NumPy array"),
        (npy("-" * 9000 + "1"), "not a NumPy array"),
        (npy("[" * 60000), "not a NumPy array"),
        (npy(head("(10,)"), b"\x02\x00", 2**32 - 1), "its header is too large"),
        (npy(head("(10,)"), b"\x03\x00"), "its version (3, 0) is unknown"),
        (npy(head("(10,)")), "but the file is smaller"),
        (b"", "not a NumPy array"),
    ],
)
def test_numpy_files(data, message, capfd):
    Path("x.npy").write_bytes(data)
    check(capfd, "tree x.npy --names in.fa -o x.nwk", message)


# ---------------------------------------------------------------------------------------------
# Parquet, for verify


def write_table(path: Path, columns: Any, metadata: dict[str, str] | None = None) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if isinstance(columns, dict):
        columns = list(columns.items())
    arrays = [one if isinstance(one, pa.Array) else pa.array(one) for _, one in columns]
    table = pa.Table.from_arrays(arrays, names=[name for name, _ in columns])
    if metadata:
        table = table.replace_schema_metadata(metadata)
    pq.write_table(table, path)


def array(values: list[Any], kind: str) -> Callable[[], Any]:
    def make() -> Any:
        import pyarrow as pa

        return pa.array(values, getattr(pa, kind)())

    return make


NAMES = [("query", ["s0", "s1"]), ("target", ["s1", "s2"])]
BINARY = array([b"s0", b"\xff"], "binary")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ([NAMES[0]], "no column 'target'"),
        ([("query", [0, 1]), NAMES[1]], "column 'query' is of type int64, expected names"),
        ([("query", [0.5, 1]), NAMES[1]], "column 'query' is of type double, expected names"),
        ([("query", BINARY), NAMES[1]], "column 'query' is of type binary"),
        ([("query", [{"a": 1}, {"a": 2}]), NAMES[1]], "column 'query' is of type struct<"),
        ([("query", [["s0"], ["s1"]]), NAMES[1]], "column 'query' is of type list<"),
        ([NAMES[0], NAMES[0], NAMES[1]], "two columns 'query'"),
        ([*NAMES, ("score", [1, 2]), ("score", [1, 2])], "two columns 'score'"),
        ([*NAMES, ("score", [{"a": 1}, {"a": 2}])], "column 'score' is of type struct<"),
        ([*NAMES, ("score", ["1", "2"])], "column 'score' is of type string, expected numbers"),
        ([*NAMES, ("score", [[1], [2]])], "column 'score' is of type list<"),
        ([*NAMES, ("score", [True, False])], "column 'score' is of type bool"),
        ([*NAMES, ("matches", array([1, 2**63], "uint64"))], "column 'matches' has a value that"),
        ([*NAMES, ("cigar", ["3=", "4="])], "column 'cigar' is of type string, expected runs"),
        ([*NAMES, ("cigar", [3, 4])], "column 'cigar' is of type int64, expected runs"),
        ([*NAMES, ("cigar", [{"a": 1}, {"a": 2}])], "column 'cigar' is of type struct<"),
        ([*NAMES, ("cigar", [["3="], ["4="]])], "column 'cigar' is of type list<"),
        ([*NAMES, ("cigar", [[-1], [2]])], "Integer value -1 not in range"),
        ([*NAMES, ("cigar", [[1 << 40], [2]])], "Integer value 1099511627776 not in range"),
        ([*NAMES, ("cigar", [[None, 39], [2]])], "column 'cigar' has runs that are null"),
        ([*NAMES, ("query_start", ["0", "0"])], "column 'query_start' is of type string"),
        ([*NAMES, ("query_start", [0.5, 0])], "column 'query_start' has a value that is no"),
        ([*NAMES, ("strand", ["+", "-"])], "column 'strand' is of type string"),
        ([*NAMES, ("strand", [{"a": 1}, {"a": 2}])], "column 'strand' is of type struct<"),
    ],
)
def test_columns_of_parquet(columns, message, capfd):
    pytest.importorskip("pyarrow")
    made = [(name, one() if callable(one) else one) for name, one in columns]
    write_table(Path("x.parquet"), made)
    check(capfd, "verify x.parquet in.fa -o x.tsv", f"x.parquet: {message}")


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"pairalign.mode": "xx"}, "metadata 'pairalign.mode' is 'xx', expected one of global,"),
        ({"pairalign.mode": b"\xff"}, "metadata 'pairalign.mode' is"),
        ({"pairalign.mode": "end-gaps"}, "its end gaps have costs of their own"),
        ({"pairalign.scale": "xx"}, "'pairalign.scale' is 'xx', expected a power of ten"),
        ({"pairalign.scale": "0"}, "'pairalign.scale' is '0', expected a power of ten"),
        ({"pairalign.scale": "-10"}, "expected a power of ten"),
        ({"pairalign.scale": "1" + "0" * 30}, "expected a power of ten"),
    ],
)
def test_metadata_of_parquet(metadata, message, capfd):
    pytest.importorskip("pyarrow")
    write_table(Path("x.parquet"), [*NAMES, ("score", [1.5, 2.5])], metadata)
    code = 2 if "end gaps" in message else 1  # the first is wrong usage
    check(capfd, "verify x.parquet in.fa -o x.tsv", message, code)


def test_values_of_parquet_that_are_wrong_are_faults(capfd):
    """Names that are null, numbers that are huge or none: of a record, not of the file."""
    pytest.importorskip("pyarrow")
    columns = [
        ("query", [None, "s1"]),
        NAMES[1],
        ("query_start", [float("nan"), 0.0]),
        ("score", [1e300, float("inf")]),
        ("matches", [None, None]),
    ]
    write_table(Path("x.parquet"), columns)
    assert main(["verify", "x.parquet", "in.fa", "-o", "x.tsv"]) == 1
    assert "no such name among the queries" in capfd.readouterr().err
    rows = Path("x.tsv").read_text().splitlines()
    assert len(rows) == 3
    assert rows[1].split("\t")[2] == ""


def test_what_is_no_parquet(capfd):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(3)
    write_table(Path("good.parquet"), NAMES)
    good = Path("good.parquet").read_bytes()
    for _ in range(60):  # bytes of it changed
        bad = bytearray(good)
        for place in rng.integers(4, len(good), 3):
            bad[place] = int(rng.integers(256))
        Path("x.parquet").write_bytes(bad)
        assert main(["verify", "x.parquet", "in.fa", "-o", "x.tsv", "-q"]) in (0, 1, 2)
        assert "Traceback" not in capfd.readouterr().err
