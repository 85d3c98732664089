"""The neighbouring papers' tables, ours beside their published figures. Verifies first, then times.

    python scripts/benchmark.py papers --data proteins.fa.gz --queries queries.fa
    python scripts/benchmark.py papers --part dohi kakimoto --gpus 1 2 ...

- dohi: K. Dohi et al. 2010, tables I to III: a warp a pair; loop unrolling and overlapped copies,
  layouts of shared memory, several GPUs. GCUPS of 12 queries against a protein database.
- kakimoto: T. Kakimoto et al. 2012, figure 3: the striped method, GCUPS over the query's length.
- opencl: the same figure on OpenCL devices.
- long: J. Huynh et al., their timing table and figure 7: long pairs; two genomes with --genomes.

A query that is not in the files is replaced by the database's first sequence of its length.
"""

from __future__ import annotations

import argparse
import statistics
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from bench import papers_long, papers_opencl, report
from bench.papers_search import Search, repeated, verify
from bench.papers_table import Table, with_range
from pairalign.engines.cuda.devices import find_devices
from pairalign.engines.cuda.family import KernelFamily
from pairalign.engines.cuda.papers.pair_per_warp import LAYOUTS, WIDE, PairPerWarp
from pairalign.engines.cuda.papers.striped import Striped
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences.alphabets import PROTEIN
from pairalign.sequences.reading import read_fasta
from pairalign.sequences.sets import SequenceSet

BLOSUM50 = {"matrix": "BLOSUM50", "gap_open": 12, "gap_extend": 2}
"""A gap of k residues costs 10 + 2k in both papers."""

# fmt: off
PUBLISHED = {
    # query: residues, table I (default, unrolling, memory copy, both), table II (layouts a to d),
    #        table III (1, 2 and 4 GPUs)
    "P02232": (144, (7.17, 8.30, 7.71, 9.04), (6.85, 8.53, 8.54, 9.04), (9.09, 17.26, 29.46)),
    "P01111": (189, (8.38, 9.72, 8.94, 10.48), (7.94, 9.89, 9.90, 10.48), (10.53, 19.98, 34.44)),
    "P05013": (189, (8.38, 9.72, 8.94, 10.48), (7.94, 9.89, 9.89, 10.48), (10.53, 19.98, 34.42)),
    "P09488": (218, (8.64, 10.03, 9.15, 10.73), (8.13, 10.13, 10.13, 10.73), (10.78, 20.45, 35.44)),
    "P14942": (222, (8.79, 10.22, 9.31, 10.92), (8.28, 10.31, 10.31, 10.92), (10.97, 20.83, 36.09)),
    "P00762": (246, (8.83, 10.27, 9.30, 10.91), (8.27, 10.30, 10.30, 10.91), (10.96, 20.84, 36.23)),
    "P10318": (362, (9.45, 11.02, 9.81, 11.52), (8.72, 10.88, 10.87, 11.52), (11.57, 22.01, 38.78)),
    "P07327": (374, (9.77, 11.39, 10.14, 11.90), (9.01, 11.23, 11.23, 11.90),
               (11.96, 22.76, 40.07)),
    "P01008": (464, (10.05, 11.73, 10.36, 12.17), (9.21, 11.49, 11.49, 12.17),
               (12.21, 23.25, 41.19)),
    "P10635": (497, (10.18, 11.90, 10.49, 12.31), (9.32, 11.62, 11.62, 12.31),
               (12.36, 23.54, 41.19)),
    "P25705": (553, (10.24, 11.97, 10.51, 12.35), (9.34, 11.65, 11.64, 12.35),
               (12.39, 23.61, 41.97)),
    "P03435": (567, (10.50, 12.27, 10.78, 12.66), (9.58, 11.94, 11.94, 12.66),
               (12.71, 24.22, 43.05)),
}
# fmt: on
"""Dohi et al.: GCUPS on the GPUs of two GTX 295."""

TABLE_1, TABLE_2, TABLE_3 = ({name: one[k] for name, one in PUBLISHED.items()} for k in (1, 2, 3))

BATCH_PAIRS = 1 << 15  # of table I: a batch is copied while the next is aligned

LENGTHS = (100, 150, 200, 300, 400, 500, 600, 700, 800, 900, 1015)

