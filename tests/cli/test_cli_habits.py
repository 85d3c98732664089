"""What users of other programs try: short options, redirection, help, completion, the manual."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from commands import PROTEINS, fasta, run

from pairalign.base.declaration import options_of
from pairalign.base.version import __version__
from pairalign.cli.main import main
from pairalign.cli.program import COMMANDS


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in.fa").write_text(fasta(PROTEINS))
    reads = {"r1": "ACGTTGCAAGGCTTACCGAT" * 6, "r2": "AGGCTTACCGATACGTTGCA" * 6}
    (tmp_path / "reads.fa").write_text(fasta(reads))
    return tmp_path


@pytest.mark.parametrize(
    ("command", "format"),
    [("align", "paf"), ("overlap", "paf"), ("tree", "newick"), ("distance", "phylip")],
)
def test_results_go_where_stdout_goes(folder, command, format):
    """`pairalign align in.fa > out.paf`, as with minimap2."""
    source = "reads.fa" if command == "overlap" else "in.fa"
    options = ("--device", "cpu", "-q", "-t", "1")
    expected = run(command, source, "-o", "-", "--format", format, *options, cwd=folder)
    assert expected.returncode == 0
    for given in ((), ("-o", "-")):
        done = run(command, source, *given, *options, cwd=folder)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout == expected.stdout != b""


def test_a_tree_for_mafft_to_stdout(folder):
    done = run("tree", "in.fa", "--for", "mafft", "-q", cwd=folder)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"1 2 ")


@pytest.mark.parametrize("command", ["align", "tree", "distance"])
def test_a_terminal_is_not_flooded(folder, command, monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert main([command, str(folder / "in.fa")]) == 2
    assert "nowhere to write to: give -o OUT" in capsys.readouterr().err
    assert main([command, str(folder / "in.fa"), "-o", "-", "-q"]) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize("command", [None, *(command.name for command in COMMANDS)])
def test_help(command, capsys):
    words = [] if command is None else [command]
    more = [] if command is None else ["all"]
    said = []
    for arguments in ([*words], [*words, *more]):
        for order in (["help", *arguments], [*words, "--help", *arguments[len(words) :]]):
            with pytest.raises(SystemExit, match="0"):
                main(order)
            said.append(capsys.readouterr().out)
    assert said[::2] == said[1::2]
    assert said[0].startswith(f"usage: {' '.join(['pairalign', *words])} [")
    lines = said[0].splitlines()
    assert "" not in lines[: lines.index("")]
    examples = lines[lines.index("examples:") + 1 :]
    assert all(line.startswith(f"  pairalign {command or ''}") for line in examples[1:6:2])


def options_in_help(*words: str, capsys: pytest.CaptureFixture[str]) -> set[str]:
    """Return the options that begin a line of the help."""
    with pytest.raises(SystemExit, match="0"):
        main(list(words))
    said = capsys.readouterr().out
    assert "more options" not in said or words[-1] != "all"
    return set(re.findall(r"^  (?:-\w[^-\n]*, )?(--[\w-]+)", said, re.MULTILINE))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: one.name)
def test_help_has_the_options_that_are_declared_as_short_and_help_all_has_all(command, capsys):
    declared = command.load_request()
    flags = {one.name: one.flag for one in options_of(declared) if not one.is_place}
    short = declared.SHORT.split() or flags
    few = options_in_help(command.name, "--help", capsys=capsys)
    assert few == {"--help", *(flags[name] for name in short)}
    if declared.SHORT:
        every = options_in_help(command.name, "--help", "all", capsys=capsys)
        assert every == {"--help", *flags.values()}
    assert len(few) <= 13


def test_verbose_and_log(folder, capsys):
    command = ["align", str(folder / "in.fa"), "-o", str(folder / "x.paf"), "--device", "cpu"]
    log = folder / "run.log"
    assert main([*command, "-v", "--log", str(log)]) == 0
    said = capsys.readouterr().err
    assert f"pairalign: pairalign {__version__}, Python" in said
    assert re.search(r"s of CPU, \d+ MiB at most", said)
    first = log.read_text()
    assert all(line in first for line in said.splitlines())
    assert main([*command, "--log", str(log)]) == 0
    assert "s of CPU" not in capsys.readouterr().err
    assert log.read_text().startswith(first)  # appended
    assert log.read_text().count(" pairalign align ") == 2


# ---------------------------------------------------------------------------------------------
# Completion


def completions(script: Path, words: list[str], folder: Path) -> list[str]:
    """What bash offers for the last word of a command line."""
    line = " ".join(f"'{word}'" for word in words)
    code = (
        f"source '{script}'; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}\n"
        "function=$(complete -p pairalign | sed 's/.*-F \\([^ ]*\\) .*/\\1/')\n"
        f"$function pairalign '{words[-1]}' '{words[-2]}'; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", code], capture_output=True, text=True, cwd=folder, check=True
    )
    return done.stdout.split()


def test_bash_completes(folder, capsys):
    pytest.importorskip("shtab", reason="shtab is not installed")
    if shutil.which("bash") is None:
        pytest.skip("bash is not installed")
    assert main(["completion", "bash"]) == 0
    script = folder / "completion"
    script.write_text(capsys.readouterr().out)
    assert completions(script, ["pairalign", "al"], folder) == ["align"]
    assert completions(script, ["pairalign", "align", "--mo"], folder) == ["--mode"]
    assert completions(script, ["pairalign", "align", "--mode", "semi"], folder) == ["semiglobal"]
    assert completions(script, ["pairalign", "align", "rea"], folder) == ["reads.fa"]
    matrices = completions(script, ["pairalign", "align", "--matrix", "BLOSUM"], folder)
    assert {"BLOSUM45", "BLOSUM62"} <= set(matrices)
    assert completions(script, ["pairalign", "align", "--matrix", "rea"], folder) == ["reads.fa"]
    assert completions(script, ["pairalign", "tree", "--for", "cl"], folder) == ["clustalo"]


def test_zsh_completes(capsys):
    """Every command and a way to complete files; the shell itself is seldom there."""
    pytest.importorskip("shtab", reason="shtab is not installed")
    assert main(["completion", "zsh"]) == 0
    script = capsys.readouterr().out
    assert script.startswith("#compdef pairalign")
    assert "_files" in script
    for command in COMMANDS:
        assert f'"{command.name}[' in script or f"{command.name})" in script
    if shutil.which("zsh"):
        subprocess.run(["zsh", "-n"], input=script, text=True, check=True)


def test_without_shtab(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["completion", "bash"]) == 1
    assert "pip install 'pairalign[completion]'" in capsys.readouterr().err


# ---------------------------------------------------------------------------------------------
# The manual


def test_manual_page(tmp_path):
    """What `make man` makes has every command and option, and nothing that groff stumbles over."""
    pytest.importorskip("argparse_manpage", reason="argparse-manpage is not installed")
    recipe = (Path(__file__).parents[2] / "Makefile").read_text()
    found = re.search(r"^man:.*\n\t.*\n\t\$\(BIN\)/(argparse-manpage(?:.*\\\n)*.*)$", recipe, re.M)
    assert found
    command = found[1].replace("\\\n", " ").replace("build/man/", f"'{tmp_path}'/")
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    subprocess.run(command, shell=True, check=True, env={**os.environ, "PATH": path})
    page = (tmp_path / "pairalign.1").read_text()
    assert "exact alignment of every pair" in page
    for one in COMMANDS:
        assert f"pairalign {one.name}" in page
    for option in ("\\-\\-mode", "\\-\\-threads", "\\-\\-strict\\-names", "\\-\\-preset"):
        assert option in page
    if shutil.which("groff"):
        done = subprocess.run(
            ["groff", "-man", "-Tutf8", "-ww", "-z", tmp_path / "pairalign.1"],
            capture_output=True,
            text=True,
            check=True,
        )
        assert "error" not in done.stderr
