"""Tables of groups: how far apart each two are, how much of them is matched, their clusters."""

from __future__ import annotations

from pairalign.base.choices import SIMILARITY_MEASURES
from pairalign.base.texts import quoted
from pairalign.formats.names import table_format
from pairalign.formats.output import Path, open_table
from pairalign.trees.group_distances import GroupDistances


def write_group_table(path: Path, distances: GroupDistances) -> None:
    """Write a line for each two groups: names, distance, and what else is known of them.

    Of a measure of identity the third column is the identity.

    Parameters
    ----------
    path : str or path
        ``"-"`` is standard output; ``.gz`` compresses. The file appears when it is complete.

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    is_identity = distances.measure in SIMILARITY_MEASURES
    heads = ("query", "target", "identity" if is_identity else "distance", *distances.columns)
    with open_table(path, table_format(path)) as output:
        output.write(("\t".join(heads) + "\n").encode())
        for query, target, distance, *more in distances.rows():
            values = (1 - distance if is_identity else distance, *more)
            numbers = (
                f"{value:.6f}" if isinstance(value, float) else str(value) for value in values
            )
            output.write(("\t".join((quoted(query), quoted(target), *numbers)) + "\n").encode())


def write_group_clusters(path: Path, clusters: list[list[str]]) -> None:
    """Write the number of its cluster and the name of each group, a line each.

    Raises
    ------
    OutputError
        The file cannot be written.
    """
    lines = [
        f"{number}\t{quoted(name)}\n" for number, names in enumerate(clusters, 1) for name in names
    ]
    with open_table(path, table_format(path)) as output:
        output.write(("cluster\tgroup\n" + "".join(lines)).encode())
