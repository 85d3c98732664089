"""Running the command as users do, in a process of its own, and small files for it."""

import contextlib
import ctypes
import os
import pty
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from forked import forker

from pairalign.sequences.set_reading import read_fasta

PROGRAM = [sys.executable, "-m", "pairalign"]
TIMEOUT_SECONDS = 300  # nothing may hang; generous, since tests may share a slow machine

PROTEINS = {"a": "MKVLAAGGWTRE", "b": "MKVLAGGWTE", "c": "MKWLAGRE", "d": "WWPHCMKVL"}
BASES = {"r1": "ACGTACGTTGCA", "r2": "ACGTTCGTGCA", "r3": "TTGCAACGT"}


def fasta(records: Mapping[str, str]) -> str:
    """FASTA of some sequences."""
    return "".join(f">{name} of a test\n{letters}\n" for name, letters in records.items())


def start(
    *arguments: str | os.PathLike[str],
    cwd: Path,
    env: Mapping[str, str] | None = None,
    program: Sequence[str] = PROGRAM,
    **options,
) -> subprocess.Popen[bytes]:
    """Start the command in a folder; standard input is empty unless given."""
    options = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        **options,
    }
    return subprocess.Popen(
        [*program, *map(os.fspath, arguments)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        **options,
    )


def run(
    *arguments: str | os.PathLike[str],
    cwd: Path,
    input: bytes | None = None,
    env: Mapping[str, str] | None = None,
    **options,
) -> subprocess.CompletedProcess[bytes]:
    """Run the command in a folder to its end; without options in a fork, which is faster."""
    if options or any(name.startswith(("PYTHON", "L")) for name in env or ()):
        return _run_anew(*arguments, cwd=cwd, input=input, env=env, **options)
    words = list(map(os.fspath, arguments))
    with contextlib.ExitStack() as files:
        streams = [files.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        streams[0].write(input or b"")
        streams[0].seek(0)
        environment = {**os.environ, **(env or {})}
        code = forker().run(words, os.fspath(cwd), environment, streams, TIMEOUT_SECONDS)
        for stream in streams:
            stream.seek(0)
        output, errors = streams[1].read(), streams[2].read()
    return subprocess.CompletedProcess([*PROGRAM, *words], code, output, errors)


def _run_anew(
    *arguments: str | os.PathLike[str], input: bytes | None, **options
) -> subprocess.CompletedProcess[bytes]:
    if input is not None:
        options["stdin"] = subprocess.PIPE
    process = start(*arguments, **options)
    try:
        output, errors = process.communicate(input, timeout=TIMEOUT_SECONDS)
    finally:
        process.kill()
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def write_random_set(path: Path, sequences: int, letters: int, seed: int = 1) -> None:
    """Write random proteins of one length: enough of them are a long run."""
    rng = np.random.default_rng(seed)
    rows = rng.choice(np.frombuffer(b"ARNDCQEGHILKMFPSTWYV", np.uint8), (sequences, letters))
    path.write_bytes(b"".join(b">s%d\n%s\n" % (i, row.tobytes()) for i, row in enumerate(rows)))


def write_part(path: Path, source: Path, names: Sequence[str] | int) -> None:
    """Write some sequences of a FASTA file to another: those named, or the first few."""
    chosen = [s for i, s in enumerate(read_fasta(source)) if _is_in(i, s.name, names)]
    path.write_text("".join(f">{s.description}\n{s.residues}\n" for s in chosen))


def _is_in(index: int, name: str, names: Sequence[str] | int) -> bool:
    return index < names if isinstance(names, int) else name in names


def rows_of(text: str | bytes) -> list[dict[str, str]]:
    """Rows of a TSV by column name."""
    lines = (text.decode() if isinstance(text, bytes) else text).splitlines()
    header = lines[0].split("\t")
    return [dict(zip(header, line.split("\t"), strict=True)) for line in lines[1:]]


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Root may read and write everywhere: do without that right for a while, in this thread.

    Root stays root, and can read its own Python modules where its home is closed to others.
    """
    if os.geteuid() != 0:
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3 of the structure; this thread
    before = (ctypes.c_uint32 * 6)()  # effective, permitted, inheritable: bits 0-31, then 32-63
    assert libc.capget(header, before) == 0, os.strerror(ctypes.get_errno())
    reduced = (ctypes.c_uint32 * 6)(*before)
    reduced[0] &= ~(1 << 1 | 1 << 2)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
    assert libc.capset(header, reduced) == 0, os.strerror(ctypes.get_errno())
    try:
        yield
    finally:
        assert libc.capset(header, before) == 0, os.strerror(ctypes.get_errno())


def open_terminal() -> tuple[int, int]:
    """Both ends of a pseudo-terminal; skips the test, saying why, where there is none."""
    try:
        return pty.openpty()
    except OSError as error:
        pytest.skip(f"needs a pseudo-terminal: {error}")


def listing() -> dict[str, bytes | None]:
    """Everything in the folder: names, and what is in the files."""
    return {
        str(path): path.read_bytes() if path.is_file() and not path.is_symlink() else None
        for path in sorted(Path().rglob("*"))
    }
