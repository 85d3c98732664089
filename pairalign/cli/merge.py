"""The command ``pairalign merge``."""

from __future__ import annotations

import shlex
from pathlib import Path

from pairalign.base.choices import DISTANCE_SUFFIXES
from pairalign.cli.files import refuse_inputs
from pairalign.cli.lines import Lines, say_summary
from pairalign.cli.parts import check_parts_ending, without_option
from pairalign.engines.selection import usable_cores
from pairalign.formats.distance_parts import FORMAT, merge_distances
from pairalign.formats.distances import write_distances
from pairalign.formats.merge import merge_alignments
from pairalign.formats.names import choose_format
from pairalign.formats.output import check_writable
from pairalign.formats.parts import (
    Manifest,
    describe_shards,
    missing_shards,
    read_manifests,
)
from pairalign.requests.files import MergeOptions


def run_merge(asked: MergeOptions) -> None:
    """Carry out ``pairalign merge``."""
    manifests = read_manifests(asked.parts)
    if asked.plan:
        _print_plan(manifests)
        return
    refuse_inputs(asked.output, map(str, Path(asked.parts).glob("part-*")))
    check_writable(asked.output)
    threads = asked.threads or usable_cores()
    if manifests[0].format == FORMAT:
        format = choose_format(asked.output, asked.format, DISTANCE_SUFFIXES, "distances")
        matrix = merge_distances(asked.parts, manifests)
        write_distances(asked.output, matrix, format, threads=threads)
    else:
        check_parts_ending(asked.output, manifests[0].format)
        merge_alignments(asked.parts, manifests, asked.output, threads)
    size = sum(manifest.bytes for manifest in manifests)
    pairs = sum(manifest.pairs for manifest in manifests)
    lines = Lines()
    lines.add("merged", f"{len(manifests):,} parts, {size:,} bytes", parts=len(manifests))
    lines.add("pairs", f"{pairs:,}", pairs=pairs)
    lines.add_outputs([asked.output])
    say_summary(asked, lines)


def _print_plan(manifests: list[Manifest]) -> None:
    """Print a command for each missing part; a comment has their numbers for a job array."""
    missing = missing_shards(manifests)
    shards = manifests[0].shards
    if not missing:
        print(f"# all {shards} parts are there")
        return
    print(f"# {len(missing)} of {shards} parts are missing: {describe_shards(missing)}")
    command = without_option(manifests[0].command, "--shard", values=1)
    for shard in missing:
        print(shlex.join(["pairalign", *command, "--shard", f"{shard}/{shards}"]))
