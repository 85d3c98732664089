"""TCRdist: of native code, of the command and of Python, as tcrdist3 computes it."""

import logging
import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from Bio.Align import substitution_matrices

import pairalign
from pairalign.cli.main import main
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.engines.cuda import cuda_near, cuda_selection
from pairalign.engines.cuda.cuda_near import search
from pairalign.errors import AlphabetError, DistanceError, FastaError, PairalignError, UsageError
from pairalign.jobs.receptors.receptors import ReceptorSet, read_receptors, receptors_of
from pairalign.jobs.receptors.tcrdist import TcrDistances
from pairalign.pairs.windows import Window
from pairalign.sequences.sets import SequenceSet

BLOSUM62 = substitution_matrices.load("BLOSUM62")
LETTERS = "ACDEFGHIKLMNPQRSTVWY"

OF_TCRDIST3 = {
    "TRBV10-1*01 CASSERTDSYEQYF": (0, 106, 140, 132, 114, 144, 94),
    "TRBV10-3*01 CAIQGEAYGYTF": (106, 0, 112, 162, 137, 191, 156),
    "TRBV11-2*01 CASSLFQGEAYGYTF": (140, 112, 0, 142, 145, 176, 152),
    "TRBV12-1*01 CASSRQVLNTEAFF": (132, 162, 142, 0, 136, 152, 121),
    "TRBV13*01 CASSLSSGEQYF": (114, 137, 145, 136, 0, 143, 117),
    "TRBV14*01 CASSQEFSGTSYNEQFF": (144, 191, 176, 152, 143, 0, 132),
    "TRBV15*01 CATSRGGESLYEQYF": (94, 156, 152, 121, 117, 132, 0),
}
"""Receptors of its example ``mira_epitope_55``, and what tcrdist3 says of them (`pw_beta`)."""
GENES = """gene\tcdr1\tcdr2\tcdr2.5
TRBV10-1*01\tWNH.......NN\tSYG....VQD\tS.NTED
TRBV10-3*01\tENH.......RY\tSYG....VKD\tS.KTED
TRBV11-2*01\tSGH.......AT\tFQN....NGV\tL.KGVD
TRBV12-1*01\tSGH.......ND\tFCS....WTL\tP.DVSF
TRBV13*01\tPRH.......DT\tFYE....KMQ\tF.SDYH
TRBV14*01\tSGH.......DN\tFVK....ESK\tT.GGTY
TRBV15*01\tLNH.......NV\tYYD....KDF\tP.NTSF
"""


COSTS = {(a, b): min(4, 4 - int(BLOSUM62[a][b])) for a in LETTERS for b in LETTERS if a != b}
"""Of residues that differ; all else costs nothing."""


