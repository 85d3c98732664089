"""`pairalign update`: the bytes of a run of all sequences, with new pairs aligned alone."""

import json
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from align_command import align
from resuming import change_manifest

import pairalign
from pairalign.cli.main import main
from pairalign.errors import FormatError, UsageError
from pairalign.formats import FORMATS
from pairalign.formats.output import HeldOutput
from pairalign.jobs.run.align import AlignmentJob

NOT_READ = ("a3m", "gexf", "graphml", "tc_lib", "edges")
ADDED = [name for name in FORMATS if name not in NOT_READ]
"""Formats of several queries that are read back."""
ONE_WAY = ("abc", "npz")


@pytest.fixture(autouse=True)
def folder(here: Path) -> None:
    write_set("old.fa", 29, "p", 1)
    write_set("new.fa", 6, "q", 2)
    write_set("newer.fa", 3, "r", 3)


def write_set(path: str, count: int, prefix: str, seed: int) -> None:
    """Relatives of very different lengths, some of which two sets have alike."""
    rng = np.random.default_rng(seed)
    common = np.random.default_rng(0).choice(list("ARNDCQEGHILKMFPSTWYV"), 60)
    with Path(path).open("w") as file:
        for number in range(count):
            letters = common[: 12 + rng.integers(48)].copy()
            changed = rng.random(len(letters)) < 0.6 * rng.random()
            letters[changed] = rng.choice(list("AGILV"), changed.sum())
            file.write(f">{prefix}{number} protein\n{''.join(letters)}\n")


def make_parts(*options: str, shards: int = 2, folder: str = "parts") -> None:
    for shard in range(1, shards + 1):
        align("old.fa", "-o", folder, "--shard", f"{shard}/{shards}", "-q", *options)


def update(*arguments: str, code: int = 0) -> None:
    assert main(["update", *arguments, "-q", "--device", "cpu"]) == code


def fresh(*options: str) -> bytes:
    align("old.fa", "--also", "new.fa", "-o", "fresh", "-q", *options)
    return Path("fresh").read_bytes()


@pytest.mark.parametrize("format", ADDED)
@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--min-identity", "0.5", "--window", "8"),
        ("--mode", "local", "--max-hits", "2", "--rank", "evalue"),
    ],
    ids=["all", "identity", "hits"],
)
def test_an_update_is_a_run_of_all(format, options):
    if "--max-hits" in options and format in ONE_WAY:
        pytest.skip("these formats have no parts of hits")
    if "--mode" in options:
        options = (*options, "--search-space", "1e6")
    options = ("--format", format, *options)
    make_parts(*options)
    update("parts", "new.fa", "-o", "updated")
    assert Path("updated").read_bytes() == fresh(*options)


@pytest.mark.parametrize(("more", "shards"), [(False, 3), (True, 1)], ids=["none", "new ones"])
@pytest.mark.parametrize("format", ADDED)
def test_a_run_of_which_no_pair_passed(format, more, shards):
    """What an update adds to such a run, whether new pairs pass or not."""
    letters = "".join(np.random.default_rng(7).choice(list("ARNDCQEGHILKMFPSTWYV"), 90))
    alike = "".join(f">q{number}\n{letters[number:]}\n" for number in range(3))
    Path("new.fa").write_text(alike if more else ">q\nACDEFGHIKLMNPQRSTVWY\n")
    options = ("--min-score", "400", "--format", format)
    make_parts(*options, shards=shards)
    update("parts", "new.fa", "-o", "out")
    expected = fresh(*options)
    assert Path("out").read_bytes() == expected
    align("old.fa", "-o", "before", "-q", *options)
    assert (expected.count(b"q1") > Path("before").read_bytes().count(b"q1")) == (
        more and format != "npz"
    )


@pytest.mark.parametrize("options", [(), ("--max-hits", "3", "--min-identity", "0.5")])
@pytest.mark.parametrize("mode", ["global", "local"])
def test_both_strands(mode, options):
    rng = np.random.default_rng(4)
    for path, count, prefix in (("old.fa", 20, "p"), ("new.fa", 5, "q")):
        sequences = ("".join(rng.choice(list("ACGT"), rng.integers(40, 90))) for _ in range(count))
        text = "".join(f">{prefix}{k}\n{one}\n" for k, one in enumerate(sequences))
        Path(path).write_text(text)
    options = ("--format", "paf", "--strand", "both", "--mode", mode, *options)
    make_parts(*options)
    update("parts", "new.fa", "-o", "updated")
    assert Path("updated").read_bytes() == fresh(*options)


