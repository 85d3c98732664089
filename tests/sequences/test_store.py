"""Stores of sequences: what is packed comes back, and what is damaged is one clear line."""

import gzip
import io
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st

import pairalign
from pairalign import FastaError, SequenceSet, pack, read_fasta
from pairalign.base.compression import add_to_checksum
from pairalign.cli.main import main
from pairalign.formats import FORMATS
from pairalign.formats.pairset import SUFFIXES
from pairalign.jobs.run.inputs import ProblemRequest, read_sets
from pairalign.sequences.sequence_records import Records
from pairalign.sequences.store_format import CHUNK_BYTES, HEADER_BYTES, encode_store
from pairalign.sequences.stored_set import StoredSet, open_store

ARRAYS = ("offsets", "lengths", "order", "positions", "sorted_lengths", "residues", "codes")
ARRAYS += ("byte_counts",)
LETTERS = {"protein": "ARNDCQEGHILKMFPSTWYVBZ*UOJXarndxuo", "dna": "ACGTRYSWKMBDHVNUacgtnu"}
PLAIN = st.characters(codec="utf-8", exclude_categories=("C", "Z"))


@st.composite
def record_sets(draw: st.DrawFn) -> SequenceSet:
    alphabet = draw(st.sampled_from(sorted(LETTERS)))
    residues = st.text(LETTERS[alphabet], min_size=1, max_size=40)
    names = draw(st.lists(st.text(PLAIN, min_size=1, max_size=9), min_size=1, unique=True))
    texts = [draw(residues).encode() for _ in names]
    more = st.one_of(st.just(""), st.text(PLAIN, max_size=20).map(" {}".format))
    headers = [name + draw(more) for name in names]
    offsets = np.concatenate(([0], np.cumsum(list(map(len, texts))))).astype(np.int64)
    letters, qualities = b"".join(texts), None
    if draw(st.booleans()):
        qualities = bytes(draw(st.lists(st.integers(33, 126), min_size=1))) * len(letters)
        qualities = qualities[: len(letters)]
    records = Records(names, headers, letters, offsets, (), qualities)
    return SequenceSet(records, alphabet=alphabet)


def stored(sequences: SequenceSet) -> StoredSet:
    return StoredSet(b"".join(encode_store(sequences)), "x.pairset")


def read_all(found: SequenceSet) -> list[object]:
    """Everything that a set has."""
    arrays = [getattr(found, name) for name in ARRAYS]
    codes, starts = found.code_arrays
    laid_out = [
        codes[start : start + length]
        for start, length in zip(starts.tolist(), found.sorted_lengths.tolist(), strict=True)
    ]
    assert not codes[-64:].any()
    return [found.names, found.descriptions, found.qualities, *arrays, np.concatenate(laid_out)]


def assert_same(found: SequenceSet, sequences: SequenceSet) -> None:
    for one, other in zip(read_all(found), read_all(sequences), strict=True):
        assert np.array_equal(one, other)
        assert not isinstance(one, np.ndarray) or one.dtype == other.dtype
    assert list(found) == list(sequences)
    assert found.alphabet == sequences.alphabet
    assert (found.digest, found.replaced) == (sequences.digest, sequences.replaced)
    assert (len(found), found.total_residues) == (len(sequences), sequences.total_residues)


@given(record_sets())
@settings(max_examples=examples(60), deadline=None)
def test_what_is_packed_comes_back(sequences):
    assert_same(stored(sequences), sequences)
    found = stored(sequences)  # some records alone, before anything else is read
    assert found[-1] == sequences[-1]
    for index in range(len(sequences)):
        assert found.name_of(index) == sequences.names[index]
        assert found.codes_of(index).tolist() == sequences.codes_of(index).tolist()
        assert found[index] == sequences[index]
    for start, stop in ((0, 1), (1, len(found)), (0, len(found))):
        found = stored(sequences)
        for read in ("codes_between", "indices_between"):
            if start < stop:
                one, other = (getattr(each, read)(start, stop) for each in (found, sequences))
                assert one.tolist() == other.tolist()
    assert b"".join(encode_store(found)) == b"".join(encode_store(sequences))


@given(record_sets(), st.data())
@settings(max_examples=examples(60), deadline=None)
def test_damage_anywhere_is_found(sequences, data):
    whole = b"".join(encode_store(sequences))
    place = data.draw(st.integers(0, len(whole) - 1))
    changed = bytearray(whole)
    changed[place] ^= data.draw(st.integers(1, 255))
    longer = whole + bytes(data.draw(st.integers(1, 70_000)))
    for damaged in (bytes(changed), whole[:place], longer):
        with pytest.raises(FastaError, match=r"x\.pairset: ") as raised:
            read_all(read_fasta(io_of(damaged)))
        assert "\n" not in str(raised.value)


