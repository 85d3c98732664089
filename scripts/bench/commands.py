"""Whole commands as users type them, beside other programs and against goals.

``scripts/benchmark.py commands --folder DATA --only clusters reads``: for each question the
commands run in interleaved rounds, each in a process and a folder of its own, in which ``in.fa``
has the first sequences of a file. A row has wall clock, CPU seconds (with those of children) and
peak memory, what was found, how much of it pairalign found as well, and pairalign's time by the
other's in the same rounds. Programs that are not there are left out. ``--device cuda`` takes GPUs,
for which some questions have goals; ``--against CHECKOUT`` runs another version of pairalign too.
"""

from __future__ import annotations

import argparse
import gzip
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from bench.measure import ratio
from bench.report import Row

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "cytochrome_p450.fasta"
PEER = Path(__file__).with_name("receptors_peer.py")


@dataclass(frozen=True)
class Question:
    """What is asked, of what, and by which commands of bash.

    Attributes
    ----------
    data : str
        Beginning of the name of a file in the folder of data; "" is the example.
    ours : str
        pairalign's command without the program; ``{more}`` is device and threads.
    peers : dict of str to str
        Commands by name; the name's first word is a program that must be there.
    found : dict of str to str
        Commands that print what a program has found, a line each, by name; "" is ours.
    sequences : int
        From the beginning of the file; 0: all.
    before : str
        A command that is not timed.
    cpu_goal : (str, float) or None
        At most this share of that peer's CPU time.
    gpu_goals : tuple of float
        Seconds on one GPU, on two.
    """

    data: str
    ours: str
    peers: dict[str, str] = field(default_factory=dict)
    found: dict[str, str] = field(default_factory=dict)
    sequences: int = 0
    before: str = ""
    cpu_goal: tuple[str, float] | None = None
    gpu_goals: tuple[float, ...] = ()


OURS, READS = "", "16s_v4_50k"
SORTED = """awk '{print ($1 < $2) ? $1" "$2 : $2" "$1}'"""
TSV = f"tail -n +2 out.tsv | {SORTED}"
UC = "awk '$1 == \"S\" {print $9}'"
VSEARCH = "--iddef 1 --minseqlength 1 --qmask none --threads 1 --quiet"
SHORT_DNA = "--match 2 --mismatch -4 --gap-open 22 --gap-extend 2"
SCIRPY = "--gap-open 11 --gap-extend 11 --max-drop 10"
EVERY = "--masking 0 --comp-based-stats 0 -k 0 -e 1e9 --id 50 --query-cover 80 --subject-cover 80"


def _clusters(sequences: int, goal: float) -> Question:
    return Question(
        READS,
        "cluster in.fa -o out.uc --min-identity 0.97 {more}",
        {
            "vsearch": f"vsearch --cluster_fast in.fa --id 0.97 --uc v.uc {VSEARCH}",
            "cd-hit-est": "cd-hit-est -i in.fa -o c -c 0.97 -r 0 -d 0 -l 10 -M 0 -T 1",
            "mmseqs": "mmseqs easy-linclust in.fa m tmp --min-seq-id 0.97 -c 0.8 --threads 1 -v 1",
        },
        {
            OURS: f"{UC} out.uc",
            "vsearch": f"{UC} v.uc",
            "cd-hit-est": "grep '^>' c | tr -d '>' | cut -d' ' -f1",
            "mmseqs": "grep '^>' m_rep_seq.fasta | tr -d '>' | cut -d' ' -f1",
        },
        sequences,
        cpu_goal=("vsearch", goal),
    )


