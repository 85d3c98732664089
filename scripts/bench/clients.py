"""The subcommand `clients`: receptors, viruses and pangenomes, beside the programs people use.

    python scripts/benchmark.py clients --folder data --peers ENV/bin/python -o docs/measured

ENV is an environment with ``pip install scirpy rapidfuzz vclust olga``; `--folder` has
``receptors/cdr3`` and ``genomes``; minimap2 and MAFFT are Debian's. Programs run with one thread,
in interleaved rounds. pairalign is the whole command; of Python packages the call alone counts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from bench.report import machine
from pairalign.sequences.reading import read_fasta

HERE = Path(__file__).resolve().parent
sys.path.append(str(HERE.parents[1] / "tests" / "support"))

PEER = HERE / "clients_peer.py"
SCIRPY = ("--max-drop", "10", "--gap-open", "11", "--gap-extend", "11")
GRAPH = ("--mode", "local", "--strand", "both", "--hsps", "6", "--min-score", "200")
MINIMAP2 = ("minimap2", "-c", "--eqx", "-X", "-x", "asm20", "-t", "1", "in.fa", "in.fa")
Texts = dict[str, str]


@dataclass(frozen=True)
class Cost:
    """What a command took: CPU seconds, seconds, and the most memory in MB."""

    cpu: float
    wall: float
    peak: float


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Options of ``scripts/benchmark.py clients``."""
    parser = commands.add_parser(
        "clients", help="receptors, viruses and pangenomes, beside scirpy, vclust and minimap2"
    )
    parser.add_argument("--folder", type=Path, required=True, help="with receptors and genomes")
    parser.add_argument("--peers", type=Path, required=True, help="Python of their environment")
    parser.add_argument("--jobs", nargs="*", choices=list(JOBS), default=list(JOBS))
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path, help="folder for a JSON file a job")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    """Measure each job; print it, and write its figures."""
    options.peers = options.peers.absolute()
    options.folder = options.folder.resolve()
    for name in options.jobs:
        with tempfile.TemporaryDirectory(prefix="pairalign-benchmark-") as folder:
            found = JOBS[name](options, Path(folder))
        found = {
            "machine": machine(),
            "date": time.strftime("%Y-%m-%d"),
            "command": "python scripts/benchmark.py clients --folder data --peers ENV/bin/python",
            **found,
        }
        print(json.dumps(found, indent=1))
        if options.output:
            path = options.output / f"clients-{name}.json"
            path.write_text(json.dumps(found, indent=1) + "\n")


def measure_command(command: list[str | Path], folder: Path, output: Path | None = None) -> Cost:
    """Run a command; its standard output goes to a file."""
    start = time.perf_counter()
    with open(output or os.devnull, "wb") as file:
        process = subprocess.Popen(command, cwd=folder, stdout=file, stderr=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{command}: exit code {process.returncode}")
    wall = time.perf_counter() - start
    return Cost(used.ru_utime + used.ru_stime, wall, used.ru_maxrss * 1024 / 1e6)


def in_rounds(jobs: dict[str, Callable[[], float]], rounds: int) -> dict[str, list[float]]:
    """CPU seconds of each job in each round; every round begins with another one."""
    names = list(jobs)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    for number in range(rounds):
        turn = number % len(names)
        for name in names[turn:] + names[:turn]:
            seconds[name].append(jobs[name]())
    return seconds


def shown(values: list[float]) -> str:
    """Median, smallest and largest."""
    digits = 1 if max(values) >= 10 else 3
    middle, least, most = (
        f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values))
    )
    return f"{middle} ({least}-{most})" if len(values) > 1 else middle


def read_texts(path: Path, count: int | None = None) -> Texts:
    """Names and sequences of a file, upper case."""
    found = read_fasta(path)
    number = len(found) if count is None else min(count, len(found))
    return {found.names[k]: found[k].letters.upper() for k in range(number)}


def write_texts(path: Path, texts: Texts) -> None:
    """Write FASTA, a line a sequence."""
    path.write_text("".join(f">{name}\n{text}\n" for name, text in texts.items()))


