"""Commands that go on by the results of steps that they have kept: posterior and msa."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pairalign.cli.main import main
from pairalign.engines.cpu.cpu_posterior import PosteriorEngine
from pairalign.jobs.msa import adding
from pairalign.jobs.posterior import posterior as job

LETTERS = list("ARNDCQEGHILKMFPSTWYV")


class Killed(BaseException):
    """Ends a run in the middle."""


@pytest.fixture
def computed(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """How many calls of the engine there were, and after which one a run is to be killed."""
    state: dict[str, Any] = {"calls": 0, "until": None}
    compute = PosteriorEngine.compute

    def counted(self: PosteriorEngine, queries: Any, targets: Any) -> Any:
        if state["until"] is not None and state["calls"] >= state["until"]:
            raise Killed
        state["calls"] += 1
        return compute(self, queries, targets)

    monkeypatch.setattr(PosteriorEngine, "compute", counted)
    monkeypatch.setattr(job, "PIECE_RESIDUES", 100)
    monkeypatch.setattr(PosteriorEngine, "residues_at_once", 100)
    return state


def write_family(path: Path, count: int, length: int = 30) -> None:
    random = np.random.default_rng(count)
    ancestor = random.choice(LETTERS, length)
    lines = []
    for k in range(count):
        own = ancestor.copy()
        changed = random.random(length) < 0.4
        own[changed] = random.choice(LETTERS, int(changed.sum()))
        lines.append(f">s{k}\n{''.join(own[: length - k % 5])}\n")
    path.write_text("".join(lines))


def others_of(added: str) -> str:
    """Return as many new sequences that are no copies of these."""
    return added.replace(">new", ">newer").replace("A", "W")


COMMANDS = {
    "posterior.tsv": (["posterior"], 8),
    "posterior.npz": (["posterior"], 8),
    "msa.sto": (["msa"], 8),
    "checked.tsv": (["msa", "--confidence-of", "msa.sto"], 8),
    "large.sto": (["msa", "--partners", "4", "-t", "1"], 106),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_run_goes_on_where_it_was_ended(name, here, computed):
    arguments, count = COMMANDS[name]
    write_family(here / "family.fa", count)
    if "--confidence-of" in arguments:
        assert main(["msa", "family.fa", "-o", "made.afa", "-q"]) == 0
        arguments = ["msa", "--confidence-of", "made.afa"]
    command = [arguments[0], "family.fa", *arguments[1:], "-q", "--device", "cpu"]
    computed["calls"] = 0
    assert main([*command, "-o", f"whole.{name}"]) == 0
    whole, calls = Path(f"whole.{name}").read_bytes(), computed["calls"]
    assert calls > 5
    resumed = [*command, "-o", name, "--resume", "--commit-every", "0"]
    for until in (calls // 3, calls // 3, calls):
        computed["calls"], computed["until"] = 0, until
        try:
            assert main(resumed) == 0
            break
        except Killed:
            assert Path(f"{name}.parts/.part-1-of-1.begun").exists()
            assert not Path(name).exists()
    assert computed["calls"] == calls - 2 * (calls // 3)
    assert Path(name).read_bytes() == whole
    left = {path.name for path in here.iterdir()} - {"family.fa", "made.afa"}
    assert left == {name, f"whole.{name}"}


def test_groups_and_joins_are_kept(here, computed):
    """Of FASTA, which has no confidence: its posteriors are those of groups and joins alone."""
    write_family(here / "family.fa", 130, 12)
    command = ["msa", "family.fa", "-q", "-t", "1", "--device", "cpu", "-o"]
    assert main([*command, "whole.afa"]) == 0
    calls = computed["calls"]
    assert calls >= 5
    resumed = [*command, "a.afa", "--resume", "--commit-every", "0"]
    computed["calls"], computed["until"] = 0, calls - 1  # the last join
    with pytest.raises(Killed):
        main(resumed)
    computed["calls"], computed["until"] = 0, None
    assert main(resumed) == 0
    assert computed["calls"] < calls - 1
    assert Path("a.afa").read_bytes() == Path("whole.afa").read_bytes()


def test_another_run_and_damage_are_refused(here, computed, capsys):
    write_family(here / "family.fa", 8)
    command = ["posterior", "family.fa", "-o", "p.tsv", "--resume", "--commit-every", "0", "-q"]
    computed["until"] = 4
    with pytest.raises(Killed):
        main(command)
    computed["until"] = None
    piece = Path("p.tsv.parts/part-1-of-1.2.steps")
    kept = piece.read_bytes()
    assert main([*command, "--threshold", "0.1"]) != 0
    assert "threshold" in capsys.readouterr().err
    assert piece.read_bytes() == kept
    piece.write_bytes(kept[:-9] + bytes(9))
    assert main(command) != 0
    assert "delete it and" in capsys.readouterr().err
    piece.write_bytes(kept)
    assert main([*command, "--threads", "1"]) == 0
    assert not piece.parent.exists()


@pytest.mark.parametrize("format", ["afa", "sto"])
def test_additions_go_on_where_they_were_ended(format, here, monkeypatch, computed):
    monkeypatch.setattr(adding, "_AT_ONCE", 4)
    write_family(here / "family.fa", 8)
    assert main(["msa", "family.fa", "-o", "made.afa", "-q"]) == 0
    added = (here / "family.fa").read_text().replace(">s", ">new")
    (here / "new.fa").write_text(added + others_of(added))
    command = ["msa", "--add", "new.fa", "--to", "made.afa", "-q", "--device", "cpu", "-o"]
    computed["calls"] = 0
    assert main([*command, f"whole.{format}"]) == 0
    calls, out = computed["calls"], f"out.{format}"
    assert calls == 4 if format == "afa" else calls > 8
    resumed = [*command, out, "--resume", "--commit-every", "0"]
    ends = (1, 2, calls) if format == "afa" else (2, 4, calls)  # the last in confidence
    for until in ends:
        computed["calls"], computed["until"] = 0, until
        try:
            assert main(resumed) == 0
            break
        except Killed:
            assert Path(f"{out}.parts").exists()
            assert not Path(out).exists()
    assert computed["calls"] == calls - ends[0] - ends[1]
    assert Path(out).read_bytes() == Path(f"whole.{format}").read_bytes()
    left = {path.name for path in here.iterdir()}
    assert left == {"family.fa", "new.fa", "made.afa", out, f"whole.{format}"}


def test_clades_of_additions_go_on_where_they_were_ended(here, monkeypatch, computed):
    monkeypatch.setattr(adding, "_AT_ONCE", 2)
    monkeypatch.setattr(adding, "MOST_IN_GROUP", 4)
    write_family(here / "family.fa", 8)
    write_family(here / "others.fa", 9)
    assert main(["msa", "family.fa", "-o", "made.afa", "-q"]) == 0
    others = (here / "others.fa").read_text().replace(">s", ">new")
    (here / "new.fa").write_text(others + others_of(others))
    command = ["msa", "--add", "new.fa", "--to", "made.afa", "-q", "--device", "cpu", "-o"]
    clades: list[int] = []
    fits_of = adding._fits_of
    monkeypatch.setattr(
        adding,
        "_fits_of",
        lambda clade, *given: clades.append(len(clade)) or fits_of(clade, *given),
    )
    assert main([*command, "whole.afa"]) == 0
    assert max(clades) > 1
    expected = [*clades]
    batches = computed["calls"]
    for until in (batches // 2, None):
        computed["calls"], computed["until"] = 0, until
        clades.clear()
        try:
            assert main([*command, "o.afa", "--resume", "--commit-every", "0"]) == 0
        except Killed:
            assert 0 < len(clades) < len(expected)
    assert 0 < len(clades) < len(expected)
    assert clades == expected[-len(clades) :]
    assert Path("o.afa").read_bytes() == Path("whole.afa").read_bytes()


def test_additions_to_another_alignment_are_refused(here, monkeypatch, computed, capsys):
    monkeypatch.setattr(adding, "_AT_ONCE", 4)
    write_family(here / "family.fa", 8)
    assert main(["msa", "family.fa", "-o", "made.afa", "-q"]) == 0
    (here / "new.fa").write_text((here / "family.fa").read_text().replace(">s", ">new"))
    command = ["msa", "--add", "new.fa", "--to", "made.afa", "-q", "--device", "cpu", "-o", "o.afa"]
    computed["calls"], computed["until"] = 0, 1
    with pytest.raises(Killed):
        main([*command, "--resume", "--commit-every", "0"])
    computed["until"] = None
    made = Path("made.afa").read_text()
    Path("made.afa").write_text(
        "".join(line + "-" * (line[0] != ">") + "\n" for line in made.split())
    )
    assert main([*command, "--resume"]) != 0
    assert "o.afa" in capsys.readouterr().err
    Path("made.afa").write_text(made)
    assert main([*command, "--resume"]) == 0
    left = {path.name for path in here.iterdir()}
    assert left == {"family.fa", "new.fa", "made.afa", "o.afa"}
