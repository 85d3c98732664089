"""SAM, as pysam and samtools read it."""

import re
import subprocess

import numpy as np
import pytest
from readable import needs_program, plain_sample
from strategies import MODES
from written_files import write, written

from pairalign.cli.main import main
from pairalign.errors import FormatError
from pairalign.formats import open_writer
from pairalign.formats.writer import Content
from pairalign.pairs.want import Detail
from pairalign.sequences.sets import SequenceSet

pysam = pytest.importorskip("pysam")


def aligned(alignments):
    return [a for a in alignments if a.matches + a.mismatches > 0]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("alphabet", ["dna", "protein"])
def test_sam_by_pysam(tmp_path, mode, alphabet):
    alignments = plain_sample(4, mode, alphabet=alphabet)
    path = tmp_path / "a.sam"
    write(alignments, path, cuts=(7, 20))
    lengths = alignments.targets.lengths.tolist()
    expected = aligned(alignments)
    seen = set()
    with pysam.AlignmentFile(path, check_sq=True) as file:
        assert list(file.references) == alignments.targets.names
        assert list(file.lengths) == lengths
        records = list(file)
    assert len(records) == len(expected) > 15
    for record, a in zip(records, expected, strict=True):
        assert (record.query_name, record.reference_name) == (a.query.name, a.target.name)
        assert record.is_secondary == (a.query.name in seen)
        seen.add(a.query.name)
        assert not record.is_unmapped
        assert not record.is_reverse
        assert (record.reference_start, record.reference_end) == (a.target_start, a.target_end)
        start, end = record.query_alignment_start, record.query_alignment_end
        assert (start, end) == (a.query_start, a.query_end)
        assert record.query_length == len(a.query)
        assert record.mapping_quality == 255
        assert record.get_tag("NM") == a.mismatches + a.gap_residues
        assert record.get_tag("AS") == a.raw_score
        assert re.sub(r"\d+S", "", record.cigarstring) == a.cigar
        if alphabet == "dna":
            assert record.query_sequence == a.query.residues.upper()


@needs_program("samtools")
def test_samtools_sorts_and_indexes_it(tmp_path):
    alignments = plain_sample(5, "semiglobal", alphabet="dna")
    write(alignments, tmp_path / "a.sam")
    for command in (["sort", "-o", "a.bam", "a.sam"], ["index", "a.bam"], ["quickcheck", "a.bam"]):
        subprocess.run(["samtools", *command], cwd=tmp_path, check=True, capture_output=True)
    found = subprocess.run(
        ["samtools", "view", "-c", "-F", "256", "a.bam"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
    assert int(found.stdout) == len({a.query.name for a in aligned(alignments)})


def test_sam_does_not_depend_on_threads_and_contradictions_are_refused(tmp_path):
    alignments = plain_sample(6, "local", pairs=500)
    text = written(alignments, "sam", tmp_path)
    assert written(alignments, "sam", tmp_path, threads=3, cuts=(1, 77, 300)) == text
    broken = alignments.take(range(6))
    place = int(np.argmax(broken.matches > 0))
    broken.query_end[place] -= 1
    with pytest.raises(ValueError, match=f"pair {place}"):
        written(broken, "sam", tmp_path)
    broken.query[3] = 1000
    with pytest.raises(ValueError, match="pair"):
        written(broken, "sam", tmp_path)


@pytest.mark.parametrize(
    ("names", "strings", "message"),
    [
        (["a", "b@"], ["MK", "MK"], r"record 2 'b@': SAM names"),
        (["a", "b" * 255], ["MK", "MK"], r"SAM names are up to 254 characters"),
        (["a", "b"], ["MK", "MK*K"], r"record 2 'b': '\*' at position 3"),
    ],
)
def test_sam_refuses_what_it_cannot_hold(tmp_path, names, strings, message):
    alignments = plain_sample(1, "local")
    queries = SequenceSet.from_strings(strings, names, alphabet="protein")
    with pytest.raises(FormatError, match=message):
        open_writer(
            tmp_path / "a.sam", None, Content(queries, queries, alignments.scoring, Detail.CIGAR)
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("strand", ["plus", "both"])
def test_u_of_rna_is_t(tmp_path, strand):
    """As minimap2 writes: htslib has four bits a base and shows U as N."""
    pysam = pytest.importorskip("pysam")
    first, other = "ACGUACGUUGCAACGUUAGC", "ACGUACGUUGCUACGUUAGC"
    if strand == "both":
        other = other[::-1].translate(str.maketrans("ACGU", "UGCA"))
    text = f">r1\n{first}\n>r2\n{other.replace('U', 't')}\n"
    (tmp_path / "s.fa").write_text(text)
    path = str(tmp_path / "o.sam")
    made = ["-o", path, "--strand", strand, "--sam-tags", "MD", "-q", "--device", "cpu"]
    assert main(["align", str(tmp_path / "s.fa"), *made]) == 0
    with pysam.AlignmentFile(path) as file:
        (record,) = file
    shown = first if strand == "plus" else first[::-1].translate(str.maketrans("ACGU", "UGCA"))
    sequence, mismatch = record.query_sequence, record.get_tag("MD")
    assert record.is_reverse == (strand == "both")
    assert sequence.upper() == shown.replace("U", "T")
    assert mismatch in ("11T8", "8A11")
    checked = ["verify", path, str(tmp_path / "s.fa"), "-q", "-o", str(tmp_path / "v.tsv")]
    assert main(checked) == 0
    (tmp_path / "p.fa").write_text(">p1\nMKUWYVL\n>p2\nMKUWYVL\n")
    assert main(["align", str(tmp_path / "p.fa"), "-o", path, "-q", "--device", "cpu"]) == 0
    assert "\tMKUWYVL\t" in (tmp_path / "o.sam").read_text()  # selenocysteine