def pairalign(folder: Path, *arguments: str, threads: int = 1) -> Cost:
    """What a command of pairalign takes."""
    command = [sys.executable, "-m", "pairalign", *arguments, "--threads", str(threads), "-q"]
    return measure_command([*command, "--device", "cpu"], folder)


# Receptors


def measure_receptors(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Distances within a limit."""
    path = options.folder / "receptors" / "cdr3" / "cdr3_10k.fa.gz"
    rows = []
    for count, limit, ours, programs in (
        (1_000, 10, SCIRPY, ("scirpy-alignment", "scirpy-fastalignment")),
        (10_000, 10, SCIRPY, ("scirpy-tcrdist",)),
        (10_000, 2, ("--max-edits", "2"), ("rapidfuzz",)),
    ):
        write_texts(folder / "in.fa", read_texts(path, count))
        rows += _within_a_limit(options, folder, count, limit, ours, programs)
    simulate_receptors(options, folder)
    for ours in (SCIRPY, ("--max-edits", "1")):
        cost = pairalign(folder, "distance", "in.fa", "-o", "o.npz", *ours, threads=2)
        found = np.load(folder / "o.npz")
        count = len(found["names"])
        pairs, near = count * (count - 1) // 2, (len(found["indices"]) - count) // 2
        rows.append(_row(pairs, ours, "pairalign, 2 threads", [cost.cpu], near, ""))
        rows[-1][-1] = f"{cost.wall:.1f} s, {cost.peak:.0f} MB"
    return {
        "section": "Similar sequences",
        "question": "How long do distances of immune receptors within a limit take?",
        "data": "CDR3s of tcrdist3's tables; the 100,000 are drawn by OLGA (human TRB, seed 1)",
        "spread": "Medians of interleaved rounds, smallest and largest; 100,000: one run",
        "columns": [
            *("pairs", "limit", "program", "CPU s", "million pairs a CPU s"),
            *("pairs within it", "beside pairalign's"),
        ],
        "rows": rows,
        "notes": [
            "scirpy's `alignment` is the same distance; `fastalignment` leaves out pairs by a"
            " heuristic; its `tcrdist` (cutoff 10) is another distance, shown for its time alone."
            " pairalign: the whole command, from FASTA to .npz, of which 0.25 s are its start.",
            "Goal: 100,000 CDR3s in 20 s on two cores with less than 500 MB.",
        ],
    }


def _row(
    pairs: int, ours: tuple[str, ...], name: str, seconds: list[float], near: int, said: str
) -> list[str]:
    rate = pairs / statistics.median(seconds) / 1e6
    limit = " ".join(ours[:2]).removeprefix("--max-")
    return [f"{pairs:,}", limit, name, shown(seconds), f"{rate:.2f}", f"{near:,}", said]


def _within_a_limit(
    options: argparse.Namespace,
    folder: Path,
    count: int,
    limit: int,
    ours: tuple[str, ...],
    programs: tuple[str, ...],
) -> list[list[str]]:
    def peer(name: str) -> float:
        command = [options.peers, "-P", "-W", "ignore", PEER, name, "in.fa", str(limit)]
        measure_command([*command, f"{name}.npz"], folder, folder / "said")
        return float((folder / "said").read_text().split()[-1])

    jobs: dict[str, Callable[[], float]] = {
        "pairalign": lambda: pairalign(folder, "distance", "in.fa", "-o", "o.npz", *ours).cpu,
        **{name: (lambda name=name: peer(name)) for name in programs},  # type: ignore[misc]
    }
    seconds = in_rounds(jobs, options.repeat)
    expected = _entries_of_csr(folder / "o.npz")
    pairs, rows = count * (count - 1) // 2, []
    for name in jobs:
        found = expected
        if name != "pairalign":
            with np.load(folder / f"{name}.npz") as saved:
                found = set(
                    zip(*(saved[k].tolist() for k in ("rows", "columns", "values")), strict=True)
                )
        said = "the same" if found == expected else f"{len(found & expected):,} the same"
        if name == "scirpy-tcrdist":
            said = "another distance"
        said = "" if name == "pairalign" else said
        rows.append(_row(pairs, ours, name.replace("-", " "), seconds[name], len(found), said))
    return rows


def _entries_of_csr(path: Path) -> set[tuple[int, int, int]]:
    with np.load(path) as saved:
        rows = np.repeat(np.arange(len(saved["names"])), np.diff(saved["indptr"]))
        columns, values = saved["indices"], saved["data"].astype(int) - 1
    upper = rows < columns
    return set(zip(*(one[upper].tolist() for one in (rows, columns, values)), strict=True))


def simulate_receptors(options: argparse.Namespace, folder: Path) -> None:
    """Draw 100,000 different CDR3s by OLGA's model of human beta chains."""
    program = options.peers.parent / "olga-generate_sequences"
    command = [program, "--humanTRB", "-n", "110000", "--seed", "1", "-o", "olga.tsv"]
    measure_command(command, folder)
    lines = (folder / "olga.tsv").read_text().splitlines()
    drawn = list(dict.fromkeys(line.split("\t")[1] for line in lines))[:100_000]
    write_texts(folder / "in.fa", {f"r{k}": text for k, text in enumerate(drawn)})


# Viruses


def measure_viruses(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Identities of genomes, beside vclust's ANI and SDT's of MAFFT."""
    genomes = options.folder / "genomes"
    vclust = options.peers.parent / "vclust"
    sets = {
        "Zika": read_texts(genomes / "zika" / "zika_tutorial_34.fasta", 12),
        "SARS-CoV-2": read_texts(genomes / "sarscov2-418" / "example_sequences.fasta.gz", 12),
        "phages, permuted and reversed": simulate_phages(),
    }
    rows = []
    for name, texts in sets.items():
        write_texts(folder / "in.fa", texts)
        ours = ["distance", "in.fa", "-o", "ours.tsv", "--similarity"]
        ours += ["--circular", "--strand", "both"] if name.startswith("phages") else []
        jobs: dict[str, Callable[[], float]] = {
            "pairalign distance": lambda ours=ours: pairalign(folder, *ours).cpu,  # type: ignore[misc]
            "vclust align": lambda: (
                measure_command(
                    [vclust, "align", "-i", "in.fa", "-o", "ani.tsv", "-t", "1"], folder
                ).cpu
            ),
        }
        seconds = in_rounds(jobs, options.repeat)
        identities = {"vclust align": _vclust_identities(folder / "ani.tsv")}
        if name == "Zika":
            start = os.times().children_user
            identities["MAFFT a pair (SDT)"] = _mafft_identities(folder, texts)
            seconds["MAFFT a pair (SDT)"] = [os.times().children_user - start]
        ours = _matrix(folder / "ours.tsv")
        for program, spent in seconds.items():
            said = ["", ""]
            if program in identities:
                apart = [abs(ours[pair] - value) for pair, value in identities[program].items()]
                said = [f"{np.mean(apart):.4f}", f"{max(apart):.4f}"]
            count = len(texts) * (len(texts) - 1) // 2
            rows.append([name, str(count), program, shown(spent), *said])
    return {
        "section": "Similar sequences",
        "question": "Are identities of virus genomes those of SDT and vclust?",
        "data": "The first 12 genomes of each set, and 6 phages; CPU seconds of one thread",
        "spread": "Medians of interleaved rounds, smallest and largest; MAFFT once",
        "columns": ["set", "pairs", "program", "CPU s", "mean difference", "largest difference"],
        "rows": rows,
        "notes": [
            "Of identities of columns without gaps, from pairalign's. SDT's is that of pairs that"
            " MAFFT aligns (N matches nothing); vclust's is the ANI of aligned regions, in far less"
            " time. Phages: simulated, a percent from their ancestor, 20,000 bases; `--circular"
            " --strand both`."
        ],
    }


def simulate_phages() -> Texts:
    """Relatives of a genome, each a percent away; files begin anywhere, on either strand."""
    rng, letters = np.random.default_rng(1), list("ACGT")
    ancestor = rng.choice(letters, 20_000)
    texts = {}
    for k in range(6):
        drawn = rng.choice(letters, len(ancestor))
        changed = np.where(rng.random(len(ancestor)) < 0.01, drawn, ancestor)
        text = "".join(np.roll(changed, int(rng.integers(len(ancestor)))))
        reverse = text[::-1].translate(str.maketrans("ACGT", "TGCA"))
        texts[f"phage{k}"] = reverse if k % 2 else text
    return texts


def _matrix(path: Path) -> dict[tuple[str, str], float]:
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    return {
        (line[0], name): float(value)
        for line in lines[1:]
        for name, value in zip(lines[0][1:], line[1:], strict=True)
    }


def _vclust_identities(path: Path) -> dict[tuple[str, str], float]:
    lines = [line.split("\t") for line in path.read_text().splitlines()]
    query, target, ani = (lines[0].index(name) for name in ("query", "reference", "ani"))
    return {(line[query], line[target]): float(line[ani]) for line in lines[1:]}


def _mafft_identities(folder: Path, texts: Texts) -> dict[tuple[str, str], float]:
    found = {}
    for pair in combinations(texts, 2):
        write_texts(folder / "pair.fa", {name: texts[name] for name in pair})
        command = ["mafft", "--quiet", "--auto", "--thread", "1", "pair.fa"]
        measure_command([*command], folder, folder / "pair.afa")
        parts = (folder / "pair.afa").read_text().split(">")[1:]
        rows = ["".join(part.split("\n")[1:]).upper() for part in parts]
        columns = [(a, b) for a, b in zip(*rows, strict=True) if "-" not in (a, b)]
        found[pair] = sum(a == b != "N" for a, b in columns) / len(columns)
    return found


# Pangenomes


def measure_graphs(options: argparse.Namespace, folder: Path) -> dict[str, object]:
    """Graphs of haplotypes: what all of them share."""
    from variation_graph import VariationGraph

    rows = []
    for gene in ("DQB1-3119", "DRA-3122", "DPB1-3115"):
        texts = read_texts(options.folder / "genomes" / "hla-haplotypes" / f"{gene}.fa.gz")
        write_texts(folder / "in.fa", texts)
        jobs: dict[str, Callable[[], float]] = {
            "pairalign": lambda: pairalign(folder, "align", "in.fa", "-o", "ours.paf", *GRAPH).cpu,
            "minimap2": lambda: measure_command([*MINIMAP2], folder, folder / "theirs.paf").cpu,
        }
        seconds = in_rounds(jobs, options.repeat)
        for name, file in (("pairalign", "ours.paf"), ("minimap2", "theirs.paf")):
            graph = VariationGraph(texts, (folder / file).read_text().splitlines())
            bases = graph.bases()
            shared = sum(count == len(texts) for count in bases)
            given = sum(len(text) for text in texts.values())
            row = [gene.split("-")[0], str(len(texts)), f"{given:,}", name, shown(seconds[name])]
            rows.append([*row, f"{len(bases):,}", f"{shared:,}"])
    return {
        "section": "Similar sequences",
        "question": "How large is a graph of haplotypes, and what do all share?",
        "data": "HLA haplotypes; a graph builder of the tests, which joins what alignments match",
        "spread": "Medians of interleaved rounds, smallest and largest; CPU seconds of one thread",
        "columns": ["gene", "haplotypes", "bases", "program", "CPU s", "graph", "shared by all"],
        "rows": rows,
        "notes": [
            f"pairalign: `align {' '.join(GRAPH)}`; minimap2: `-c --eqx -X -x asm20`. Graphs in"
            " bases; runs of any number of matches are joined. seqwish has no package here."
        ],
    }


JOBS: dict[str, Callable[[argparse.Namespace, Path], dict[str, object]]] = {
    "receptors": measure_receptors,
    "viruses": measure_viruses,
    "graphs": measure_graphs,
}
