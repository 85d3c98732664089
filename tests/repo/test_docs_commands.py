"""Commands and programs on the pages of the documentation run, on small files of those names."""

import glob
import gzip
import random
import re
import shlex
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from commands import write_part

import pairalign
from pairalign.cli.main import main
from pairalign.cli.parser import EXAMPLES
from pairalign.cli.program import COMMANDS as PROGRAM

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def commands_of(page: Path) -> list[str]:
    """Commands of pairalign, less comments; those for GPUs, in pipes, and `verify` are left out.

    What `verify` reads are files of other programs; tests/jobs/test_verify.py has some.
    """
    found = []
    for kind, block in BLOCK.findall(page.read_text()):
        text = re.sub(r" \\\n +", " ", block)  # lines that go on
        lines = re.findall(r"^\$ (pairalign .*)$", text, re.MULTILINE) if kind == "console" else []
        found += [re.sub(r"\s+# .*", "", line) for line in lines]
    return [one for one in found if not re.search(r"\||--device cuda|^pairalign verify", one)]


COMMANDS = list(dict.fromkeys((page.name, one) for page in PAGES for one in commands_of(page)))
"""In the order of the pages: some read what those before them have written."""
PROGRAMS = [
    (page.name, text)
    for page in PAGES
    for kind, text in BLOCK.findall(page.read_text())
    if kind == "python" and "import pairalign" in text and page.name != "getting-started.md"
]


RUN_AS_A_WHOLE = ("getting-started.md", "growing.md")
"""Pages whose output is compared with what they show."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with small files of the names that the pages use."""
    folder = tmp_path_factory.mktemp("docs")
    random.seed(3)

    def changed(text: str, letters: str, rate: float = 0.05) -> str:
        return "".join(random.choice(letters) if random.random() < rate else c for c in text)

    def write(name: str, sequences: list[str]) -> None:
        (folder / name).write_text("".join(f">s{k}\n{s}\n" for k, s in enumerate(sequences)))

    protein = "".join(random.choices("ARNDCQEGHILKMFPSTWYV", k=90))
    for name in ("proteins", "queries", "database", "family", "globins"):
        family = [changed(protein, "ARNDCQEGHILKMFPSTWYV", 0.02 * (k + 1)) for k in range(6)]
        others = 24 if name == "proteins" else 0  # which make folds
        family += ["".join(random.choices("ARNDCQEGHILKMFPSTWYV", k=90)) for _ in range(others)]
        write(f"{name}.fasta", family)
    for name in ("peptides", "targets"):
        write(f"{name}.fasta", ["".join(random.choices("ARNDCQEGHILKMF", k=90)) for _ in range(9)])
    ends = [(random.randrange(9), random.randrange(9)) for _ in range(40)]
    (folder / "interactions.tsv").write_text("".join(f"s{a}\ts{b}\n" for a, b in ends))
    gene = "".join(random.choices("ACGT", k=900))
    genome = changed(gene, "ACGT", 0.01)
    for name in ("genomes", "haplotypes"):
        write(f"{name}.fasta", [gene, genome[300:] + genome[:300], genome])
    for name in ("genes", "amplicons", "genome1", "genome2"):
        write(f"{name}.fasta", [changed(gene[:300], "ACGT") for _ in range(6)])
    reads = [gene[start : start + 400] for start in range(0, 500, 100)]
    write("reads.fasta", reads)
    with gzip.open(folder / "reads.fastq.gz", "wt") as file:
        for k, read in enumerate(reads):
            file.write(f"@s{k}\n{read}\n+\n{'I' * len(read)}\n")
    (folder / "proteins.fasta.gz").write_bytes(
        gzip.compress((folder / "proteins.fasta").read_bytes())
    )
    write("cdr3.fasta", [changed("CASSLGQGAEAFF", "ADEGLQSY", 0.1) for _ in range(6)])
    chains = [(k, locus, f"{locus}V{k % 2}*01") for k in range(4) for locus in ("TRA", "TRB")]
    rows = [f"r{k}{locus}\tr{k}\t{locus}\t{gene}\tCASS{'G' * k}F" for k, locus, gene in chains]
    titles = "sequence_id\tcell_id\tlocus\tv_call\tjunction_aa"
    (folder / "airr.tsv").write_text("\n".join([titles, *rows]))
    loops = [f"{gene}\tSG{'H' * k}T\tFQNNGV" for k, _, gene in chains[:4]]
    (folder / "loops.tsv").write_text("\n".join(["gene\tcdr1\tcdr2", *loops]))
    (folder / "prefilter.tsv").write_text("s0\ts1\t0.9\ns2\ts3\t0.8\n")
    (folder / "clusters.tsv").write_text("s0\ts0\ns0\ts1\ns2\ts2\ns2\ts3\n")
    (folder / "families").mkdir()
    for name in ("OG0001", "OG0002"):
        write(f"families/{name}.fasta", [protein, changed(protein, "ARNDCQEGHILKMFPSTWYV")])
    main(["distance", str(folder / "family.fasta"), "-o", str(folder / "family.phy"), "--quiet"])
    main(["msa", str(folder / "family.fasta"), "-o", str(folder / "theirs.afa"), "--quiet"])
    for number, name in enumerate(("one.afa", "another.afa", "third.sto")):
        members = {f"{name}_{k}": changed(protein, "ARNDCQEG") for k in range(number + 2)}
        pairalign.msa(members).write(folder / name)
    (folder / "new.fasta").write_text(f">new\n{protein}\n")
    (folder / "examples").mkdir()
    for example in (ROOT / "examples").glob("*.fasta"):
        write_part(folder / "examples" / example.name, example, 12)
    return folder


