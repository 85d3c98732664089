"""Sets of sequences sorted longest first.

What is no letter of the alphabet (see `pairalign.sequences.alphabets`) is an error that names the
record and the position: ``-`` and ``.`` (see `degap`), digits, punctuation, control bytes, bytes
beyond ASCII, and ``*`` in DNA.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar, overload

import numpy as np
import numpy.typing as npt

import pairalign.base.interpreter  # noqa: F401
from pairalign.base.arrays import Bools, Int32s, Int64s, UInt8s, count_bytes, has_none
from pairalign.base.choices import ON_DUPLICATE, ON_EMPTY
from pairalign.base.error_types import (
    FastaError,
    NoSequencesError,
    RecordError,
    WrongTypeError,
    shown_name,
)
from pairalign.base.notebooks import html_table
from pairalign.base.spelling import spelled
from pairalign.sequences.alphabets import (
    INVALID,
    PROTEIN,
    Alphabet,
    check_guess,
    count_replaced,
    get_alphabet,
    guess_alphabet,
)
from pairalign.sequences.fasta_records import clean, describe_byte, describe_invalid
from pairalign.sequences.input_rules import DEFAULT_RULES, InputRules, checked_rules
from pairalign.sequences.native_arrays import (
    PADDING_BYTES,
    CodeArrays,
    TextArrays,
    digest_of,
    join_texts,
)
from pairalign.sequences.python_sequences import named_residues
from pairalign.sequences.record_cleanup import join_files, tidy
from pairalign.sequences.row_order import find_row_ranks, order_rows
from pairalign.sequences.sequence_records import (
    Records,
    Sequence,
    Several,
    join_records,
    origins_of,
    place_of,
    places_of,
    records_of,
)

_Scalar = TypeVar("_Scalar", bound=np.generic)

_MAX_LENGTH = 2**31 - 1
_BAD_IN_NAME = "".join(map(chr, [*range(0x21), 0x7F]))
# A tab is harmless in a description, control-A separates merged headers of NCBI's databases.
_BAD_IN_DESCRIPTION = "".join(map(chr, sorted({*range(0x20), 0x7F} - {0x01, 0x09})))


class SequenceSet:
    """Named sequences in one block of memory, with their codes and their order by length.

    Made by `pairalign.sequences.set_reading.read_fasta` and `from_strings`. Arrays are read-only.

    Parameters
    ----------
    records : Records
        Names, headers and residues; checked here.
    alphabet : Alphabet or {"dna", "protein"}, optional
        Guessed from the residues when not given.
    source : str
        Where the sequences come from, for messages.

    Attributes
    ----------
    names, descriptions : list of str
        First word of each header and the whole header, in the order of the input.
    residues : ndarray of uint8, shape (total_residues,)
        The residues as they were read, in the order of the input.
    codes : ndarray of uint8, shape (total_residues,)
        Their codes in `alphabet`.
    offsets : ndarray of int64, shape (n + 1,)
        Where each sequence starts in `residues` and `codes`, in the order of the input.
    lengths : ndarray of int32, shape (n,)
        By input index.
    order : ndarray of int32, shape (n,)
        Input index at each sorted position: longest first, of equally long sequences the one whose
        codes come first, of the same ones the earlier in the input.
    alphabet : Alphabet
    source : str
    origins : tuple of Origin
        The files that the sequences come from; empty: one file, none of whose records is left out.
    byte_counts : ndarray of int64, shape (256,)
        How often each byte occurs in `residues`.
    qualities : ndarray of uint8, shape (total_residues,), or None
        Characters as FASTQ has them, where they were read.
    replaced : dict of str to int
        Upper-case letters that the alphabet lacks, with counts; they read as X or N. U in DNA is
        not among them. `Scoring.replaced_message` turns it into a sentence.

    Raises
    ------
    FastaError
        No sequences, an empty sequence, a missing or duplicate name, or a character that is not
        a residue; the message names the records, counted from 1, and the position.
    """

    def __init__(
        self,
        records: Records,
        *,
        alphabet: Alphabet | str | None = None,
        source: str = "sequences",
    ) -> None:
        if not isinstance(records, Records):
            raise WrongTypeError(
                f"expected Records, found {type(records).__name__}: make a set of Python objects "
                "with SequenceSet.from_strings, of a file with read_fasta"
            )
        self.source = source
        self.origins = records.origins
        self.names = records.names
        self.descriptions = records.descriptions
        self.offsets = _read_only(records.offsets)
        self._check_names()
        self.lengths = self._checked_lengths()
        self.residues = np.frombuffer(records.residues, np.uint8)
        self.qualities: UInt8s | None = None
        if records.qualities is not None:
            self.qualities = np.frombuffer(records.qualities, np.uint8)
        self.byte_counts = _read_only(count_bytes(records.residues))
        self.alphabet = (
            guess_alphabet(self.byte_counts) if alphabet is None else get_alphabet(alphabet)
        )
        self._check_residues()
        table = self.alphabet.encoding.tobytes()
        self.codes = np.frombuffer(records.residues.translate(table), np.uint8)
        self.order = _read_only(order_rows(self.offsets, self.codes))
        self.replaced = count_replaced(self.byte_counts, self.alphabet)

    @classmethod
    def from_strings(
        cls,
        sequences: Iterable[object] | Mapping[str, str],
        names: Iterable[object] | None = None,
        *,
        alphabet: Alphabet | str | None = None,
        degap: bool = False,
        on_empty: str = ON_EMPTY[0],
        on_duplicate: str = ON_DUPLICATE[0],
        source: str = "sequences",
    ) -> SequenceSet:
        """Make a set from Python strings.

        Parameters
        ----------
        sequences : iterable of str, or mapping of names to str
            White space in them is dropped, as in a file. Other items that hold residues do as
            well, see `pairalign.sequences.python_sequences.residues_of`.
        names : iterable of str, optional
            Default: the keys of the mapping, or ``seq1``, ``seq2`` and so on.
        alphabet : Alphabet or {"dna", "protein"}, optional
            Guessed from the residues when not given.
        degap : bool
            Drop ``-`` and ``.`` from the sequences.
        on_empty, on_duplicate : str
            As for `pairalign.sequences.set_reading.read_fasta`.
        source : str
            What messages call the set.

        Raises
        ------
        WrongTypeError
            Something is no sequence, or no name; the message says which.
        """
        titles, texts = named_residues(sequences, names)
        bodies = [clean(text, degap=degap) for text in texts]
        records = join_records(titles, list(titles), bodies)
        rules = checked_rules(degap=degap, on_empty=on_empty, on_duplicate=on_duplicate)
        return cls.from_records(records, alphabet=alphabet, source=source, rules=rules)

    @classmethod
    def from_records(
        cls,
        records: Records,
        *,
        alphabet: Alphabet | str | None = None,
        source: str = "sequences",
        rules: InputRules = DEFAULT_RULES,
    ) -> SequenceSet:
        """Make a set of records as they were read; stops and what `rules` say are seen to.

        Parameters
        ----------
        records : Records
            Not yet checked.
        alphabet : Alphabet or {"dna", "protein"}, optional
            Guessed from the residues when not given.
        source : str
            What messages call the set.
        rules : InputRules
            See `pairalign.sequences.record_cleanup.tidy`.
        """
        if alphabet is None:
            chosen = guess_alphabet(count_bytes(records.residues))
        else:
            chosen = get_alphabet(alphabet)
        tidied = tidy(records, source, rules, are_proteins=chosen == PROTEIN)
        sequences = cls(tidied, alphabet=chosen, source=source)
        if alphabet is None:
            check_guess(sequences)
        return sequences

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, index: int | np.integer[Any] | str) -> Sequence: ...
    @overload
    def __getitem__(self, index: Several) -> SequenceSet: ...
    def __getitem__(self, index: Any) -> Sequence | SequenceSet:
        """One sequence, by input index or name; a set of those of a slice, list, array or mask.

        Input indices are not sorted positions; negative ones count from the end.
        """
        if isinstance(index, str):
            return self.sequence_at(place_of(index, self.names))
        if not isinstance(index, slice) and np.ndim(index) == 0:
            return self.sequence_at(range(len(self))[index])
        return self._chosen(places_of(index, self.names).tolist())

    def _chosen(self, places: list[int]) -> SequenceSet:
        qualities = None
        if self.qualities is not None:
            spans = (slice(*self.offsets[k : k + 2].tolist()) for k in places)
            qualities = b"".join(self.qualities[span].tobytes() for span in spans)
        chosen = [self.sequence_at(place) for place in places]
        records = records_of(chosen, origins_of(places, self.origins, self.source), qualities)
        return SequenceSet(records, alphabet=self.alphabet, source=self.source)

    def sequence_at(self, index: int) -> Sequence:
        """Return the sequence at an input index, from 0 on."""
        start, stop = self.offsets[index : index + 2]
        residues = self.residues[start:stop].tobytes().decode("ascii")
        return Sequence(self.names[index], self.descriptions[index], residues)

    def __iter__(self) -> Iterator[Sequence]:
        return map(self.sequence_at, range(len(self)))

    def residue_texts(self, indices: Iterable[int]) -> Iterator[str]:
        """Yield the residues of many sequences, by input indices, faster than one by one."""
        residues, offsets = self.residues.tobytes().decode("ascii"), self.offsets.tolist()
        return (residues[offsets[index] : offsets[index + 1]] for index in indices)

    def __repr__(self) -> str:
        return (
            f"<SequenceSet {self.source}: {len(self)} {self.alphabet.name} sequences, "
            f"{self.total_residues} residues>"
        )

    def _repr_html_(self) -> str:
        """Show the first sequences as a table, for notebooks."""
        rows = ((sequence.name, len(sequence.residues), sequence.description) for sequence in self)
        return html_table(self, ["name", "residues", "header"], rows)

    @property
    def total_residues(self) -> int:
        """Number of residues of all sequences together."""
        return len(self.residues)

    @cached_property
    def positions(self) -> Int32s:
        """Sorted position of each input index, int32 of shape (n,): the inverse of `order`."""
        positions = np.empty(len(self), np.int32)
        positions[self.order] = np.arange(len(self), dtype=np.int32)
        return _read_only(positions)

    @cached_property
    def sorted_lengths(self) -> Int32s:
        """Length at each sorted position, int32 of shape (n,)."""
        return _read_only(self.lengths[self.order])

    @property
    def code_arrays(self) -> CodeArrays:
        """The codes for native code; a copy, unless they are those of a store."""
        codes = np.concatenate((self.codes, np.zeros(PADDING_BYTES, np.uint8)))
        return CodeArrays(codes, self.offsets[:-1][self.order])

    def codes_between(self, start: int, stop: int) -> UInt8s:
        """Return the codes of some sorted positions, one sequence after the other."""
        return np.concatenate([self.codes_of(index) for index in self.order[start:stop].tolist()])

    def indices_between(self, start: int, stop: int) -> Int32s:
        """Return the input indices of some sorted positions, int32 of shape (stop - start,)."""
        return self.order[start:stop]

    def positions_of(self, indices: Int32s) -> Int64s:
        """Return the sorted positions of some sequences, ascending, int64 of shape (n,)."""
        return np.sort(self.positions[indices]).astype(np.int64)

    def lengths_between(self, start: int, stop: int) -> Int32s:
        """Return the lengths of some sorted positions, int32 of shape (stop - start,)."""
        return self.sorted_lengths[start:stop]

    def lengths_at(self, indices: Int32s) -> Int32s:
        """Return the lengths of some sequences, by ascending input indices."""
        return self.lengths[indices]

    def names_at(self, indices: Int32s) -> list[str]:
        """Return the names of some sequences, by ascending input indices."""
        return [self.names[index] for index in indices.tolist()]

    def descriptions_at(self, indices: Int32s) -> list[str]:
        """Return the headers of some sequences, by ascending input indices."""
        return [self.descriptions[index] for index in indices.tolist()]

    def residues_at(self, indices: Int32s) -> UInt8s:
        """Return the residues of some sequences, by ascending input indices, side by side."""
        ends = self.offsets[1:]
        return np.concatenate([self.residues[self.offsets[k] : ends[k]] for k in indices.tolist()])

    def qualities_at(self, indices: Int32s) -> UInt8s | None:
        """Return the qualities of some sequences, as `residues_at`; None: they are not known."""
        if self.qualities is None:
            return None
        spans = zip(self.offsets[indices].tolist(), self.offsets[indices + 1].tolist(), strict=True)
        return np.concatenate([self.qualities[start:stop] for start, stop in spans])

    def text_arrays(self, *, residues: bool = True) -> TextArrays:
        """Return names and residues for native code; without `residues` it reads names alone."""
        names, offsets = join_texts(self.names)
        arrays = names, offsets, self.residues, self.codes, self.offsets
        return TextArrays(*arrays, int(np.diff(offsets).max()))

    def check_names(self, indices: npt.NDArray[np.signedinteger[Any]]) -> None:
        """Make sure that some names are as they were written, before native code reads them."""
        return

    @cached_property
    def digest(self) -> str:
        """Of names, lengths and residues, in hexadecimal: the same for the same sequences."""
        return digest_of("\0".join(self.names).encode(), self.offsets.data, self.residues.data)

    def canonical_order(self) -> Int32s:
        """Input indices as in `order`, equal sequences by name: the same for any input order."""
        order = np.array(self.order, np.int32)
        starts = np.append(np.flatnonzero(self._are_unlike_the_one_before()), len(self))
        equal = np.flatnonzero(np.diff(starts) > 1)
        for start, stop in zip(starts[equal].tolist(), starts[equal + 1].tolist(), strict=True):
            names = [self.name_of(index) for index in order[start:stop].tolist()]
            places = sorted(range(stop - start), key=names.__getitem__)
            order[start:stop] = order[start:stop][places]
        return order

    def _are_unlike_the_one_before(self) -> Bools:
        """Whether each sorted position has other codes than the one before."""
        ranks = find_row_ranks(self, self)[0]
        return np.concatenate(([True], ranks[1:] != ranks[:-1]))

    def canonical_places(self) -> Int32s:
        """Place of each input index in `canonical_order`."""
        places = np.empty(len(self), np.int32)
        places[self.canonical_order()] = np.arange(len(self), dtype=np.int32)
        return places

    @property
    def compared(self) -> str:
        """What is compared of the sequences; empty: all residues."""
        return ""

    def reordered(self, order: npt.NDArray[np.signedinteger[Any]]) -> SequenceSet:
        """Return some sequences, or all, in the order of their input indices that is given."""
        residues, offsets, places = self.residues.tobytes(), self.offsets.tolist(), order.tolist()
        records = join_records(
            [self.names[index] for index in places],
            [self.descriptions[index] for index in places],
            [residues[offsets[index] : offsets[index + 1]] for index in places],
        )
        if self.qualities is not None:
            spans = (self.qualities[offsets[index] : offsets[index + 1]] for index in places)
            records = Records(*records[:-1], b"".join(span.tobytes() for span in spans))
        return SequenceSet(records, alphabet=self.alphabet, source=self.source)

    def masked(self, is_masked: Bools) -> SequenceSet:
        """Return the set with masked residues as X, in DNA as N.

        Parameters
        ----------
        is_masked : ndarray of bool, shape (total_residues,)
            In the order of the input.

        Returns
        -------
        SequenceSet
        """
        residues = np.where(is_masked, np.uint8(ord(self.alphabet.unknown)), self.residues)
        records = Records(
            self.names, self.descriptions, residues.tobytes(), self.offsets, self.origins
        )
        if self.qualities is not None:
            records = Records(*records[:-1], self.qualities.tobytes())
        return SequenceSet(records, alphabet=self.alphabet, source=self.source)

    def codes_of(self, index: int) -> UInt8s:
        """Return the codes of the sequence at an input index, a view of `codes`."""
        start, stop = self.offsets[index : index + 2]
        return self.codes[start:stop]

    def name_of(self, index: int) -> str:
        """Return the name of the sequence at an input index."""
        return self.names[index]

    def locate(self, position: int) -> tuple[int, int]:
        """Return input index and 0-based place of a position in `residues` or `codes`."""
        index = int(np.searchsorted(self.offsets, position, side="right")) - 1
        return index, int(position - self.offsets[index])

    def record(self, index: int) -> str:
        """Return what messages call the sequence at an input index: ``record 7 'sp|P1'``."""
        return f"{self.number_of(index)} {shown_name(self.name_of(index))}"

    def number_of(self, index: int) -> str:
        """Return which record of which file a sequence is: ``record 7``, ``record 7 of b.fa``."""
        for origin in self.origins:
            if index < len(origin.numbers):
                of = f" of {origin.name}" if len(self.origins) > 1 else ""
                return f"record {origin.numbers[index]}{of}"
            index -= len(origin.numbers)
        return f"record {index + 1}"

    def _check_names(self) -> None:
        if not self.names:
            raise NoSequencesError(f"{self.source}: no sequences, expected at least one")
        if self._are_names_plain():
            return
        seen: dict[str, int] = {}
        titles = zip(self.names, self.descriptions, strict=True)
        for index, (name, description) in enumerate(titles):
            if not name:
                raise FastaError(
                    f"{self.source}: {self.number_of(index)} has no name after the '>'"
                )
            bad = [letter for letter in name if letter in _BAD_IN_NAME]
            bad += [letter for letter in description if letter in _BAD_IN_DESCRIPTION]
            if bad:
                raise FastaError(
                    f"{self.source}: {self.record(index)}: "
                    f"{describe_byte(ord(bad[0]))} in "
                    "the header, expected a name without white space and plain text"
                )
            first = seen.setdefault(name, index)
            if first != index:
                raise RecordError(
                    f"{self.source}: {self.record(index)} has the name of "
                    f"{self.number_of(first)}; names must be unique "
                    f"({spelled('on_duplicate', 'rename')})",
                    "on_duplicate",
                )

    def _are_names_plain(self) -> bool:
        """Whether all names and headers are as they must be; looks at all of them at once."""
        distinct = set(self.names)
        return (
            len(distinct) == len(self.names) == len(self.descriptions)
            and "" not in distinct
            and has_none(self.names, _BAD_IN_NAME)
            and has_none(self.descriptions, _BAD_IN_DESCRIPTION)
        )

    def _checked_lengths(self) -> Int32s:
        lengths = np.diff(self.offsets)
        for index in np.flatnonzero((lengths == 0) | (lengths > _MAX_LENGTH))[:1]:
            fault, option = f"has {lengths[index]} residues, more than 2^31 - 1", None
            if not lengths[index]:
                option = "on_empty"
                fault = f"has no sequence ({spelled(option, 'skip')} leaves such records out)"
            raise RecordError(f"{self.source}: {self.record(index)} {fault}", option)
        return _read_only(lengths.astype(np.int32))

    def _check_residues(self) -> None:
        invalid = self.alphabet.encoding == INVALID
        if not self.byte_counts[invalid].any():
            return
        position = int(np.argmax(invalid[self.residues]))
        index, place = self.locate(position)
        fault, advice, option = describe_invalid(int(self.residues[position]))
        raise RecordError(
            f"{self.source}: {self.record(index)}: {fault} at position {place + 1}; {advice}",
            option,
        )


def _read_only(array: npt.NDArray[_Scalar]) -> npt.NDArray[_Scalar]:
    array.flags.writeable = False
    return array


def whole_records(sequences: SequenceSet) -> Records:
    """Return the records that a set is made of, less qualities."""
    residues = sequences.residues.tobytes()
    whole = sequences.names, sequences.descriptions, residues, sequences.offsets, sequences.origins
    return Records(*whole)


def join_sets(sets: Iterable[SequenceSet], *, are_numbered: bool = False) -> SequenceSet:
    """Return the sequences of several sets of one alphabet as one set, set by set.

    Parameters
    ----------
    are_numbered : bool
        They have numbers for names.

    Raises
    ------
    FastaError
        Two have the same name.
    """
    parts = list(sets)
    records, source = join_files((whole_records(one), one.source) for one in parts)
    if are_numbered:
        numbers = list(map(str, range(len(records.names))))
        records = Records(numbers, numbers, *records[2:])
    return SequenceSet(records, alphabet=parts[0].alphabet, source=source)
