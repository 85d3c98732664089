"""The command line: formats, input and output, scoring, results, wrong usage."""

import gzip
from pathlib import Path

import pytest
from align_command import align
from commands import rows_of, run

from pairalign.engines.cpu.cpu_engine import instruction_sets

# Input and output


def test_from_a_pipe_to_a_pipe(folder):
    align("proteins.fa", "-o", "x.tsv", "--quiet")
    data = Path("proteins.fa").read_bytes()
    for given in (data, gzip.compress(data)):
        done = run("align", "-", "-o", "-", "--format", "tsv", "--quiet", cwd=folder, input=given)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout == Path("x.tsv").read_bytes()


def test_messages_are_on_stderr_only(folder):
    done = run("align", "proteins.fa", "-o", "-", "--format", "tsv", cwd=folder)
    assert len(rows_of(done.stdout)) == 6
    assert b"proteins" in done.stderr
    assert b"written to  standard output" in done.stderr
    done = run("align", "proteins.fa", "-o", "x.tsv", cwd=folder)
    assert done.stdout == b""


@pytest.mark.parametrize(
    "options",
    [
        *(["--threads", str(n)] for n in (1, 2, 3)),
        ["--threads", "100000"],
        ["--memory", "2M", "--threads", "1"],
        ["--memory", "4M", "--threads", "3"],
        ["--memory", "16G"],
        ["--memory", "99999999999999T"],
        *({"PAIRALIGN_ISA": name} for name in instruction_sets()),
    ],
    ids=str,
)
def test_bytes_do_not_depend_on_the_machine(folder, few, monkeypatch, options):
    for mode in ("global", "local"):
        arguments = [few, "--mode", mode, "--window", "5", "--quiet"]
        align(*arguments, "-o", f"{mode}.paf")
        expected = Path(f"{mode}.paf").read_bytes()
        if isinstance(options, dict):
            for name, value in options.items():
                monkeypatch.setenv(name, value)
            align(*arguments, "-o", f"{mode}-again.paf")
        else:
            align(*arguments, *options, "-o", f"{mode}-again.paf")
        assert Path(f"{mode}-again.paf").read_bytes() == expected
