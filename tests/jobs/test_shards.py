"""Shards and merge: the bytes of a single run, the same cuts for everybody, and even ones."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from align_command import align
from resuming import md5
from shard_costs import shard_of

from pairalign import CapacityError
from pairalign.base.arguments import parse_shard
from pairalign.cli.main import main
from pairalign.formats import FORMATS, parquet
from pairalign.formats.pieces import read_manifests, remove_parts
from pairalign.jobs.run.align import AlignmentJob
from pairalign.jobs.run.slabs import weigh_residues
from pairalign.pairs.windows import WindowGrid

SEVERAL = [name for name in FORMATS if name != "a3m"]  # of one query: below
SHARDS = 5


@pytest.fixture(autouse=True)
def folder(here: Path) -> None:
    write_set(Path("in.fa"), 23, 1)


def write_set(path: Path, count: int, seed: int) -> None:
    """Proteins of very different lengths, some of them related, some without anything in common."""
    rng = np.random.default_rng(seed)
    common = rng.choice(list("ARNDCQEGHILKMFPSTWYV"), 60)
    with path.open("w") as file:
        for i in range(count):
            letters = common[: 4 + 3 * i % 50] if i % 3 else rng.choice(list("GP"), 1 + i)
            file.write(f">p{i} protein\n{''.join(letters)}\n")


def make_parts(*options: str, shards: int = SHARDS, folder: str = "parts") -> None:
    for k in range(shards, 0, -1):  # in no particular order, on machines that differ
        machine = ("--threads", str(1 + k % 2), "--memory", f"{64 << k % 2}M")
        align("in.fa", "-o", folder, "--shard", f"{k}/{shards}", "-q", *machine, *options)


def merge(*arguments: str, code: int = 0) -> None:
    assert main(["merge", *arguments]) == code


@pytest.mark.parametrize(
    ("format", "options"),
    [
        *((format, ("--min-score", "9999")) for format in SEVERAL),
        *((format, ("--mode", "local", "--window", "4")) for format in ("fasta", "parquet")),
        ("paf", ("--min-identity", "0.5", "--window", "4")),
    ],
)
def test_merged_parts_are_a_single_run(format, options, monkeypatch):
    monkeypatch.setattr(parquet, "GROUP_PAIRS", 40)
    monkeypatch.setattr(parquet, "GROUP_RUNS", 200)
    options = (*options, "--format", format)
    endings = ("", ".gz") if FORMATS[format].compressible else ("",)
    for ending in endings:
        align("in.fa", "-o", f"one{ending}", "-q", *options)
    make_parts(*options)
    for ending in endings:
        merge("parts", "-o", f"all{ending}", "-q")
        assert Path(f"all{ending}").read_bytes() == Path(f"one{ending}").read_bytes()


def test_a_matrix_of_wrong_parts(capfd):
    make_parts(shards=1)
    assert main(["tree", "parts", "-o", "all.nwk", "-q"]) == 1
    assert "parts of paf, expected distances" in capfd.readouterr().err


def test_parts_of_a_list():
    rng = np.random.default_rng(3)
    pairs = {(int(min(a, b)), int(max(a, b))) for a, b in rng.integers(0, 23, (90, 2)) if a != b}
    lines = [f"p{a}\tp{b}\n" for a, b in pairs]
    Path("pairs.tsv").write_text("".join(lines))
    options = ("--pairs", "pairs.tsv", "--window", "5")
    align("in.fa", "-o", "one.fasta", "-q", *options)
    make_parts("--format", "fasta", *options, shards=9)
    merge("parts", "-o", "all.fasta", "-q")
    assert md5("all.fasta") == md5("one.fasta")
    Path("pairs.tsv").write_text("".join(lines[1:]))
    align("in.fa", "-o", "parts", "-q", "--shard", "1/9", "--format", "fasta", *options)
    merge("parts", "-o", "all.fasta", "-q", code=1)


def test_parts_of_a3m():
    write_set(Path("query.fa"), 1, 2)
    options = ("--format", "a3m", "-q")
    align("query.fa", "in.fa", "-o", "one.a3m", *options)
    for k in (3, 1, 2):
        align("query.fa", "in.fa", "-o", "parts", "--shard", f"{k}/3", *options)
    merge("parts", "-o", "all.a3m", "-q")
    assert md5("all.a3m") == md5("one.a3m")


def test_what_is_no_piece_of_the_run_stays():
    make_parts()
    own = Path("parts/part-1-of-3.bak")
    own.write_text("mine")
    remove_parts(read_manifests("parts"))
    assert [path.name for path in Path("parts").iterdir()] == [own.name]
    own.unlink()
    make_parts()
    remove_parts(read_manifests("parts"))
    assert not Path("parts").exists()


def test_plan_says_what_is_missing(capfd):
    align("in.fa", "-o", "one.paf", "-q")
    align("in.fa", "-o", "parts", "--shard", "2/5", "-q")
    capfd.readouterr()
    merge("parts", "-o", "all.paf", code=1)
    assert "4 of 5 parts are missing: 1,3-5" in capfd.readouterr().err
    assert not Path("all.paf").exists()
    merge("parts", "--plan")
    comment, *commands = capfd.readouterr().out.splitlines()
    assert comment == "# 4 of 5 parts are missing: 1,3-5"
    assert commands[0] == "pairalign align in.fa -o parts -q --shard 1/5"
    for command in commands:
        assert main(command.split()[1:]) == 0
    merge("parts", code=2)
    assert "nowhere to write to: give -o OUT, or --plan" in capfd.readouterr().err
    merge("parts", "-o", "all.paf", "-q")
    assert md5("all.paf") == md5("one.paf")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("--gap-open", "12"), "scoring.gap_open: 11 and 12"),
        (("--mode", "local"), "scoring.mode: global and local"),
        (("--min-score", "3"), "want.min_raw_score: None and 3"),
        (("--window", "7"), "window: 1024 and 7"),
    ],
)
def test_parts_of_different_runs(change, said, capfd):
    align("in.fa", "-o", "parts", "--shard", "1/2", "-q")
    align("in.fa", "-o", "parts", "--shard", "2/2", "-q", *change)
    merge("parts", "-o", "all.paf", code=1)
    assert said in capfd.readouterr().err


def test_damage_is_found(capfd):
    make_parts(shards=2)
    part = Path("parts/part-1-of-2.paf")
    text = part.read_bytes()
    part.write_bytes(text[:-1])
    merge("parts", "-o", "all.paf", code=1)
    assert "part-1-of-2.paf' is not what was written" in capfd.readouterr().err
    part.write_bytes(b"X" + text[1:])
    merge("parts", "-o", "all.paf", code=1)
    assert "its checksum is another" in capfd.readouterr().err
    part.unlink()
    merge("parts", "-o", "all.paf", code=1)
    assert not Path("all.paf").exists()
    manifest = Path("parts/part-2-of-2.json")
    kept = manifest.read_bytes()
    for damaged in (kept[:-30], b"[]", b'{"run": 1}', b""):
        manifest.write_bytes(damaged)
        merge("parts", "-o", "all.paf", code=1)
        assert "part-2-of-2.json' is damaged" in capfd.readouterr().err


def test_parts_are_not_replaced_by_what_is_made_of_them(capfd):
    make_parts(shards=2)
    for name in ("part-1-of-2.paf", "part-2-of-2.json"):
        kept = Path("parts", name).read_bytes()
        merge("parts", "-o", f"./parts/{name}", code=2)
        assert f"{name}' is an input" in capfd.readouterr().err
        assert Path("parts", name).read_bytes() == kept


def test_parts_that_were_cut_elsewhere(capfd, monkeypatch):
    make_parts(shards=3)
    with monkeypatch.context() as patch:
        patch.setattr("pairalign.jobs.run.blocks.PAIR_CELLS", 100_000)
        align("in.fa", "-o", "parts", "--shard", "2/3", "-q")
    merge("parts", "-o", "all.paf", code=1)
    assert "another version has cut it; make it again" in capfd.readouterr().err
    align("in.fa", "-o", "parts", "--shard", "2/3", "-q")
    merge("parts", "-o", "all.paf")


def test_wrong_usage(capfd):
    make_parts(shards=1)
    merge("parts", "-o", "all.tsv", code=2)
    assert "the parts are paf, which the name" in capfd.readouterr().err
    merge("parts", code=2)


def test_a_part_is_complete_with_its_manifest():
    make_parts(shards=1)
    manifest = json.loads(Path("parts/part-1-of-1.json").read_text())
    assert manifest["pieces"][0][2] == Path("parts/part-1-of-1.paf").stat().st_size
    Path("none.fa").write_text("")
    align("none.fa", "-o", "parts", "--shard", "1/1", "-q", code=1)
    assert json.loads(Path("parts/part-1-of-1.json").read_text()) == manifest  # nothing was begun
    align("in.fa", "-o", "parts", "--shard", "1/1", "-q", "--mode", "local")
    assert json.loads(Path("parts/part-1-of-1.json").read_text())["run"] != manifest["run"]


def test_a_part_of_several_pieces_goes_on(monkeypatch):
    """With more pieces: one ends where a range of pairs does, and where the run was ended."""
    options = ("--window", "2", "--format", "fasta", "--min-score", "5", "--mode", "local", "-q")
    make_parts(*options)
    merge("parts", "-o", "one.fasta", "-q")
    manifests = {path.name: json.loads(path.read_text()) for path in Path("parts").glob("*.json")}
    assert max(len(one["pieces"]) for one in manifests.values()) > 2
    resumed = ("--resume", "--commit-every", "0", *options)
    for k in range(1, SHARDS + 1):
        for results in (1, 2, 3, 100):
            with monkeypatch.context() as patch:
                patch.setattr("pairalign.cli.align_command.keep_freed_memory", lambda _: None)
                patch.setattr(AlignmentJob, "_run", ended_after(results, AlignmentJob._run))
                shard = ("--shard", f"{k}/{SHARDS}")
                code = main(["align", "in.fa", "-o", "again", *shard, *resumed])
            if code == 0:
                break
        assert code == 0
    merge("again", "-o", "all.fasta", "-q")
    assert md5("all.fasta") == md5("one.fasta")
    for name, manifest in manifests.items():
        found = json.loads(Path("again", name).read_text())
        ends = [{start + pairs for start, pairs, *_ in one["pieces"]} for one in (manifest, found)]
        assert ends[0] <= ends[1]
    assert len(list(Path("again").iterdir())) > len(list(Path("parts").iterdir()))


def ended_after(count: int, run: Callable[..., Any]) -> Callable[..., Any]:
    """A run that fails after some results."""

    def some(*arguments: Any, **options: Any) -> Iterator[Any]:
        for number, result in enumerate(run(*arguments, **options)):
            if number == count:
                raise CapacityError("killed")
            yield result

    return some


# ---------------------------------------------------------------------------------------------
# Cuts


def test_weights():
    lengths = np.array([1, 400, 20_000, 25_000, 36_000, 100_000], np.int32)
    assert weigh_residues(lengths).tolist() == [1, 400, 20_000, 50_000, 151_200, 420_000]


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "x/4", "3/4/5", "-1/4", f"1/{10**20}"])
def test_what_is_no_shard(text):
    with pytest.raises(ValueError, match=r".*"):
        parse_shard(text)


def test_the_ending_of_a_folder_says_the_format():
    make_parts(folder="x.tsv")
    assert {path.suffix for path in Path("x.tsv").iterdir()} == {".tsv", ".json"}


def test_cuts_of_genomes():
    """A window's cells may need more than 64 bits."""
    lengths = np.full(1024, 5_000_000, np.int32)
    grid = WindowGrid(len(lengths))
    sizes = [
        sum(window.pairs for window in shard_of(grid, lengths, lengths, k, 8)[0])
        for k in range(1, 9)
    ]
    assert sum(sizes) == 1024 * 1023 // 2
    assert max(sizes) - min(sizes) <= 1
