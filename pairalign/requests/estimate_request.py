"""What is asked of a forecast: ``pairalign estimate``."""

from __future__ import annotations

from typing import Any, ClassVar

from pairalign.base.declaration import option, request
from pairalign.base.option_kinds import NUMBER, POSITIVE
from pairalign.requests.align_request import AlignArguments, AlignOptions

_ESTIMATE = "estimate"


class EstimateArguments(AlignArguments, total=False):
    """Types of what `pairalign.estimate` takes besides sequences, scoring, mode and format."""

    devices: str
    sample: int
    price: float | str | None


@request
class EstimateOptions(AlignOptions):
    """All that ``pairalign estimate`` is asked: what ``align`` is, and more."""

    DESCRIPTION: ClassVar[str] = (
        "Say what a run of align with these options would take on some devices: pairs, cells, "
        "hours, bytes and cost. Some pairs are aligned here to see what passes and how long their "
        "text is; nothing is written."
    )

    devices: str = option(
        "H200",
        "what it would run on: H200, H200:8, core:16 (default: %(default)s)",
        metavar="KIND[:N]",
        group=_ESTIMATE,
    )
    sample: int = option(
        20_000,
        "pairs that are aligned here (default: %(default)s)",
        metavar="N",
        kind=POSITIVE,
        group=_ESTIMATE,
    )
    price: Any = option(help="of an hour of one device", metavar="X", kind=NUMBER, group=_ESTIMATE)
