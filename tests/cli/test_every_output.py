"""Every command, with every file that it writes: what stands beside them stays as it is."""

import os
import re
import sys
from pathlib import Path

import pytest
from support.foreign import KINDS, put, seen

import pairalign
from pairalign.base.declaration import options_of
from pairalign.base.run_files import is_beside, new_hidden_name
from pairalign.cli.main import main
from pairalign.cli.program import COMMANDS, build_parser

FASTA = ">a\nACGTACGTACGTAACC\n>b\nACGTTCGTACGTTACC\n>c\nACGGTACGTTTAACCG\n>d\nTTTTACGTTTAACCGG\n"
GROUPS = re.sub(r">(\w)", lambda found: f">{found[1] in 'ab'}|{found[1]}", FASTA)
NEW = ">new\nACGTTGCAACG\n"
FASTQ = "".join(f"@{r[0]}\n{r[2:]}\n+\n{'I' * len(r[2:])}\n" for r in FASTA[1:-1].split("\n>"))
FOLDS = "name,fold\na,1\nb,1\nc,2\nd,2\n"
DNA = ["--alphabet", "dna"]
SAID = "--log o.log --multiqc o_mqc.json"
LINES = {
    "align": f"in.fa -o o.paf --report o.html {SAID}",
    "align joined": "in.fa -o o.parquet",
    "align network": "in.fa -o o.graphml",
    "align compressed": "in.fa in.fa -o o.tsv.gz -k 1",
    "overlap": f"in.fq -o o.paf --report o.html --read-report o.tsv --min-overlap 5 {SAID}",
    "overlap trimmed": "in.fq -o o.gfa --unitigs --trimmed r.fq --min-overlap 5",
    "distance groups": "groups.fa --alphabet protein -o o.phy --group-by name-prefix"
    " --matches o.tsv --clusters r.tsv --max-distance 0.5",
    "distance": f"in.fa -o o.phy --plot o.svg --report o.html {SAID}",
    "tree": f"in.fa -o o.nwk --report o.html --rename r.tsv {SAID}",
    "cluster": f"in.fa -o o.tsv --min-identity 0.9 --representatives r.fa --report o.html {SAID}",
    "cluster network": "in.fa -o o.gexf --min-identity 0.9 --linkage single",
    "split": "in.fa -o o.csv --min-identity 0.9 --folds 2 --removed r.csv --report o.html " + SAID,
    "split interactions": "in.fa --pairs pairs.tsv -o o.csv --min-identity 0.9 --folds 2"
    " --members r.csv",
    "audit": f"folds.csv in.fa -o o.csv --min-identity 0.9 {SAID}",
    "verify": f"in.paf in.fa -o o.tsv {SAID}",
    "merge": f"parts -o o.paf {SAID}",
    "update": f"parts new.fa -o o.paf {SAID}",
    "posterior": f"in.fa -o o.tsv {SAID}",
    "rotate": f"in.fa -o o.fa --to a:3 {SAID}",
    "pack": f"in.fq -o o.pairset {SAID}",
    "posterior arrays": "in.fa -o o.npz",
    "posterior table": "in.fa -o o.parquet",
    "msa": f"in.fa -o o.afa --tree-out o.nwk --report o.html {SAID}",
}
GUESSED = ("overlap", "distance groups", "merge", "update")
"""Commands whose alphabet is guessed, or said in the line."""
RUNS = {
    name: [name.split()[0], *line.split(), *(() if name.startswith(GUESSED) else DNA)]
    for name, line in LINES.items()
}
WITH_RESUME = ("align", "align joined", "overlap", "distance", "tree")
NEEDS = {"align joined": "pyarrow", "posterior table": "pyarrow", "distance": "matplotlib"}
WITHOUT_RUN = {"devices", "help", "completion"}
"""Commands that write no file."""


def names_beside(output):
    """Names that a run might create, replace or remove, and some that look alike."""
    return [
        *(f"{output}.{end}" for end in ("part", "journal", "parts", "tmp")),
        *(f"{output}.distances.{end}" for end in ("part", "journal")),
        *(f".{output}.{digits}.part" for digits in ("0123abcd", "0123456789abcdef")),
    ]


def outputs_of(command):
    return [word for word in command if re.fullmatch(r"[or](_mqc)?\.[\w.]+", word)]


def resumed(command):
    """The command with --resume, which no report goes with."""
    kept = list(command)
    for option in {"--report", "--read-report"} & {*command}:
        del kept[kept.index(option) : kept.index(option) + 2]
    return [*kept, "--resume"]


CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate"}
watched = []
"""Where to note what is opened for writing, made, renamed or removed; empty: nowhere."""


def note(event, arguments):
    if not watched or (event != "open" and event not in CHANGES):
        return
    if event == "open" and not (
        isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
    ):
        return
    paths = arguments[:2] if event in ("os.rename", "os.link", "os.symlink") else arguments[:1]
    watched[0].update(os.path.abspath(os.fsdecode(p)) for p in paths if not isinstance(p, int))


sys.addaudithook(note)


