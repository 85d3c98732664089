"""Alignments become one, in which each of them is."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pairalign
from pairalign.base.error_types import AlignmentFileError, AlphabetError, UsageError
from pairalign.cli.main import main
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.jobs.msa.large import REPRESENTATIVES
from pairalign.trees.tree_text import read_newick

RESIDUES = list("ARNDCQEGHILKMFPSTWYV")
Rows = dict[str, str]


def family(
    count: int, length: int = 40, seed: int = 1, prefix: str = "s", deleted: int = 2
) -> Rows:
    random = np.random.default_rng(seed)
    ancestor = np.random.default_rng(length).choice(RESIDUES, length)
    rows = {}
    for number in range(count):
        own = ancestor.copy()
        changed = random.random(length) < 0.3
        own[changed] = random.choice(RESIDUES, int(changed.sum()))
        own = np.delete(own, random.integers(0, length, deleted))
        rows[f"{prefix}{number}"] = "".join(own)
    return rows


def aligned(*args: Any, **more: Any) -> Rows:
    """Rows of a family that is aligned."""
    return rows_of(pairalign.msa(family(*args, **more), alphabet="protein", confidence=False))


def rows_of(alignment: Any) -> Rows:
    return {name: alignment.text(k) for k, name in enumerate(alignment.sequences.names)}


def write(path: Path, rows: Rows) -> Path:
    path.write_text("".join(f">{name}\n{row}\n" for name, row in rows.items()))
    return path


def read(path: Path) -> Rows:
    records = (one.split("\n", 1) for one in path.read_text().split(">")[1:])
    return {name: row.replace("\n", "") for name, row in records}


def less_empty(rows: Rows) -> Rows:
    """Rows without columns of gaps alone."""
    kept = [k for k, column in enumerate(zip(*rows.values(), strict=True)) if set(column) != {"-"}]
    return {name: "".join(row[k] for k in kept) for name, row in rows.items()}


def assert_holds(merged: Rows, *given: Rows) -> None:
    """The rows of each alignment, less columns of gaps alone, are that alignment."""
    assert list(merged) == [name for one in given for name in one]
    for one in given:
        assert less_empty({name: merged[name] for name in one}) == less_empty(one)


@pytest.mark.parametrize("counts", [(1, 1), (1, 4), (3, 5), (2, 3, 1, 4)])
def test_each_alignment_is_in_the_result(counts, tmp_path):
    given = [aligned(n, seed=k + 2, prefix=f"f{k}_") for k, n in enumerate(counts)]
    # What aligns badly stays: gaps that no aligner would put there, a column of gaps alone.
    odd = given[-1] = {name: "-" + row[:9] + "-----" + row[9:] for name, row in given[-1].items()}
    odd[next(iter(odd))] = next(iter(odd.values())).replace("-----", "", 1) + "-----"
    paths = [write(tmp_path / f"{k}.afa", one) for k, one in enumerate(given)]
    merged = pairalign.msa(paths, merge=True, threads=1)
    assert_holds(rows_of(merged), *given)
    assert merged.sequences.names == [name for one in given for name in one]
    assert np.isfinite(merged.column_confidence).any()


@pytest.mark.parametrize("count", [REPRESENTATIVES - 2, 100])
def test_relatives_come_where_they_belong(count):
    """The second alignment lacks a block of the first, and has a residue before it."""
    one = family(count, 60, 3, "a", deleted=0)
    whole = family(5, 60, 4, "b", deleted=0)
    other = {name: "W" + row[:20] + row[30:] for name, row in whole.items()}
    made = [pairalign.msa(rows, alphabet="protein", confidence=False) for rows in (one, other)]
    merged = pairalign.msa(made, merge=True, confidence=False)
    assert_holds(rows_of(merged), *map(rows_of, made))
    true = {(k if k < 20 else k + 10, k + 1) for k in range(50)}
    for k in range(5):
        assert len(together(merged, 0, count + k) & true) >= 45


def together(alignment: Any, one: int, other: int) -> set[tuple[int, int]]:
    offsets, columns = alignment.sequences.offsets, alignment.columns
    first, second = (columns[slice(*offsets[k : k + 2])].tolist() for k in (one, other))
    return {(i, second.index(column)) for i, column in enumerate(first) if column in second}


def test_dna_and_large_alignments(tmp_path):
    bases = str.maketrans("".join(RESIDUES), "ACGT" * 5)
    for count, length, is_dna in ((4, 200, True), (300, 30, False)):
        given = [family(count, length, seed, f"{seed}_") for seed in (5, 6)]
        if is_dna:
            given = [{name: row.translate(bases) for name, row in one.items()} for one in given]
        made = [pairalign.msa(one, confidence=False) for one in given]
        merged = pairalign.msa(made, merge=True, confidence=False)
        assert_holds(rows_of(merged), *map(rows_of, made))


def test_the_order_of_files_is_that_of_rows_alone(tmp_path):
    given = [aligned(n, seed=n, prefix=f"f{n}_") for n in (2, 3, 4)]
    paths = [str(write(tmp_path / f"{k}.afa", one)) for k, one in enumerate(given)]
    found = []
    for k, order in enumerate(((0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0))):
        out = tmp_path / f"out{k}.afa"
        assert main(["msa", "--merge", *(paths[n] for n in order), "-o", str(out), "-q"]) == 0
        found.append(read(out))
        assert list(found[-1]) == [name for n in order for name in given[n]]
    assert all(one == found[0] for one in found)


def test_the_same_bytes_everywhere_and_after_a_stop(tmp_path, monkeypatch):
    paths = [
        str(write(tmp_path / f"{n}.afa", aligned(n, seed=n, prefix=f"f{n}_"))) for n in (3, 4, 5)
    ]
    command = ["msa", *paths, "--merge", "-q", "--device", "cpu", "--format", "stockholm"]
    more = (["-t", "1"], ["-t", "3", "--memory", "64M"], ["--resume"], ["--resume"])
    found = []
    for k, options in enumerate(more):
        if k == len(more) - 1:
            monkeypatch.setenv("PAIRALIGN_ISA", instruction_sets()[-1])
        assert main([*command, *options, "-o", str(tmp_path / str(k))]) == 0
        found.append((tmp_path / str(k)).read_bytes())
    assert found == found[:1] * len(found)


def test_the_tree_has_all_and_gives_the_order(tmp_path, capsys):
    given = [aligned(n, seed=n, prefix=f"f{n}_") for n in (1, 4, 3)]
    paths = [str(write(tmp_path / f"{k}.afa", one)) for k, one in enumerate(given)]
    out, tree = tmp_path / "out.afa", tmp_path / "out.nwk"
    command = ["msa", "--merge", *paths, "-o", str(out), "--tree-out", str(tree)]
    assert main([*command, "--order", "tree", "--summary", "json"]) == 0
    names = [name for one in given for name in one]
    assert [names[k] for k in read_newick(tree, names).leaves()] == list(read(out))
    facts = json.loads(capsys.readouterr().err.strip().splitlines()[-1])
    assert facts["sets"][0]["sequences"] == len(names)
    assert facts["sets"][0]["source"] == f"{paths[0]} and 2 more files"


def test_rows_of_other_formats(tmp_path):
    one, other = aligned(3, seed=1, prefix="a"), aligned(2, seed=2, prefix="b")
    first, second = write(tmp_path / "a.afa", one), write(tmp_path / "b.afa", other)
    expected = rows_of(pairalign.msa([first, second], merge=True))
    for ending in ("sto", "aln"):
        path = tmp_path / f"b.{ending}"
        command = ["msa", str(second), "--degap", "--confidence-of", str(second), "-q"]
        assert main([*command, "-o", str(path)]) == 0
        assert rows_of(pairalign.msa([first, path], merge=True)) == expected
        longer = rows_of(pairalign.msa(add={"c": "MKTAYIAKQR"}, to=path, confidence=False))
        assert_holds({name: longer[name] for name in other}, other)
    phylip = tmp_path / "b.phy"
    width = len(next(iter(other.values())))
    lines = "".join(f"{name} {row}\n" for name, row in other.items())
    phylip.write_text(f"{len(other)} {width}\n{lines}")
    assert rows_of(pairalign.msa([first, phylip], merge=True)) == expected


def test_dots_are_gaps_and_stops_at_ends_are_left_out(tmp_path):
    first = write(tmp_path / "a.afa", {"a": "MKTAYIAKQR", "b": "MKTAYLAKQR"})
    second = write(tmp_path / "b.afa", {"c": "MKT.YIAK*.", "d": "MKTAYIAKQ*"})
    merged = rows_of(pairalign.msa([first, second], merge=True))
    rows = {"a": "MKTAYIAKQR", "b": "MKTAYLAKQR"}, {"c": "MKT-YIAK--", "d": "MKTAYIAKQ-"}
    assert_holds(merged, *rows)


def test_what_is_no_alignment_is_named(tmp_path):
    good = write(tmp_path / "a.afa", {"a": "MKTAYIAKQR", "b": "MKTAYLAK-R"})
    others: list[tuple[Rows, type[Exception], str]] = [
        ({"c": "MKTAY", "b": "MKTA-"}, AlignmentFileError, "b.afa: record 2 'b' is in .*a.afa"),
        ({"c": "MKTAY", "d": "MKTA"}, AlignmentFileError, "b.afa: record 2 'd': a row of 4 col"),
        ({"c": "ACGTACGT", "d": "ACG-ACGT"}, AlphabetError, "a.afa is of protein, .*b.afa of dna"),
        ({"c": "MKTAY", "d": "-----"}, pairalign.FastaError, "b.afa: record 2 'd' has no seq"),
    ]
    for rows, error, message in others:
        with pytest.raises(error, match=message):
            pairalign.msa([good, write(tmp_path / "b.afa", rows)], merge=True)
    for one in ([good], good, []):
        with pytest.raises(UsageError, match="two alignments or more"):
            pairalign.msa(one, merge=True)


def test_what_is_left_out_and_what_is_strange_is_said(tmp_path, caplog):
    caplog.set_level("INFO")
    one, other = aligned(3, seed=1, prefix="a"), aligned(3, 45, seed=2, prefix="b")
    paths = [write(tmp_path / f"{k}.afa", rows) for k, rows in enumerate((one, other))]
    write(paths[0], {name: row[:5] + "--" + row[5:] for name, row in one.items()})
    merged = pairalign.msa(paths, merge=True, confidence=False)
    assert_holds(rows_of(merged), one, other)
    assert "0.afa: 2 columns of gaps alone left out" in caplog.text
    strange = re.findall(r"(\d).afa: none of its sequences is similar", caplog.text)
    assert strange == ["0", "1"]
    caplog.clear()
    pairalign.msa([pairalign.msa(family(3)), pairalign.msa(family(3, prefix="t"))], merge=True)
    assert "is similar" not in caplog.text