def io_of(data: bytes) -> io.BytesIO:
    file = io.BytesIO(data)
    file.name = "x.pairset"
    return file


CHANGES = {
    "version": (8, 2, "version 2, expected 1"),
    "byte order": (12, 9, "expected 1"),
    "no sequences": (24, 0, "contradicts itself"),
    "more sequences": (24, 200, "contradicts itself"),
    "fewer residues": (32, 1, "contradicts itself"),
    "alphabet": (40, 7, "contradicts itself"),
    "checksums": (64, 1 << 40, "checksums are not"),
    "a section beyond the end": (80, 1 << 40, "contradicts itself"),
    "a section of another size": (88, 7, "contradicts itself"),
    "a section that is not there": (80, 0, "contradicts itself"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_header_that_cannot_be(change):
    """Its checksum is right: somebody has written nonsense, or another version has."""
    place, value, said = CHANGES[change]
    whole = bytearray(b"".join(encode_store(SequenceSet.from_strings(["ACGT"] * 9))))
    size = 8 if place in (24, 32, 64) or place >= 80 else 4
    whole[place : place + size] = value.to_bytes(size, "little")
    whole[HEADER_BYTES - 4 : HEADER_BYTES] = add_to_checksum(
        0, bytes(whole[: HEADER_BYTES - 4])
    ).to_bytes(4, "little")
    with pytest.raises(FastaError, match=said):
        StoredSet(bytes(whole), "x")


def written_with(name: str, values: list[int]) -> StoredSet:
    """A store with right checksums of one section that makes no sense."""
    sequences = SequenceSet.from_strings(["ACGTA", "ACG"])
    array = getattr(sequences, name)
    assert len(sequences.sorted_lengths) == 2  # known from now on
    codes = np.array(values if name == "codes" else sequences.codes_between(0, 2), np.uint8)
    sequences.codes_between = lambda *_: codes  # type: ignore[method-assign]
    setattr(sequences, name, np.array(values, array.dtype))
    return stored(sequences)


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("offsets", [0, 9, 8]),
        ("offsets", [0, 0, 8]),
        ("offsets", [1, 5, 8]),
        ("order", [0, 0]),
        ("order", [0, 2]),
        ("order", [-1, 0]),
        ("residues", [65, 67, 71, 84, 65, 65, 45, 67]),
        ("codes", [0, 1, 2, 3, 0, 1, 31, 0]),
        ("sorted_lengths", [5, 4]),
        ("sorted_lengths", [8, 0]),
    ],
)
def test_values_that_native_code_must_not_see(name, values):
    reads = {
        "order": [lambda one: one.order, lambda one: one.indices_between(0, 2)],
        "codes": [lambda one: one.code_arrays, lambda one: one.codes_between(1, 2)],
        "sorted_lengths": [lambda one: one.code_arrays],
        "offsets": [lambda one: one.offsets, list],
        "residues": [lambda one: one.residues, list],
    }[name]
    for number, read in enumerate(reads):
        if number and values in ([0, 0], [1, 5, 8]):
            continue  # each is the index, or are the bounds, of a sequence
        with pytest.raises(FastaError, match="damaged store"):
            read(written_with(name, values))


def test_only_what_is_touched_is_read():
    rng = np.random.default_rng(1)
    texts = ["".join(rng.choice(list("ACGT"), 3000)) for _ in range(200)]
    sequences = SequenceSet.from_strings(texts)
    whole = bytearray(b"".join(encode_store(sequences)))
    assert len(whole) > 15 * CHUNK_BYTES
    whole[-70] ^= 1  # a code of the last sorted position
    found = StoredSet(bytes(whole), "x")
    for index in range(20):
        assert found[index] == sequences[index]
    assert found.codes_between(0, 90).tolist() == sequences.codes_between(0, 90).tolist()
    assert found._checked_chunks.mean() < 0.6
    assert (found.residues == sequences.residues).all()
    for touch in (lambda: found.code_arrays, lambda: found.codes_between(180, 200)):
        with pytest.raises(FastaError, match="64 KiB from byte"):
            touch()


