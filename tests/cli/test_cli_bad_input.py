"""The command line where something is wrong: it says what and where, and leaves nothing behind."""

from __future__ import annotations

import gzip
import os
import re
import resource
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from Bio.Align import substitution_matrices
from commands import (
    BASES,
    PROGRAM,
    PROTEINS,
    TIMEOUT_SECONDS,
    fasta,
    listing,
    ordinary_user,
    run,
    write_random_set,
)

from pairalign.cli.main import main

GOOD = fasta(PROTEINS).encode()
BLOSUM = str(substitution_matrices.load("BLOSUM62"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check_refused(code: int, out: bytes, err: bytes, message: str) -> None:
    """The command failed with one line that has `message` in it, and wrote nothing to stdout."""
    said = err.decode()
    assert code == 1, said
    assert out == b""
    errors = [line for line in said.splitlines() if line.startswith("pairalign: error: ")]
    assert len(errors) == 1, said
    assert "Traceback" not in said
    assert message in errors[0]


def refuse(*arguments: str, message: str, **options) -> None:
    """The command, in a process of its own, fails with `message` and changes no file."""
    before = listing()
    done = run("align", *arguments, cwd=Path.cwd(), **options)
    check_refused(done.returncode, done.stdout, done.stderr, message)
    assert listing() == before


@pytest.fixture
def refuse_here(capfdbinary: pytest.CaptureFixture[bytes]) -> Callable[..., None]:
    """`refuse` in this process, which is faster."""

    def refuse(*arguments: str, message: str) -> None:
        before = listing()
        code = main(["align", *arguments])
        check_refused(code, *capfdbinary.readouterr(), message)
        assert listing() == before

    return refuse


# Input files

BAD_FILES: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "bad.fa: the file is empty"),
    "no > at the start": (b"MKVLAAGG\n" + GOOD, "bad.fa: expected '>' (FASTA) or '@' (FASTQ)"),
    "empty record": (b">a\nMKV\n>b\n>c\nMK\n", "bad.fa: record 2 'b' has no sequence"),
    "duplicate": (
        GOOD + b">b again\nMKV\n",
        "bad.fa: record 5 'b' has the name of record 2; names must be unique",
    ),
    "-": (
        b">a\nMKV\n>sp|P1 x\nMK\nV-L\n",
        "bad.fa: record 2 'sp|P1': letter '-' at position 4; remove gaps first (--degap)",
    ),
    ".": (b">a\nMKV.\n>b\nMK\n", "bad.fa: record 1 'a': letter '.' at position 4; remove gaps"),
    "digits": (b">a\nMKV\n>b\n1 MKVLA\n", "bad.fa: record 2 'b': digit '1' at position 1"),
    "binary": (bytes(range(256)), "bad.fa: expected '>' (FASTA) or '@' (FASTQ) at the start"),
    "binary after >": (
        b">a\nMK\x00\x01\n>b\nMK\n",
        "bad.fa: record 1 'a': byte 0x00 at position 3",
    ),
    "truncated gz": (gzip.compress(GOOD * 99)[:-20], "bad.fa: truncated or damaged gzip file"),
    "damaged gz": (gzip.compress(GOOD)[:-6] + b"123456", "bad.fa: truncated or damaged gzip file"),
    "text after gz": (gzip.compress(GOOD) + b"more", "bad.fa: truncated or damaged gzip file"),
    "one sequence only": (b">alone\nMKV\n", "bad.fa: one sequence only, 'alone'"),
    "no name": (b">a\nMKV\n> \nMKV\n", "bad.fa: record 2 has no name after the '>'"),
    "stop in DNA": (b">a\nACGT\n>b\nACG*\n", "bad.fa: record 2 'b': letter '*' at position 4; DNA"),
    "truncated FASTQ": (b"@a\nACGT\n+\nIIII\n@b\nAC\n", "bad.fa: record 2: not FASTQ"),
}


@pytest.mark.parametrize("situation", BAD_FILES)
def test_bad_files(folder: Path, situation: str) -> None:
    data, message = BAD_FILES[situation]
    Path("bad.fa").write_bytes(data)
    refuse("bad.fa", "-o", "out.paf", message=message)


