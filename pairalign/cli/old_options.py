"""Options and values that have another name now: their errors say which."""

from __future__ import annotations

OPTIONS = {
    "--top": "--hsps N",
    "--best": "--max-hits N --rank identity",
    "--cluster": "--dask ADDRESS",
}
"""By their old names."""

VALUES = {"identity-definite": "identity-unambiguous"}
"""Values that options had, and what they are called now."""


def new_names(words: list[str]) -> str:
    """Return what to say of old names of options among the words of a message; empty: nothing."""
    used = dict.fromkeys(word.partition("=")[0] for word in words)
    return "".join(f"; {old} is {OPTIONS[old]} now" for old in used if old in OPTIONS)