CONFIGURATIONS: dict[str, Callable[[], KernelFamily]] = {
    "Conf. 2: texture, vote": partial(Striped, every_step=False),
    "Conf. 3: global, vote": partial(Striped, read_only=False, every_step=False),
    "Conf. 4: texture, reduction": partial(Striped, vote=False, every_step=False),
    "Conf. 5: global, reduction": partial(Striped, vote=False, read_only=False, every_step=False),
    "default: texture, vote at each segment": Striped,
}


def run(options: argparse.Namespace) -> None:
    """Measure what the options ask for and print Markdown."""
    if set(options.part) - {"long"} and not (options.data and options.queries):
        raise SystemExit("--data and --queries are needed, but for --part long")
    parts: dict[str, Callable[[argparse.Namespace], Sequence[Table | str]]] = {
        "dohi": dohi,
        "kakimoto": kakimoto,
        "opencl": papers_opencl.tables,
        "long": lambda options: papers_long.print_tables(
            options.genomes, options.pair, options.repeat
        ),
    }
    text = f"{report.machine()}\n"
    print(text, flush=True)
    for part in options.part:
        for table in parts[part](options):
            lines = table if isinstance(table, str) else table.markdown()
            print(lines, flush=True)
            text += f"\n{lines}"
    if options.markdown:
        options.markdown.write_text(text)


# ---------------------------------------------------------------------------------------------
# Dohi et al. 2010


def dohi(options: argparse.Namespace) -> list[Table]:
    """Their tables I to III."""
    scoring = make_scoring(PROTEIN, mode="local", **BLOSUM50)
    single = read_fasta(options.data, alphabet=PROTEIN)
    queries = queries_of_dohi(options.queries, single)
    database = repeated(single, options.times, options.longest)
    devices = find_devices()
    layouts = {f"({'abcd'[k]})": partial(PairPerWarp, layout) for k, layout in enumerate(LAYOUTS)}
    steps = {
        name: partial(PairPerWarp, WIDE, unrolled=unrolled, slots=slots, batch_pairs=BATCH_PAIRS)
        for name, unrolled, slots in (
            ("default", 1, 1), ("unrolling", 16, 1), ("memory copy", 1, 2), ("both", 16, 2)
        )
    }  # fmt: skip
    verify(devices, queries, single, scoring, {**layouts, **steps})
    note = (
        f"Local, BLOSUM50, a gap of k costs 10 + 2k; {len(database):,} sequences of up to "
        f"{options.longest:,} residues, {int(database.lengths.sum()) / 1e6:.0f} million in all. "
        f"GCUPS: the median of "
        f"{options.repeat} runs, and their range. The paper's in brackets: one GPU of a GTX 295."
    )
    tables = [
        Table("Dohi et al., table I", ("query", "letters", *steps), notes=[note]),
        Table("Dohi et al., table II", ("query", "letters", *layouts), notes=[note]),
    ]
    table_of_gpus = Table("Dohi et al., table III", ("query", "letters"), notes=[note])
    for table in (*tables, table_of_gpus):
        table.rows += [[one.name, str(len(one.letters))] for one in queries]
    usable = [number for number in options.gpus if number <= len(devices)]
    with Search(devices[: max(usable)], queries, database, scoring) as search:
        for number in usable:
            search.number = number
            if number == 1:
                add_variants(tables[0], search, steps, TABLE_1, options.repeat)
                add_variants(tables[1], search, layouts, TABLE_2, options.repeat)
            add_gpus(table_of_gpus, search, options.repeat)
    return [*tables, table_of_gpus]


def add_variants(
    table: Table,
    search: Search,
    variants: Mapping[str, Callable[[], KernelFamily]],
    published: Mapping[str, Sequence[float]],
    repeat: int,
) -> None:
    """Add a column for each variant."""
    for number, make in enumerate(variants.values()):
        search.use(make)
        for k, row in enumerate(table.rows):
            cell = with_range(search.gcells(k), search.timed(k, repeat))
            row.append(f"{cell} [{published[row[0].removeprefix('like:')][number]}]")


