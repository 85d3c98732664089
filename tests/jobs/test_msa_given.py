"""Multiple alignments of what is given: guide trees that are read, alignments that are extended."""

import functools
import io
import re
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import examples

import pairalign
from pairalign.base.error_types import AlignmentFileError, FormatError
from pairalign.cli.main import main
from pairalign.engines.cpu.cpu_engine import instruction_sets
from pairalign.jobs.msa.one_family import MOST_OF_ALL_PAIRS
from pairalign.sequences.sets import SequenceSet
from pairalign.trees.tree_text import read_newick

RESIDUES = list("ARNDCQEGHILKMFPSTWYV")


def family(count: int, length: int = 40, seed: int = 1) -> SequenceSet:
    random = np.random.default_rng(seed)
    ancestor = random.choice(RESIDUES, length)
    strings = []
    for _ in range(count):
        own = ancestor.copy()
        changed = random.random(length) < 0.4
        own[changed] = random.choice(RESIDUES, int(changed.sum()))
        strings.append("".join(np.delete(own, random.integers(0, length, 2))))
    names = [f"s{number}" for number in range(count)]
    return SequenceSet.from_strings(strings, names, alphabet="protein")


def write_fasta(path: Path, sequences: Any) -> Path:
    records = zip(sequences.names, sequences, strict=True)
    path.write_text("".join(f">{name}\n{one.residues}\n" for name, one in records))
    return path


def rows(alignment: Any) -> list[str]:
    return [alignment.text(index) for index in range(len(alignment))]


def aligned_again(sequences: SequenceSet, tree: Path) -> Any:
    """Align, and along the tree of that, which is written; return the alignment."""
    alignment = pairalign.msa(sequences)
    tree.write_text(alignment.tree.newick())
    again = pairalign.msa(sequences, tree_in=tree)
    assert rows(again) == rows(alignment)
    assert again.tree.newick() == alignment.tree.newick()
    return alignment


@pytest.mark.parametrize("count", [2, 3, 9])
def test_its_own_tree_gives_the_same_alignment(count, tmp_path):
    sequences = family(count, 24)
    alignment = aligned_again(sequences, tmp_path / "tree.nwk")
    assert rows(pairalign.msa(sequences, tree_in=alignment.tree)) == rows(alignment)


def test_its_own_tree_gives_the_same_alignment_of_copies(tmp_path):
    distant = "DLHQWEMKYLQSLQYCTNEPWI TWVEIHNLCSMQYMTTEPWF SSHQLVYEIHGQRCMYYVTDEPWK"
    distant = [*distant.split(), "AQHRLSENKQPDSHSYVEYQPHP", "FSHQLHCSIQSMQIFTVLGWY"]
    copies = SequenceSet.from_strings([*distant, distant[2].lower(), *distant[:2] * 3])
    tree = tmp_path / "tree.nwk"
    aligned_again(copies, tree)
    chain = functools.reduce(lambda inner, name: f"({inner},{name})", copies.names)
    tree.write_text(chain)
    elsewhere = rows(pairalign.msa(copies, tree_in=tree))
    assert elsewhere[6::2] == elsewhere[:1] * 3


def test_a_large_family_is_joined_along_the_tree(tmp_path):
    sequences = family(MOST_OF_ALL_PAIRS + 5, 24)
    tree = tmp_path / "tree.nwk"
    chain = sequences.names[0]
    for name in sequences.names[1:]:
        chain = f"({chain}:1,{name}:1)"
    tree.write_text(chain + ";")
    alignment = pairalign.msa(sequences, tree_in=tree, threads=1)
    assert [row.replace("-", "") for row in rows(alignment)] == [one.residues for one in sequences]
    assert alignment.order("tree") == list(range(len(sequences)))
    given = pairalign.msa(sequences, tree_in=alignment.tree, threads=3)
    assert rows(given) == rows(alignment) != rows(pairalign.msa(sequences))


