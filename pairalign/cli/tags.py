"""Options for what lines of PAF and SAM have besides: more tags, and CIGARs with M."""

from __future__ import annotations

from typing import Any

from pairalign.base.choices import PAF_TAGS, SAM_TAGS
from pairalign.base.errors import FormatError
from pairalign.formats.writer import PLAIN_CIGAR
from pairalign.requests.shared import names_in


def tags_of(options: Any) -> frozenset[str]:
    """Return what is asked for.

    Parameters
    ----------
    options : TagsOptions
        Those of a command that has them.

    Raises
    ------
    FormatError
        There is no such tag.
    """
    found: list[str] = [PLAIN_CIGAR] if options.plain_cigar else []
    for option, text, known in (
        ("--paf-tags", options.paf_tags, PAF_TAGS),
        ("--sam-tags", options.sam_tags, SAM_TAGS),
    ):
        names = names_in(text)
        for name in names:
            if name not in known:
                raise FormatError(f"{option}: no tag {name!r}, expected {', '.join(known)}")
        found += names
    if "pp" in found and not hasattr(options, "objective"):
        raise FormatError("--paf-tags, --sam-tags: pp is for align, which computes posteriors")
    return frozenset(found)
