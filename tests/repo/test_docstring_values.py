"""Values that docstrings list in braces are those that are declared, all of them."""

import inspect
import re

import pytest

import pairalign
from pairalign.base import choices
from pairalign.jobs.overlaps.presets import PRESETS

VALUES = {
    "identity_of": choices.IDENTITIES,
    "coverage_of": choices.COVERAGES,
    "mode": choices.MODES,
    "strand": choices.STRANDS,
    "objective": choices.OBJECTIVES,
    "orient": choices.ORIENTS,
    "mask": choices.MASKS,
    "rank": choices.RANKS,
    "linkage": choices.LINKAGES,
    "representative": choices.REPRESENTATIVES,
    "order": choices.CLUSTER_ORDERS,
    "method": choices.TREE_METHODS,
    "mutual": choices.MUTUAL,
    "measure": (),
    "read_as": choices.READER_NAMES,
    "ties": choices.TIES,
    "on_empty": choices.ON_EMPTY,
    "on_duplicate": choices.ON_DUPLICATE,
    "names": choices.NAMES,
    "filter": choices.OVERLAP_FILTERS,
    "preset": ("auto", *PRESETS),
    "format": {**choices.DISTANCE_SUFFIXES, **choices.RECTANGLE_SUFFIXES},  # of parts
    "detail": ("cigar", "stats", "score"),
    "alphabet": ("protein", "dna"),
    "across": ("all", "none"),
}
FEWER = {("cluster", "rank"): choices.EDGE_RANKS, ("overlap", "mode"): choices.MODES[1:]}
FEWER["distance", "measure"] = (
    *(*choices.MEASURE_SUMMARIES, *choices.GENOME_MEASURES, *choices.RECEPTOR_MEASURES),
)
FEWER["tree", "measure"] = tuple(choices.MEASURE_SUMMARIES)
FUNCTIONS = [name for name in pairalign.__all__ if inspect.isfunction(getattr(pairalign, name))]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_braces_list_every_value(function):
    listed = re.findall(
        r"^    (\w+(?:, \w+)*) : (?:\w+ or )?\{([^}]*)\}",
        inspect.getdoc(getattr(pairalign, function)).replace("\n", "\n    "),
        re.MULTILINE,
    )
    for names, values in listed:
        found = set(re.findall(r'"([^"]*)"', values))
        for name in names.split(", "):
            assert name in VALUES, f"{name}: say here what declares its values"
            expected = FEWER.get((function, name), VALUES[name])
            assert found == set(expected), name


def test_functions_with_an_identity_list_it():
    with_identity = [
        name
        for name in FUNCTIONS
        if "identity_of" in inspect.signature(getattr(pairalign, name)).parameters
    ]
    assert len(with_identity) >= 3
    for name in with_identity:
        assert 'identity_of : {"' in getattr(pairalign, name).__doc__
