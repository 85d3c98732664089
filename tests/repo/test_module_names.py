"""Base names of modules are unique, so that a name in an editor or a traceback says which."""

from collections import Counter
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "pairalign"


def test_base_names_of_modules_are_unique():
    names = Counter(path.name for path in PACKAGE.rglob("*.py"))
    del names["__init__.py"]
    assert len(names) > 100
    assert not [name for name, count in names.items() if count > 1]
