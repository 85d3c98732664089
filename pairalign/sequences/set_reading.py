"""Reading sets of sequences from files: one file or more, one set or two of the same alphabet."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence

from pairalign.base.arguments import as_several
from pairalign.base.arrays import Int64s, count_bytes
from pairalign.base.choices import NAMES, ON_DUPLICATE, ON_EMPTY
from pairalign.base.error_types import FastaError
from pairalign.sequences.alphabets import (
    DNA,
    PROTEIN,
    Alphabet,
    check_guess,
    get_alphabet,
    guess_alphabet,
)
from pairalign.sequences.fasta_records import Source
from pairalign.sequences.input_rules import DEFAULT_RULES, InputRules, checked_rules
from pairalign.sequences.record_cleanup import join_files
from pairalign.sequences.sequence_files import read_file, refuse_locus
from pairalign.sequences.sequence_records import Records
from pairalign.sequences.sets import SequenceSet
from pairalign.sequences.stored_set import StoredSet, open_store

log = logging.getLogger("pairalign")

_Files = list[tuple[Records, str]]


def read_fasta(
    source: Source,
    *,
    also: Iterable[Source] = (),
    alphabet: Alphabet | str | None = None,
    degap: bool = False,
    on_empty: str = ON_EMPTY[0],
    on_duplicate: str = ON_DUPLICATE[0],
    names: str = NAMES[0],
    locus: str | None = None,
) -> SequenceSet:
    """Read the sequences of a file: FASTA, FASTQ, or another format that is known.

    Parameters
    ----------
    source : str, path or file object
        A path, ``"-"`` for standard input, or a file open for reading. GenBank, EMBL, UniProt
        (text and XML), Stockholm, Clustal, PIR, A3M and AIRR tables (``junction_aa``) are told by
        their first line, A3M also by the ending of its name; gzip, bzip2, xz and zstd by the first
        bytes. A store that `pack` wrote is mapped, and read when it is used.
    also : iterable of str, paths or file objects
        More files of the same set, whose sequences follow.
    alphabet : {"dna", "protein"}, optional
        Guessed from the residues if not given, see `pairalign.sequences.alphabets.guess_alphabet`.
    degap : bool
        Drop ``-`` and ``.`` from the sequences instead of refusing them.
    on_empty : {"error", "skip"}
        What is done about a record without residues: it is an error, or left out.
    on_duplicate : {"error", "rename", "drop"}
        What is done about a name that comes again: it is an error, gets ``_2``, ``_3`` and so on
        behind it, or is left out if its residues are those of the first.
    names : {"first", "whole"}
        What the name is: the first word of a header, or all of it with ``_`` for white space.
    locus : str, optional
        Of AIRR tables: chains of this locus, such as ``TRB``.

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
    rules = checked_rules(
        degap=degap,
        on_empty=on_empty,
        on_duplicate=on_duplicate,
        names=names,
        locus=locus,
        qualities=True,
    )
    return read_set([source, *as_several("also", also)], alphabet=alphabet, rules=rules)


def read_set(
    sources: Sequence[Source],
    *,
    alphabet: Alphabet | str | None = None,
    rules: InputRules = DEFAULT_RULES,
) -> SequenceSet:
    """Read the files of a set; see `read_fasta`."""
    _check_stdin(sources)
    contents = _read_input(sources, rules)
    if alphabet is None and not isinstance(contents, StoredSet):
        counted = _counted(contents)
        warn_of_two_kinds(counted)
        return _as_set(contents, guess_alphabet(*(counts for _, counts in counted)), rules, True)
    return _as_set(contents, alphabet, rules)


def read_two_sets(
    first: Sequence[Source],
    second: Sequence[Source],
    *,
    alphabet: Alphabet | str | None = None,
    rules: InputRules = DEFAULT_RULES,
) -> tuple[SequenceSet, SequenceSet]:
    """Read the files of two sets; a guess of the alphabet is made over both together."""
    _check_stdin([*first, *second])
    inputs = [_read_input(sources, rules) for sources in (first, second)]
    guessed = alphabet is None
    if guessed:
        counted = [entry for contents in inputs for entry in _counted(contents)]
        warn_of_two_kinds(counted)
        alphabet = guess_alphabet(*(counts for _, counts in counted))
    first_set, second_set = (_as_set(contents, alphabet, rules, guessed) for contents in inputs)
    return first_set, second_set


def warn_of_two_kinds(inputs: Iterable[tuple[str, Int64s]]) -> None:
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


def _read_input(sources: Sequence[Source], rules: InputRules) -> StoredSet | _Files:
    """Open a store that is a whole set, or read files."""
    if len(sources) == 1 and isinstance(sources[0], (str, os.PathLike)) and sources[0] != "-":
        stored = open_store(sources[0])
        if stored is not None:
            refuse_locus(rules.locus, stored.source)
            return stored
    skips = rules.on_empty != ON_EMPTY[0]
    return [
        read_file(
            source,
            degap=rules.degap,
            qualities=rules.qualities,
            skip_empty=skips,
            locus=rules.locus,
        )
        for source in sources
    ]


def _as_set(
    contents: StoredSet | _Files,
    alphabet: Alphabet | str | None,
    rules: InputRules,
    guessed: bool = False,
) -> SequenceSet:
    """Return a store as it is, unless it is to be read with another alphabet."""
    if isinstance(contents, StoredSet):
        same = alphabet is None or get_alphabet(alphabet) == contents.alphabet
        if same and rules.names == NAMES[0]:
            return contents
        alphabet = alphabet or contents.alphabet
        contents = [(contents.records(qualities=rules.qualities), contents.source)]
    records, name = join_files(contents)
    sequences = SequenceSet.from_records(records, alphabet=alphabet, source=name, rules=rules)
    if guessed:
        check_guess(sequences)
    return sequences


def _counted(contents: StoredSet | _Files) -> list[tuple[str, Int64s]]:
    if isinstance(contents, StoredSet):
        return [(contents.source, contents.byte_counts)]
    return [(name, count_bytes(records.residues)) for records, name in contents]


def _check_stdin(sources: Iterable[Source]) -> None:
    if sum(isinstance(source, str) and source == "-" for source in sources) > 1:
        raise FastaError("<stdin>: cannot be read twice; give a file for one of the two inputs")
