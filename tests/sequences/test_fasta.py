"""Reading FASTA and FASTQ: every accepted way to write a file, every refused one."""

import bz2
import gzip
import io
import lzma
import sys
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from commands import ordinary_user
from fasta_texts import contents, read, sequence_lists
from hypothesis import given
from hypothesis import strategies as st

from pairalign.errors import FastaError
from pairalign.sequences import fasta_records
from pairalign.sequences.set_reading import read_fasta


def error_of(text: bytes | str, **options) -> str:
    with pytest.raises(FastaError) as caught:
        read(text, **options)
    return str(caught.value)


@given(
    sequences=sequence_lists(),
    width=st.integers(1, 12),
    end=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    fillers=st.lists(
        st.sampled_from([b"", b"  \t", b";comment", b"#", b"! > not a record"]), max_size=4
    ),
    bom=st.booleans(),
    final=st.booleans(),
    pack=st.sampled_from([bytes, gzip.compress, bz2.compress, lzma.compress]),
)
def test_layout_of_the_file_does_not_matter(sequences, width, end, fillers, bom, final, pack):
    lines = [*fillers]
    for name, letters in sequences:
        lines.append(f">{name} some words".encode())
        for start in range(0, len(letters), width):
            lines += [letters[start : start + width].encode(), *fillers]
    data = (b"\xef\xbb\xbf" if bom else b"") + end.join(lines) + (end if final else b"")
    found = read(pack(data), alphabet="protein")
    assert contents(found) == sequences
    assert found.descriptions == [f"{name} some words" for name, _ in sequences]


@given(
    st.lists(st.text("ACGTNacgt", min_size=1, max_size=30), min_size=1, max_size=6),
    st.sampled_from(["\n", "\r\n"]),
)
def test_fastq_gives_the_sequences_of_the_same_fasta(bodies, end):
    # Qualities may start with any of the characters that start lines of FASTA and comments.
    marks = ";#!>@+"
    lines = [
        line
        for i, body in enumerate(bodies)
        for line in (f"@r{i} x", body, "+", (marks[i] + "I" * len(body))[: len(body)])
    ]
    found = read(end.join(lines) + end)
    assert contents(found) == [(f"r{i}", body) for i, body in enumerate(bodies)]


@given(
    st.lists(
        st.lists(st.sampled_from([*"@+ACI \t\r", "\n", "\n+\n", "\n@", "\x1c"]), max_size=12).map(
            "".join
        ),
        max_size=3,
    )
)
def test_fastq_of_four_lines_is_read_as_biopython_reads_it(records):
    text = "".join(f"@{record}\n" for record in ["a\nAC\n+\nII", *records]).encode()

    def outcome():
        try:
            return fasta_records._split_records(text, 0, "x")
        except FastaError:
            return None

    plain = fasta_records._split_plain_fastq(text)
    with mock.patch.object(fasta_records, "_split_plain_fastq", return_value=None):
        expected = outcome()
    assert plain in (None, expected)


def test_plain_fastq_needs_no_biopython(monkeypatch):
    monkeypatch.setitem(sys.modules, "Bio.SeqIO.QualityIO", None)
    assert contents(read("@a b\nACGT\n+a b\n;#>!\n@c\r\nGG\r\n+\r\n@@\r\n")) == [
        ("a", "ACGT"),
        ("c", "GG"),
    ]


@given(st.binary(max_size=60))
def test_any_bytes_give_a_set_or_a_fasta_error(data):
    for text in (data, b">a\n" + data, b">a\nACGT\n>" + data, b"@a\nAC\n+\nII\n" + data):
        for pack in (bytes, lambda t: gzip.compress(t)[: len(data) + 12]):
            try:
                found = read(pack(text))
            except FastaError:
                continue
            assert len(found) >= 1
            assert found.lengths.min() >= 1
            assert (found.codes < len(found.alphabet.letters)).all()


@given(sequence_lists("ACD-.E"))
def test_degap_removes_gaps_and_nothing_else(sequences):
    expected = [(name, letters.replace("-", "").replace(".", "")) for name, letters in sequences]
    text = "".join(f">{name}\n{letters}\n" for name, letters in sequences)
    if all(letters for _, letters in expected):
        assert contents(read(text, alphabet="protein", degap=True)) == expected
    else:
        assert "has no sequence" in error_of(text, degap=True)


# Each situation that has broken a parser before, and what becomes of it: the records, or a part of
# the message. First what is accepted.