QUESTIONS = {
    "start": Question("", "align in.fa -o out.paf {more}", gpu_goals=(0.6,)),
    "help": Question("", "align --help"),
    "clusters": _clusters(20_000, 1.0),
    "clusters of 50,000": _clusters(50_000, 1.0),
    "clusters by the shorter": Question(
        READS,
        "cluster in.fa -o out.uc --min-identity 0.97 --identity-of shorter {more}",
        {"cd-hit-est -g 1": "cd-hit-est -g 1 -i in.fa -o c -c 0.97 -r 0 -d 0 -l 10 -M 0 -T 1"},
        {OURS: f"{UC} out.uc", "cd-hit-est -g 1": "grep '^>' c | tr -d '>' | cut -d' ' -f1"},
        20_000,
        cpu_goal=("cd-hit-est -g 1", 1.0),
    ),
    "OTUs": Question(
        READS,
        "cluster in.fa -o out.uc --min-identity 0.97 --identity-of shorter"
        " --mode semiglobal {more}",
        {"vsearch": "vsearch --cluster_fast in.fa --id 0.97 --uc v.uc --threads 1 --quiet"},
        {OURS: f"{UC} out.uc", "vsearch": f"{UC} v.uc"},
        50_000,
        cpu_goal=("vsearch", 1.0),
    ),
    "ties": Question(
        "mean0257",
        "align in.fa -o t.tsv --columns query,target,score,cigar,ties {more}",
        {},
        {},
        2_000,
    ),
    "reads": Question(
        READS,
        f"align in.fa -o out.tsv {SHORT_DNA} --min-identity 0.97 {{more}}",
        {
            "vsearch": f"vsearch --allpairs_global in.fa --id 0.97 --userout v.tsv {VSEARCH}"
            " --userfields query+target"
        },
        {OURS: TSV, "vsearch": f"{SORTED} v.tsv"},
        2_000,
        cpu_goal=("vsearch", 1.0),
    ),
    "proteins": Question(
        "mean0257",
        "align in.fa -o out.tsv --mode local --min-identity 0.5 --min-coverage 0.8 {more}",
        {
            "diamond": "diamond makedb --in in.fa -d d --threads 1 --quiet && diamond blastp"
            f" --swipe -q in.fa -d d --threads 1 --quiet {EVERY} -f 6 qseqid sseqid -o d.tsv",
            "mmseqs": "mmseqs easy-search in.fa in.fa m.tsv tmp --min-seq-id 0.5 -c 0.8 -s 7.5"
            " --threads 1 -v 1 --format-output query,target",
        },
        {
            OURS: TSV,
            "diamond": f"awk '$1 != $2' d.tsv | {SORTED} | sort -u",
            "mmseqs": f"awk '$1 != $2' m.tsv | {SORTED} | sort -u",
        },
        600,
    ),
    "receptors": Question(
        "cdr3_10k",
        f"distance in.fa -o out.npz {SCIRPY} {{more}}",
        {"scirpy": f"$PEERS {PEER} scirpy-alignment in.fa 10 s.npz"},
        sequences=1_000,
        cpu_goal=("scirpy", 1.0),
    ),
    "receptors, edits": Question(
        "cdr3_10k",
        "distance in.fa -o out.npz --max-edits 2 {more}",
        {"rapidfuzz": f"$PEERS {PEER} rapidfuzz in.fa 2 r.npz"},
        cpu_goal=("rapidfuzz", 1.0),
    ),
    "trees": Question(
        "mean0257",
        "tree in.fa -o out.nwk {more}",
        {"mafft": "mafft --globalpair --treeout --retree 0 --thread 1 --quiet in.fa"},
        sequences=500,
    ),
    "cudasw": Question(
        "human_18k",
        "align queries.fa in.fa -o out.tsv --mode local --gap-open 12 --gap-extend 1 --score-only"
        " -k 10 {more}",
        {
            "cudasw4": "cudasw4 --query queries.fa --db db --top 10 --gop -12 --gex -1"
            " --mat blosum62"
        },
        before="head -n 4000 in.fa > queries.fa; ! command -v makedb || makedb in.fa db",
    ),
    "human paf": Question("human_18k", "align in.fa -o out.paf {more}", gpu_goals=(16, 9.5)),
    "human scores": Question(
        "human_18k", "align in.fa -o out.tsv --score-only {more}", gpu_goals=(9.5, 5.5)
    ),
    "human distances": Question(
        "human_18k", "distance in.fa -o out.npy {more}", gpu_goals=(15, 8.5)
    ),
    "human local, 100": Question(
        "human_18k", "align in.fa -o out.paf --mode local --min-score 100 {more}", gpu_goals=(6.5,)
    ),
    "human clusters": Question("human_18k", "cluster in.fa -o out.uc --min-identity 0.5 {more}"),
    "mean 1103 tsv": Question("mean1103", "align in.fa -o out.tsv {more}", gpu_goals=(0.9, 0.8)),
    "16S scores": Question(
        READS, "align in.fa -o out.tsv --score-only {more}", sequences=20_000, gpu_goals=(1.5,)
    ),
    "16S paf, 210": Question(
        READS, "align in.fa -o out.paf --min-score 210 {more}", sequences=20_000, gpu_goals=(1.5,)
    ),
    "16S overlaps": Question(
        READS, "overlap in.fa -o out.paf --preset short {more}", sequences=20_000, gpu_goals=(2,)
    ),
    "HiFi overlaps": Question(
        "reads", "overlap in.fa -o out.paf --preset hifi {more}", gpu_goals=(0.8,)
    ),
    "ONT overlaps": Question(
        "barcode03", "overlap in.fa -o out.paf --preset ont {more}", gpu_goals=(0.8,)
    ),
}


