"""What a run has not made stays as it is, whatever its name."""

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


def run(tmp_path, monkeypatch, command, *more):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.fa").write_text(FASTA)
    name, output, options = COMMANDS[command]
    return main([name, "in.fa", "--alphabet", "dna", "-o", output, *options, *more])


PLACES = ["", "/.part-1-of-1.begun", "/part-1-of-1.{}", "/part-1-of-1.2.{}", "/notes.txt"]
CASES = [("align", place, kind) for place in PLACES for kind in KINDS]
CASES += [(one, place, "link") for one in COMMANDS if one != "align" for place in PLACES]


@pytest.mark.parametrize(("command", "place", "kind"), CASES)
def test_resume_refuses_what_it_did_not_leave(command, place, kind, tmp_path, monkeypatch, capfd):
    path = stranger(tmp_path, command, place, kind)
    before = seen(path)
    assert run(tmp_path, monkeypatch, command, "--resume") in (1, 2)
    said = capfd.readouterr().err
    assert path.name in said or "victim' is not of this run" in said  # which the link leads to
    assert seen(path) == before


@pytest.mark.parametrize(("command", "place", "kind"), CASES)
def test_a_run_anew_leaves_strangers_alone(command, place, kind, tmp_path, monkeypatch):
    path = stranger(tmp_path, command, place, kind)
    before = seen(path)
    assert run(tmp_path, monkeypatch, command) in (0, 1, 2)
    assert seen(path) == before


def stranger(folder, command, place, kind):
    """Put something into the place of what a run keeps that can be resumed; return where."""
    format = "paf" if command in ("align", "overlap") else "distances"
    path = folder / f"{COMMANDS[command][1]}.parts{place.format(format)}"
    path.parent.mkdir(exist_ok=True)
    put(path, kind)
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("more", [[], ["--resume"]])
@pytest.mark.parametrize("command", ["align", "distance"])
def test_a_folder_for_a_cluster_is_no_other(command, more, kind, tmp_path, monkeypatch, capfd):
    pytest.importorskip("distributed")
    path = tmp_path / f"{COMMANDS[command][1]}.parts"
    put(path, kind)
    before = seen(path)
    assert run(tmp_path, monkeypatch, command, "--dask", "tcp://127.0.0.1:1", *more) in (1, 2)
    assert path.name in capfd.readouterr().err
    assert seen(path) == before


@pytest.mark.parametrize("more", [[], ["--resume"]])
@pytest.mark.parametrize("stranger", [True, False])
def test_parts_of_another_run_or_with_a_stranger_stay(stranger, more, tmp_path, monkeypatch, capfd):
    pytest.importorskip("distributed")
    costs = [] if stranger else ["--gap-open", "7"]
    shard = ["--shard", "1/2", "-o", "o.paf.parts"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.fa").write_text(FASTA)
    assert main(["align", "in.fa", "--alphabet", "dna", *costs, *shard]) == 0
    if stranger:
        (tmp_path / "o.paf.parts" / "notes.txt").write_text("mine")
    before = {path: (seen(path)) for path in (tmp_path / "o.paf.parts").iterdir()}
    assert run(tmp_path, monkeypatch, "align", "--dask", "tcp://127.0.0.1:1", *more) == 1
    error = capfd.readouterr().err
    assert ("notes.txt" if stranger else "of another run") in error
    assert {path: (seen(path)) for path in (tmp_path / "o.paf.parts").iterdir()} == before
    assert not (tmp_path / "o.paf").exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["part-1-of-2.json", ".part-1-of-2.begun"])
def test_a_manifest_of_a_shard_is_replaced_only_if_it_is_one(
    name, kind, tmp_path, monkeypatch, capfd
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.fa").write_text(FASTA)
    (tmp_path / "parts").mkdir()
    path = tmp_path / "parts" / name
    put(path, kind)
    before = seen(path)
    assert main(["align", "in.fa", "--alphabet", "dna", "-o", "parts", "--shard", "1/2"]) in (1, 2)
    assert path.name in capfd.readouterr().err
    assert seen(path) == before


def test_another_commands_manifest_stays_when_the_input_is_bad(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.fa").write_text(FASTA)
    common = ["--alphabet", "dna", "-o", "parts", "--shard", "1/2"]
    assert main(["align", "in.fa", *common]) == 0
    path = tmp_path / "parts" / "part-1-of-2.json"
    before = path.read_bytes()
    assert main(["align", "missing.fa", *common]) == 1
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    "name", [*("o.paf.parts/part-1-of-1.paf", new_hidden_name("o.paf"))], ids=["part", "hidden"]
)
def test_an_input_has_no_name_of_an_output(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(FASTA)
    before = seen(path)
    assert main(["align", name, "--alphabet", "dna", "-o", "o.paf"]) == 2
    assert seen(path) == before
