"""What a run has not made stays as it is, whatever its name."""

from pathlib import Path

import pytest
from support.foreign import KINDS, put, seen

from pairalign.base.run_files import new_hidden_name
from pairalign.cli.main import main

FASTA = ">a\nACGTACGTACGT\n>b\nACGTTCGTACG\n>c\nACGGTACGTTT\n"
COMMANDS = {
    "align": ("align", "o.paf", []),
    "overlap": ("overlap", "o.paf", []),
    "distance": ("distance", "o.phy", []),
    "tree": ("tree", "o.nwk", []),
}


def run(command, *more):
    Path("in.fa").write_text(FASTA)
    name, output, options = COMMANDS[command]
    return main([name, "in.fa", "--alphabet", "dna", "-o", output, *options, *more])


PLACES = ["", "/.part-1-of-1.begun", "/part-1-of-1.{}", "/part-1-of-1.2.{}", "/notes.txt"]
CASES = [("align", place, kind) for place in PLACES for kind in KINDS]
CASES += [(one, place, "link") for one in COMMANDS if one != "align" for place in PLACES]


REFUSED = [case for case in CASES if case[1] != "/notes.txt" and case[1:] != ("", "folder")]


@pytest.mark.parametrize("more", [[], ["--resume"]])
@pytest.mark.parametrize(("command", "place", "kind"), CASES)
def test_a_run_leaves_strangers_alone(command, place, kind, more, here, capfd):
    path = stranger(here, command, place, kind)
    before = seen(path)
    is_refused = bool(more) and (command, place, kind) in REFUSED
    assert (run(command, *more) in (1, 2)) == is_refused
    said = capfd.readouterr().err  # a link leads to "victim"
    assert not is_refused or path.name in said or "victim' is not of this run" in said
    assert seen(path) == before


def stranger(folder, command, place, kind):
    """Put something into the place of what a run keeps that can be resumed; return where."""
    format = "paf" if command in ("align", "overlap") else "distances"
    path = folder / f"{COMMANDS[command][1]}.parts{place.format(format)}"
    path.parent.mkdir(exist_ok=True)
    put(path, kind)
    return path


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "folder"])
@pytest.mark.parametrize("more", [[], ["--resume"]])
@pytest.mark.parametrize("command", ["align", "distance"])
def test_a_folder_for_a_cluster_is_no_other(command, more, kind, here, capfd):
    pytest.importorskip("distributed")
    path = here / f"{COMMANDS[command][1]}.parts"
    put(path, kind)
    before = seen(path)
    assert run(command, "--dask", "tcp://127.0.0.1:1", *more) in (1, 2)
    assert path.name in capfd.readouterr().err
    assert seen(path) == before


@pytest.mark.parametrize("more", [[], ["--resume"]])
def test_parts_of_another_run_stay(more, here, capfd):
    pytest.importorskip("distributed")
    shard = ["--shard", "1/2", "-o", "o.paf.parts"]
    (here / "in.fa").write_text(FASTA)
    assert main(["align", "in.fa", "--alphabet", "dna", "--gap-open", "7", *shard]) == 0
    before = {path: (seen(path)) for path in (here / "o.paf.parts").iterdir()}
    assert run("align", "--dask", "tcp://127.0.0.1:1", *more) == 1
    assert "of another run" in capfd.readouterr().err
    assert {path: (seen(path)) for path in (here / "o.paf.parts").iterdir()} == before
    assert not (here / "o.paf").exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["part-1-of-2.json", ".part-1-of-2.begun"])
def test_a_manifest_of_a_shard_is_replaced_only_if_it_is_one(name, kind, here, capfd):
    (here / "in.fa").write_text(FASTA)
    (here / "parts").mkdir()
    path = here / "parts" / name
    put(path, kind)
    before = seen(path)
    assert main(["align", "in.fa", "--alphabet", "dna", "-o", "parts", "--shard", "1/2"]) in (1, 2)
    assert path.name in capfd.readouterr().err
    assert seen(path) == before


@pytest.mark.parametrize(
    "name", [*("o.paf.parts/part-1-of-1.paf", new_hidden_name("o.paf"))], ids=["part", "hidden"]
)
def test_an_input_has_no_name_of_an_output(name, here):
    path = here / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(FASTA)
    before = seen(path)
    assert main(["align", name, "--alphabet", "dna", "-o", "o.paf"]) == 2
    assert seen(path) == before
