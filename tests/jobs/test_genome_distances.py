"""ANI and tANI of genomes: each residue counted once, as a plain loop over columns does."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from strand_problems import other_strand

import pairalign
from pairalign.cli.main import main

ASKED = {"group_by": "name-prefix", "mode": "local", "strand": "both"}


def genomes(seed: int) -> dict[str, str]:
    """Relatives in pieces, some turned, with gaps, ambiguous bases and repeats."""
    rng = np.random.default_rng(seed)
    base = rng.choice(list("ACGT"), 400)

    def relative(rate: float) -> str:
        changed = np.where(rng.random(400) < rate, rng.choice(list("ACGTN"), 400), base)
        return "".join(changed[rng.random(400) >= rate / 4])

    a, b, c = relative(0.05), relative(0.1), relative(0.3)
    return {
        **{"a|whole": a, "b|1": other_strand(b[:150]), "b|2": b[150:], "b|again": b[100:200]},
        **{"c|1": c[200:], "c|2": other_strand(c[:230]), "d|1": "".join(rng.permutation(base))},
    }


def plain_loop(sequences: dict[str, str]) -> dict[tuple[str, str], tuple[float, ...]]:
    """ANI, tANI and both coverages, column by column."""
    found = pairalign.align(sequences, mode="local", strand="both")
    sizes: dict[str, int] = {}
    for name, text in sequences.items():
        sizes[name[0]] = sizes.get(name[0], 0) + len(text)
    kept = []
    for one in found:
        ends = one.query.name, one.target.name
        if ends[0][0] != ends[1][0] and one.columns:
            first, second = sorted((-len(sequences[name]), sequences[name]) for name in ends)
            kept.append((-one.raw_score, first, second, one))
    seen: dict[tuple[str, str], dict[tuple[str, int], bool]] = {}
    for _, _, _, one in sorted(kept, key=lambda some: some[:3]):
        query, target = one.query.name, one.target.name
        step = -1 if one.strand < 0 else 1
        at = [one.query_start if step > 0 else one.query_end - 1, one.target_start]
        for x, y in zip(*one.rows(), strict=True):
            is_match = x.upper() == y.upper() and x.upper() in "ACGT"
            if x != "-":
                seen.setdefault((query[0], target[0]), {}).setdefault((query, at[0]), is_match)
                at[0] += step
            if y != "-":
                seen.setdefault((target[0], query[0]), {}).setdefault((target, at[1]), is_match)
                at[1] += 1
    expected = {}
    for x, y in combinations(sizes, 2):
        one, other = seen.get((x, y), {}), seen.get((y, x), {})
        aligned = len(one) + len(other)
        matched = sum(one.values()) + sum(other.values())
        expected[x, y] = (
            matched / aligned if aligned else 0.0,
            matched / (sizes[x] + sizes[y]),
            len(one) / sizes[x],
            len(other) / sizes[y],
        )
    return expected


@pytest.mark.parametrize("seed", range(4))
def test_genomes_are_those_of_a_plain_loop(seed):
    sequences = genomes(seed)
    expected = plain_loop(sequences)
    for measure in ("ani", "tani"):
        found = pairalign.distance(sequences, measure=measure, **ASKED)
        assert found.names == list("abcd")
        assert found.measure == measure
        for one, other, distance, *more in found.rows():
            assert more == pytest.approx(expected[one, other])
            assert distance == pytest.approx(1 - expected[one, other][measure == "tani"])
    assert expected["a", "b"][1] > 0.7


def test_a_genome_in_pieces_is_the_same():
    text = "".join(np.random.default_rng(3).choice(list("ACGT"), 600))
    pieces = {"b|1": text[300:450], "b|2": other_strand(text[:300]), "b|3": text[440:]}
    found = pairalign.distance({"a|": text, **pieces}, measure="tani", **ASKED)
    assert [column.tolist() for column in found.columns.values()] == [[1.0]] * 4
    assert found.condensed.tolist() == [0.0]
    assert found.sizes.tolist() == [1, 3]


def test_files_and_tables(here):
    sequences = genomes(1)
    for group in "abcd":
        own = {name: text for name, text in sequences.items() if name[0] == group}
        Path(f"{group}.fna").write_text("".join(f">{n[2:]}\n{s}\n" for n, s in own.items()))
    files = [f"{group}.fna" for group in "abcd"]
    asked = ["--group-by", "file", "--mode", "local", "--strand", "both", "--measure", "ani"]
    more = ["--matches", "m.tsv", "--clusters", "c.tsv", "--max-distance", "0.2", "-q"]
    assert main(["distance", *files, *asked, *more, "--similarity", "-o", "x.npy"]) == 0
    found = pairalign.distance(sequences, measure="ani", **ASKED)
    np.testing.assert_array_equal(np.load("x.npy"), 1 - found.condensed)
    lines = [line.split("\t") for line in Path("m.tsv").read_text().splitlines()]
    heads = "query target identity ani tani query_coverage target_coverage"
    assert lines[0] == heads.split()
    expected = plain_loop(sequences)
    for one, other, identity, *numbers in lines[1:]:
        values = [float(number) for number in numbers]
        assert values == pytest.approx(expected[one, other], abs=1e-6)
        assert float(identity) == pytest.approx(values[0], abs=1e-6)
    assert Path("c.tsv").read_text().startswith("cluster\tgroup\n1\ta\n1\tb\n")


def test_each_record_of_one_file_is_a_genome(here, capfd):
    sequences = genomes(1)
    Path("all.fna").write_text("".join(f">{name}\n{text}\n" for name, text in sequences.items()))
    table = "".join(f"{name},{name}\n" for name in sequences)
    Path("groups.csv").write_text(table)
    asked = ["distance", "all.fna", "--mode", "local", "--strand", "both", "--measure", "ani", "-q"]
    assert main([*asked, "--group-by", "record", "-o", "x.csv"]) == 0
    assert main([*asked, "--group-by", "groups.csv", "-o", "y.csv"]) == 0
    assert Path("x.csv").read_bytes() == Path("y.csv").read_bytes()
    assert Path("x.csv").read_text().splitlines()[0].split(",")[1:] == list(sequences)
    assert main([*asked, "--group-by", "file", "-o", "z.csv"]) != 0
    assert "--group-by record" in capfd.readouterr().err
    assert main([*asked, "--group-by", "records", "-o", "z.csv"]) != 0
    assert "records: no such file; expected file, record, name-prefix or a table" in (
        capfd.readouterr().err
    )