def plain_region(a: str, b: str, *, is_cdr3: bool) -> int:
    """What the definition says, place of the gap by place."""
    first, last = (3, 2) if is_cdr3 else (0, 0)
    a, b = sorted((a, b), key=len)
    left = len(b) - len(a)
    places = range(min(5, len(a) // 2), max(len(a) - 5, len(a) - len(a) // 2) + 1)
    if not is_cdr3:
        place = min(6, 3 + (len(a) - 5) // 2)
        places = range(place, place + 1)
    if not left:
        places = range(1)
    costs = []
    for place in places:
        pairs = [(a[i], i, b[i]) for i in range(place)]
        pairs += [(a[i], i, b[i + left]) for i in range(place, len(a))]
        kept = (one for one in pairs if first <= one[1] < len(a) - last)
        costs.append(sum(COSTS.get((x, y), 0) for x, _, y in kept))
    return (3 if is_cdr3 else 1) * (min(costs) + 4 * left)


Receptor = Sequence[str]


def plain_tcrdist(a: Receptor, b: Receptor) -> int:
    """Of receptors with all regions, four a chain, CDR3 last."""
    regions = enumerate(zip(a, b, strict=True))
    return sum(plain_region(x, y, is_cdr3=k % 4 == 3) for k, (x, y) in regions)


def some_receptors(count: int, chains: int, seed: int, *, longest: int = 25) -> list[Receptor]:
    """Receptors of random regions: short and long CDR3s, loops with gaps and of several lengths."""
    rng = np.random.default_rng(seed)

    def text(least: int, most: int, letters: str = LETTERS) -> str:
        return "".join(rng.choice(list(letters), int(rng.integers(least, most + 1))))

    def chain() -> list[str]:
        return [
            text(12, 12, LETTERS + "..."),
            text(2, 9),
            text(6, 6),
            text(1, longest, LETTERS + "X"),
        ]

    return [[one for _ in range(chains) for one in chain()] for _ in range(count)]


def table_of(receptors: Sequence[Receptor]) -> str:
    """An AIRR table, a cell a receptor, with the loops in columns."""
    rows = ["sequence_id\tcell_id\tlocus\tv_call\tjunction_aa\tcdr1_aa\tcdr2_aa\tcdr2.5_aa"]
    for k, one in enumerate(receptors):
        for chain, locus in enumerate(("TRA", "TRB")[: len(one) // 4]):
            *loops, cdr3 = one[4 * chain : 4 * chain + 4]
            rows.append("\t".join([f"r{k}{locus}", f"r{k}", locus, "", cdr3, *loops]))
    return "\n".join(rows) + "\n"


pytestmark = pytest.mark.usefixtures("here")


def read(text: str, *loci: str) -> ReceptorSet:
    Path("airr.tsv").write_text(text)
    return read_receptors(["airr.tsv"], loci)


@pytest.mark.parametrize("instruction_set", instruction_sets())
@pytest.mark.parametrize(("chains", "longest"), [(1, 25), (2, 25), (1, 90)])
def test_native_code_is_the_definition(chains, longest, instruction_set):
    receptors = some_receptors(50, chains, seed=longest + chains, longest=longest)
    found = read(table_of(receptors), *("TRA", "TRB")[:chains])
    distances = TcrDistances(found, None, 2, instruction_set)
    count, order = len(found), found.order.tolist()
    window = Window(0, 5, count, 20, count, triangular=True)
    rows, columns = window.positions()
    expected = [
        plain_tcrdist(receptors[order[a]], receptors[order[b]])
        for a, b in zip(rows.tolist(), columns.tolist(), strict=True)
    ]
    assert distances.of_window(window).tolist() == expected


@pytest.mark.parametrize(("chains", "longest"), [(1, 25), (2, 20), (1, 64)])
@pytest.mark.parametrize("sets", ["one set", "two sets"])
def test_gpus_find_what_cores_find(device, chains, longest, sets):
    """More than a block's rows and columns; pairs that find no room are compared again."""
    loci = ("TRA", "TRB")[:chains]
    texts = [table_of(some_receptors(140, chains, seed, longest=longest)) for seed in (6, 7)]
    first, second = (read(text, *loci) for text in texts)
    distances = TcrDistances(first, None if sets == "one set" else second, 2)
    for limit in (0, 150, 330, 10**9):
        expected = distances.within(limit)
        assert len(expected.rows) > 50 or limit < 330
        for devices, at_once, most in (([device], 1 << 40, 1 << 20), ([device] * 2, 9000, 1)):
            kernel, counted = distances.kernel(limit), list[int]()
            assert kernel.fits
            parts = search(devices, kernel, counted.append, at_once=at_once, most_found=most)
            found = distances.within(limit, found=parts)
            for name in ("rows", "columns", "values"):
                assert getattr(found, name).tolist() == getattr(expected, name).tolist()
            assert sum(counted) == len(first) * (len(first) - 1) // 2 if sets == "one set" else True


def test_which_device(device, monkeypatch):
    """Cores take long regions, and few receptors where no device is named."""
    used: list[int] = []

    def counting(devices, *given):
        used.append(len(devices))
        return search(devices, *given)

    monkeypatch.setattr(cuda_near, "search", counting)
    monkeypatch.setattr(cuda_selection, "usable_devices", lambda: [device])
    monkeypatch.setattr(cuda_selection, "choose_devices", lambda indices: [device])
    short, long = (table_of(some_receptors(9, 1, 1, longest=most)) for most in (20, 90))
    Path("short.tsv").write_text(short)
    Path("long.tsv").write_text(long)
    for name, times in (("cuda", 1), ("cuda:0", 1), ("auto", 0), ("cpu", 0)):
        used.clear()
        texts = []
        for table in ("short", "long"):
            asked = ["distance", f"{table}.tsv", "-o", "x.tsv", "--max-tcrdist", "200", "-q"]
            assert main([*asked, "--device", name]) == 0
            texts.append(Path("x.tsv").read_text())
            assert main([*asked, "--device", "cpu"]) == 0
            assert Path("x.tsv").read_text() == texts[-1]
        assert len(used) == times
    monkeypatch.setattr("pairalign.jobs.distances.near.WORTH_A_GPU", 1)
    pairalign.distance("short.tsv", max_tcrdist=200)
    assert len(used) == 1


def test_many_receptors_fill_groups_of_columns():
    receptors = some_receptors(1500, 1, seed=3, longest=12)
    found = read(table_of(receptors))
    distances = TcrDistances(found, None, 2).of_window(
        Window(0, 0, 1500, 0, 1500, triangular=False)
    )
    places = np.random.default_rng(1).integers(0, 1500, (400, 2))
    order = found.order
    for a, b in places.tolist():
        expected = plain_tcrdist(receptors[order[a]], receptors[order[b]])
        assert distances[a * 1500 + b] == expected


def test_the_distances_are_those_of_tcrdist3():
    rows = [one.split() for one in OF_TCRDIST3]
    lines = [f"r{k}\t{gene}\t{cdr3}" for k, (gene, cdr3) in enumerate(rows)]
    Path("airr.tsv").write_text("sequence_id\tv_call\tjunction_aa\n" + "\n".join(lines))
    Path("genes.tsv").write_text(GENES)
    found = pairalign.distance("airr.tsv", measure="tcrdist", v_genes="genes.tsv")
    assert found.square().tolist() == [list(one) for one in OF_TCRDIST3.values()]
    assert found.measure == "tcrdist"


def test_the_command_has_shards_rectangles_limits_and_trees():
    receptors = some_receptors(30, 2, seed=9)
    Path("airr.tsv").write_text(table_of(receptors))
    Path("some.tsv").write_text(table_of(receptors[:9]))
    asked = ["--locus", "TRA,TRB", "-q"]
    tcrdist = ["--measure", "tcrdist", *asked]
    assert main(["distance", "airr.tsv", "-o", "all.npy", *tcrdist]) == 0
    condensed = np.load("all.npy")
    expected = [plain_tcrdist(a, b) for a, b in combinations(receptors, 2)]
    assert condensed.tolist() == expected
    for shard in ("1/3", "2/3", "3/3"):
        assert main(["distance", "airr.tsv", "-o", "parts", "--shard", shard, *tcrdist]) == 0
    assert main(["merge", "parts", "-o", "merged.npy", "-q"]) == 0
    assert Path("merged.npy").read_bytes() == Path("all.npy").read_bytes()
    assert main(["distance", "airr.tsv", "-o", "again.npy", "--resume", *tcrdist]) == 0
    assert Path("again.npy").read_bytes() == Path("all.npy").read_bytes()
    assert main(["distance", "some.tsv", "airr.tsv", "-o", "two.npy", *tcrdist]) == 0
    of_two = [[plain_tcrdist(a, b) for b in receptors] for a in receptors[:9]]
    assert np.load("two.npy").tolist() == of_two
    limit = int(np.median(condensed))
    assert main(["distance", "airr.tsv", "-o", "near.tsv", f"--max-tcrdist={limit}", *asked]) == 0
    rows = [line.split("\t") for line in Path("near.tsv").read_text().splitlines()[1:]]
    pairs = zip(combinations(range(30), 2), expected, strict=True)
    assert [(a, b, int(d)) for a, b, d in rows] == [
        (f"r{a}", f"r{b}", d) for (a, b), d in pairs if d <= limit
    ]
    assert main(["distance", "airr.tsv", "-o", "all.phy", *tcrdist]) == 0
    assert main(["tree", "all.phy", "-o", "all.nwk", "-q"]) == 0


def test_near_pairs_of_two_sets():
    receptors = some_receptors(40, 1, seed=11)
    two = [read(table_of(some)) for some in (receptors[:15], receptors)]
    found = pairalign.distance(*two, max_tcrdist=120, sparse=True)
    expected = [[plain_tcrdist(a, b) for b in receptors] for a in receptors[:15]]
    stored = found.csr().toarray()
    assert np.array_equal(stored, np.where(np.array(expected) <= 120, np.array(expected) + 1, 0))
    assert found.measure == "tcrdist"


def test_plain_sequences_are_cdr3s():
    texts = {"a": "CASSLGQAYEQYF", "b": "CASSLGGQAYEQYF", "c": "CASSPGQAYEQYF"}
    found = pairalign.distance(texts, measure="tcrdist")
    expected = [plain_region(a, b, is_cdr3=True) for a, b in combinations(texts.values(), 2)]
    assert found.condensed.tolist() == expected
    Path("cdr3.fa").write_text("".join(f">{name}\n{text}\n" for name, text in texts.items()))
    again = pairalign.distance("cdr3.fa", measure="tcrdist")
    assert again.condensed.tolist() == expected


def test_a_data_frame_has_receptors():
    pandas = pytest.importorskip("pandas")
    receptors = some_receptors(12, 1, seed=2)
    Path("airr.tsv").write_text(table_of(receptors))
    frame = pandas.read_csv("airr.tsv", sep="\t")
    wanted = [plain_tcrdist(a, b) for a, b in combinations(receptors, 2)]
    frame["productive"] = None
    for table in (frame, frame.convert_dtypes(), frame.assign(productive=pandas.NA)):
        assert pairalign.distance(table, measure="tcrdist").condensed.tolist() == wanted


def test_regions_stay_with_receptors_that_are_chosen():
    receptors = some_receptors(20, 1, seed=4)
    found = read(table_of(receptors))
    chosen = found[[7, 3, 11]]
    order = found.reordered(np.array([7, 3, 11], np.int32))
    expected = [plain_tcrdist(receptors[a], receptors[b]) for a, b in ((7, 3), (7, 11), (3, 11))]
    for one in (chosen, order):
        assert pairalign.distance(one, measure="tcrdist").condensed.tolist() == expected
    assert chosen.digest == order.digest != found.digest
    loops = [[*one[:2], "AAAAAA", one[3]] for one in receptors]
    assert read(table_of(loops)).digest != found.digest


CELLS = """sequence_id\tcell_id\tv_call\tj_call\tjunction_aa\tumi_count
a1\tc1\tTRAV1*01\tTRAJ1*01\tCAVF\t2
b1\tc1\tTRBV1*01\tTRBJ1*01\tCASSF\t1
b2\tc1\tTRBV1*01\tTRBJ1*01\tCASTF\t5
a3\tc2\tTRAV1*01\tTRAJ1*01\tCAVVF\t1
b4\tc3\tTRBV1*01\tTRBJ1*01\tCASSTF\t1
a4\tc3\tTRAV29/DV5*01\tTRAJ1*01\tCAWF\t1
g1\tc4\tTRGV1*01\tTRGJ1*01\tCATF\t1
"""


def test_cells_have_the_chains_that_were_seen_most(caplog):
    with caplog.at_level(logging.INFO, "pairalign"):
        found = read(CELLS, "TRA", "TRB")
    assert list(found.names) == ["c1", "c3"]
    assert [one.residues for one in found] == ["CAVFCASTF", "CAWFCASSTF"]
    messages = [record.getMessage() for record in caplog.records]
    assert messages[-2:] == [
        "airr.tsv: 1 further chains of cells left out, seen less or empty",
        "airr.tsv: 1 cells (the first is 'c2') without one of the two chains left out",
    ]


@pytest.mark.parametrize(
    ("text", "loci", "message"),
    [
        (CELLS, (), "chains of TRA, TRB, TRG: choose with locus='TRG', or two"),
        (CELLS, ("TRD",), "no chain of locus TRD; there is TRA, TRB, TRG"),
        (CELLS, ("TRA", "TRG"), "no cell has both chains"),
        (CELLS.replace("CAVVF", ""), ("TRA",), "record 4 'a3' has no sequence"),
        (CELLS.replace("c2", ""), ("TRA", "TRB"), "record 4 'a3' has no cell_id"),
        (CELLS.replace("CAVVF\t1", "CAVVF\tx"), ("TRA",), "record 4 'a3': umi_count is 'x', no"),
        (CELLS.replace("CAVVF", "CA_VF"), ("TRA",), "record 4 'a3': character '_' at position 3"),
        (CELLS.replace("c2", "None"), ("TRA", "TRB"), "record 4 'a3' has no cell_id"),
        (CELLS.replace("CAVVF", "NA"), ("TRA",), "record 4 'a3' has no sequence"),
        (CELLS.replace("a3\t", '"a3\n"\t'), ("TRA",), "line 6: a field goes over its line"),
        (CELLS.replace("a3\t", "a1\t"), ("TRA",), "record 4 'a1' has the name of record 1"),
        (CELLS.replace("a3\t", "a3\tx\t"), ("TRA",), "record 4 has 7 fields, expected 6"),
        (CELLS.replace("CAVVF\t1", "CAV"), ("TRA",), "record 4 has 5 fields, expected 6"),
        (CELLS.replace("CAVVF", "C" * 1001), ("TRA",), "has 1,001 residues of CDR3, more than"),
        (CELLS.replace("j_call", "v_call"), ("TRA",), "two columns are called 'v_call'"),
        (CELLS.replace("junction_aa", "junction"), ("TRA",), "without a column 'junction_aa'"),
        (CELLS.replace("v_call", '"v_call'), ("TRA",), "airr.tsv: line"),
        (CELLS.replace("umi_count", "cdr1_aa").replace("CAVVF\t1", "CAVVF\t"), ("TRA",), "no cdr1"),
    ],
)
def test_what_is_no_receptor_is_named(text, loci, message):
    with pytest.raises(FastaError, match=message.replace("(", r"\(")):
        read(text, *loci)


@pytest.mark.parametrize(
    ("genes", "message"),
    [
        (GENES.replace("TRBV", "TRAV"), "v_genes has none of its V genes, such as 'TRBV10-1*01', "),
        (GENES.replace("SYG....VKD", "NA"), "genes.tsv: line 3: expected gene, cdr1"),
        (GENES.replace("gene\t", "name\t"), "expected the columns gene, cdr1, cdr2, cdr2.5"),
        (
            GENES.replace("\tFVK....ESK", "\t"),
            "genes.tsv: line 7: expected gene, cdr1, cdr2, cdr2.5",
        ),
        (GENES.replace("TRBV13*01", "TRBV14*01"), "line 7: TRBV14.01 again, with other loops"),
        (GENES.split("TRBV")[0], "genes.tsv: no V gene"),
    ],
)
def test_v_genes_that_are_not_known(genes, message):
    rows = [one.split() for one in OF_TCRDIST3]
    lines = [f"r{k}\t{gene}\t{cdr3}" for k, (gene, cdr3) in enumerate(rows)]
    Path("airr.tsv").write_text("sequence_id\tv_call\tjunction_aa\n" + "\n".join(lines))
    Path("genes.tsv").write_text(genes)
    with pytest.raises(FastaError, match=message.replace("*", r"\*")):
        pairalign.distance("airr.tsv", measure="tcrdist", v_genes="genes.tsv")


def test_receptors_of_unknown_v_genes_are_left_out(caplog):
    rows = [one.split() for one in OF_TCRDIST3]
    lines = [f"r{k}\t{gene}\t{cdr3}" for k, (gene, cdr3) in enumerate(rows)]
    Path("airr.tsv").write_text("sequence_id\tv_call\tjunction_aa\n" + "\n".join(lines))
    Path("genes.tsv").write_text(GENES.replace("TRBV13*01", "TRBV2*01"))
    found = pairalign.distance("airr.tsv", measure="tcrdist", v_genes="genes.tsv")
    kept = [0, 1, 2, 3, 5, 6]
    assert found.names == [f"r{k}" for k in kept]
    expected = np.array(list(OF_TCRDIST3.values()))[np.ix_(kept, kept)]
    assert np.array_equal(found.square(), expected)
    assert (
        "airr.tsv: 1 receptors left out, whose V genes v_genes has not: 'TRBV13*01'"
        in caplog.messages
    )


def test_calls_of_genes_are_read_as_programs_write_them():
    names = ["TRBV13*01", "TRBV13", "Homsap TRBV13*01 F", "TRBV13*01,TRBV14*01", "TRBV13*01 or x"]
    lines = [f"r{k}\t{name}\tCASSF" for k, name in enumerate(names)]
    Path("airr.tsv").write_text("sequence_id\tv_call\tjunction_aa\n" + "\n".join(lines))
    loops = {"TRBV13*01": {"cdr1": "AAA"}, "TRBV14*01": {"cdr1": "WWW"}}
    found = pairalign.distance("airr.tsv", measure="tcrdist", v_genes=loops)
    assert not found.condensed.any()


def test_two_sets_have_the_same_regions():
    one = read(table_of(some_receptors(3, 1, seed=1)))
    with pytest.raises(DistanceError, match="two sets of receptors have the same regions"):
        pairalign.distance(one, ["CASSF", "CASSTF"], measure="tcrdist")
    alpha, beta = read(CELLS, "TRA"), read(CELLS, "TRB")
    with pytest.raises(DistanceError, match=r"has CDR3 of TRA; .* has CDR3 of TRB: two sets"):
        pairalign.distance(alpha, beta, measure="tcrdist")
    found = pairalign.distance(alpha, ["CAVF"], measure="tcrdist")  # whose locus nobody knows
    assert found.values[:, 0].tolist() == [0, 12, 0]


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: text + "\n\n",
        lambda text: text.replace("\tCAVVF\t", '\t"CAVVF"\t'),
        lambda text: re.sub(r"TR.J1\*01", "", text),
        str.swapcase,
    ],
)
def test_tables_are_read_as_programs_write_them(change):
    head, rest = CELLS.split("\n", 1)
    if change is str.swapcase:  # the rows alone
        rest = change(rest).replace("UMI_COUNT", "umi_count")
        text = f"{head}\n{rest}"
    else:
        text = change(CELLS)
    found = read(text, "TRA")
    plain = read(CELLS, "TRA")
    assert [one.residues.upper() for one in found] == [one.residues for one in plain]
    distances = [pairalign.distance(one, measure="tcrdist").condensed for one in (found, plain)]
    assert np.array_equal(*distances)


def test_a_row_without_a_name_has_its_number():
    for missing in ("", "NA", "nan"):
        assert read(CELLS.replace("a3\t", f"{missing}\t"), "TRA").names == ["a1", "4", "a4"]


def test_a_cell_is_of_a_sample():
    """Barcodes come again in each sample: chains of two samples are no cell."""
    head, *rows = CELLS.splitlines()
    one = [f"{row}\tS1\tNA" for row in rows]
    two = [f"x{row}\tS1\tS2" for row in rows[:2]]
    mixed = [f"m{rows[3]}\tS1\tS1", f"m{rows[3].replace('TRA', 'TRB')}\tS2\tS2".replace("ma", "n")]
    title = f"{head}\tsample_id\trepertoire_id"
    assert read("\n".join([title, *one]), "TRA", "TRB").names == ["c1", "c3"]
    found = read("\n".join([title, *one, *two]), "TRA", "TRB")
    assert found.names == ["S1_c1", "S1_c3", "S2_c1"]
    with pytest.raises(FastaError, match="no cell has both chains"):
        read("\n".join([title, *mixed]), "TRA", "TRB")


CONTIGS = """barcode,is_cell,contig_id,high_confidence,chain,v_gene,productive,cdr3,cdr3_nt,umis
c1,True,c1_contig_1,True,TRB,TRBV20-1,True,CSASTGRETQYF,TGT,7
c1,True,c1_contig_2,True,TRA,TRAV1-2,True,CAVMDSNYQLIW,TGT,5
c1,True,c1_contig_3,True,Multi,None,None,None,None,1
c2,True,c2_contig_1,True,TRB,TRBV20-1,true,CSASTGRETQFF,TGT,7
c2,True,c2_contig_2,True,TRA,TRAV1-2,TRUE,CAVMDSNYQLFW,TGT,5
c2,False,c2_contig_3,True,TRA,TRAV1-2,True,CAVW,TGT,9
"""


def test_contigs_of_10x():
    Path("contigs.csv").write_text(CONTIGS)
    found = read_receptors(["contigs.csv"], ("TRA", "TRB"))
    expected = {"c1": "CAVMDSNYQLIWCSASTGRETQYF", "c2": "CAVMDSNYQLFWCSASTGRETQFF"}
    assert {one.name: one.residues for one in found} == expected
    assert len(pairalign.read_fasta("contigs.csv", locus="TRB")) == 2
    frame = pytest.importorskip("pandas").read_csv("contigs.csv")
    with pytest.warns(UserWarning, match="no loops are known"):
        assert pairalign.distance(frame, locus="TRA,TRB", measure="tcrdist").names == ["c1", "c2"]


def test_that_no_loops_are_known_is_said(capsys):
    Path("airr.tsv").write_text(CELLS)
    assert main(["distance", "airr.tsv", "--locus", "TRB", "--measure", "tcrdist", "-o-"]) == 0
    assert "no loops are known (--v-genes): CDR3 alone" in capsys.readouterr().err
    with pytest.warns(UserWarning, match=r"no loops are known \(v_genes\): CDR3 alone"):
        pairalign.distance("airr.tsv", locus="TRB", measure="tcrdist")


def test_productive_is_said_in_many_ways():
    head = "sequence_id\tlocus\tvj_in_frame\tstop_codon\tproductive\tjunction_aa\n"
    words = "0.0 no N unproductive false FALSE 1.0 NA yes"
    said = dict(zip("abcdefghi", words.split(), strict=True))
    rows = [f"{name}\tTRB\tT\tF\t{word}\tCASSF\n" for name, word in said.items()]
    assert read(head + "".join(rows)).names == ["g", "h", "i"]
    rows = ["h\tTRB\tF\tF\t\tCASSF\n", "i\tTRB\tT\tT\tNA\tCASSF\n", "j\tTRB\t\t\t\tCASSF\n"]
    assert read(head + "".join(rows)).names == ["j"]
    with pytest.raises(FastaError, match="record 1 'k': productive is 'maybe', expected T or F"):
        read(head + "k\tTRB\tT\tF\tmaybe\tCASSF\n")
    frame = pytest.importorskip("pandas").DataFrame(
        {
            "sequence_id": ["a", "b", "c", None],
            "productive": [0.0, 1.0, float("nan"), 1.0],
            "duplicate_count": [1.0, float("nan"), 2.0, 3.0],
            "junction_aa": ["CASF", "CASSF", "CASTF", "CAF"],
        }
    )
    assert read_receptors([frame]).names == ["b", "c", "4"]


def test_rearrangements_that_are_not_productive_are_left_out(caplog):
    caplog.set_level("INFO", "pairalign")
    text = (
        "sequence_id\tproductive\tlocus\tjunction_aa\n"
        "a\tT\tTRB\tCASSF\nb\tF\tTRB\tCA*S_F\nc\tF\tTRB\t\nd\t\tTRB\tCASF\n"
    )
    Path("airr.tsv").write_text(text)
    assert pairalign.read_fasta("airr.tsv", locus="TRB").names == ["a", "d"]
    assert "airr.tsv: 2 rearrangements that are not productive left out" in caplog.messages
    assert read_receptors(["airr.tsv"], ("TRB",)).names == ["a", "d"]
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv("airr.tsv", sep="\t")
    assert pairalign.distance(frame, measure="tcrdist").names == ["a", "d"]


def test_what_tcrdist_is_not_of():
    dna = SequenceSet.from_strings(["ACGT", "ACG"])
    for wrong, kind in (
        (lambda: receptors_of(dna), AlphabetError),
        (lambda: pairalign.distance(dna, measure="tcrdist"), AlphabetError),
        (lambda: pairalign.distance(["C"] * 2, measure="tcrdist", matrix="PAM250"), PairalignError),
        (lambda: pairalign.distance(["C"] * 2, measure="tcrdist", device="cuda"), PairalignError),
        (lambda: pairalign.distance(["C"] * 2, measure="tcrdist", v_genes={"a": {}}), FastaError),
    ):
        with pytest.raises(kind):
            wrong()


def test_other_commands_read_junctions():
    Path("airr.tsv").write_text(CELLS)
    found = pairalign.align("airr.tsv", locus="trb")
    assert [found.queries.names, found.queries.record(2)] == [["b1", "b2", "b4"], "record 5 'b4'"]
    with pytest.raises(FastaError, match="two loci are for measure tcrdist"):
        pairalign.read_fasta("airr.tsv", locus="TRA,TRB")
    Path("x.fa").write_text(">a\nMKV\n>b\nMKL\n")
    with pytest.raises(FastaError, match="no AIRR table: leave locus out"):
        pairalign.align("x.fa", locus="TRB")


@pytest.mark.parametrize(
    ("genes", "message"),
    [
        ({}, "v_genes of type dict: expected a path"),
        (3, "v_genes of type int: expected a path"),
        ({"TRBV1*01": "AAA"}, "TRBV1.01 has 'AAA', expected some of cdr1, cdr2, cdr2.5"),
        ({"TRBV1*01": {"CDR4": "AAA"}}, "expected some of cdr1"),
        ({"TRBV1*01": {"cdr1": None}}, "expected a text of each loop"),
        ({"TRBV1*01": {"cdr1": "A"}, "TRBV2": {"cdr2": "A"}}, "TRBV2 has cdr2, TRBV1.01 has oth"),
    ],
)
def test_loops_that_python_gives_are_checked(genes, message):
    Path("airr.tsv").write_text(CELLS)
    with pytest.raises(FastaError, match=message):
        pairalign.distance("airr.tsv", measure="tcrdist", locus="TRB", v_genes=genes)


@pytest.mark.parametrize("locus", [3, "", ("TRA", "TRB"), "TRA,TRA", "TRA,TRB,TRG"])
def test_a_locus_that_is_none(locus):
    Path("airr.tsv").write_text(CELLS)
    for job in (pairalign.align, pairalign.read_fasta):
        with pytest.raises(UsageError, match="expected a locus, such as TRB, or two"):
            job("airr.tsv", locus=locus)


def test_a_cell_has_the_chain_that_has_residues():
    seen_more = "b0\tc1\tTRBV1*01\tTRBJ1*01\t\t9\n"
    for text in (CELLS + seen_more, CELLS.replace("a3\tc2", seen_more + "a3\tc2")):
        assert [one.residues for one in read(text, "TRA", "TRB")] == ["CAVFCASTF", "CAWFCASSTF"]
