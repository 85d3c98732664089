"""miniasm and racon take our overlaps of real reads, and what they make of them is the genome.

The reads are 35 of phage lambda (nanopore R7.3, about 80% alike the reference, some seven times
its length), see tests/data/SOURCE.txt; minimap2's overlaps of the same reads go through the same
programs. scripts/install_assemblers.sh installs all three; where one is missing, its tests are
skipped.
"""

import shutil
import subprocess
from pathlib import Path

import pytest
from commands import TIMEOUT_SECONDS

import pairalign
from pairalign.cli.main import main
from pairalign.jobs.overlaps.presets import PRESETS
from pairalign.sequences.set_reading import read_fasta
from pairalign.sequences.sets import SequenceSet

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data"


def program(name: str, *arguments: object, output: Path | None = None) -> bytes:
    """Run a program; skip the test where it is not installed."""
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed (scripts/install_assemblers.sh)")
    command = [name, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_SECONDS)
    assert done.returncode == 0, done.stderr.decode()
    if output is not None:
        output.write_bytes(done.stdout)
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the reads as FASTA, and ``ours.paf`` of them."""
    made = tmp_path_factory.mktemp("lambda")
    reads = read_fasta(DATA / "lambda_reads.fasta.gz")
    (made / "reads.fasta").write_text("".join(f">{r.name}\n{r.residues}\n" for r in reads))
    out = str(made / "ours.paf")
    command = ["overlap", str(DATA / "lambda_reads.fasta.gz"), "-o", out, "--preset", "ont"]
    assert main([*command, "--device", "cpu", "--quiet"]) == 0
    return made


@pytest.fixture(scope="module")
def theirs(folder: Path) -> Path:
    """minimap2's overlaps of the same reads."""
    reads = folder / "reads.fasta"
    program("minimap2", "-x", "ava-ont", "-t", 2, reads, reads, output=folder / "theirs.paf")
    return folder / "theirs.paf"


def assemble(folder: Path, overlaps: Path) -> list[str]:
    """Contigs that miniasm makes of the reads."""
    graph = program("miniasm", "-f", folder / "reads.fasta", overlaps).decode()
    return [line.split("\t")[2] for line in graph.splitlines() if line.startswith("S\t")]


def polish(folder: Path, contig: str, name: str) -> str:
    """The contig after a round of racon."""
    draft, mapped = folder / f"{name}.fasta", folder / f"{name}.map.paf"
    draft.write_text(f">contig\n{contig}\n")
    program("minimap2", "-x", "map-ont", "-t", 2, draft, folder / "reads.fasta", output=mapped)
    text = program("racon", "-t", 2, folder / "reads.fasta", mapped, draft).decode()
    return "".join(line for line in text.splitlines() if not line.startswith(">"))


def compare(contig: str) -> tuple[int, float]:
    """Letters of the reference that a contig covers, and how much alike they are."""
    reference = read_fasta(DATA / "lambda_reference.fasta.gz")[0].residues
    strands = contig.upper(), contig.upper().translate(str.maketrans("ACGT", "TGCA"))[::-1]
    known = words_of(reference)
    contig = max(strands, key=lambda letters: len(words_of(letters) & known))
    scoring = PRESETS["ont"].scoring("semiglobal")
    (one,) = pairalign.align([contig, reference], scoring=scoring, detail="stats", device="cpu")
    return one.target_end - one.target_start, one.identity


def words_of(letters: str) -> set[str]:
    return {letters[k : k + 16] for k in range(len(letters))}


def pairs_of(path: Path) -> set[tuple[str, str, str]]:
    """Pairs of reads and their strand in a PAF file."""
    rows = [line.split("\t") for line in path.read_text().splitlines()]
    return {(*sorted((row[0], row[5])), row[4]) for row in rows if row[0] != row[5]}


def test_miniasm_and_racon_make_one_contig(folder, theirs):
    (ours,) = assemble(folder, folder / "ours.paf")
    longest = max(assemble(folder, theirs), key=len)
    assert len(ours) >= len(longest)
    drafts = compare(ours), compare(longest)
    polished = compare(polish(folder, ours, "ours")), compare(polish(folder, longest, "theirs"))
    for (covered, _), (their_covered, _) in (drafts, polished):
        assert covered >= their_covered
    assert drafts[0][1] > 0.74
    assert polished[0][1] > polished[1][1] - 0.005
    assert polished[0][1] > 0.94


def test_racon_corrects_reads_along_dual_overlaps(folder):
    """Racon -f wants each pair both ways; of the first few reads, to be quick."""
    reads = list(read_fasta(folder / "reads.fasta"))[:8]
    few = folder / "few.fasta"
    few.write_text("".join(f">{r.name}\n{r.residues}\n" for r in reads))
    dual = folder / "dual.paf"
    command = ["overlap", str(few), "-o", str(dual), "--dual", "--preset", "ont"]
    assert main([*command, "--device", "cpu", "--quiet"]) == 0
    text = program("racon", "-f", "-t", 2, few, dual, few).decode()
    # What comes out is corrected; reads that were only queries would not be.
    corrected = {line[1:].split()[0] for line in text.splitlines() if line.startswith(">")}
    assert len(corrected) > 3
    assert {name.rstrip("r") for name in corrected} <= {r.name for r in reads}


def test_pairs_against_minimap2_and_the_truth(folder, theirs):
    ours, minimap2 = pairs_of(folder / "ours.paf"), pairs_of(theirs)
    assert len(ours & minimap2) > 0.97 * len(minimap2)
    truth, possible = true_pairs(folder)
    assert len(ours & truth) > 0.97 * len(truth)
    assert len(ours & possible) > 0.97 * len(ours)


def true_pairs(folder: Path) -> tuple[set[tuple[str, str, str]], set[tuple[str, str, str]]]:
    """Pairs that share 800 letters of the reference, and those that share any."""
    reference = folder / "reference.fasta"
    reference.write_text(f">lambda\n{read_fasta(DATA / 'lambda_reference.fasta.gz')[0].residues}\n")
    text = program("minimap2", "-cx", "map-ont", reference, folder / "reads.fasta").decode()
    places: dict[str, tuple[int, int, int, str]] = {}
    for line in text.splitlines():
        row = line.split("\t")
        place = (int(row[9]), int(row[7]), int(row[8]), row[4])
        places[row[0]] = max(place, places.get(row[0], place))
    shared: list[set[tuple[str, str, str]]] = [set(), set()]
    names = sorted(places)
    for i, one in enumerate(names):
        for two in names[i + 1 :]:
            (_, start, end, strand), (_, start2, end2, strand2) = places[one], places[two]
            common = min(end, end2) - max(start, start2)
            pair = (one, two, "+" if strand == strand2 else "-")
            for number, least in enumerate((800, 1)):
                if common >= least:
                    shared[number].add(pair)
    return shared[0], shared[1]


def test_the_reads_are_what_the_tests_say():
    reads: SequenceSet = read_fasta(DATA / "lambda_reads.fasta.gz")
    assert len(reads) == 35
    assert reads.total_residues == 325777
