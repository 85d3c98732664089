"""Sequences read from a text, for the tests of sets and of files."""

import io

from hypothesis import strategies as st

from pairalign.sequences.set_reading import read_fasta
from pairalign.sequences.sets import SequenceSet

PROTEIN_LETTERS = "ACDEFGHIKLMNPQRSTVWYBZXUOJ*acdefghiklmnpqrstvwy"


DNA_LETTERS = "ACGTNacgtnURYSWKMBDHV"


def read(text: bytes | str, **options) -> SequenceSet:
    data = text if isinstance(text, bytes) else text.encode()
    return read_fasta(io.BytesIO(data), **options)


def contents(sequences: SequenceSet) -> list[tuple[str, str]]:
    return [(sequence.name, sequence.residues) for sequence in sequences]


@st.composite
def sequence_lists(draw: st.DrawFn, letters: str = PROTEIN_LETTERS) -> list[tuple[str, str]]:
    bodies = draw(st.lists(st.text(letters, min_size=1, max_size=30), min_size=1, max_size=8))
    bodies = [body if body.strip("*") and body[-1] != "*" else f"{body}A" for body in bodies]
    return [(f"s{i}|{draw(st.sampled_from('abé>;#'))}", body) for i, body in enumerate(bodies)]
