"""Many families in one run: the alignments of each alone, in files that are whole or not there."""

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from commands import PROTEINS, fasta

import pairalign
from pairalign.base.choices import MSA_SUFFIXES
from pairalign.cli.main import main
from pairalign.errors import CapacityError, FastaError
from pairalign.formats.output import Output
from pairalign.jobs.msa import families, msa_families
from pairalign.jobs.msa.family_run import FamilyRun
from pairalign.jobs.msa.msa_files import write_alignment
from pairalign.jobs.msa.one_family import align_family

SIZES = {"large": (12, 90), "one": (1, 20), "a": (5, 40), "b": (6, 35), "c": (4, 50), "two": (2, 9)}


def family(name: str) -> dict[str, str]:
    count, length = SIZES[name]
    random = np.random.default_rng(length)
    base = random.choice(list("ARNDCQEGHILKMFPSTWYV"), length)
    made = {}
    for number in range(count):
        letters = np.where(random.random(length) < 0.3, random.choice(base, length), base)
        made[f"{name}{number}"] = "".join(np.delete(letters, random.integers(0, length)))
    return made


FAMILIES = {name: family(name) for name in SIZES}


@pytest.fixture
def files(here: Path) -> list[str]:
    for name, sequences in FAMILIES.items():
        Path(f"{name}.fa").write_text(fasta(sequences))
    return [f"{name}.fa" for name in FAMILIES]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_each_is_what_it_is_alone(threads):
    found = dict(pairalign.align_families(FAMILIES, threads=threads))
    assert found.keys() == FAMILIES.keys()
    for name, alignment in found.items():
        alone = pairalign.msa(FAMILIES[name])
        assert alignment.sequences.names == list(FAMILIES[name])
        assert (alignment.columns == alone.columns).all()
        assert np.array_equal(alignment.column_confidence, alone.column_confidence, equal_nan=True)


def test_a_family_that_does_not_fit_beside_others_is_aligned_alone(monkeypatch):
    given = []

    def aligned(sequences: object, run: FamilyRun, **options: object) -> object:
        resources = run.resources
        given.append((len(sequences), resources.threads, resources.memory))
        if len(sequences) > 4 and resources.memory < 1 << 30:
            raise CapacityError("too little", 1, 0)
        return align_family(sequences, run, **options)

    monkeypatch.setattr(families, "align_family", aligned)
    some = {name: FAMILIES[name] for name in ("a", "b", "c")}
    found = dict(pairalign.align_families(some, threads=2, memory=1 << 30))
    assert found.keys() == some.keys()
    assert sorted(given)[-2:] == [(6, 1, 1 << 29), (6, 2, 1 << 30)]
    with pytest.raises(CapacityError, match="too little"):
        dict(pairalign.align_families(some, threads=2, memory=1 << 29))


def test_sequences_that_cannot_be_read_are_refused_first(files, capsys):
    Path("bad.fa").write_text(">x\nMK\n>y\nM\0K\n")
    with pytest.raises(FastaError, match="y"):
        next(pairalign.align_families({"a": "a.fa", "bad": "bad.fa"}))
    assert main(["msa", *files, "bad.fa", "-o", "made"]) == 1
    assert "bad.fa" in capsys.readouterr().err
    assert not Path("made").exists()


@pytest.mark.parametrize("format", MSA_SUFFIXES)
def test_files_are_those_of_single_runs(files, format):
    command = ["msa", "-q", "--format", format, "--order", "tree"]
    assert main([*command, *files, "-o", "made"]) == 0
    ending = MSA_SUFFIXES[format][0]
    assert {path.name for path in Path("made").iterdir()} == {f"{one}{ending}" for one in FAMILIES}
    for name in FAMILIES:
        assert main([*command, f"{name}.fa", "-o", "alone"]) == 0
        assert Path("made", name + ending).read_bytes() == Path("alone").read_bytes()


