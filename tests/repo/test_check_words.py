"""The linter of words: what it finds, and what it leaves alone."""

import check_words
import pytest


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Reads of 900 letters.", ["letters"]),
        ("It is quicker.", ["quicker"]),
        ("Three rounds in turns.", ["in turns"]),
        ("It has so many of them.", ["so many"]),
        ("So much the better.", ["So much"]),
        ("A commit comes as often.", ["as often"]),
        ("Residues are left out for nothing.", ["for nothing"]),
        ("The strand that was read.", ["strand that was read"]),
        ("Positions of both reads.", ["Positions"]),
        ("SAM, too.", ["too."]),
        ("All pass. Of these two fail.", ["Of "]),
        ("Mended: a wrong score.", ["Mended"]),
        ("As often as needed, so many that none is left.", []),
        ("Lower-case letters are kept; `letters` is a name.", []),
        ("Sequences have bases or residues, and coordinates.", []),
    ],
)
def test_words_of_pages(line, found, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(line + "\n")
    said = [one.split("'")[1] for _, one in check_words.markdown_faults(page)]
    assert [one.strip() for one in said] == [one.strip() for one in found]


def test_long_lines_of_pages(tmp_path):
    page = tmp_path / "page.md"
    words = "word " * 21
    page.write_text(f"{words}\n| {words * 2}|\n```text\n{words}\n{words * 2}\n```\n{'x' * 140}\n")
    assert [number for number, _ in check_words.markdown_faults(page)] == [1, 5]


def test_words_of_sources(tmp_path):
    source = tmp_path / "source.py"
    source.write_text(
        '"""Two letters.\n\nletters : bytes\n    `letters`, quicker.\n"""\n'
        "letters = {'letters': 1}  # so many\n"
        "print(f'a {letters} is')\n"
    )
    assert [(number, said.split("'")[1]) for number, said in check_words.source_faults(source)] == [
        (1, "letters"),
        (4, "quicker"),
        (6, "so many"),
    ]


def test_words_of_native_sources(tmp_path):
    source = tmp_path / "source.h"
    source.write_text(
        "int letters = 0;  // of a corridor\n"
        "// Letters of a row, and letters of the alphabet. Indefinite\n"
        "// `letters`: a further alignment, its likeness.\n"
    )
    found = [(number, said.split("'")[1]) for number, said in check_words.native_faults(source)]
    assert sorted(found) == [
        (1, "corridor"),
        (2, "Letters"),
        (3, "further alignment"),
        (3, "likeness"),
    ]


def test_the_changelog_has_a_line_a_change(tmp_path):
    log = tmp_path / "CHANGELOG.md"
    log.write_text(
        "# Changelog\n\n## 2\n\n### Added\n\n- One.\n- Two\n  lines.\n- Three\n  lines\n  here.\n"
        "- It takes 2 CPU s.\n\n### Fixed\n\n- One.\n\n## 1\n\n- Three\n  lines\n  here.\n"
    )
    assert [number for number, _ in check_words.changelog_faults(log)] == [10, 13]
