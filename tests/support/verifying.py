"""`pairalign verify` in tests: its table, and sequences and files for it."""

import numpy as np
from commands import rows_of

from pairalign.base.choices import FORMAT_NAMES, READER_NAMES
from pairalign.cli.main import main

COLUMNS = "query,target,pident,length,mismatch,gapopen,qstart,qend,sstart,send,evalue,score,cigar"
ROWS = (
    "qseqid,sseqid,nident,positive,gaps,ppos,qseq,sseq,qlen,slen,query_start,query_end,sstart,send"
)

READ_AS = {
    name: "blast6" if name == "blast7" else name
    for name in FORMAT_NAMES
    if name in (*READER_NAMES, "blast7")
}
"""Formats that `verify` reads, and as which."""


def family(alphabet, count=9, seed=5):
    """Sequences that are alike in parts, some with ambiguous letters and small ones."""
    rng = np.random.default_rng(seed)
    letters = list("ACGT" if alphabet == "dna" else "ARNDCQEGHILKMFPSTWYV")
    root = rng.choice(letters, 90)
    records = {}
    for k in range(count):
        row = [
            str(rng.choice(letters)) if rng.random() < 0.2 else one
            for one in root
            if rng.random() > 0.06
        ]
        row[7] = "N" if alphabet == "dna" else "X"
        if k % 3 == 1:
            row = row[20:]
        if k % 3 == 2:
            row = [one.lower() for one in row[:60]]
        records[f"s|{k}"] = "".join(row)
    return records


QUERY = ">a the query\nMKVLWACGGWYTRRSTPQEDLKNHCWVAYGGMFPLLKERDNQSTACW\n"
TARGET = ">b\nKVLWCGGHYTRRSTPQEELKNHCWVAYGGGMFPLLKERDNQS\n"
DNA = ">g\nTTACGTTAGCTAGCTTTTAAGCATCGATCAGCTACGGG\n>r\nCGATCGATGCTTAAAGAGCTAGCAACGTCC\n"
PAIR = ">a\nMKVLWACGGWYT\n>b\nKVLWCGGHYTR\n"


def verify(*arguments, code=0):
    """Rows of the table."""
    assert main(["verify", *map(str, arguments), "-o", "found.tsv", "--quiet"]) == code
    with open("found.tsv") as file:
        return rows_of(file.read())


def align(*arguments):
    assert main(["align", *map(str, arguments), "--quiet", "--device", "cpu"]) == 0


def write_sequences(folder):
    """Write the proteins, together and each alone, and the DNA."""
    for name, text in (("s", QUERY + TARGET), ("q", QUERY), ("t", TARGET), ("d", DNA)):
        (folder / f"{name}.fa").write_text(text)