def test_a_tree_is_read_as_it_is(tmp_path):
    tree = tmp_path / "tree.nwk"
    tree.write_text("(('s 1':0.5,s0:0.25)0.9:1,[comment]s3:2,\n(s2:0.125,s4):3);\n")
    found = read_newick(tree, ["s0", "s 1", "s2", "s3", "s4"])
    # The root has three children: one more merge, and a branch of 0.
    assert found.children.tolist() == [[1, 0], [2, 4], [5, 3], [7, 6]]
    assert found.lengths.tolist() == [[0.5, 0.25], [0.125, 0], [1, 2], [0, 3]]
    assert found.linkage[:, 3].tolist() == [2, 2, 3, 5]
    assert found.method == "read"


def test_a_tree_without_lengths_and_a_long_chain(tmp_path):
    names = [f"s{number}" for number in range(300)]
    text = names[0]
    for name in names[1:]:
        text = f"({text},{name})"
    tree = tmp_path / "tree.nwk"
    tree.write_text(text + ";")
    found = read_newick(tree, names)
    assert (found.lengths == 1).all()
    assert found.leaves()[-1] == 299


def test_joins_go_along_the_tree(tmp_path, capsys):
    sequences = family(6)
    fasta, tree = write_fasta(tmp_path / "family.fa", sequences), tmp_path / "tree.nwk"
    tree.write_text("(((s5:1,s0:1):1,(s4:1,s1:1):1):1,(s3:1,s2:1):1);")
    out, again = tmp_path / "out.afa", tmp_path / "again.nwk"
    command = ["msa", str(fasta), "-o", str(out), "--tree-in", str(tree), "--order", "tree", "-q"]
    assert main([*command, "--tree-out", str(again)]) == 0
    assert re.findall(r">(\w+)", out.read_text()) == ["s5", "s0", "s4", "s1", "s3", "s2"]
    assert read_newick(again, sequences.names).lengths.sum() == 10


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(s0,s1,s9);", "leaf 's9' is not among the sequences"),
        ("(s0,s1);", "no leaf 's2', which is among the sequences"),
        ("(s0,s1,s1,s2);", "leaf 's1' is there twice"),
        ("(s0,(s1,s2)", "no tree in Newick format"),
        ("(s0,s1,s2);\n(s0,s1,s2);", "2 trees, expected one"),
        ("", "0 trees, expected one"),
        ("(s0:1e999,s1:1,s2:1);", "a branch of length inf, expected a number"),
        ("(s0,s1,);", "a leaf without a name is not among the sequences"),
    ],
)
def test_trees_that_are_none_of_these_sequences(text, message, tmp_path):
    tree = tmp_path / "tree.nwk"
    tree.write_text(text)
    with pytest.raises(FormatError, match=re.escape(message)):
        pairalign.msa(family(3), tree_in=tree)


def test_a_tree_of_other_sequences_is_refused():
    tree = pairalign.msa(family(3)).tree
    with pytest.raises(FormatError, match="of other sequences"):
        pairalign.msa(family(4), tree_in=tree)


def without_new_columns(text: list[str], old: int) -> list[str]:
    """Rows of the first sequences without the columns in which they have gaps alone."""
    kept = [c for c in range(len(text[0])) if any(row[c] != "-" for row in text[:old])]
    return ["".join(row[c] for c in kept) for row in text[:old]]


def test_columns_are_kept_and_clades_do_not_depend_on_each_other():
    sequences = family(12)
    strings = dict(zip(sequences.names, (one.residues for one in sequences), strict=True))
    old = pairalign.msa(dict(list(strings.items())[:7]))
    new = dict(list(strings.items())[7:])
    new["s8"] = "WWWW" + new["s8"]
    new["s9"] = new["s9"][:20] + "HHHHHH" + new["s9"][20:]
    alignment = pairalign.msa(add=new, to=old)
    assert alignment.sequences.names == sequences.names
    text = rows(alignment)
    assert [row.replace("-", "") for row in text[7:]] == list(new.values())
    assert without_new_columns(text, 7) == without_new_columns(rows(old), 7)
    alone = rows(pairalign.msa(add={"s9": new["s9"]}, to=old))
    both = [text[k] for k in (*range(7), 9)]
    filled = [c for c in range(len(text[0])) if any(row[c] != "-" for row in both)]
    assert alone == ["".join(row[c] for c in filled) for row in both]


