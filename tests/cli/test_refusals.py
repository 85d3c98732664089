"""What the command refuses, one line for each: `refusals.txt` has the arguments and the message."""

import gzip
import os
import re
import shlex
from pathlib import Path

import pytest
from Bio.Align import substitution_matrices
from commands import BASES, PROTEINS, fasta, run

from pairalign.cli.main import main

TABLE = [
    line.split(" | ", 2)
    for line in Path(__file__).with_name("refusals.txt").read_text().splitlines()
    if line and not line.startswith("#")
]
GOOD = fasta(PROTEINS)
BLOSUM = str(substitution_matrices.load("BLOSUM62"))
TWENTY = "ARNDCQEGHILKMFPSTWYV"


def without(letter: str) -> str:
    """BLOSUM62 without a letter."""
    rows = [line.split() for line in BLOSUM.splitlines() if line[:1] not in ("#", letter)]
    column = rows[0].index(letter)
    rows[1:] = [[one for k, one in enumerate(row) if k != column + 1] for row in rows[1:]]
    rows[0].remove(letter)
    return "\n".join("  ".join(row) for row in [["", *rows[0]], *rows[1:]]) + "\n"


def twenty() -> str:
    """A matrix without B, Z, X and *."""
    rows = [f"{a} " + " ".join("4" if a == b else "-1" for b in TWENTY) for a in TWENTY]
    return "  " + " ".join(TWENTY) + "\n" + "\n".join(rows) + "\n"


BAD_FASTA = {
    "empty.fa": "",
    "headless.fa": "MKVLAAGG\n" + GOOD,
    "bare.fa": ">a\nMKV\n>b\n>c\nMK\n",
    "twice.fa": GOOD + ">b again\nMKV\n",
    "gap.fa": ">a\nMKV\n>sp|P1 x\nMK\nV-L\n",
    "dot.fa": ">a\nMKV.\n>b\nMKVL\n",
    "digit.fa": ">a\nMKV\n>b\n1 MKVLA\n",
    "zero.fa": ">a\nMK\x00\x01\n>b\nMK\n",
    "alone.fa": ">alone\nMKV\n",
    "nameless.fa": ">a\nMKV\n> \nMKV\n",
    "stop.fa": ">a\nACGT\n>b\nACG*\n",
    "cut.fq": "@a\nACGT\n+\nIIII\n@b\nAC\n",
    "starred.fa": GOOD + ">stop\nMKV*A\n",
    "bar.fa": ">a|x\nACGT\n>a|y\nACGT\n",
    "hash.fa": ">#a\nMKVLW\n>b\nMKVLW\n",
    "slashes.fa": ">//a\nMKVLW\n>b\nMKVLW\n",
    "three.fa": "".join(f">s{k}|kind={'aba'[k]}\nMKVLAAGGWTR{'EAC'[k]}\n" for k in range(3)),
    "round.fa": ">a(1)\nMKV\n>b\nMKA\n>c\nMKC\n",
    "long.fa": f">{130 * 'x'}\nMKV\n>b\nMKA\n>c\nMKC\n",
    "brackets.fa": ">a(b)\nMKV\n>c\nMKV\n",
}
UC_LINES = (("S\t0", "a\t*"), ("S\t1", "b\t*"), ("H\t0", "c\tb"))
MATRICES = {
    "short.mat": "\n".join(BLOSUM.splitlines()[:-3]) + "\n",
    "without-w.mat": without("W"),
    "row.mat": re.sub(r"(\nR .*) \S+\n", r"\1\n", BLOSUM),
    "xi.mat": BLOSUM.replace(" 11.0 ", " xi ").replace(" 11 ", " xi "),
    "asymmetric.mat": re.sub(r"(\nA .* )(\S+)\n", r"\1 99\n", BLOSUM),
    "binary.mat": "\0\1\2",
    "twenty.mat": twenty(),
}
GROUPS = {
    "again.csv": "name,x\n" + 2 * "s0|kind=a,1\n",
    "open.csv": 'name,x\n"s0|kind=a,1\n',
    "length.csv": "name,length\na,3\n",
    "lines.csv": 'name,fold,x\na,3,"\nb,4,"y\n',
    "nobody.csv": "name,fold\nnobody,3\n",
    "few.uc": "S\t0\t60\n",
    "number.uc": "S\tx\t60\t*\t*\t*\t*\t*\ta\t*\n",
    "second.uc": "".join(f"{kind}\t60\t*\t+\t0\t0\t*\t{names}\n" for kind, names in UC_LINES),
    "none.clstr": ">Cluster 0\n0\t60nt, >s... at +/90%\n",
    "what.clstr": ">Cluster 0\nwhat\n",
    "short.clstr": ">Cluster 0\n0\t60nt, >s... *\n",
    "second.clstr": ">C\n" + 2 * "0\t6nt, >a... *\n",
    "one.tsv": "one\n",
}
FILES: dict[str, str | bytes] = {
    "quoted.txt": '"a\n',
    **dict.fromkeys(("good.fa", "good.paf", "part-1-of-2.paf"), GOOD),
    **dict.fromkeys(("there", "there.svg", "m.phy"), "no matrix, no alignments, no names"),
    **BAD_FASTA,
    **MATRICES,
    **GROUPS,
    "dna.fa": fasta(BASES),
    "dna.fq": "@a\nACGT\n+\nIIII\n@b\nACGT\n+\nIIII\n",
    "old.afa": ">a\nMKTAYIA\n>b\nMKTA-IA\n",
    "new.fa": ">c\nMKTAYA\n>d\nMKTAYIAA\n",
    "wrong.tsv": "r1\tr2\nr1\tr9\n",
    "large.phy": "200000\na 0\n",
    "three.phy": "3\na\nb 1\nc 2 3\n",
    "colon.phy": "3\na:b\nb 1\nc 2 3\n",
    "two.phy": "2\na\nb 1\n",
    "empty.tsv": "",
    "binary.fa": bytes(range(256)),
    "cut.gz": gzip.compress(GOOD.encode() * 99)[:-20],
    "damaged.gz": gzip.compress(GOOD.encode())[:-6] + b"123456",
    "more.gz": gzip.compress(GOOD.encode()) + b"more",
    "junk.npy": b"no array",
    "empty.pairset": b"",
    "png.pairset": b"\x89PNG\r\n",
    "arrow.pairset": b"ARROW1\0\0",
    "pairset.pairset": b"\x89PAIRSET",
    "junk.pairset": b"junk",
}


