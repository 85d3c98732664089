"""Reading sets of sequences from files: one file or more, one set or two of the same alphabet."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from pairalign.base.byte_counts import count_bytes
from pairalign.base.choices import ON_DUPLICATE, ON_EMPTY
from pairalign.base.errors import FastaError
from pairalign.sequences.alphabets import DNA, PROTEIN, Alphabet, guess_alphabet
from pairalign.sequences.fasta import Source
from pairalign.sequences.files import read_file
from pairalign.sequences.records import Records
from pairalign.sequences.sets import SequenceSet
from pairalign.sequences.tidying import DEFAULT_RULES, InputRules, join_files

log = logging.getLogger("pairalign")


def read_fasta(
    source: Source,
    *,
    also: Iterable[Source] = (),
    alphabet: Alphabet | str | None = None,
    degap: bool = False,
    on_empty: str = ON_EMPTY[0],
    on_duplicate: str = ON_DUPLICATE[0],
) -> SequenceSet:
    """Read the sequences of a file: FASTA, FASTQ, or another format that is known.

    Parameters
    ----------
    source : str, path or file object
        A path, ``"-"`` for standard input, or a file open for reading. GenBank, EMBL, UniProt
        (text and XML), Stockholm, Clustal and A3M are told by their first line, A3M also by the
        ending of its name; gzip, bzip2, xz and zstd by the first bytes.
    also : iterable of str, paths or file objects
        More files of the same set, whose sequences follow.
    alphabet : {"dna", "protein"}, optional
        Guessed from the residues if not given, see `pairalign.sequences.alphabets.guess_alphabet`.
    degap : bool
        Drop ``-`` and ``.`` from the sequences instead of refusing them.
    on_empty : {"error", "skip"}
        What is done about a record without residues: it is an error, or left out.
    on_duplicate : {"error", "rename"}
        What is done about a name that comes again: it is an error, or gets ``_2``, ``_3`` and so
        on behind it.

    Returns
    -------
    SequenceSet
        Without ``*`` at the ends of proteins: a stop is no residue. That, and what was left out
        or renamed, is logged.

    Raises
    ------
    FastaError
        A file cannot be read, or is not what it should be; the message names file and record.

    Examples
    --------
    >>> import io
    >>> import pairalign
    >>> lines = b">one first read", b"ACGT", b">two", b"ACG"
    >>> pairalign.read_fasta(io.BytesIO(bytes([10]).join(lines)))
    <SequenceSet <input>: 2 dna sequences, 7 residues>
    """
    rules = InputRules(degap, on_empty, on_duplicate)
    return read_set([source, *also], alphabet=alphabet, rules=rules)


def read_set(
    sources: Sequence[Source],
    *,
    alphabet: Alphabet | str | None = None,
    rules: InputRules = DEFAULT_RULES,
) -> SequenceSet:
    """Read the files of a set; see `read_fasta`."""
    _check_stdin(sources)
    files = _read_files(sources, rules)
    if alphabet is None and len(files) > 1:
        warn_of_two_kinds(_counted(files))
    records, name = join_files(files)
    return SequenceSet.from_records(records, alphabet=alphabet, source=name, rules=rules)


def read_two_sets(
    first: Sequence[Source],
    second: Sequence[Source],
    *,
    alphabet: Alphabet | str | None = None,
    rules: InputRules = DEFAULT_RULES,
) -> tuple[SequenceSet, SequenceSet]:
    """Read the files of two sets; a guess of the alphabet is made over both together."""
    _check_stdin([*first, *second])
    inputs = [_read_files(sources, rules) for sources in (first, second)]
    if alphabet is None:
        counted = _counted([file for files in inputs for file in files])
        warn_of_two_kinds(counted)
        alphabet = guess_alphabet(*(counts for _, counts in counted))
    one, two = (
        SequenceSet.from_records(records, alphabet=alphabet, source=name, rules=rules)
        for records, name in map(join_files, inputs)
    )
    return one, two


def warn_of_two_kinds(inputs: Iterable[tuple[str, npt.NDArray[np.int64]]]) -> None:
    """Warn of proteins beside what looks like DNA: bases are codes of residues as well.

    Parameters
    ----------
    inputs : iterable of (str, ndarray of int64, shape (256,))
        What messages call each, and how often it has each byte.
    """
    first: dict[str, str] = {}
    for source, counts in inputs:
        first.setdefault(guess_alphabet(counts).name, source)
    if len(first) > 1:
        log.warning(
            "%s has proteins, but %s looks like DNA: bases are aligned as if they were amino acids",
            first[PROTEIN.name],
            first[DNA.name],
        )


def _read_files(sources: Sequence[Source], rules: InputRules) -> list[tuple[Records, str]]:
    return [read_file(source, degap=rules.degap) for source in sources]


def _counted(files: Iterable[tuple[Records, str]]) -> list[tuple[str, npt.NDArray[np.int64]]]:
    return [(name, count_bytes(records.letters)) for records, name in files]


def _check_stdin(sources: Iterable[Source]) -> None:
    if sum(isinstance(source, str) and source == "-" for source in sources) > 1:
        raise FastaError("<stdin>: cannot be read twice; give a file for one of the two inputs")