def test_what_is_there_stays(files, capsys):
    Path("made").mkdir()
    Path("made/a.afa").write_text("of somebody")
    assert main(["msa", *files, "-o", "made", "-q"]) == 2
    assert "'made/a.afa' is there: choose another folder, or add" in capsys.readouterr().err
    assert [path.name for path in Path("made").iterdir()] == ["a.afa"]
    assert main(["msa", *files, "-o", "made", "--resume"]) == 0
    said = capsys.readouterr().err
    assert "1 of 6 families have their file" in said
    assert "5 of 25 sequences" in said
    assert Path("made/a.afa").read_text() == "of somebody"
    assert len(list(Path("made").iterdir())) == len(FAMILIES)


def test_a_run_that_fails_goes_on(files, monkeypatch, capsys):
    written = []

    def failing(output: Output, *given: object) -> None:
        written.append(output)
        write_alignment(output, *given)
        if len(written) == 3:
            raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(msa_families, "write_alignment", failing)
        assert main(["msa", *files, "-o", "made", "-q"]) == 1
    assert "No space left" in capsys.readouterr().err
    done = {path: path.stat().st_mtime_ns for path in Path("made").iterdir()}
    assert len(done) == 2
    assert main(["msa", *files, "-o", "made", "--resume"]) == 0
    assert "2 of 6 families have their file" in capsys.readouterr().err
    assert {path: path.stat().st_mtime_ns for path in done} == done
    assert main(["msa", *files, "-o", "whole", "-q"]) == 0
    for path in Path("whole").iterdir():
        assert Path("made", path.name).read_bytes() == path.read_bytes()


def test_a_folder_takes_one_family_too(files):
    Path("there").mkdir()
    for output in ("there", "new/"):
        assert main(["msa", "a.fa", "-o", output, "-q"]) == 0
        assert Path(output, "a.afa").read_text().count(">") == 5


def test_names_of_files_come_apart(files, capsys):
    Path("other").mkdir()
    Path("other/a.faa").write_text(fasta(PROTEINS))
    assert main(["msa", "a.fa", "other/a.faa", "-o", "made"]) == 2
    assert "'a.fa' and 'other/a.faa' would both be written to 'made/a.afa'" in (
        capsys.readouterr().err
    )
    assert not Path("made").exists()


@pytest.mark.parametrize("text", ["", "\n\n", ">a\n>b\n", ">a\n\n>b\n--\n"])
def test_a_family_without_residues_is_left_out(files, capsys, text):
    Path("empty.fa").write_text(text)
    run = ["msa", files[1], "empty.fa", files[-1], "-o", "out", "--format", "fasta"]
    assert main(run) == 0
    assert sorted(path.name for path in Path("out").iterdir()) == ["one.afa", "two.afa"]
    said = capsys.readouterr().err
    assert "a family without residues is left out: empty.fa" in said
    assert "1 without residues" in said
    Path("other.fa").write_text(text)
    assert main(["msa", "empty.fa", "other.fa", "-o", "none", "--format", "fasta"]) == 1
    assert not Path("none").exists()


def test_a_record_without_residues_in_a_family_is_an_error(files):
    Path("part.fa").write_text(">a\nMKV\n>b\n")
    assert main(["msa", files[1], "part.fa", "-o", "out", "--format", "fasta"]) == 1
    assert not Path("out").exists()


@pytest.mark.parametrize("resume", [False, True])
def test_who_stops_it_is_told_what_is_there(files, monkeypatch, capsys, resume):
    whole = msa_families.align_oriented

    def stopped(*given: object, **options: object) -> Iterator[object]:
        done = whole(*given, **options)
        yield from itertools.islice(done, 2)
        raise KeyboardInterrupt("interrupted")

    monkeypatch.setattr(msa_families, "align_oriented", stopped)
    run = ["msa", *files, "-o", "out", "--format", "fasta", *(["--resume"] if resume else [])]
    assert main(run) == 130
    assert len(list(Path("out").iterdir())) == 2
    goes_on = "the same command goes on" if resume else "with --resume it goes on"
    said = f"interrupted; 2 files in 'out' are complete, {goes_on}\n"
    assert capsys.readouterr().err.endswith(said)