@pytest.mark.parametrize("situation", ["-", "empty record", "truncated gz"])
def test_bad_files_are_named_also_as_the_second(
    folder: Path, refuse_here: Callable[..., None], situation: str
) -> None:
    data, message = BAD_FILES[situation]
    Path("good.fa").write_bytes(GOOD)
    Path("bad.fa").write_bytes(data)
    refuse_here("good.fa", "bad.fa", "-o", "out.paf", message=message)
    refuse(
        *("-", "good.fa", "-o", "out.paf"), message=message.replace("bad.fa", "<stdin>"), input=data
    )


def test_files_that_cannot_be_read(folder: Path, refuse_here: Callable[..., None]) -> None:
    Path("good.fa").write_bytes(GOOD)
    Path("place").mkdir()
    Path("dangling.fa").symlink_to("nowhere")
    out = ("-o", "out.paf")
    refuse_here("nothing.fa", *out, message="nothing.fa: no such file")
    refuse_here("dangling.fa", *out, message="dangling.fa: no such file")
    refuse_here("good.fa", "nothing.fa", *out, message="nothing.fa: no such file")
    refuse_here("place", *out, message="place: is a directory")
    refuse_here("good.fa/x", *out, message="good.fa/x: cannot be read: Not a directory")
    refuse("-", "-", *out, message="<stdin>: cannot be read twice", input=GOOD)
    refuse("-", *out, message="<stdin>: the file is empty", input=b"")