@pytest.fixture
def folder(here):
    for name, text in (
        ("in.fa", FASTA),
        ("groups.fa", GROUPS),
        ("new.fa", NEW),
        ("in.fq", FASTQ),
        ("folds.csv", FOLDS),
        ("pairs.tsv", "first\tsecond\na\tc\nb\td\n"),
    ):
        Path(name).write_text(text)
    assert main(["align", "in.fa", *DNA, "-o", "in.paf", "--quiet"]) == 0
    for k in ("1/2", "2/2"):
        assert main(["align", "in.fa", *DNA, "-o", "parts", "--shard", k, "--quiet"]) == 0
    return here


@pytest.mark.parametrize(
    ("run", "kind"),
    [
        (run, kind)
        for k, run in enumerate(RUNS)
        for kind in (KINDS if run == "align" else (KINDS[0], KINDS[1 + k % 4]))
    ],
)
def test_what_a_run_did_not_make_stays(run, kind, folder, capfd):
    if run in NEEDS:
        pytest.importorskip(NEEDS[run])
    command = RUNS[run]
    outputs = outputs_of(command)
    strangers = [folder / name for output in outputs for name in names_beside(output)]
    if kind not in ("file", "dangling"):  # such a file of pairalign's own would be replaced
        strangers += [folder / new_hidden_name(output) for output in outputs]
    for path in strangers:
        put(path, kind)
    before = {path: seen(path) for path in [*strangers, folder / "in.fa", folder / "in.paf"]}
    assert main(command) in (0, 1), capfd.readouterr().err  # audit: 1 if it finds something
    assert all((folder / output).is_file() for output in outputs)
    assert {path: seen(path) for path in before} == before
    if run in WITH_RESUME:
        may_be_used = kind == "folder"  # for pieces beside what is in it
        assert main(resumed(command)) in ((0,) if may_be_used else (1, 2))
        assert {path: seen(path) for path in before} == before


@pytest.mark.parametrize(
    ("run", "again"), [*((run, False) for run in RUNS), *((run, True) for run in WITH_RESUME)]
)
def test_a_run_touches_only_names_that_belong_to_its_outputs(run, again, folder, capfd):
    if run in NEEDS:
        pytest.importorskip(NEEDS[run])
    command = resumed(RUNS[run]) if again else RUNS[run]
    outputs = outputs_of(command)
    watched.append(set())
    try:
        assert main(command) in (0, 1), capfd.readouterr().err
    finally:
        touched = watched.pop()
    here = {path for path in touched if os.path.dirname(path) == str(folder)}
    assert {str(folder / output) for output in outputs} <= here
    others = {path for path in here if os.path.basename(path) not in outputs}
    assert [path for path in others if not any(is_beside(path, o) for o in outputs)] == []


def test_every_option_that_names_an_output_is_in_a_run():
    parsers = build_parser()._subparsers._group_actions[0].choices
    assert {command[0] for command in RUNS.values()} == set(parsers) - WITHOUT_RUN
    for one in COMMANDS:
        given = {word for command in RUNS.values() if command[0] == one.name for word in command}
        written = {
            option.name
            for option in options_of(one.load_request())
            if option.kind is not None and option.kind.is_written
        }
        for action in parsers[one.name]._actions if one.name not in WITHOUT_RUN else ():
            if action.dest in written:
                assert given & set(action.option_strings), (one.name, action.dest)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", ["align", "distance", "overlap"])
def test_a_part_without_a_manifest_is_a_strangers(command, kind, folder, capfd):
    ending = {"align": "paf", "distance": "distances", "overlap": "paf"}[command]
    path = folder / "mine" / f"part-1-of-2.{ending}"
    path.parent.mkdir()
    put(path, kind)
    before = seen(path)
    given = "in.fq" if command == "overlap" else "in.fa"
    assert main([command, given, "-o", "mine", "--shard", "1/2"]) == 1
    assert path.name in capfd.readouterr().err
    assert seen(path) == before
    assert not (path.parent / "part-1-of-2.json").exists()


def test_a_part_that_was_begun_and_killed_is_made_again(folder, capfd):
    part, manifest = folder / "parts" / "part-1-of-2.paf", folder / "parts" / "part-1-of-2.json"
    text = part.read_bytes()
    manifest.rename(folder / "parts" / ".part-1-of-2.begun")
    part.write_bytes(b"half a li")
    assert main(["merge", "parts", "-o", "o.paf"]) == 1
    assert "1 of 2 parts are missing: 1;" in capfd.readouterr().err
    assert main(["align", "in.fa", *DNA, "-o", "parts", "--shard", "1/2", "--quiet"]) == 0
    assert part.read_bytes() == text
    assert main(["merge", "parts", "-o", "o.paf"]) == 0
    assert len(list(part.parent.iterdir())) == 4


def test_a_part_that_fails_leaves_no_manifest(folder, monkeypatch):
    def fail(*_):
        raise pairalign.errors.DeviceError("failed")

    monkeypatch.setattr("pairalign.jobs.run.file_destination.Destination.write", fail)
    assert main(["align", "in.fa", *DNA, "-o", "other", "--shard", "1/2"]) == 1
    assert not list((folder / "other").iterdir())


def test_one_module_removes_and_renames():
    package = Path(pairalign.__file__).parent
    calls = re.compile(
        r"os\.(unlink|remove|removedirs|rmdir|rename|renames|replace)\b"
        r"|shutil\.(rmtree|move)\b|\.(unlink|rmdir)\("
    )
    found = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if calls.search(path.read_text())
    }
    assert found == {"base/run_files.py"}
