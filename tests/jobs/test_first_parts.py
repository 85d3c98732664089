"""The first part of a store has a header of all sequences, and looks at those it never aligns."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from pairalign.base.error_types import FormatError
from pairalign.cli.main import main
from pairalign.formats import open_writer
from pairalign.formats.writer import Content, Piece
from pairalign.jobs.run.align import AlignmentJob
from pairalign.pairs.want import Detail
from pairalign.scoring.scoring import make_scoring
from pairalign.sequences import block_set
from pairalign.sequences.block_set import whole_of
from pairalign.sequences.sets import SequenceSet
from pairalign.sequences.store_format import encode_store
from pairalign.sequences.stored_set import StoredSet, open_store

HEADERS = ("sam", "blast7", "stockholm", "graphml", "gexf", "npz")


@pytest.fixture(autouse=True)
def folder(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_set, "_AT_A_TIME", 5)  # so that a header comes in several slices


def some(count: int, first: str = "p", renamed: tuple[int, str] | None = None) -> SequenceSet:
    """Related proteins, each of another length, ``p0``, ``p1`` and so on; one may be renamed."""
    rng = np.random.default_rng(count)
    common = rng.choice(list("ARNDCQEGHILKMFPSTWYV"), 60 + count)
    names = [f"{first}{k}" for k in range(count)]
    if renamed is not None:
        names[renamed[0]] = renamed[1]
    letters = ("".join(common[k % 3 : 30 + k]) for k in range(count))
    return SequenceSet.from_strings(letters, names, alphabet="protein")


def pack(sequences: SequenceSet, name: str) -> str:
    Path(name).write_bytes(b"".join(map(bytes, encode_store(sequences))))
    return name


def as_fasta(sequences: SequenceSet, name: str) -> str:
    Path(name).write_text("".join(f">{one.name}\n{one}\n" for one in sequences))
    return name


@pytest.mark.parametrize("two_sets", [False, True], ids=["one set", "two sets"])
@pytest.mark.parametrize("format", HEADERS)
def test_parts_of_a_store_are_a_single_run_of_fasta(format, two_sets):
    sets = [some(23, first="p" if format == "sam" else "pé")]
    if two_sets:
        sets.append(some(17, first="q"))
    fasta = [as_fasta(one, f"{k}.fa") for k, one in enumerate(sets)]
    options = ("--format", format, "--window", "4", "--device", "cpu", "-q")
    assert main(["align", *fasta, "-o", "one", *options]) == 0
    stores = [pack(one, f"{k}.pairset") for k, one in enumerate(sets)]
    for k in (1, 2, 3, 4):
        assert main(["align", *stores, "-o", "parts", "--shard", f"{k}/4", *options]) == 0
    assert main(["merge", "parts", "-o", "all", "-q"]) == 0
    found = Path("all").read_bytes().replace(b".pairset", b".fa")
    assert found == Path("one").read_bytes()


def first_part(format: str, queries: SequenceSet, targets: SequenceSet | None = None) -> None:
    """Write the first part of many, whose block has the longest sequences alone."""
    scoring = make_scoring(queries.alphabet)
    job = AlignmentJob(queries, targets, scoring, window=2, shard=(1, 30)).of_block()
    assert len(job.queries) < len(queries)
    assert whole_of(job.queries) is queries
    sets = job.queries, job.problem.others
    content = Content(*sets, scoring, Detail.CIGAR, piece=Piece(last=False))
    with open_writer("x", format, content):
        pass


def test_it_refuses_names_outside_of_its_block():
    """The names are those of the shortest sequences, which no pair of the part has."""
    for format, bad, message in (
        ("sam", "b@", "record 3 'b@': SAM names"),
        ("stockholm", "#b", "record 3 '#b': a row of Stockholm"),
    ):
        with pytest.raises(FormatError, match=message):
            first_part(format, stored(some(23, renamed=(2, bad))))
        first_part(format, stored(some(23, renamed=(2, "b"))))
    queries, targets = (
        stored(some(23, renamed=(2, "twice"))),
        stored(some(17, "q", renamed=(2, "twice"))),
    )
    with pytest.raises(FormatError, match=r"record 3 'twice': a sequence of .* has its name"):
        first_part("stockholm", queries, targets)
    first_part("stockholm", queries, stored(some(17, "q")))


def stored(sequences: SequenceSet) -> StoredSet:
    found = open_store(pack(sequences, f"{sequences.digest}.pairset"))
    assert found is not None
    return found


def test_a_star_outside_of_its_block_is_refused():
    letters = [*("MKVWAAARND" * k for k in range(9, 2, -1)), "MKV*W"]
    sequences = SequenceSet.from_strings(letters, alphabet="protein")
    with pytest.raises(FormatError, match=r"record 8 'seq8': '\*' at position 4"):
        first_part("sam", stored(sequences))


def test_names_are_stored_as_numpy_stores_them():
    """Of one set and of two, with names of several slices and with letters beyond ASCII."""
    one, two = some(23, first="pé"), some(17, first="longer")
    fasta = [as_fasta(one, "1.fa"), as_fasta(two, "2.fa")]
    for given in (fasta[:1], fasta):
        assert main(["align", *given, "-o", "x.npz", "--device", "cpu", "-q"]) == 0
        with zipfile.ZipFile("x.npz") as archive:
            named = {"names": one, "target_names": two} if len(given) == 2 else {"names": one}
            for name, sequences in named.items():
                expected = io.BytesIO()
                np.save(expected, np.array(sequences.names))
                assert archive.read(f"{name}.npy") == expected.getvalue()
            assert len(archive.namelist()) == 6 + len(given)
