"""Private names stay at home: nothing called ``_name`` is used outside of the module that has it.

Looks at the package's source for imports of private names and of private modules, and for private
attributes of anything but `self`, `cls` and `super()`, unless the module itself defines the name.
Prints what it finds, and fails if there is anything::

    python scripts/check_private.py
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "pairalign"
ALLOWED = {
    # argparse has public functions that return these, and no public names for them.
    "_ArgumentGroup",
    "_SubParsersAction",
    # The type of a library's function, for mypy.
    "_NamedFuncPointer",
    # Of ctypes, the fields of structures; of named tuples, one with other values.
    "_fields_",
    "_replace",
    # The way to end a process at once.
    "_exit",
    # A module of Python's documentation, for a thread without what `threading` imports.
    "_thread",
}


def is_private(name: str) -> bool:
    """Whether a name is for its own module (and is not one of Python's, such as ``__len__``)."""
    return name.startswith("_") and not name.endswith("__") and name not in ALLOWED


def defined_names(tree: ast.Module) -> set[str]:
    """Names that a module gives to functions, classes, variables, attributes and arguments."""
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            names.add(node.attr)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
    return names


def is_own(node: ast.expr) -> bool:
    """Whether an expression is the object itself, its class, or what `super` returns."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def borrowed(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield line and name of private names of other modules that a module uses."""
    own = defined_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [part for alias in node.names for part in alias.name.split(".")]
        elif isinstance(node, ast.ImportFrom):
            names = [alias.name for alias in node.names]
            names += (node.module or "").split(".")
        elif isinstance(node, ast.Attribute) and not is_own(node.value):
            names = [] if node.attr in own else [node.attr]
        else:
            continue
        for name in names:
            if is_private(name) and name != "__future__":
                yield node.lineno, name


def main() -> int:
    """Look at every module; return the exit code."""
    failed = 0
    for path in sorted(PACKAGE.rglob("*.py")):
        for line, name in borrowed(ast.parse(path.read_text(), str(path))):
            print(f"{path.relative_to(PACKAGE.parent)}:{line}: '{name}' is private to its module")
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
