"""`pairalign verify` finds errors of every kind in every word of every format.

Each word of what `align` writes is emptied, made a star, doubled, cut and exchanged with the next;
its numbers and residues are changed; and lines are cut. What a file cannot tell is listed.
"""

import re

import pytest
from verifying import align, write_sequences

from pairalign.cli.main import main

TAGS = (
    # Tags stand in any order, and a tag may have any other name.
    *(r"\w\w:[iAZ]:\S+ exchanged", r"\w\w:[iAZ]:\S+ letter 0"),
    # Which marks columns have is not computed again. Any mapping quality may be.
    *(r"pp:Z:\S+ number [+-]1 at \d+", r"255 number -1 at 0"),
)
HEADER = (
    # A header may say less, and anything besides.
    *(r">?[ab] doubled", r"\w+=\S+ (exchanged|doubled|empty|star|cut)", r"\w+=\S+ letter 0"),
    r"start=0 number -1 at 6",
)
CATALOGUE = {
    # format: sequences, options, the lines that are damaged, and what cannot be told
    "paf": ("s.fa", ("--paf-tags", "tp,cs,pp"), r"a", TAGS),
    "sam": (
        *("d.fa", ("--sam-tags", "MD,pp"), r"g"),
        (*TAGS, r"0 number \+1 at 0", r"TTACG\S+ star"),  # another flag; SEQ need not be there
    ),
    "blast6": (
        *("s.fa", (), r"a"),
        # Bits and E-values are not computed again; programs cut digits.
        (
            *(r"\S+e-39 (star|exchanged|number .*)", r"65\.6 (star|number .*|cut)"),
            *(r"90\.698 (cut|number -1 at 3)",),
        ),
    ),
    "srspair": (
        *("s.fa", (), r"[ab] |# (1|2|Length|Identity|Similarity|Gaps|Score):"),
        # A line may be missing; behind the first number stands anything; programs cut digits.
        (
            *(r"# .*", r"\w+: .*", r"\S+ doubled", r"\([ ]?(\d+\.\d%\))? (empty|star|exchanged)"),
            *(r"\(?\d+\.\d%\) (empty|number -1 at \d)", r"\( .*", r"203\.0 cut"),
        ),
    ),
    "fasta": ("s.fa", (), r">|[A-Z]", HEADER),
    "maf": ("q.fa t.fa", (), r"[as] ", (r"a doubled", r"score=203 (empty|doubled|star|letter 0)")),
    "stockholm": ("q.fa t.fa", (), r"[ab]/|#=GF SC", (r"#=GF .*", r"SC .*")),
    "a3m": ("q.fa t.fa", (), r">|[-A-Z]", HEADER),
    "abc": ("s.fa", (), r"a", (r"a exchanged", r"0\.906977 (cut|number .*)")),
}


def damaged_words(line):
    """What is done to a word, and the line with it."""
    words = list(re.finditer(r"\S+", line))
    for word, after in zip(words, [*words[1:], None], strict=True):
        text, before, behind = word[0], line[: word.start()], line[word.end() :]
        changed = {"empty": "", "star": "*", "doubled": text + (behind[:1] or " ") + text}
        if len(text) > 3:
            changed["cut"] = text[:-2]
        for run in re.finditer(r"\d+", text):
            for more in (1, -1):
                number = str(int(run[0]) + more).zfill(len(run[0]))
                key = f"number {more:+d} at {run.start()}"
                changed[key] = text[: run.start()] + number + text[run.end() :]
        for run in re.finditer(r"[A-Za-z]+", text):
            other = "w" if run[0][-1].lower() != "w" else "v"
            other = other if run[0][-1].islower() else other.upper()
            key = f"letter {run.start()}"
            changed[key] = text[: run.end() - 1] + other + text[run.end() :]
        yield from (
            (f"{text} {kind}", before + new + behind)
            for kind, new in changed.items()
            if new != text
        )
        if after and after[0] != text:
            between = line[word.end() : after.start()]
            yield f"{text} exchanged", before + after[0] + between + text + line[after.end() :]


@pytest.mark.slow
@pytest.mark.parametrize("format", CATALOGUE)
def test_each_word(here, format):
    write_sequences(here)
    files, options, chosen, untold = CATALOGUE[format]
    align(*files.split(), "-o", f"a.{format}", "--mode", "local", *options)
    lines = (here / f"a.{format}").read_text().splitlines()
    found = ["verify", f"x.{format}", *files.split(), "--mode", "local", "-q", "-o", "found.tsv"]
    codes = {}
    for k, line in enumerate(lines):
        if re.match(chosen, line):
            for what, new in damaged_words(line):
                damaged = "\n".join([*lines[:k], new, *lines[k + 1 :]]) + "\n"
                (here / f"x.{format}").write_text(damaged)
                codes[what] = max(main(found), codes.get(what, 0))
    missed = [what for what, code in codes.items() if code == 0]
    assert [w for w in missed if not any(re.fullmatch(one, w) for one in untold)] == []
    assert len(missed) < len(codes) / 2
    # The same lines without damage are legal.
    (here / f"x.{format}").write_text("\n".join(lines) + "\n")
    assert main(found) == 0
