"""The request of posteriors: ``pairalign posterior``."""

from __future__ import annotations

from typing import ClassVar

from pairalign.base.arguments import POSTERIOR
from pairalign.base.choices import POSTERIOR_SUFFIXES, SHOWN_POSTERIOR
from pairalign.base.declaration import option, request
from pairalign.requests.resources import CoreArguments, CoreOptions
from pairalign.requests.shared import (
    CommandOptions,
    DryRunOptions,
    InputArguments,
    InputOptions,
    OutputOptions,
    OutputRules,
    SequencesOptions,
    written_as,
)


@request
class ThresholdOptions(CommandOptions):
    """Which posteriors are kept."""

    threshold: float = option(
        SHOWN_POSTERIOR,
        "leave out posteriors below; from 0.001 to 1 (default: %(default)g)",
        metavar="P",
        kind=POSTERIOR,
    )


class PosteriorArguments(InputArguments, CoreArguments, total=False):
    """Types of what `pairalign.posterior` takes besides sequences."""

    threshold: float


@request
class PosteriorOptions(
    SequencesOptions, OutputOptions, ThresholdOptions, InputOptions, DryRunOptions, CoreOptions
):
    """The request of ``pairalign posterior``."""

    SHORT: ClassVar[str] = "output format threshold alphabet device threads memory resume"
    DESCRIPTION: ClassVar[str] = (
        "Compute for each pair of the sequences of IN how likely each two residues are to be "
        "aligned, by a pair HMM and a partition function; the sparse matrices go to OUT."
    )
    STDOUT_FORMAT: ClassVar[str] = "tsv"
    POSTERIORS: ClassVar[bool] = True

    writing: OutputRules = written_as(tuple(POSTERIOR_SUFFIXES), "tsv", but=("shard", "dask"))