def seen() -> dict[str, tuple[int, int]]:
    """What is in the folder, and when each file was written."""
    found = {str(path): path.lstat() for path in Path().rglob("*")}
    return {name: (one.st_size, one.st_mtime_ns) for name, one in found.items()}


@pytest.fixture(scope="module")
def all_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One folder for the whole table, since nothing that is refused may change it."""
    folder = tmp_path_factory.mktemp("refusals")
    for name, content in FILES.items():
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
    for name in ("place", "place.paf"):
        (folder / name).mkdir()
    (folder / "link.fa").symlink_to("good.fa")
    (folder / "dangling.fa").symlink_to("nowhere")
    return folder


def rows() -> list[tuple[str, str, int]]:
    """Rows of the table: arguments, message, exit code."""
    found = []
    for code, arguments, message in TABLE:
        for output in ("out.paf", "- --format paf") if " OUT" in arguments else ("",):
            found.append((arguments.replace("OUT", output), message, int(code)))
    return found


def test_the_matrices_are_not_blosum62_and_the_table_names_each_refusal_once():
    assert BLOSUM not in MATRICES.values()
    arguments = [row[0] for row in rows()]
    assert len(set(arguments)) == len(arguments)


@pytest.mark.parametrize(("arguments", "message", "code"), rows())
def test_refused(all_files, monkeypatch, capfd, arguments, message, code):
    monkeypatch.chdir(all_files)
    before = seen()
    try:
        found = main(shlex.split(arguments.replace("LONG", 300 * "x")))
    except SystemExit as ended:  # of argparse
        found = int(ended.code or 0)
    out, err = capfd.readouterr()
    errors = [line for line in err.splitlines() if re.match(r"pairalign( \w+)?: error: ", line)]
    assert found == code, err
    assert out == ""
    assert "Traceback" not in err
    assert message in (errors[0] if arguments else err)
    assert len(errors) == (arguments != "")
    assert seen() == before


@pytest.mark.parametrize("name", ["gap.fa", "bare.fa", "cut.gz", "empty.fa", "good.fa"])
def test_standard_input_is_named_where_it_is_bad(all_files, name):
    before = os.listdir(all_files)
    expected = {row[1]: row[2].replace(name, "<stdin>") for row in TABLE}
    twice = (["-", "-"], "<stdin>: cannot be read twice")
    words, message = (["-"], expected[f"align {name} -o x.paf"]) if name != "good.fa" else twice
    data = (all_files / name).read_bytes()
    done = run("align", *words, "-o", "x.paf", cwd=all_files, input=data)
    assert (done.returncode, done.stdout) == (1, b"")
    assert message in done.stderr.decode()
    assert os.listdir(all_files) == before