ACCEPTED = {
    "lines of white space at the start": (b"\t\t   \n \x0b\x0c \n>a\nAC\n", [("a", "AC")]),
    "white space inside sequence lines": (b">a\n ACG TAC\t\n  GT \n", [("a", "ACGTACGT")]),
    "one letter a line": (b">a\nA\nC\ng\nt\n", [("a", "ACgt")]),
    "white space before the name": (b"> \t a b\nUA\n", [("a", "UA")]),
    "name that starts with >": (b">>:o>x y\nA\n", [(">:o>x", "A")]),
    "> within a header": (b">roa1 receptor III >> 0.1\nMV\n", [("roa1", "MV")]),
    "odd but unique names": (
        b">chr17:1-2(-)\nAC\n>a/1-3\nGT\n",
        [("chr17:1-2(-)", "AC"), ("a/1-3", "GT")],
    ),
    "tabs and double blanks in a header": (b">p  some \t\twords  \nMK\n", [("p", "MK")]),
    "control-A between merged headers": (
        b">gi|1| x.\1gi|2| y\nMK\n>b\1c\nMK\n",
        [("gi|1|", "MK"), ("b", "MK")],
    ),
    "lower case, as masked": (b">a\nACgtnnAC\n", [("a", "ACgtnnAC")]),
    "stops in protein": (b">a\nMK*VLE*\n", [("a", "MK*VLE")]),
    "rare residues": (b">a\nMBZXUOJ*k\n", [("a", "MBZXUOJ*k")]),
    "DNA, RNA and protein mixed": (
        b">a\nUUUU\n>b\nCATC\n>c\nsits\n",
        [("a", "UUUU"), ("b", "CATC"), ("c", "sits")],
    ),
    "a single sequence": (b">a\nMK", [("a", "MK")]),
    "equal sequences under two names": (b">a\nMK\n>b\nMK\n", [("a", "MK"), ("b", "MK")]),
    "a header broken into lines reads as sequence": (
        b">a\ndetailed\nwords\npQ\n",
        [("a", "detailedwordspQ")],
    ),
    "name in UTF-8": (">β-globin µ\nMK\n".encode(), [("β-globin", "MK")]),
    "FASTQ": (b"@a b\nACGT\n+\n;#>!\n@c\nGG\n+c\n@@\n", [("a", "ACGT"), ("c", "GG")]),
    "FASTQ with Windows line ends": (b"@a\r\nACGT\r\n+\r\nIIII\r\n", [("a", "ACGT")]),
    "FASTQ over several lines": (b"@a\nAC\nGT\n+\nII\nII\n", [("a", "ACGT")]),
    "FASTQ after and before blank lines": (b"\n@a\nACGT\n+\nIIII\n\n\n", [("a", "ACGT")]),
}


REFUSED = {
    "blank lines only": (b"\n \n\n", "no sequence in the file"),
    "comments only": (b";a\n#b", "no sequence in the file"),
    "text before the first record": (b"Some header\n>a\nMK\n", "starts with 'Some header'"),
    "legacy name after ;": (b"; legacy-id words\nACGT\n", "starts with 'ACGT'"),
    "empty record at the start": (b">a x\n>b\nMK\n", "record 1 'a' has no sequence"),
    "empty record at the end": (b">a\nMK\n>b", "record 2 'b' has no sequence"),
    "record of white space": (b">a\nMK\n>b\n\t\t  \n>c\nMK\n", "record 2 'b' has no sequence"),
    "no name but white space": (b"> \t \nMK\n", "record 1 has no name"),
    "empty name and sequence": (b">\n\n", "record 1 has no name"),
    "gap .": (b">a\nACGT-acgt.\n", "record 1 'a': letter '-' at position 5"),
    "question marks": (b">a\nMK?\n", "record 1 'a': character '?' at position 3"),
    "> within a sequence": (b">a\nMK >b\n", "record 1 'a': character '>' at position 3"),
    "control byte in a sequence": (b">a\nMK\x07\n", "record 1 'a': byte 0x07 at position 3"),
    "byte beyond ASCII in a sequence": (
        ">a\nMKé\n".encode(),
        "record 1 'a': byte 0xC3 at position 3",
    ),
    "binary after >": (b">\0\0\1\2\n\0\0", "record 1 '\\x00\\x00': byte 0x00 in the header"),
    "control byte in a description": (b">a b\x07\nMK\n", "record 1 'a': byte 0x07 in the header"),
    "name in Latin-1": (
        b">a\nMK\n>M\xfcller x\nMK\n",
        "record 2: the name 'M\\xfcller' is not UTF-8",
    ),
    "UTF-16": ("\ufeff>a\nMK\n".encode("utf-16-le"), "is UTF-16 text; convert it first: iconv"),
    "zip": (b"PK\x03\x04\x14\x00", "is a zip archive; pipe it in: unzip -p"),
    "gzip of nothing": (gzip.compress(b""), "the file is empty"),
    "FASTQ with too few qualities": (b"@a\nACGT\n+\nIII\n", "record 1: not FASTQ: "),
    "FASTQ without a sequence": (b"@a\nAC\n+\nII\n@b\n\n+\n\n", "record 2 'b' has no sequence"),
    "FASTQ over several lines without a sequence": (
        b"@a\nA\nC\n+\nI\nI\n@b\n\n+\n\n",
        "record 2 'b' has no sequence",
    ),
    "FASTQ without a name": (b"@\nACGT\n+\nIIII\n", "record 1 has no name"),
    "FASTQ with the name twice": (
        b"@a\nA\n+\nI\n@a\nA\n+\nI\n",
        "record 2 'a' has the name of record 1",
    ),
    "NEXUS": (b"#NEXUS\nbegin data;\nmatrix\na ACGT\n;\nend;\n", "the file is NEXUS, which is not"),
    "SAM": (b"@HD\tVN:1.6\n@SQ\tSN:chr1\tLN:9\n", "the file is SAM; pipe its"),
}


