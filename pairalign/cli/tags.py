"""Options for what lines of PAF and SAM have besides: more tags, and CIGARs with M."""

from __future__ import annotations

from typing import Any

from pairalign.base.choices import PAF_TAGS, SAM_TAGS
from pairalign.base.errors import FormatError
from pairalign.formats.writer import PLAIN_CIGAR


def tags_of(options: Any, suboptimal: int = 1) -> frozenset[str]:
    """Return what is asked for.

    Parameters
    ----------
    options : TagsOptions
        Those of a command that has them.
    suboptimal : int
        The most alignments of a pair.

    Raises
    ------
    FormatError
        There is no such tag, or it is not known of several alignments of a pair.
    """
    found: list[str] = [PLAIN_CIGAR] if options.plain_cigar else []
    for option, text, known in (
        ("--paf-tags", options.paf_tags, PAF_TAGS),
        ("--sam-tags", options.sam_tags, SAM_TAGS),
    ):
        names = (text or "").replace(",", " ").split()
        for name in names:
            if name not in known:
                raise FormatError(f"{option}: no tag {name!r}, expected {', '.join(known)}")
        found += names
    if "pp" in found and not hasattr(options, "objective"):
        raise FormatError("--paf-tags, --sam-tags: pp is for align, which computes posteriors")
    if "tp" in found and suboptimal > 1:
        raise FormatError("--paf-tags tp: with --hsps a pair has several alignments, leave one out")
    return frozenset(found)
