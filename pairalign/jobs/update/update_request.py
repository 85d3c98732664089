"""What is asked of an update."""

from __future__ import annotations

from typing import ClassVar

from pairalign.base.arguments import IN_FILE
from pairalign.base.declaration import group, place, request
from pairalign.requests.files_request import PartsOptions
from pairalign.requests.resources import ResourcesOptions
from pairalign.requests.shared import AT_ONCE, OutputRules


@request
class UpdateOptions(PartsOptions, ResourcesOptions):
    """All that ``pairalign update`` is asked."""

    DESCRIPTION: ClassVar[str] = (
        "Add sequences to a run of align: only pairs with a new sequence are aligned, and the "
        "result has the bytes of a run of all sequences. PARTS is the folder of the run, made with "
        "align -o PARTS --shard 1/1 or any other number of parts."
    )

    new: tuple[str, ...] = place(
        "NEW", "files of sequences, which come last", kind=IN_FILE, nargs="+", is_several=True
    )
    writing: OutputRules = group(
        OutputRules,
        but=("format", *AT_ONCE),
        output={
            "help": "file, or - for stdout; .gz compresses; a folder, or a name with a / at the "
            "end, takes one part, to which more can be added",
            "required": True,
        },
    )