@pytest.mark.parametrize("situation", ACCEPTED)
def test_accepted(situation):
    data, expected = ACCEPTED[situation]
    assert contents(read(data)) == expected


@pytest.mark.parametrize("situation", REFUSED)
def test_refused(situation, tmp_path):
    data, message = REFUSED[situation]
    path = tmp_path / "bad.fa"
    path.write_bytes(data)
    with pytest.raises(FastaError) as caught:
        read_fasta(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)


def test_white_space_around_a_header_is_left_out():
    assert read(b"> \t a  b \t\nMK\n").descriptions == ["a  b"]


def test_description_in_latin1_is_kept():
    assert read(b">a M\xfcller\nMK\n").descriptions == ["a Müller"]


def test_description_in_latin1_after_a_name_in_utf8():
    found = read(">β-globin ".encode() + b"M\xfcller\nMK\n")
    assert found.names == ["β-globin"]
    assert found.descriptions == ["β-globin Müller"]


def test_degap_may_leave_nothing():
    assert "record 1 'a' has no sequence" in error_of(">a\n--..\n", degap=True)


# Files, pipes and compression


def test_paths_that_cannot_be_read(tmp_path):
    for path, message in [
        (tmp_path / "missing.fa", "no such file"),
        (tmp_path, "is a directory, expected a file of sequences"),
        ("nul\0byte", "cannot be read"),
    ]:
        with pytest.raises(FastaError) as caught:
            read_fasta(path)
        assert str(caught.value).startswith(f"{path}: {message}")


def test_permission_denied(here):
    path = Path("secret.fa")
    path.write_text(">a\nMK\n")
    path.chmod(0)
    with ordinary_user(), pytest.raises(FastaError, match=r"secret\.fa: permission denied"):
        read_fasta(path)


def test_standard_input_and_open_files(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b">a\nMK\n")))
    found = read_fasta("-")
    assert (contents(found), found.source) == ([("a", "MK")], "<stdin>")
    path = tmp_path / "a.fa"
    path.write_text(">a\nMK\n")
    for source in (str(path), path):
        assert read_fasta(source).source == str(path)
    with path.open() as text, path.open("rb") as binary:
        assert contents(read_fasta(text)) == contents(read_fasta(binary)) == [("a", "MK")]
    assert contents(read_fasta(io.StringIO(">a\nMK\n"))) == [("a", "MK")]


def test_no_letter_is_looked_at_one_by_one(tmp_path):
    """A record costs some calls of functions, and its letters none, however many they are."""
    few, many = calls_to_read(tmp_path, 100, 580), calls_to_read(tmp_path, 900, 580)
    assert many - few <= 20 * 800
    longer = calls_to_read(tmp_path, 100, 20_000)
    assert longer - few <= 100 * 20_000 // 10_000  # the file is read and decompressed in pieces


def calls_to_read(folder: Path, records: int, length: int) -> int:
    """Count the function calls, Python's and C's, in which a compressed file is read."""
    rng = np.random.default_rng(1)
    letters = rng.choice(np.frombuffer(b"ARNDCQEGHILKMFPSTWYV", np.uint8), (records, length))
    path = folder / "large.fa.gz"
    lines = (b">s%d some words\n%s\n" % (i, row.tobytes()) for i, row in enumerate(letters))
    path.write_bytes(gzip.compress(b"".join(lines), 1))
    calls = 0

    def count(_: object, event: str, __: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        assert len(read_fasta(path)) == records
    finally:
        sys.setprofile(before)
    return calls