@dataclass
class Taken:
    """What a command took in each round: wall clock, CPU seconds, GiB."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``commands`` to the benchmark's commands."""
    parser = commands.add_parser("commands", help="whole commands, beside other programs")
    parser.add_argument("--folder", type=Path, help="where the data files are")
    parser.add_argument("--only", nargs="+", choices=QUESTIONS, metavar="NAME", help="these alone")
    parser.add_argument("--sequences", type=int, help="of each file, instead of the question's")
    parser.add_argument("--device", default="cpu", help="of pairalign (cpu)")
    parser.add_argument("--threads", type=int, default=1, help="of pairalign (1)")
    parser.add_argument("--gpus", type=int, default=1, help="which goals to compare with (1)")
    parser.add_argument("--repeat", type=int, default=3, help="rounds (3)")
    parser.add_argument("--against", type=Path, help="another checkout, in the same rounds")
    parser.add_argument("--markdown", type=Path, help="write the table here as well")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> tuple[list[Row], list[str]]:
    """Measure the questions whose data is there."""
    rows = []
    for name in options.only or QUESTIONS:
        question = QUESTIONS[name]
        path = find_data(question.data, options.folder)
        if path is None:
            print(f"{name}: no {question.data}* in {options.folder}", file=sys.stderr)
            continue
        rows += answer(name, question, path, options)
        print(rows[-1], file=sys.stderr, flush=True)
    return rows, [f"device {options.device}, {options.threads} threads, {options.repeat} rounds"]


def find_data(data: str, folder: Path | None) -> Path | None:
    """Return the first file whose name begins so."""
    if not data:
        return EXAMPLE
    return next(iter(sorted(folder.resolve().rglob(f"{data}*.f*"))), None) if folder else None


def answer(name: str, question: Question, path: Path, options: argparse.Namespace) -> list[Row]:
    """Run the commands of a question in interleaved rounds; a row for each."""
    more = f"--device {options.device} --threads {options.threads} -q"
    ours = "pairalign " + question.ours.format(more=more)
    programs = {OURS: ours} | ({str(options.against): ours} if options.against else {})
    programs |= {one: line for one, line in question.peers.items() if is_there(one)}
    taken = {one: Taken() for one in programs}
    with tempfile.TemporaryDirectory(prefix="pairalign-benchmark-") as scratch:
        folders = {one: Path(scratch, str(k)) for k, one in enumerate(programs)}
        for one, folder in folders.items():
            folder.mkdir()
            checkout = options.against if one and one == str(options.against) else ROOT
            write_program(folder / "bin", checkout)
            count = options.sequences or question.sequences
            (folder / "in.fa").write_text("".join(first_records(path, count)))
            measure(question.before or "true", folder, Taken())
        for number in range(options.repeat):
            order = (
                list(programs)[number % len(programs) :] + list(programs)[: number % len(programs)]
            )
            for one in order:
                measure(programs[one], folders[one], taken[one])
        found = {
            one: set(said(line, folders[one]).splitlines())
            for one, line in question.found.items()
            if one in programs
        }
    return list(rows_of(name, question, taken, found, options))


