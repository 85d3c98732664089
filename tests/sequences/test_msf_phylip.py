"""MSF and PHYLIP as Clustal Omega, EMBOSS and MAFFT write them, and by hand."""

import shutil
import subprocess
from pathlib import Path

import pytest
from fasta_texts import contents

from pairalign.errors import FastaError
from pairalign.sequences.set_reading import read_fasta

ROWS = {
    "alpha": "MKV-LAAGIVGLLLAQWERTY",
    "b": "MKVALAAG--GLLLAQ-ERTY",
    "gamma12345": "----LALALALALALALALAQ",
}


def texts(source: Path) -> dict[str, str]:
    return dict(contents(read_fasta(source, alphabet="protein", degap=True)))


def expected() -> dict[str, str]:
    return {name: row.replace("-", "") for name, row in ROWS.items()}


PHYLIP = {
    "relaxed": "3 21\n" + "".join(f"{name} {row}\n" for name, row in ROWS.items()),
    "strict": " 3   21\n" + "".join(f"{name:10}{row}\n" for name, row in ROWS.items()),
    "interleaved": "3 21 \n"
    + "".join(f"{name:10}{row[:10]}\n" for name, row in ROWS.items())
    + "\n"
    + "".join(f"{' ' * 10}{row[10:]}\n" for row in ROWS.values()),
    "sequential": "3 21\n"
    + "".join(f"{name:10}{row[:5]} {row[5:10]}\n{row[10:]}\n" for name, row in ROWS.items()),
}


@pytest.mark.parametrize("layout", PHYLIP)
def test_layouts_of_phylip(layout, tmp_path):
    path = tmp_path / "x.phy"
    path.write_text(PHYLIP[layout])
    assert texts(path) == expected()
    path.write_text(PHYLIP[layout].replace("21", "22"))
    with pytest.raises(FastaError, match=r"x\.phy: not PHYLIP: expected 3 rows of 22 columns"):
        texts(path)


@pytest.mark.parametrize(
    ("program", "command"),
    [
        ("clustalo", "clustalo -i in.fa --outfmt=msf -o out --force"),
        ("seqret", "seqret -sequence in.fa -outseq msf::out -auto"),
        ("clustalo", "clustalo -i in.fa --outfmt=phylip -o out --force"),
        ("seqret", "seqret -sequence in.fa -outseq phylip::out -auto"),
        ("seqret", "seqret -sequence in.fa -outseq phylipnon::out -auto"),
        ("mafft", "mafft --quiet --phylipout in.fa"),
    ],
)
def test_files_of_programs(program, command, here):
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    rows = {name: 9 * row for name, row in ROWS.items()}
    longest = max(map(len, rows.values()))
    Path("in.fa").write_text("".join(f">{k}\n{v.ljust(longest, '-')}\n" for k, v in rows.items()))
    done = subprocess.run(command.split(), check=True, timeout=60, capture_output=True)
    if not Path("out").exists():
        Path("out").write_bytes(done.stdout)
    assert texts(Path("out")) == {name: 9 * row for name, row in expected().items()}


@pytest.mark.parametrize("cut", [30, 100, 250, 400])
def test_msf_that_is_cut_short_is_refused(cut, tmp_path):
    head = "!!AA_MULTIPLE_ALIGNMENT 1.0\n x.msf MSF: 21 Type: P Check: 1 ..\n\n"
    names = "".join(f" Name: {name} Len: 21 Check: 1 Weight: 1.00\n" for name in ROWS)
    rows = "".join(f"{name:12}{row.replace('-', '.')}\n" for name, row in ROWS.items())
    text, path = f"{head}{names}\n//\n\n{rows}\n", tmp_path / "x.msf"
    path.write_text(text)
    assert texts(path) == expected()
    path.write_text(text[: min(cut, len(text) - 15)])
    with pytest.raises(FastaError, match=r"x\.msf"):
        texts(path)


def test_phylip_of_two_meanings_is_refused(tmp_path):
    """Two rows of two lines each, or two blocks of two rows: both have eight columns."""
    path = tmp_path / "x.phy"
    path.write_text("2 8\nab ACDE\nF GHI\nc KLM\nNPQRS\n")
    with pytest.raises(FastaError, match="can be read in 2 ways"):
        texts(path)
