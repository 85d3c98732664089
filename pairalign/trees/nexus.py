"""NEXUS, for FigTree and others: the names, and the tree as Newick with their numbers.

A name may be anything: one that has more than digits and Latin characters is in quotes, for readers
take an underscore without them for a blank; a quote in it is doubled.
"""

from __future__ import annotations

import re

from pairalign.trees.newick import newick_text
from pairalign.trees.tree import GuideTree

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9.]*")


def to_nexus(tree: GuideTree) -> str:
    """Write a rooted tree as a block of names and one of trees.

    Parameters
    ----------
    tree : GuideTree

    References
    ----------
    Maddison, Swofford and Maddison: NEXUS: an extensible file format for systematic information.
    Systematic Biology 46 (1997), 590-621.
    """
    names = [_quoted(name) for name in tree.names]
    numbers = [str(number) for number in range(1, len(names) + 1)]
    numbered = [f"    {number} {name}" for number, name in zip(numbers, names, strict=True)]
    lines = [
        "#NEXUS",
        "begin taxa;",
        f"  dimensions ntax={len(names)};",
        "  taxlabels",
        *(f"    {name}" for name in names),
        "  ;",
        "end;",
        "begin trees;",
        "  translate",
        ",\n".join(numbered),
        "  ;",
        f"  tree {tree.method} = [&R] {newick_text(tree, numbers)}",
        "end;",
    ]
    return "\n".join(lines) + "\n"


def _quoted(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else "'" + name.replace("'", "''") + "'"