def add_gpus(table: Table, search: Search, repeat: int) -> None:
    """Add columns for a number of GPUs: GCUPS, and how much faster than the paper's."""
    number = search.number
    table.headings = (*table.headings, f"{number} GPU{'s' if number > 1 else ''}", "ours / paper")
    search.use(PairPerWarp)
    for k, row in enumerate(table.rows[: len(search.queries)]):
        seconds = search.timed(k, repeat)
        theirs = dict(zip((1, 2, 4), TABLE_3[row[0].removeprefix("like:")], strict=True))
        cell = with_range(search.gcells(k), seconds)
        if number in theirs:
            gcups = search.gcells(k) / statistics.median(seconds)
            row += [f"{cell} [{theirs[number]}]", f"{gcups / theirs[number]:.0f}"]
        else:
            row += [cell, ""]
    if len(table.rows) == len(search.queries):
        table.rows.append(["all in one run", str(int(search.queries.lengths.sum()))])
    seconds = [search.seconds_of_all() for _ in range(repeat + 1)][1:]
    table.rows[-1] += [with_range(sum(map(search.gcells, range(len(search.queries)))), seconds), ""]


def queries_of_dohi(path: Path, database: SequenceSet) -> SequenceSet:
    """The paper's twelve, from a file of queries or the database, else one of the same length."""
    known: dict[str, str] = {}
    for one in [*database, *read_fasta(path, alphabet=PROTEIN)]:
        for word in one.name.split("|"):
            known[word.split(".")[0]] = one.letters
    lengths = database.lengths
    found = {}
    for name, (length, *_) in PUBLISHED.items():
        if name in known:
            found[name] = known[name]
        else:
            nearest = int(abs(lengths.astype(int) - length).argmin())
            found[f"like:{name}"] = database[nearest].letters
    return SequenceSet.from_strings(found, alphabet=PROTEIN)


# ---------------------------------------------------------------------------------------------
# Kakimoto et al. 2012


def kakimoto(options: argparse.Namespace) -> list[Table]:
    """Their figure 3: the configurations that CUDA has; those of OpenCL are another part."""
    scoring = make_scoring(PROTEIN, mode="local", **BLOSUM50)
    single = read_fasta(options.data, alphabet=PROTEIN)
    database = repeated(single, max(1, options.times // 2), options.longest)
    enough = [one for one in read_fasta(options.queries) if len(one.letters) >= max(LENGTHS)]
    long = min(enough, key=lambda one: len(one.letters))
    queries = SequenceSet.from_strings(
        {f"{length}": long.letters[:length] for length in LENGTHS}, alphabet=PROTEIN
    )
    devices = find_devices()
    verify(devices, queries, single, scoring, CONFIGURATIONS)
    table = Table(
        "Kakimoto et al., figure 3",
        ("letters", *CONFIGURATIONS),
        notes=[
            f"Local, BLOSUM50, a gap of k costs 10 + 2k; {len(database):,} sequences of up to "
            f"{options.longest:,} residues, {int(database.lengths.sum()) / 1e6:.0f} million in "
            f"all; the query is the first residues of {long.name}. GCUPS: the median of "
            f"{options.repeat} runs, and their range. "
            "The paper's best are 17.1 (Conf. 2, one GPU of a GTX 295), 11.2 (Conf. 1, OpenCL on "
            "the same) and about 18 (Conf. 6, OpenCL on a Radeon HD 5970)."
        ],
    )
    rows: list[list[str]] = [[f"{length}"] for length in LENGTHS]
    with Search(devices[:1], queries, database, scoring) as search:
        for make in CONFIGURATIONS.values():
            search.use(make)
            for k, row in enumerate(rows):
                row.append(with_range(search.gcells(k), search.timed(k, options.repeat)))
    table.rows += rows
    return [table]


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``scripts/benchmark.py papers``."""
    parser = commands.add_parser(
        "papers",
        help="the neighbouring papers' tables, ours beside their figures",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, help="the database, a FASTA file of proteins")
    parser.add_argument("--queries", type=Path, help="FASTA file with the papers' queries")
    parser.add_argument(
        "--part",
        nargs="+",
        choices=("dohi", "kakimoto", "opencl", "long"),
        default=["dohi", "kakimoto", "opencl", "long"],
    )
    parser.add_argument("--times", type=int, default=16, help="copies of the database (16)")
    parser.add_argument(
        "--longest",
        type=int,
        default=5000,
        help="leave out longer sequences of the database (5000): one warp would take as long for "
        "titin as all others for the rest",
    )
    parser.add_argument("--gpus", type=int, nargs="+", default=[1], help="numbers of GPUs")
    parser.add_argument(
        "--genomes", type=Path, nargs=2, default=[], help="long: two FASTA files of a genome each"
    )
    parser.add_argument("--pair", type=Path, help="long: a FASTA file with two sequences")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each (5)")
    parser.add_argument("--markdown", type=Path, help="write the tables here as well")
    parser.set_defaults(run=run)