def is_there(name: str) -> bool:
    """Whether a peer can be run: its program, or the Python that ``PEERS`` names."""
    program = name.split()[0]
    return bool(os.environ.get("PEERS") if program in ("scirpy", "rapidfuzz") else
                shutil.which(program))  # fmt: skip


def write_program(folder: Path, checkout: Path) -> None:
    """Write a `pairalign` that is the package of a checkout."""
    folder.mkdir()
    path = os.pathsep.join([str(checkout.resolve()), *sys.path[2:]])
    script = f'#!/bin/sh\nPYTHONPATH="{path}" exec "{sys.executable}" -m pairalign "$@"\n'
    (folder / "pairalign").write_text(script)
    (folder / "pairalign").chmod(0o755)


def first_records(path: Path, number: int) -> Iterator[str]:
    """Yield the lines of the first records of a FASTA or FASTQ file; 0: of all."""
    seen = 0
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        for line in lines:
            seen += line.startswith(">")
            if 0 < number < seen:
                return
            yield line


def environment(folder: Path) -> dict[str, str]:
    """The environment of a command: its `pairalign` first."""
    return {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"}


def measure(line: str, folder: Path, taken: Taken) -> None:
    """Run a command of bash and keep what it took; end the benchmark when it fails."""
    with (folder / "said").open("w") as file:
        start = time.perf_counter()
        process = subprocess.Popen(
            ["bash", "-c", line], cwd=folder, env=environment(folder), stdout=file, stderr=file
        )
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{line}: {(folder / 'said').read_text()[-500:]}")
    taken.wall.append(time.perf_counter() - start)
    taken.cpu.append(usage.ru_utime + usage.ru_stime)
    taken.memory.append(usage.ru_maxrss / (1 << 20))


def said(line: str, folder: Path) -> str:
    """What a command of bash prints."""
    return subprocess.run(
        ["bash", "-c", line], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def rows_of(
    name: str,
    question: Question,
    taken: dict[str, Taken],
    found: dict[str, set[str]],
    options: argparse.Namespace,
) -> Iterator[Row]:
    """Yield pairalign's row, then one for each other program."""
    mine = taken[OURS]
    goals = question.gpu_goals if options.device.startswith("cuda") else ()
    goal = goals[options.gpus - 1] if len(goals) >= options.gpus else None
    met = None if goal is None else median(mine.wall) <= goal
    count = f", {len(found[OURS]):,} found" if OURS in found else ""
    yield Row(name, shown(mine) + count, "", "", "", "" if goal is None else f"{goal:g} s", met)
    for one, other in taken.items():
        if one == OURS:
            continue
        times = ratio(mine.cpu, other.cpu)
        judged = question.cpu_goal is not None and question.cpu_goal[0] == one
        least = question.cpu_goal[1] if judged and question.cpu_goal else 0.0
        both = found.get(one, set())
        count = f", {len(both):,} found, {len(both & found[OURS]):,} ours" if one in found else ""
        yield Row(
            name,
            shown(mine),
            one,
            shown(other) + count,
            str(times),
            f"<= {least:g}" if judged else "",
            times.median <= least if judged else None,
        )


def shown(taken: Taken) -> str:
    """Wall clock, CPU seconds and memory."""
    cpu = f"{median(taken.cpu):.2f} ({min(taken.cpu):.2f}-{max(taken.cpu):.2f}) CPU s"
    return f"{median(taken.wall):.2f} s, {cpu}, {max(taken.memory):.2f} GiB"