def test_a_folder_can_be_added_to():
    make_parts("--format", "paf", shards=1)
    update("parts", "new.fa", "-o", "parts2/")
    os.mkdir("parts3")
    update("parts", "new.fa", "-o", "parts3")
    assert sorted(os.listdir("parts3")) == sorted(os.listdir("parts2"))
    update("parts2", "newer.fa", "-o", "updated.paf.gz")
    align(
        *("old.fa", "--also", "new.fa", "--also", "newer.fa", "-q", "-o", "fresh.paf.gz"),
        *("--format", "paf"),
    )
    assert Path("updated.paf.gz").read_bytes() == Path("fresh.paf.gz").read_bytes()
    assert main(["merge", "parts2", "-o", "merged.paf", "-q"]) == 0
    assert Path("merged.paf").read_bytes() == fresh("--format", "paf")


@pytest.mark.parametrize(
    "options",
    [
        ("--weight", "score"),
        ("--weight", "evalue", "--mode", "local", "--search-space", "1e6"),
        ("--min-score", "9999"),
    ],
    ids=["score", "evalue", "nothing"],
)
@pytest.mark.parametrize("shards", [1, 3])
def test_entries_of_matrices(options, shards):
    """Those of the earlier run are kept; a part has what one of a run of all has."""
    options = ("--format", "npz", *options)
    make_parts(*options, shards=shards)
    update("parts", "new.fa", "-o", "updated/")
    align("old.fa", "--also", "new.fa", "-o", "all", "--shard", "1/1", "-q", *options)
    found, expected = (Path(one, "part-1-of-1.npz").read_bytes() for one in ("updated", "all"))
    assert found == expected
    said, wanted = (
        json.loads(Path(one, "part-1-of-1.json").read_text()) for one in ("updated", "all")
    )
    own = {"command": None, "digest": None}
    assert {**said, **own} == {**wanted, **own}


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[AlignmentJob]:
    """Jobs that are opened."""
    jobs: list[AlignmentJob] = []
    whole = AlignmentJob.open

    def open_(job: AlignmentJob):
        jobs.append(job)
        return whole(job)

    monkeypatch.setattr(AlignmentJob, "open", open_)
    return jobs


@pytest.mark.parametrize("options", [("--min-identity", "0.5"), ("--min-score", "100")])
def test_pairs_that_pass_are_aligned_again(options, opened):
    """New pairs come in full rows; the list has those alone that are written."""
    expected = fresh("--format", "fasta", *options)
    make_parts("--format", "fasta", *options)
    opened.clear()
    update("parts", "new.fa", "-o", "updated.fasta")
    assert Path("updated.fasta").read_bytes() == expected
    written = expected.count(b">") // 2
    assert sorted(job.pairs for job in opened[:2]) == [15, 29 * 6]
    assert [job.pairs for job in opened[2:]] == [written]
    assert 0 < written < 29 * 28 // 2


@pytest.mark.parametrize("format", ["paf", "npz"])
def test_only_new_pairs_are_aligned(format, opened):
    make_parts("--format", format)
    opened.clear()
    lengths = [len(line) for line in Path("old.fa").read_text().split("\n")[1::2]]
    new = [len(line) for line in Path("new.fa").read_text().split("\n")[1::2]]
    update("parts", "new.fa", "-o", f"updated.{format}")
    pairs = (sum(new) ** 2 - sum(one * one for one in new)) // 2
    assert sum(job.cells for job in opened) == sum(lengths) * sum(new) + pairs


OF_HITS = [
    "",
    "--min-identity 0.5",
    "--gap-open 10.5",
    "--rank identity",
    "--mode local --hsps 2 --min-score 12",
    "--mode local --max-evalue 0.1 --search-space 1e5",
    "--mode local --max-evalue 0.1 --search-space 1e5 --rank evalue",
    "--min-coverage 0.9 --coverage-of query",
    "--memory 20K --window 8",
]
OF_TABLES = ["--score-only", "--columns score,sseqid,qseqid,pident"]
OF_TABLES += ["--columns sseqid,qseqid,pident"]
OF_PAIRS = [
    "--both-ways",
    "--hsps 2 --mode local --min-score 12",
    "--columns score,sseqid,qseqid",
    "--mode local --max-evalue 0.1 --search-space 1e5",
    "--min-identity 1",
]


@pytest.mark.parametrize(
    ("format", "options"),
    [
        *(("tsv", options) for options in OF_PAIRS),
        *(("tsv", f"--max-hits 2 {options}") for options in OF_HITS + OF_TABLES),
        *(("tsv", f"--max-hits 100 {options}") for options in OF_HITS[:1] + OF_TABLES),
        *((format, f"-k 2 {options}") for format in ("paf", "sam") for options in OF_HITS[::2]),
        ("blast7", "-k 2 --mode local --search-space 1e5"),
    ],
)
def test_lines_of_pairs_and_of_hits(format, options):
    words = ("--format", format, *options.split())
    make_parts(*words, shards=3)
    update("parts", "new.fa", "-o", "updated")
    assert Path("updated").read_bytes() == fresh(*words)


