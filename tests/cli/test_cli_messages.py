"""What the command says: summary, warnings, progress, devices, version, help."""

import os
import re
import shutil
import subprocess
import sysconfig
from argparse import _SubParsersAction
from pathlib import Path

import pytest
from align_command import align, table
from commands import PROGRAM, TIMEOUT_SECONDS, fasta

import pairalign
from pairalign.cli.foreign_options import FOREIGN, OPTION, elsewhere, name_here
from pairalign.cli.main import main
from pairalign.cli.program import build_parser
from pairalign.engines.cpu.cpu_engine import instruction_sets


def test_summary_of_dna_and_two_sets(folder, capsys):
    Path("one.fa").write_text(fasta({"x": "ACGTACGTTGCA"}))
    options = ["--mode", "semiglobal", "--gap-open", "4.5", "--min-score", "11", "--score-only"]
    align("one.fa", "dna.fa", "-o", "x.tsv", *options)
    said = capsys.readouterr().err
    assert "1 DNA sequence of 12 bases against 3 DNA sequences of 9-12 bases\n" in said
    assert "semiglobal, match 2, mismatch -3, gap open 4.5, gap extend 2\n" in said
    assert "3, of which 2 score at least 11\n" in said
    assert "closest" not in said


def test_large_and_decimal_scores_are_shown_in_full(folder, capsys):
    Path("long.fa").write_text(fasta({"x": "A" * 9000, "y": "A" * 9000}))
    align("long.fa", "-o", "x.paf", "--match", "1100.25", "--mismatch", "-1", "--alphabet", "dna")
    assert "9,000 of 9,000 columns identical (100.0%), score 9902250\n" in capsys.readouterr().err
    found = table("long.fa", "--match", "0.1235", "--mismatch", "-1", "--score-only")
    assert found[0]["score"] == "1111.5"


def test_letters_without_scores_are_counted(folder, capsys):
    Path("rare.fa").write_text(fasta({"x": "MKVUUO", "y": "MKVLJL"}))
    align("rare.fa", "-o", "x.paf")
    expected = (
        "pairalign: warning: residues without a score of their own in BLOSUM62: "
        "U scored as C (2), O scored as K (1)"
    )
    assert expected in capsys.readouterr().err
    align("rare.fa", "-o", "x.paf", "--quiet")
    assert capsys.readouterr().err == ""


def test_quiet_says_errors_only(folder, capsys):
    align("proteins.fa", "-o", "x.paf", "--quiet")
    assert capsys.readouterr() == ("", "")
    align("nothing.fa", "-o", "x.paf", "--quiet", code=1)
    assert capsys.readouterr() == ("", "pairalign: error: nothing.fa: no such file\n")
    align("proteins.fa", "-o", "x.paf")
    assert "proteins" in capsys.readouterr().err  # being quiet does not last


def test_devices(folder, capfd):
    assert main(["devices"]) == 0
    said = capfd.readouterr()
    assert re.search(r"^cpu +yes +\d+ cores?, ", said.out, re.MULTILINE)
    assert all(name in said.out for name in instruction_sets())
    assert said.err == ""


@pytest.mark.parametrize(
    "command",
    [[*PROGRAM, "-V"], [os.path.join(sysconfig.get_path("scripts"), "pairalign"), "--version"]],
    ids=["python -m pairalign", "pairalign"],
)
def test_version(folder, command):
    if not shutil.which(command[0]):
        pytest.skip("not installed as a script")
    done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_SECONDS)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == f"pairalign {pairalign.__version__}\n"


def test_options_of_other_programs_are_options_here():
    """Each text names options that some command has, and no option of ours is another's."""
    (commands,) = (one for one in build_parser()._actions if isinstance(one, _SubParsersAction))
    known = [parser._option_string_actions for parser in commands.choices.values()]
    of_program = {word for one in known for word in one}
    declared = {name: () for one in known for each in one.values() for name in elsewhere(each)}
    assert "-max_hsps" in declared
    assert not declared.keys() & FOREIGN.keys()
    for theirs, texts in {**declared, **FOREIGN}.items():
        assert any(name_here(theirs, one) for one in known), theirs
        for text in texts:
            assert set(OPTION.findall(text)) <= of_program, theirs


@pytest.mark.parametrize("words", [["-oquery.paf", "-t2"], ["-qv"], ["-k5"], ["-o", "x", "-vq"]])
def test_short_options_and_their_values_may_be_one_word(words):
    options = build_parser().parse_args(["align", "in.fa", *words])
    assert options.input == "in.fa"