def test_an_input_without_permission(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.fa").write_bytes(GOOD)
    Path("bad.fa").chmod(0)
    with ordinary_user():
        assert main(["align", "bad.fa", "-o", "out.paf"]) == 1
    assert "error: bad.fa: permission denied\n" in capsys.readouterr().err
    assert os.listdir() == ["bad.fa"]


def test_devices_may_be_named_twice(folder: Path) -> None:
    Path("good.fa").write_bytes(GOOD)
    command = ["align", "good.fa", "-o", "/dev/null", "--format", "paf", "--report", "/dev/null"]
    assert main([*command, "--device", "cpu", "--quiet"]) == 0


@pytest.mark.parametrize("option", ["--dask=local:1", "--report=r.html", "--gap-open=-1"])
def test_wrong_usage_makes_no_folder_for_parts(folder: Path, option: str) -> None:
    Path("good.fa").write_bytes(GOOD)
    before = listing()
    for command, format in (("align", "paf"), ("overlap", "paf"), ("distance", None)):
        words = [command, "good.fa", "-o", "parts", "--shard", "1/2", option]
        assert main([*words, *([] if format is None else ["--format", format])]) == 2
    assert listing() == before


# Scoring


def without(letter: str) -> str:
    """BLOSUM62 without a letter."""
    lines = [line for line in BLOSUM.splitlines() if line[:1] not in ("#", letter)]
    column = lines[0].split().index(letter)
    rows = [line.split() for line in lines[1:]]
    header = [name for name in lines[0].split() if name != letter]
    kept = [[row[0], *(v for k, v in enumerate(row[1:]) if k != column)] for row in rows]
    return "\n".join("  ".join(row) for row in [["", *header], *kept]) + "\n"


BAD_MATRICES = {
    "not square": ("\n".join(BLOSUM.splitlines()[:-3]) + "\n", "my.mat"),
    "misses a letter": (without("W"), "my.mat"),
    "a row too short": (re.sub(r"(\nR .*) \S+\n", r"\1\n", BLOSUM), "my.mat"),
    "not a number": (BLOSUM.replace(" 11.0 ", " xi ").replace(" 11 ", " xi "), "my.mat"),
    "asymmetric": (re.sub(r"(\nA .* )(\S+)\n", r"\1 99\n", BLOSUM), "my.mat"),
    "empty": ("", "my.mat"),
    "FASTA": (GOOD.decode(), "my.mat"),
    "binary": ("\0\1\2", "my.mat"),
}


def test_a_folder_is_no_matrix(folder: Path, refuse_here: Callable[..., None]) -> None:
    Path("good.fa").write_bytes(GOOD)
    refuse_here("good.fa", "-o", "out.paf", "--matrix", ".", message="matrix .: is a directory")


@pytest.mark.parametrize(
    "command",
    [
        ("align", "-o", "x.paf"),
        ("distance", "-o", "x.phy"),
        ("tree", "-o", "x.nwk"),
        ("cluster", "-o", "x.tsv", "--min-identity", "0.9"),
        ("split", "-o", "x.csv", "--min-identity", "0.9"),
        ("audit", "-o", "x.csv", "--min-identity", "0.9", "folds.csv"),
        ("overlap", "-o", "x.paf"),
        ("overlap", "-o", "x.paf", "--preset", "hifi"),
        ("verify", "all.paf", "-o", "x.tsv"),
    ],
    ids=" ".join,
)
def test_costs_that_make_no_sense_are_refused_before_anything_is_read(
    folder: Path, capfd: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    for costs, message in (
        (["--gap-open", "-1"], "gap_open is a cost, found -1"),
        (["--gap-open", "1", "--gap-extend", "1.5"], "gap_extend 1.5 exceeds gap_open 1"),
        (["--mismatch", "1", "--match", "4"], "mismatch is a score, found 1"),
    ):
        assert main([*command, "there-is-none.fa", *costs]) == 2
        said = capfd.readouterr().err
        assert message in said
        assert "there-is-none" not in said


def test_a_matrix_from_a_pipe_is_read_once(folder: Path) -> None:
    Path("good.fa").write_bytes(GOOD)
    reading, writing = os.pipe()
    with os.fdopen(writing, "w") as pipe:
        pipe.write(BLOSUM)
    matrix = ("--matrix", f"/dev/fd/{reading}")
    done = run("align", "good.fa", "-o", "piped.tsv", *matrix, cwd=folder, pass_fds=[reading])
    os.close(reading)
    assert done.returncode == 0, done.stderr
    assert main(["align", "good.fa", "-o", "named.tsv", "--matrix", "BLOSUM62", "-q"]) == 0
    assert Path("piped.tsv").read_bytes() == Path("named.tsv").read_bytes()


@pytest.mark.parametrize(
    ("command", "data"),
    [
        (("align", "bad.fa", "-o", "x.paf"), ">{0}\nMKV\n>{0}\nMKV\n"),
        (("align", "bad.fa", "-o", "x.paf"), ">{0}\nMKV\n>{0}c\nMK-V\n"),
        (("tree", "bad.fa", "-o", "x.nwk"), ">{0}:\nMKV\n>b\nMKV\n>c\nMKV\n"),
        (("tree", "bad.phy", "-o", "x.nwk"), "3\n{0} 0 1 1\n{0} 1 0 1\nc 1 1 0\n"),
        (("distance", "bad.fa", "--strict-names", "-o", "x.phy"), ">{0}\nMKV\n>b\nMKV\n"),
        (("align", "good.fa", "--pairs", "bad.txt", "-o", "x.paf"), "a {0}\n"),
    ],
)
def test_long_names_are_cut_in_messages(
    folder: Path, capfd: pytest.CaptureFixture[str], command: tuple[str, ...], data: str
) -> None:
    Path("good.fa").write_bytes(GOOD)
    name = "".join(f"n{number:05}" for number in range(500))
    Path(next(word for word in command if word.startswith("bad"))).write_text(data.format(name))
    assert main(list(command)) in (1, 2)
    said = capfd.readouterr().err
    assert len(said) < 400
    assert f"'{name[:40]}..." in said


@pytest.mark.parametrize("situation", BAD_MATRICES)
def test_bad_matrices(folder: Path, refuse_here: Callable[..., None], situation: str) -> None:
    text, message = BAD_MATRICES[situation]
    assert text != BLOSUM
    Path("good.fa").write_bytes(GOOD)
    Path("my.mat").write_text(text)
    refuse_here("good.fa", "-o", "out.paf", "--matrix", "my.mat", message=message)


def test_a_letter_that_the_matrix_cannot_score(
    folder: Path, refuse_here: Callable[..., None]
) -> None:
    """A matrix without B, Z, X and *: the sequences may not have them."""
    names = "ARNDCQEGHILKMFPSTWYV"
    rows = [f"{a} " + " ".join("4" if a == b else "-1" for b in names) for a in names]
    Path("my.mat").write_text("  " + " ".join(names) + "\n" + "\n".join(rows) + "\n")
    Path("good.fa").write_bytes(GOOD)
    assert main(["align", "good.fa", "-o", "good.paf", "--matrix", "my.mat", "--quiet"]) == 0
    Path("stop.fa").write_bytes(GOOD + b">stop\nMKV*A\n")
    refuse_here(
        *("stop.fa", "-o", "out.paf", "--matrix", "my.mat"),
        message="stop.fa: record 5 'stop': letter '*' at position 4 has no score in my.mat",
    )


# Memory


@pytest.mark.parametrize("memory", ["1", "10K", "300k"])
def test_memory_too_small_for_a_pair(
    folder: Path, capsys: pytest.CaptureFixture[str], memory: str
) -> None:
    """The error names the pair and says how much it takes, and that is enough."""
    write_random_set(Path("x.fa"), 4, 2000)
    arguments = ["align", "x.fa", "-o", "out.paf", "--threads", "1", "--quiet"]
    assert main([*arguments, "--memory", memory]) == 1
    said = capsys.readouterr().err
    pair = r"'s\d' \(2000 residues\) and 's\d' \(2000 residues\)"
    found = re.search(f"aligning {pair} needs (\\d+ [KM]iB) of memory, only \\d+ KiB allowed", said)
    assert found, said
    assert os.listdir() == ["x.fa"]
    assert main([*arguments, "--memory", found[1]]) == 0
    enough = Path("out.paf").read_bytes()
    assert main(arguments) == 0
    assert Path("out.paf").read_bytes() == enough


# Output


def test_outputs_that_cannot_be_written(folder: Path, refuse_here: Callable[..., None]) -> None:
    Path("good.fa").write_bytes(GOOD)
    Path("place.paf").mkdir()
    missing = f"cannot write 'no/out.paf': there is no directory '{folder}/no'"
    refuse_here("good.fa", "-o", "no/out.paf", message=missing)
    refuse_here("good.fa", "-o", "place.paf", message="cannot write 'place.paf': Is a directory")
    refuse_here(
        "good.fa", "-o", "good.fa/x.paf", message="cannot write 'good.fa/x.paf': Not a directo"
    )
    long = "x" * 300 + ".paf"
    refuse_here("good.fa", "-o", long, message=f"cannot write '{long}': File name too long")


def test_an_output_without_permission(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("good.fa").write_bytes(GOOD)
    Path("place").mkdir()
    Path("place").chmod(0o555)
    folder.chmod(0o777)
    Path("old.paf").write_text("before")
    Path("old.paf").chmod(0o444)
    with ordinary_user():
        for output in ("place/out.paf", "old.paf"):
            assert main(["align", "good.fa", "-o", output]) == 1
            assert f"cannot write '{output}': Permission denied\n" in capsys.readouterr().err
    assert os.listdir("place") == []
    assert Path("old.paf").read_text() == "before"
    assert sorted(os.listdir()) == ["good.fa", "old.paf", "place"]


NAMES = ["out.paf", "out.tsv.gz", "out.parquet", "out.srspair"]


@pytest.mark.parametrize("name", NAMES)
def test_a_disk_that_fills_up(folder: Path, name: str) -> None:
    """A limit on the size of a file stands in for it: writing fails midway in the same way."""
    write_random_set(Path("x.fa"), 120, 60)
    Path(name).write_text("before")
    refuse(
        *("x.fa", "-o", name, "--threads", "2"),
        message=f"cannot write '{name}': File too large",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)),
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_disk_that_is_full(folder: Path, name: str) -> None:
    """A real, small disk: what was there stays, nothing else does."""
    write_random_set(Path("x.fa"), 120, 60)
    script = (
        'mkdir disk && mount -t tmpfs -o size=64k none disk && echo before > "disk/$0" || exit 77\n'
        'cd disk && "$@"; code=$?; ls -A; cat "$0"; exit $code'
    )
    command = [*PROGRAM, "align", str(folder / "x.fa"), "-o", name]
    space = ["unshare", "--mount", *(["--map-root-user"] if os.geteuid() else [])]
    if not shutil.which("unshare"):
        pytest.skip("needs unshare")
    done = subprocess.run(
        [*space, "sh", "-c", script, name, *command], capture_output=True, timeout=TIMEOUT_SECONDS
    )
    if done.returncode == 77 or b"unshare" in done.stderr:
        pytest.skip(f"cannot mount: {done.stderr.decode()}")
    assert done.returncode == 1
    assert f"error: cannot write '{name}': No space left on device\n" in done.stderr.decode()
    assert done.stdout.decode() == f"{name}\nbefore\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_device(folder: Path) -> None:
    Path("good.fa").write_bytes(GOOD)
    refuse(
        *("good.fa", "-o", "/dev/full", "--format", "tsv"),
        message="cannot write '/dev/full': No space left on device",
    )
    with open("/dev/full", "wb") as full:
        done = run("align", "good.fa", "-o", "-", "--format", "tsv", cwd=folder, stdout=full)
        assert done.returncode == 1
        assert b"error: cannot write standard output: No space left on device\n" in done.stderr
        done = run("devices", cwd=folder, stdout=full)
        assert done.returncode == 1
        assert b"No space left" in done.stderr
        assert b"Traceback" not in done.stderr
        assert b"Exception ignored" not in done.stderr


# Standard streams that are closed or full


def close_stream(descriptor: int) -> Callable[[], None]:
    """What a shell does for ``>&-``."""
    return lambda: os.close(descriptor)


def test_closed_standard_streams(folder: Path) -> None:
    Path("good.fa").write_bytes(GOOD)
    arguments = ("align", "good.fa", "-o", "-", "--format", "tsv")
    expected = run(*arguments, "--quiet", cwd=folder).stdout
    assert len(expected.splitlines()) == 7
    done = run(*arguments, cwd=folder, preexec_fn=close_stream(1))
    assert done.returncode == 1
    assert b"error: cannot write standard output: it is closed\n" in done.stderr
    # Nobody hears the messages: the results are right all the same, without messages among them.
    done = run(*arguments, cwd=folder, preexec_fn=close_stream(2))
    assert (done.returncode, done.stdout) == (0, expected)
    done = run("align", "good.fa", "-o", "out.tsv", cwd=folder, preexec_fn=close_stream(2))
    assert (done.returncode, done.stdout) == (0, b"")
    assert Path("out.tsv").read_bytes() == expected
    done = run("align", "-", "-o", "out.paf", cwd=folder, preexec_fn=close_stream(0))
    assert done.returncode == 1
    assert b"error: <stdin>: cannot be read: it is closed\n" in done.stderr
    assert sorted(os.listdir()) == ["good.fa", "out.tsv"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_messages_that_cannot_be_written(folder: Path) -> None:
    Path("good.fa").write_bytes(GOOD)
    with open("/dev/full", "wb") as full:
        done = run("align", "good.fa", "-o", "out.tsv", cwd=folder, stderr=full)
        assert (done.returncode, done.stdout) == (0, b"")
        assert len(Path("out.tsv").read_bytes().splitlines()) == 7
        done = run("align", "nothing.fa", "-o", "out.tsv", cwd=folder, stderr=full)
        assert (done.returncode, done.stdout) == (1, b"")


def test_a_missing_package(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch) -> None:
    """Parquet without pyarrow is wrong usage, said before anything is written."""
    Path("good.fa").write_bytes(GOOD)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    assert main(["align", "good.fa", "-o", "out.parquet"]) == 2
    assert "pip install 'pairalign[parquet]'" in capsys.readouterr().err
    assert os.listdir() == ["good.fa"]


def test_an_unknown_instruction_set(folder: Path) -> None:
    Path("good.fa").write_text(fasta(BASES))
    environment = {"PAIRALIGN_ISA": "mmx"}
    refuse("good.fa", "-o", "out.paf", message="instruction set 'mmx' cannot run", env=environment)