def test_clades_of_new_sequences_are_aligned_first():
    """Four have the same residues between two columns, one of them less of these."""
    sequences = family(8)
    strings = dict(zip(sequences.names, (one.residues for one in sequences), strict=True))
    last = strings.pop("s7")
    old = pairalign.msa(strings)
    begin, inserted = len(last) // 2, "WCHWMCWHYWCMHWCYWHMC"
    new = {f"n{k}": last[k:begin] + inserted + last[begin:] for k in range(4)}
    new["n2"] = last[:begin] + inserted[6:] + last[begin:]
    alignment = pairalign.msa(add=new, to=old)
    for k in range(4):
        places = range(6, len(inserted))
        first, other = (begin - (0, 1, 6, 3)[one] for one in (k, 0))
        assert {(first + i, other + i) for i in places} <= aligned_with(alignment, 7 + k, 7)
    turned = pairalign.msa(add=dict(reversed(new.items())), to=old)
    assert rows(turned)[:6:-1] == rows(alignment)[7:]


def test_copies_of_new_sequences_change_no_other_row():
    sequences = family(16)
    strings = dict(zip(sequences.names, (one.residues for one in sequences), strict=True))
    old = pairalign.msa(dict(list(strings.items())[:4]), confidence=False)
    new = dict(list(strings.items())[4:])
    once = rows(pairalign.msa(add=new, to=old, confidence=False))
    copies = {f"c{number}": new["s9"] for number in range(9)}
    text = rows(pairalign.msa(add={**new, **copies}, to=old, confidence=False))
    assert text == [*once, *[once[9]] * 9]


def test_a_gap_column_of_the_alignment_is_kept(tmp_path):
    theirs = tmp_path / "theirs.afa"
    theirs.write_text(">a\nMKTAY-IAKQRQIS\n>b\nMKTAY-LAKQRNIS\n")
    alignment = pairalign.msa(add={"c": "MKTAYIAKQRQIS"}, to=theirs, confidence=False)
    assert rows(alignment)[:2] == ["MKTAY-IAKQRQIS", "MKTAY-LAKQRNIS"]
    assert rows(alignment)[2] == "MKTAY-IAKQRQIS"


def aligned_with(alignment: Any, one: int, other: int) -> set[tuple[int, int]]:
    """Residues of two sequences that are in one column."""
    offsets, columns = alignment.sequences.offsets, alignment.columns
    first, second = (columns[slice(*offsets[k : k + 2])].tolist() for k in (one, other))
    return {(i, second.index(column)) for i, column in enumerate(first) if column in second}


def test_relatives_come_where_they_were():
    same = all_in_whole = 0
    for seed in range(1, 1 + examples(8)):
        sequences = family(10, 60, seed)
        whole = pairalign.msa(sequences)
        strings = dict(zip(sequences.names, (one.residues for one in sequences), strict=True))
        old = pairalign.msa(dict(list(strings.items())[:9]))
        extended = pairalign.msa(add=dict(list(strings.items())[9:]), to=old)
        found, expected = (aligned_with(one, 9, 0) for one in (extended, whole))
        same += len(found & expected)
        all_in_whole += len(expected)
    assert same > 0.9 * all_in_whole


@pytest.mark.parametrize("format", ["fasta", "stockholm", "html"])
def test_the_command_extends_with_the_same_bytes_everywhere(format, tmp_path, monkeypatch):
    sequences = family(9)
    both = write_fasta(tmp_path / "all.fa", sequences).read_text().split(">")[1:]
    old, new = tmp_path / "old.fa", tmp_path / "new.fa"
    old.write_text("".join(f">{one}" for one in both[:6]))
    new.write_text("".join(f">{one}" for one in both[6:]))
    aligned = tmp_path / "old.afa"
    assert main(["msa", str(old), "-o", str(aligned), "-q"]) == 0
    command = ["msa", "--add", str(new), "--to", str(aligned), "--format", format, "-q"]
    for name, more in (("one", ["-t", "1"]), ("other", ["-t", "3", "--memory", "64M"])):
        assert main([*command, "-o", str(tmp_path / name), *more]) == 0
    expected = (tmp_path / "one").read_bytes()
    assert (tmp_path / "other").read_bytes() == expected
    monkeypatch.setenv("PAIRALIGN_ISA", instruction_sets()[-1])
    assert main([*command, "-o", str(tmp_path / "plain")]) == 0
    assert (tmp_path / "plain").read_bytes() == expected