def test_text_of_a_damaged_store_is_not_written(tmp_path):
    sequences = SequenceSet.from_strings(["ACGTACGT", "ACGGACGT"])
    whole = bytearray(b"".join(encode_store(sequences)))
    whole[whole.index(b"seq1seq2")] ^= 1  # a name, which nothing but the text needs
    path = tmp_path / "x.pairset"
    path.write_bytes(whole)
    assert main(["align", str(path), "-o", str(tmp_path / "o.paf"), "--quiet"]) == 1
    assert sorted(os.listdir(tmp_path)) == ["x.pairset"]


# ---------------------------------------------------------------------------------------------
# Files and commands

PROTEINS = ">p1 the first\nMKVLAAGIvgrs\n>p2\nMKVLGGIVG\n>p3\nMKWWWAAGIVGRR\n>p4\nMAGIV\n"
READS = "".join(
    f"@r{k} read\n{text}\n+\n{'IHGF#' * 40:.{len(text)}}\n"
    for k, text in enumerate(["ACGTTGCAAC" * 6, "GTTGCAACAC" * 6, "ACGTTGCAACAC" * 5])
)
COMMANDS = {
    **{
        name: ["align", "IN", "-o", f"OUT.{name}", "--format", name]
        for name in FORMATS
        if name != "a3m"  # of one query
    },
    "cs": ["align", "IN", "-o", "OUT.paf", "--paf-tags", "cs"],
    "positives": ["align", "IN", "-o", "OUT.tsv", "--columns", "query,target,ppos"],
    "two sets": ["align", "IN", "in.fa", "-o", "OUT.tsv"],
    "targets": ["align", "in.fa", "IN", "-o", "OUT.srspair"],
    "hits": ["align", "IN", "-o", "OUT.blast6", "--format", "blast6", "--mode", "local", "-k", "1"],
    "distance": ["distance", "IN", "-o", "OUT.phy"],
    "tree": ["tree", "IN", "-o", "OUT.nwk"],
    "cluster": ["cluster", "IN", "-o", "OUT.tsv", "--min-identity", "0.5"],
    "split": ["split", "IN", "-o", "OUT.csv", "--min-identity", "0.5", "--folds", "2"],
    "audit": ["audit", "in.fa", "IN", "-o", "OUT.csv", "--min-identity", "0.1"],
    "verify": ["verify", "made.paf", "IN", "-o", "OUT.tsv"],
    "msa": ["msa", "IN", "-o", "OUT.afa"],
    "posterior": ["posterior", "IN", "-o", "OUT.tsv"],
    "rotate": ["rotate", "IN", "-o", "OUT.fa", "--to", "p1"],
    "pack": ["pack", "IN", "-o", "OUT.pairset"],
    "update": ["update", "parts", "IN", "-o", "OUT.paf"],
    "also": ["align", "few.fa", "--also", "IN", "-o", "OUT.paf"],
    "overlap": ["overlap", "READS", "-o", "OUT.paf", "--min-overlap", "20"],
    "trimmed": [
        *("overlap", "READS", "-o", "OUT.gfa", "--unitigs", "--trimmed", "OUT.fq"),
        *("--min-overlap", "20"),
    ],
}


@pytest.fixture
def folder(here: Path) -> Path:
    Path("in.fa").write_text(PROTEINS)
    Path("few.fa").write_text(">q\nMKVWW\n")
    Path("in2.fa").write_text(">r1\nMKVAW\n>r2\nMKVW\n")
    Path("in.fq").write_text(READS)
    for name in ("in.fa", "in.fq"):
        assert main(["pack", name, "-o", f"{name}.pairset", "--quiet"]) == 0
    return here


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_gives_the_bytes_that_fasta_gives(command, folder):
    if command == "parquet":
        pytest.importorskip("pyarrow")
    if command == "update":
        assert main(["align", "in2.fa", "-o", "parts", "--shard", "1/1", "--quiet"]) == 0
    if command == "verify":
        assert main(["align", "in.fa", "-o", "made.paf", "--quiet"]) == 0
    for end in ("", ".pairset"):
        place = f"out{end}"
        os.mkdir(place)
        words = [
            {"IN": f"in.fa{end}", "READS": f"in.fq{end}"}.get(word, word).replace(
                "OUT", f"{place}/o"
            )
            for word in COMMANDS[command]
        ]
        assert main([*words, "--quiet"]) in (0, 1)
    made = sorted(os.listdir("out"))
    assert made == sorted(os.listdir("out.pairset")) != []
    for name in made:
        found = Path("out.pairset", name).read_bytes().replace(b"in.fa.pairset", b"in.fa")
        assert found == Path("out", name).read_bytes()


