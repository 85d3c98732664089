"""Align a file with pyfamsa, one thread: ``python pyfamsa_align.py IN OUT``."""

import sys
from pathlib import Path

import pyfamsa

records = Path(sys.argv[1]).read_text().split(">")[1:]
lines = [record.splitlines() for record in records]
sequences = [
    pyfamsa.Sequence(first.split()[0].encode(), "".join(rest).encode()) for first, *rest in lines
]
aligned = pyfamsa.Aligner(threads=1).align(sequences)
with open(sys.argv[2], "wb") as out:
    for one in aligned:
        out.write(b">" + one.id + b"\n" + one.sequence + b"\n")
