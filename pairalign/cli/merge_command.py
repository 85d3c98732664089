"""The command ``pairalign merge``."""

from __future__ import annotations

import shlex

from pairalign.formats.merge import merge_parts
from pairalign.formats.pieces import (
    Part,
    describe_shards,
    missing_shards,
    read_manifests,
    without_option,
)
from pairalign.jobs.commands.summary import Lines, say_summary
from pairalign.requests.files_request import MergeOptions


def run_merge(request: MergeOptions) -> None:
    """Carry out ``pairalign merge``."""
    parts = read_manifests(request.parts)
    if request.plan:
        _print_plan(parts)
        return
    merge_parts(
        parts,
        request.writing.output,
        format=request.writing.format,
        threads=request.resources.threads,
    )
    size = sum(part.bytes for part in parts)
    pairs = sum(part.pairs for part in parts)
    lines = Lines()
    lines.add("merged", f"{len(parts):,} parts, {size:,} bytes", parts=len(parts))
    lines.add("pairs", f"{pairs:,}", pairs=pairs)
    lines.add_outputs([request.writing.output])
    say_summary(request, lines)


def _print_plan(parts: list[Part]) -> None:
    """Print a command for each missing part; a comment has their numbers for a job array."""
    missing = missing_shards(parts)
    shards = parts[0].shards
    if not missing:
        print(f"# all {shards} parts are there")
        return
    print(f"# {len(missing)} of {shards} parts are missing: {describe_shards(missing)}")
    command = without_option(parts[0].command, "--shard", values=1)
    for shard in missing:
        print(shlex.join(["pairalign", *command, "--shard", f"{shard}/{shards}"]))
