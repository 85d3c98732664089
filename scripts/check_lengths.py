"""Files and functions stay short enough to read at one sitting.

A source file has at most 600 lines; the body of a function, without its docstring, at most 60.
Loops of kernels that keep their state in registers may be longer: `LONGER` says by how much, so
that they do not grow. Prints what is longer, and what of `LONGER` is no longer needed, and fails if
there is anything::

    python scripts/check_lengths.py
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE_LINES, FUNCTION_LINES = 600, 60
FOLDERS = ("pairalign", "cpu", "common", "cuda", "opencl", "tests", "scripts")
NATIVE = {".h", ".cpp", ".cu", ".cuh", ".cl", ".clh"}
SUFFIXES = {".py", ".js", ".css", ".html", *NATIVE}
FOREIGN = "d3.min.js"
LONGER = {
    "cpu/align/byte_kernel.h:tier": 74,
    "cpu/align/kernel.h:tier": 75,
    "cpu/align/long_pair.h:fill": 70,
    "cpu/bitwise/kernel.h:bitwise_score": 61,
    "cuda/bitwise/score.cu:score_all_rows": 62,
    "cuda/block_diagonals/strip.cuh:fill_strip": 205,
    "cuda/packed/fill.cu:fill_items": 182,
    "cuda/packed/refill.cuh:refill": 162,
    "cuda/packed/runs.cu:write_runs": 74,
    "cuda/packed/walk.cuh:walk": 67,
    "cuda/pair_filter/pair_filter.cu:filter_pairs": 76,
    "cuda/papers/pair_per_warp.cu:align": 68,
    "opencl/fill_pair_per_thread.cl:fill_pair_per_thread": 144,
    "opencl/traceback_pair_per_thread.cl:walk": 86,
}
"""The most lines of functions that are longer."""

_NO_CODE = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)'|^\s*#(?:[^\n]*\\\n)*[^\n]*",
    re.DOTALL | re.MULTILINE,
)
_BRACES = re.compile(r"[;{}]")
_ATTRIBUTE = re.compile(
    r"__\w+__\s*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)|template\s*<[^;{}]*?>(?=\s)"
    r"|ENTRY\(\d+\)|^[A-Z_]+\([^()]*\)\s*$",
    re.MULTILINE,
)
_FUNCTION = re.compile(r"(~?\w+|operator\W+)\s*\(")
_NOT_FUNCTIONS = {"if", "for", "while", "switch", "catch", "decltype", "alignas", "noexcept"}


def python_functions(text: str) -> Iterator[tuple[str, int]]:
    """Give the name of each function of a Python source and the lines of its body."""
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        yield node.name, (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def native_functions(text: str) -> Iterator[tuple[str, int]]:
    """Give the name of each function of a native source and the lines between its braces."""
    text = _NO_CODE.sub(lambda match: "\n" * match[0].count("\n"), text)
    name, began, depth, last = "", 0, 0, 0
    for brace in _BRACES.finditer(text):
        if name:  # inside a function: its end is looked for
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if not depth:
                yield name, text.count("\n", began, brace.start()) - 1
                name = ""
        elif brace[0] == "{":
            said = _ATTRIBUTE.sub("", text[last : brace.start()])
            found = _FUNCTION.search(said)
            if found and found[1] not in _NOT_FUNCTIONS and "=" not in said[: found.start()]:
                name, began, depth = found[1], brace.start(), 1
        last = brace.end()


def faults(root: Path, kernels: dict[str, int]) -> Iterator[str]:
    """Describe what is too long below a folder."""
    longer = dict(kernels)
    files = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*"))]
    for path in files:
        if path.suffix not in SUFFIXES or path.name == FOREIGN:
            continue
        place, text = path.relative_to(root).as_posix(), path.read_text()
        lines = text.count("\n")
        if lines > FILE_LINES:
            yield f"{place}: {lines} lines, at most {FILE_LINES}"
        functions = python_functions if path.suffix == ".py" else native_functions
        for name, length in functions(text) if path.suffix in {".py", *NATIVE} else ():
            most = longer.pop(f"{place}:{name}", FUNCTION_LINES) if length > FUNCTION_LINES else 0
            if length > max(most, FUNCTION_LINES):
                yield f"{place}: {name} has {length} lines, at most {max(most, FUNCTION_LINES)}"
    yield from (f"{name}: no longer than others, strike it from LONGER" for name in longer)


def main() -> int:
    """Check the lengths; return the exit code."""
    found = list(faults(ROOT, LONGER))
    print("\n".join(found) or "no file or function is too long")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