def test_commands_run(folder, monkeypatch, capsys):
    """One after the other: some read what those before have made."""
    monkeypatch.chdir(folder)
    for page, command in COMMANDS:
        is_there = "--method nj" not in command or find_spec("skbio")
        if page not in RUN_AS_A_WHOLE and is_there:  # the others: tests/repo/test_docs.py
            words = [
                name
                for word in shlex.split(command)[1:]
                for name in (sorted(glob.glob(word)) if "*" in word else [word])
            ]
            assert code_of(words) == 0, (page, command, capsys.readouterr().err)
            if "-o" in words and words[words.index("-o") + 1] != "-":
                assert (folder / words[words.index("-o") + 1]).stat().st_size > 0


def code_of(words: list[str]) -> int:
    try:
        return main(words)
    except SystemExit as exit_:
        return int(exit_.code or 0)


@pytest.fixture(scope="module")
def folder_of_help(folder: Path) -> Path:
    """That folder, with the parts that examples of `merge` and `update` read."""
    common = ["align", str(folder / "proteins.fasta"), "--format", "paf", "--quiet"]
    shutil.rmtree(folder / "parts", ignore_errors=True)  # those of the pages are another run's
    for shard, name in (("1/2", "parts"), ("2/2", "parts"), ("1/1", "run1")):
        assert main([*common, "--shard", shard, "-o", str(folder / name)]) == 0
    letters = (folder / "proteins.fasta").read_text().splitlines()[1]
    (folder / "newer.fasta").write_text(f">newer\n{letters[10:]}\n")
    return folder


def test_each_command_has_three_examples_of_itself():
    assert EXAMPLES.keys() == {command.name for command in PROGRAM}
    for command, examples in EXAMPLES.items():
        assert [words.split()[0] for _, words in examples] == 3 * [command]


def test_examples_of_help_run(folder_of_help, monkeypatch, capsys):
    """One after the other: `verify` reads what an example of `align` writes."""
    monkeypatch.chdir(folder_of_help)
    for command, examples in EXAMPLES.items():
        if command == "completion" and find_spec("shtab") is None:
            continue
        for _, words in examples:
            code = code_of(shlex.split(words.partition(" > ")[0]))
            said = capsys.readouterr()
            found = command == "audit" and "break the promise" in said.err
            assert code == found, (words, said.err)
            assert found or "error" not in said.err


@pytest.mark.parametrize(
    ("page", "program"), PROGRAMS, ids=[f"{page}-{k}" for k, (page, _) in enumerate(PROGRAMS)]
)
def test_programs_run(page, program, folder, monkeypatch):
    for package in ("pandas", "pyarrow", "networkx"):
        pytest.importorskip(package)
    for package in ("skbio", "biotite"):
        if f".to_{package}(" in program:
            pytest.importorskip(package)
    monkeypatch.chdir(folder)
    exec(compile(program, page, "exec", dont_inherit=True), {"__name__": "__main__"})


def test_there_is_something_to_run():
    assert len(COMMANDS) > 25
    assert len(PROGRAMS) >= 2