def test_every_command_that_reads_sequences_takes_stores():
    from pairalign.cli.program import COMMANDS as ALL

    others = {"merge", "devices", "help", "completion"}
    tried = {command[0] for command in COMMANDS.values()}
    assert {one.name for one in ALL} - others <= tried


def test_qualities_are_kept(folder):
    found = read_fasta("in.fq.pairset")
    lines = READS.splitlines()
    assert found.qualities.tobytes().decode() == "".join(lines[3::4])
    assert found.residues.tobytes().decode() == "".join(lines[1::4])
    assert read_fasta("in.fa.pairset").qualities is None
    both = pack("in.fq", "both.pairset", also=["in.fa"], alphabet="protein")
    assert both.qualities is None


def test_qualities_of_gaps_go_with_them(tmp_path):
    Path(tmp_path, "x.fq").write_text("@a\nAC-GT\n+\n12345\n@b\nACGT-\n+\nabcde\n")
    made = pack(tmp_path / "x.fq", tmp_path / "x.pairset", degap=True)
    assert made.qualities.tobytes() == b"1245abcd"


def test_a_store_from_anywhere(folder, monkeypatch):
    expected = read_fasta("in.fa")
    data = Path("in.fa.pairset").read_bytes()
    Path("in.gz").write_bytes(gzip.compress(data))
    assert_same(read_fasta("in.gz"), expected)
    assert_same(read_fasta(io.BytesIO(data)), expected)
    with Path("in.fa.pairset").open("rb") as file:
        assert_same(read_fasta(file), expected)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert_same(read_fasta("-"), expected)
    assert main(["pack", "in.fa", "--format", "pairset", "-o", "x", "--quiet"]) == 0
    assert Path("x").read_bytes() == data
    assert SUFFIXES["pairset"] == (".pairset",)


def test_alphabets(folder):
    Path("dna.fa").write_text(">d\nACGTACGT\n")
    pack("dna.fa", "dna.pairset")
    assert read_fasta("dna.pairset").alphabet == pairalign.DNA
    assert read_fasta("dna.pairset", alphabet="protein").alphabet == pairalign.PROTEIN
    pack("dna.fa", "as-protein.pairset", alphabet="protein")
    assert read_fasta("as-protein.pairset").alphabet == pairalign.PROTEIN
    for names in (("in.fa", "dna.pairset"), ("in.fa.pairset", "dna.fa")):
        for queries, targets in (names, names[::-1]):
            found = read_sets(ProblemRequest(queries, targets))
            assert all(one is not None and one.alphabet == pairalign.PROTEIN for one in found)
    as_dna = read_fasta("in.fa.pairset", alphabet="dna")
    assert_same(as_dna, read_fasta("in.fa", alphabet="dna"))
    assert as_dna.replaced


def test_a_store_goes_to_other_processes_by_its_name(folder):
    found = open_store("in.fa.pairset")
    assert found is not None
    pickled = pickle.dumps(found)
    assert len(pickled) < 500
    assert_same(pickle.loads(pickled), read_fasta("in.fa"))
    assert_same(pickle.loads(pickle.dumps(stored(found))), read_fasta("in.fa"))
    pack("in.fq", "in.fa.pairset")
    with pytest.raises(FastaError, match="it has changed"):
        pickle.loads(pickled)


KILLED = """
import os, signal, sys
from pairalign.cli.main import main
from pairalign.formats import pairset

def some(sequences, whole=pairset.encode_store):
    blocks = whole(sequences)
    for _ in range(int(sys.argv[1])):
        yield next(blocks)
    os.kill(os.getpid(), signal.SIGKILL)

pairset.encode_store = some
main(["pack", "in.fa", "-o", "o.pairset"])
"""


@pytest.mark.parametrize("blocks", [0, 1, 2, 9])
def test_a_kill_leaves_no_half_a_store(blocks, folder):
    before = Path("in.fa.pairset").read_bytes()
    Path("o.pairset").write_bytes(before)
    done = subprocess.run([sys.executable, "-c", KILLED, str(blocks)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert Path("o.pairset").read_bytes() == before
    assert main(["pack", "in.fq", "-o", "o.pairset", "--quiet"]) == 0
    assert Path("o.pairset").read_bytes() == Path("in.fq.pairset").read_bytes()
    assert [name for name in os.listdir() if name.endswith(".part")] == []