def test_what_alphabet_files_have_is_guessed_of_both(tmp_path):
    """Ambiguous bases alone would be a protein."""
    old, new = tmp_path / "old.fa", tmp_path / "new.fa"
    old.write_text(f">a\n{'ACGTTGCA' * 8}\n>b\n{'ACGT-GCA' * 8}\n")
    new.write_text(">n\nACRYTGCAACGTKKCA\n")
    for new_sequences in (new, {"n": "ACRYTGCAACGTKKCA"}):
        assert pairalign.msa(add=new_sequences, to=old).sequences.alphabet.name == "dna"
    assert pairalign.msa(add=new, to=old, alphabet="protein").sequences.alphabet.name == "protein"


def test_a_page_shows_rows_and_confidence(tmp_path):
    sequences = family(5, 100)
    fasta = write_fasta(tmp_path / "family.fa", sequences)
    page, stockholm = tmp_path / "page.html", tmp_path / "page.sto"
    for path in (page, stockholm):
        assert main(["msa", str(fasta), "-o", str(path), "-q"]) == 0
    expected = dict.fromkeys(sequences.names, "")
    marks = {}
    for line in stockholm.read_text().splitlines():
        parts = line.split()
        if parts and parts[0] in expected:
            expected[parts[0]] = parts[1]
        elif line.startswith("#=GR"):
            marks[parts[1]] = parts[3]
    shown, coloured = dict.fromkeys(expected, ""), dict.fromkeys(expected, "")
    for line in page.read_text().splitlines():
        name = line.split(" ", 1)[0]
        if name not in shown:
            continue
        for place, text, bare in re.findall(r"<span class='c(\d+)'>([^<]*)</span>|([^<>]+)", line):
            letters = unescape(text or bare)
            if not text:
                letters = letters.removeprefix(name).strip()
            shown[name] += letters
            coloured[name] += ("0123456789*"[int(place)] if text else ".") * len(letters)
    assert shown == expected
    assert coloured == marks


def test_negative_branches_of_a_tree_are_zero(tmp_path, caplog):
    """Neighbour joining makes them."""
    trees = []
    for name, length in (("negative", "-0.01"), ("zero", "0")):
        path = tmp_path / f"{name}.nwk"
        path.write_text(f"((a:1,b:1):1,(c:0.5,d:{length}):1);")
        trees.append(read_newick(path, ["a", "b", "c", "d"]))
    assert trees[0].linkage.tolist() == trees[1].linkage.tolist()
    assert "negative.nwk: 1 branches of negative length are read as 0" in caplog.text


def test_a_family_from_standard_input(tmp_path, monkeypatch):
    path, output = write_fasta(tmp_path / "in.fa", family(3)), tmp_path / "out.afa"
    assert main(["msa", str(path), "-o", str(output), "-q", "--device", "cpu"]) == 0
    expected = output.read_bytes()
    with path.open("rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))
        assert main(["msa", "-", "-o", str(output), "-q", "--device", "cpu"]) == 0
    assert output.read_bytes() == expected


def test_the_confidence_of_an_alignment_is_of_its_sequences(tmp_path):
    """From a file and from an object alike, in any order; none is computed where none is wanted."""
    sequences = family(5)
    made = pairalign.msa(sequences)
    made.write(tmp_path / "made.afa")
    for given in (made, tmp_path / "made.afa"):
        scored = pairalign.msa(sequences, confidence_of=given)
        assert np.array_equal(scored.support, made.support)
        assert rows(scored) == rows(made)
        bare = pairalign.msa(sequences, confidence_of=given, confidence=False)
        assert not bare.compared.any()
        assert rows(bare) == rows(made)
        turned = pairalign.msa(sequences[::-1], confidence_of=given)
        assert rows(turned) == rows(made)[::-1]
    with pytest.raises(AlignmentFileError, match=r"no row of record 6 's5'"):
        pairalign.msa(family(6), confidence_of=made)
