"""An option changes what is written or said, or is refused: every option of every command.

Commands, options and values are made of what requests declare (`option_sweep`).
"""

import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from option_sweep import Sweep, declared, values_of

from pairalign.base.declaration import Option
from pairalign.cli.program import COMMANDS

NAMES = [one.name for one in COMMANDS if one.name not in ("help", "completion", "devices")]
OF_MORE = {
    ("overlap", "max_false"),
    *(("split", name) for name in ("tolerance", "nearest_from", "seed")),
    *(("msa", name) for name in ("partners", "seed")),
    ("align", "window"),
}
"""Options that change nothing of as few sequences as here."""
OTHERS = {"tree": [["m.phy"]]}
"""Inputs of which more options are refused."""


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sweep]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("sweep"))
        yield Sweep(Path.cwd())


@pytest.mark.slow
@pytest.mark.parametrize("command", NAMES)
def test_no_option_is_ignored(sweep, command):
    found = [sweep.ignored(command, (), one) for one in _options(command)]
    assert [one for one in found if one is not None] == []


@pytest.mark.parametrize("command", NAMES)
def test_some_options_are_not_ignored(sweep, command):
    some = random.Random(f"{command} 1").sample(_options(command), min(5, len(_options(command))))
    found = [sweep.ignored(command, (), one) for one in some]
    assert [one for one in found if one is not None] == []


@pytest.mark.parametrize("command", OTHERS)
def test_no_option_is_ignored_with_another_input(sweep, command):
    found = [sweep.ignored(command, (), one, OTHERS[command]) for one in _options(command)]
    assert [one for one in found if one is not None] == []


@pytest.mark.parametrize("command", NAMES)
def test_no_option_is_ignored_beside_another(sweep, command):
    """Some pairs of options, always the same ones."""
    draw, options = random.Random(command), _options(command)
    found = []
    for _ in range(8):
        one, other = draw.choice(options), draw.choice(options)
        beside = draw.choice(list(values_of(other)))
        if one.name != other.name:
            found.append(sweep.ignored(command, beside.words, one))
    assert [one for one in found if one is not None] == []


def _options(command: str) -> list[Option]:
    found = [one for one in declared(command) if (command, one.name) not in OF_MORE]
    assert found
    return [one for one in found if list(values_of(one))]


@pytest.mark.parametrize(
    "words",
    [
        ("--columns", "query,target,evalue", "--mode", "local", "--db-size", "5"),
        ("--mode", "local", "--max-evalue", "9", "--search-space", "5"),
        ("--max-hits", "1", "--rank", "identity", "--identity-of", "shorter"),
        ("--min-coverage", "0.5", "--coverage-of", "query"),
    ],
)
def test_taken(sweep, words):
    """Where they have an effect."""
    assert sweep.run("align", "p.fa", *words, "-o", "-", "--format", "tsv").code == 0
