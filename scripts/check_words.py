"""Plain words: terms of the field in documentation, help texts, docstrings and comments.

Prints each word to avoid with a better one, and Markdown lines that are too long; fails if there
are any. Code is left alone: fenced and quoted code of Markdown, names of Python::

    python scripts/check_words.py
"""

from __future__ import annotations

import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ("pairalign", "scripts")
NATIVE = ("cpu", "common", "cuda", "opencl")
ENDINGS = (".h", ".cpp", ".cu", ".cuh", ".cl", ".clh")
PROSE, CODE = 100, 120
"""Longest lines of Markdown: of prose, and of code. Tables and pictures are not wrapped."""

SYMBOL = re.compile(
    r"((capital|small|iupac|every|single|other|than|expected|upper-case|lower-case|no)\s+letters?"
    r"|letters? (_|'|\{|a-z|of (the|an|all) alphabets?|of ascii|that stands?|of each operation))",
    re.IGNORECASE,
)
"""A letter that is a symbol of an alphabet, and not a residue of a sequence."""

TERMS = {
    r"letters?": "residues, or bases",
    r"corridors?": "band",
    r"likeness": "similarity",
    r"definite": "unambiguous",
    r"further alignments?": "suboptimal alignments",
}
"""Words that the field does not use; comments of native sources do without them as well."""

WORDS = {
    **TERMS,
    r"quicker|quickest": "faster, fastest",
    r"so (many|much)(?! that)": "a number, or the noun that is counted",
    r"as often(?! as)": "at that interval",
    r"in turns": "in interleaved rounds",
    r"(?<!is )(?<!asks )for nothing": "free, without cost",
    r"strands? that (was|were) read": "original strand",
    r"stops to pay": "no longer pays",
    r"(kept|left) less of": "the offset that is subtracted",
    r"which one before did": "non-intersecting",
}
"""Words to avoid, as regular expressions, with what to write instead."""

MARKDOWN_WORDS = {
    r"(?<!sorted )positions?": "coordinates",
    r"[Mm]ended": "fixed",
    r"(?<!-)too[.;)]": "also",
    r"of equals": "if equal, ties",
    r"(?<=\. )Of(?! course)": "a subject first",
}
"""More, for prose that is read from the top."""


def found_words(text: str, words: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Yield where a text has a word to avoid, and what is said of it."""
    symbols = [one.span() for one in SYMBOL.finditer(text)]
    for pattern, better in words.items():
        for one in re.finditer(rf"(?<![\w.`_-])(?:{pattern})(?![\w`_(=\]])", text, re.IGNORECASE):
            start, stop = one.span()
            if not any(first <= start and stop <= last for first, last in symbols):
                yield start, f"'{one[0]}': better {better}"


def markdown_faults(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbers of lines of a page, and what is wrong there."""
    words = {**WORDS, **MARKDOWN_WORDS}
    is_code = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fence = line.lstrip().startswith("```")
        is_code ^= fence
        is_row = line.startswith(("|", "![")) or len(re.findall(r"\S {2,}", line)) > 3
        most = CODE if is_code or line.startswith("    ") else PROSE
        if len(line) > most and not is_row and " " in line.strip():
            yield number, f"{len(line)} characters, at most {most}"
        if not (is_code or fence or line.startswith("    ")):
            prose = re.sub(r"`[^`]*`|\]\([^)]*\)", lambda one: "_" * len(one[0]), line)
            yield from ((number, said) for _, said in found_words(prose, words))


def changelog_faults(path: Path) -> Iterator[tuple[int, str]]:
    """Yield entries of the newest release that are no line a change, without measurements."""
    newest = path.read_text().partition("\n## ")[2].partition("\n## ")[0]
    before = path.read_text().partition(newest)[0].count("\n")
    for one in re.finditer(r"^- (?:.+\n?)+?(?=- |\n|#|\Z)", newest, re.MULTILINE):
        number = before + newest[: one.start()].count("\n") + 1
        if one[0].strip().count("\n") > 1:
            yield number, "a change has two lines at most"
        if re.search(r"\d (CPU s|MiB|GiB|GB)\b|\+-", one[0]):
            yield number, "measurements are for docs/measured.md"


def source_faults(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbers of lines of a Python source, and what is wrong in its strings and comments."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        is_prose = token.type == tokenize.STRING and " " in token.string and token.string[0] != "b"
        if not is_prose and token.type != tokenize.COMMENT:
            continue
        for place, said in found_words(code_hidden(token.string), WORDS):
            yield token.start[0] + token.string.count("\n", 0, place), said


def native_faults(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbers of lines of a native source, and terms in its comments that the field lacks."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        _, _, comment = line.partition("//")
        yield from ((number, said) for _, said in found_words(code_hidden(comment), TERMS))


def code_hidden(text: str) -> str:
    """Return the text with what is code in it replaced: quoted names, parameters, expressions."""

    def hide(one: re.Match[str]) -> str:
        return re.sub(r"[^\n]", "_", one[0])

    field = r"letters(?= (\w+ )?\w+_)"  # among those of a struct
    code = rf"`[^`]*`|\{{[^}}]*\}}|^ *(\w+, )*letters(, \w+)*( : .*)?$|>>> .*|{field}"
    return re.sub(code, hide, text, flags=re.MULTILINE)


def main() -> int:
    """Check all files; print the faults."""
    pages = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
    faults = [(page, *fault) for page in pages for fault in markdown_faults(page)]
    log = ROOT / "CHANGELOG.md"
    faults += [(log, *fault) for fault in changelog_faults(log)]
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            if path != Path(__file__).resolve():
                faults += [(path, *fault) for fault in source_faults(path)]
    for folder in NATIVE:
        paths = [one for one in sorted((ROOT / folder).rglob("*.*")) if one.suffix in ENDINGS]
        faults += [(path, *fault) for path in paths for fault in native_faults(path)]
    for path, number, said in faults:
        print(f"{path.relative_to(ROOT)}:{number}: {said}")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
