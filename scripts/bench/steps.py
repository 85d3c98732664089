"""How many pairs each step of the thresholds leaves, by the identity that is asked for, as a plot.

Numbers of pairs, no times: the same on every machine.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from pairalign import AlignmentJob, SequenceSet, make_scoring, read_fasta
from pairalign.alignments.thresholds import make_pair_thresholds
from pairalign.jobs.stages.threshold_engine import Steps
from pairalign.pairs.want import Detail, Want

IDENTITIES = ("50%", "60%", "70%", "80%", "85%", "90%", "95%", "97%", "99%")
STEPS = {
    "left by lengths": "possible",
    "left by q-grams": "sharing",
    "left by scores": "scoring",
    "that are alike": "passing",
}


def add_command(commands: argparse._SubParsersAction) -> None:
    parser = commands.add_parser("steps", help="pairs that each step of the thresholds leaves")
    parser.add_argument("--data", type=Path, required=True, nargs="+", help="FASTA files")
    parser.add_argument("--sequences", type=int, default=500, help="sequences of each (500)")
    parser.add_argument("--plot", type=Path, help="an SVG of it")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> None:
    rows = {}
    for path in options.data:
        every = read_fasta(path)
        stride = max(1, len(every) // options.sequences)
        chosen = {one.name: one.letters for one in list(every)[::stride][: options.sequences]}
        sample = SequenceSet.from_strings(chosen, alphabet=every.alphabet)
        title = f"{len(sample):,} {'proteins' if every.alphabet.name == 'protein' else 'reads'}"
        print(title, *STEPS, sep="\t")
        rows[title] = [count(sample, identity) for identity in IDENTITIES]
        for identity, steps in zip(IDENTITIES, rows[title], strict=True):
            print(identity, *(f"{getattr(steps, name):,}" for name in STEPS.values()), sep="\t")
    if options.plot is not None:
        draw(rows, options.plot)


def count(sample: SequenceSet, identity: str) -> Steps:
    """Align what is alike, globally; return what each step left."""
    job = AlignmentJob(
        sample,
        None,
        make_scoring(sample.alphabet),
        Want(Detail.STATS),
        device="cpu",
        pair_thresholds=make_pair_thresholds(identity),
    )
    for _ in job:
        pass
    assert job.steps is not None
    return job.steps


def draw(rows: dict[str, list[Steps]], path: Path) -> None:
    """Draw a panel a set, with a line a step."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "pairalign", "font.size": 9})
    figure, panels = plt.subplots(1, len(rows), figsize=(4.2 * len(rows), 3.2), squeeze=False)
    places = [float(identity.rstrip("%")) for identity in IDENTITIES]
    for panel, (title, of_set) in zip(panels[0], rows.items(), strict=True):
        for label, name in STEPS.items():
            shares = [100 * getattr(steps, name) / steps.pairs for steps in of_set]
            panel.plot(places, shares, marker=".", label=label)
        panel.set(title=title, xlabel="identity asked for, %", ylabel="pairs, %")
        panel.set_yscale("symlog", linthresh=0.01)
    panels[0][0].legend()
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