@pytest.mark.parametrize("format", ["tsv", "paf", "sam"])
def test_hits_are_ranked_among_those_before_and_new_pairs(format, opened):
    options = ("--format", format, "--max-hits", "2", "--gap-open", "10.5")
    make_parts(*options)
    old = {line for one in Path("parts").iterdir() for line in one.read_text().splitlines()}
    opened.clear()
    update("parts", "new.fa", "-o", "updated")
    pairs = [job.pairs for job in opened]
    known, ranked, aligned = pairs[0], pairs[1:3], pairs[3:]
    assert 0 < known <= len(old) < 29 * 28 // 2
    assert sorted(ranked) == [6 * 5 // 2, 29 * 6]
    assert 0 < sum(aligned) <= len(Path("updated").read_text().splitlines())


def said(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 1) -> str:
    capsys.readouterr()
    update(*arguments, code=code)
    assert not os.path.exists("updated")
    return capsys.readouterr().err


def test_refusals(capsys):
    local = ("--mode", "local", "--format", "tsv", "--columns", "query,target,evalue")
    make_parts(*local, folder="local")
    assert "--search-space" in said(capsys, "local", "new.fa", "-o", "updated", code=2)
    assert not [name for name in os.listdir() if name.startswith(".")]
    align("old.fa", "new.fa", "-o", "two", "--shard", "1/1", "--format", "paf", "-q")
    assert "one set against another" in said(capsys, "two", "newer.fa", "-o", "updated")
    Path("list").write_text("p1 p2\n")
    Path("groups.csv").write_text("name,cluster\np1,a\np2,a\n")
    for option, file in (("--pairs", "list"), ("--within", "groups.csv")):
        listed = (option, file, "--shard", "1/1", "--format", "paf", "-q")
        align("old.fa", "-o", f"of{option}", *listed)
        assert option in said(capsys, f"of{option}", "newer.fa", "-o", "updated")
    for format in ("gexf", "graphml", "tc_lib"):
        make_parts("--format", format, folder=format)
        not_read = f"{format} is not read back"
        assert not_read in said(capsys, format, "new.fa", "-o", "updated")
    distances = ["distance", "old.fa", "-o", "distances", "--shard", "1/1", "-q"]
    assert main(distances) == 0
    assert "distance --extend" in said(capsys, "distances", "new.fa", "-o", "updated")
    make_parts("--format", "paf", folder="paf")
    Path("gaps.fa").write_text(">x\nMK-TW\n")
    Path("binary.fa").write_bytes(b">x\nMK\x01TW\n")
    as_made = "; files are read as 'paf' was made"
    assert f"rename){as_made}" in said(capsys, "paf", "old.fa", "-o", "updated")
    assert f"(--degap){as_made}" in said(capsys, "paf", "gaps.fa", "-o", "updated")
    assert as_made not in said(capsys, "paf", "binary.fa", "-o", "updated")


@pytest.mark.parametrize("shards", [1, 2])
def test_what_is_read_is_not_replaced(shards, capsys):
    make_parts("--format", "paf", shards=shards)
    for path, link in (("parts", "same"), ("old.fa", "old.paf"), ("new.fa", "new.paf")):
        os.symlink(path, link)
    before = {path: path.read_bytes() for path in [*Path("parts").iterdir(), Path("old.fa")]}
    for output in (
        "parts",
        "parts/",
        "./parts/",
        "same/",
        "old.paf",
        "new.paf",
        "parts/part-1.json",
    ):
        if output == "parts/part-1.json":
            output = f"parts/part-1-of-{shards}.json"
        message = said(capsys, "parts", "new.fa", "-o", output, code=2)
        assert "choose another output" in message
    assert {path: path.read_bytes() for path in before} == before
    assert sorted(Path("parts").iterdir()) == sorted(path for path in before if path.parent.name)


@pytest.mark.parametrize("format", ["paf", "srspair", "npz"])
def test_pairs_among_temporary_files_are_private(format, monkeypatch, capfdbinary):
    make_parts("--format", format)
    temporary = Path("temporary")
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    modes = []

    def note(output: HeldOutput, path: str) -> None:
        made(output, path)
        modes.append(os.stat(output.path).st_mode & 0o777)

    made = HeldOutput.__init__
    monkeypatch.setattr(HeldOutput, "__init__", note)
    capfdbinary.readouterr()
    update("parts", "new.fa", "-o", "-")
    assert capfdbinary.readouterr().out == fresh("--format", format)
    assert set(modes) == {0o600}
    assert not list(temporary.iterdir())


def test_parts_of_other_sequences(capsys):
    make_parts("--format", "paf")
    assert "damaged" not in said(capsys, "parts", "old.fa", "-o", "updated")  # names come again
    part = Path("parts/part-1-of-2.paf")
    kept = part.read_bytes()
    part.write_bytes(kept[::-1])
    assert "is not what was written" in said(capsys, "parts", "new.fa", "-o", "updated")
    part.write_bytes(kept)
    Path("old.fa").write_text(Path("newer.fa").read_text())
    assert "other sequences" in said(capsys, "parts", "new.fa", "-o", "updated")


@pytest.mark.parametrize(
    ("request_of_run", "expected"),
    [
        ({"input": "old.fa", "hsps": "2"}, "--hsps needs --mode local"),
        ({"input": "old.fa", "hsps": 2}, "hsps: found 2"),
        ({"input": "old.fa", "max_hits": "many"}, "max_hits: found 'many'"),
        ({"input": "old.fa", "min_identity": "9/7"}, "min_identity: found '9/7'"),
        ({"input": "old.fa", "mode": "odd"}, "--mode 'odd': expected one of"),
        ({"input": "old.fa", "both_ways": "yes"}, "both_ways: found 'yes'"),
        ({"input": "old.fa", "also": [3]}, "also: found [3]"),
        ({"input": "old.fa", "threads": "3"}, "'threads' is no option that a run stores"),
        ({"input": "old.fa", "strand": "both"}, "made of other sequences"),
        ({}, "does not say what the run was asked"),
    ],
    ids=lambda one: next(reversed(one), "none") if isinstance(one, dict) else "",
)
def test_what_the_run_was_asked_is_checked(request_of_run, expected, capsys):
    for name in ("old.fa", "new.fa"):
        letters = Path(name).read_text().splitlines()[::2]
        Path(name).write_text("".join(f"{one}\nACGTTGCAAC\n" for one in letters))
    make_parts("--format", "paf", "--alphabet", "dna")
    for path in Path("parts").glob("*.json"):
        manifest = json.loads(path.read_text())
        assert manifest["request"] == {"input": "old.fa", "alphabet": "dna"}
        change_manifest(path, request=request_of_run)
    message = said(capsys, "parts", "new.fa", "-o", "updated")
    assert message.startswith("pairalign: error: 'parts'")
    assert expected in message


@pytest.mark.parametrize("format", ["tsv", "fasta", "npz", "paf of hits"])
def test_a_folder_knows_what_was_written(format):
    """As one that a run of all has made."""
    format, _, hits = format.partition(" of ")
    options = ["--format", format, *(["--max-hits", "2"] if hits else [])]
    make_parts(*options)
    update("parts", "new.fa", "-o", "parts2/")
    update("parts2", "newer.fa", "-o", "parts3/")
    new = ("--also", "new.fa", "--also", "newer.fa")
    align("old.fa", *new, "-o", "all", "--shard", "1/1", "-q", *options)
    said, wanted = (
        json.loads(Path(one, "part-1-of-1.json").read_text())["summary"]
        for one in ("parts3", "all")
    )
    assert said == wanted
    assert said["kept"] > 100 - 40 * bool(hits)


def test_the_summary_counts_new_pairs(capsys):
    make_parts("--format", "paf")
    capsys.readouterr()
    assert main(["update", "parts", "new.fa", "-o", "updated.paf", "--summary", "json"]) == 0
    facts = json.loads(capsys.readouterr().err.strip().splitlines()[-1])
    assert facts["aligned"] == 29 * 6 + 15


def test_python_updates_as_the_command_does():
    make_parts("--format", "tsv")
    update("parts", "new.fa", "-o", "command.tsv")
    made = pairalign.update("parts", ["new.fa"], Path("python.tsv"), device="cpu", memory="1G")
    assert Path("python.tsv").read_bytes() == Path("command.tsv").read_bytes()
    assert (made.output, made.pairs, made.aligned) == ("python.tsv", 35 * 34 // 2, 6 * 29 + 15)
    assert pickle.loads(pickle.dumps(made)) == made
    again = pairalign.update("parts", "new.fa", "more/", device="cpu")
    pairalign.update("more", "newer.fa", "all.tsv", device="cpu")
    assert again.output.startswith("more/")
    assert (
        align("old.fa", "--also", "new.fa", "--also", "newer.fa", "-o", "fresh.tsv", "-q") is None
    )
    assert Path("all.tsv").read_bytes() == Path("fresh.tsv").read_bytes()
    with pytest.raises(FormatError, match="the parts are tsv"):
        pairalign.update("parts", "new.fa", "out.paf")


def test_in_python_an_update_has_a_new_file(tmp_path):
    with pytest.raises(UsageError, match="new: expected at least one file of sequences"):
        pairalign.update(tmp_path / "parts", [], tmp_path / "out.paf")
