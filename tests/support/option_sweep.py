"""Every option of every command, by what its request declares: what running with it changes."""

import contextlib
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pairalign.base.declaration import Option, options_of
from pairalign.cli.main import main
from pairalign.cli.program import COMMANDS

PROTEINS = {
    "a": "MKVLAAGGWTREHEAGAWGHEEKLMNPQRSTVWYACDEFGHIKL",
    "b": "MKVLAGGWTEHEAGAWGHEKLMNPQRSTVWYACDEFGHIK",
    "c": "WWPHCMKVLSSSSSSSSSSSSSSSSNNPAWHEAE",
    "d": "PAWHEAEGGMKVLAAGGWTREHEAGAWGHEEKLMNPQRST",
    "e": "MKVLAAGGWTREHEAGAWGHEEKLM",
}
"""Alike and unlike, with a repeat."""
EVEN = {
    "w": "MKVLWWGGWTREHEAWWWGHEEKLMNPQRS",
    "x": "MKVLAAGGWTREHEAGAWGHEEKLMNPQRS",
    "y": "MKVLAAGGWTREHEAGAWGHEEKLMNAAAA",
    "z": "AAAAAAGGWTREHEAGAWGHEEKLMNPQRS",
}
"""Of one length: alike without a gap, most of all to the second."""
GENOME = "".join("ACGT"[(k * k * 7 + k // 3 + k // 11) % 4] for k in range(900))
"""What reads overlap on."""
READS = {
    "r1": GENOME[:400],
    "r2": GENOME[150:600],
    "r3": GENOME[420:900].translate(str.maketrans("ACGT", "TGCA"))[::-1],
    "r4": GENOME[180:420],
}
AIRR = "\t".join(("sequence_id", "locus", "v_call", "junction_aa", "sequence"))
CHAINS = (("TRB", "LGQETQY"), ("TRB", "LGQDTQY"), ("TRA", "PGTGTEAF"), ("TRA", "PGTGNEAF"))
RECEPTORS = [
    f"t{k}\t{locus}\tTRBV9*01\tCASS{cdr3}F\tACGTTGCA{'ACGT'[k] * 9}"
    for k, (locus, cdr3) in enumerate(CHAINS)
]


def _fasta(records: dict[str, str]) -> str:
    return "".join(f">{name} of GN=x{name};size={len(name)}\n{r}\n" for name, r in records.items())


INPUTS = {
    "p.fa": _fasta(PROTEINS),
    "d.fa": _fasta(READS),
    "empty.fa": _fasta({**PROTEINS, "z": ""}),
    "twice.fa": _fasta(PROTEINS) + _fasta({"a": PROTEINS["c"]}),
    "gaps.fa": _fasta({**PROTEINS, "g": "MKV-LAAGG"}),
    "airr.tsv": "\n".join([AIRR, *RECEPTORS]) + "\n",
    "even.fa": _fasta(EVEN),
}
"""Each with something that one of the options is about."""
FILES = {
    **INPUTS,
    "more.fa": _fasta({name * 2: residues[3:] for name, residues in PROTEINS.items()}),
    "m.phy": "3\na 0 0.1 0.4\nb 0.1 0 0.3\nc 0.4 0.3 0\n",
    "pairs.tsv": "a\tb\nc\td\n",
    "tree.nwk": "(((a:1,b:1):1,c:2):1,d:3);\n",
    "ab.afa": f">a\n{PROTEINS['a']}\n>b\n{PROTEINS['b'].ljust(len(PROTEINS['a']), '-')}\n",
    "groups.tsv": "a\tx\nb\tx\nc\ty\nd\ty\n",
    "folds.csv": "sequence,fold\na,train\nb,train\nc,test\nd,test\n",
    "v.tsv": "gene\tcdr1\tcdr2\tcdr2.5\nTRBV9*01\tSGDLS\tYYNGEE\tFDDYH\n",
    "new.fa": _fasta({"x": "MKVLAAGGWTREHE"}),
}
BASES: dict[str, list[list[str]]] = {
    "tree": [["m.phy"], *([one] for one in INPUTS)],
    "msa": [["p.fa"], ["d.fa"], ["empty.fa"], ["twice.fa"], ["gaps.fa"]],
    "cluster": [[one, "--min-identity", "0.5"] for one in INPUTS],
    "split": [[one, "--min-identity", "0.5"] for one in INPUTS],
    "audit": [["folds.csv", one, "--min-identity", "0.5"] for one in INPUTS],
    "verify": [["own.sam", "p.fa"], *(["own.paf", one] for one in INPUTS)],
    "rotate": [["d.fa", "--to", "r1"], *([one, "--to", "b"] for one in INPUTS)],
    "merge": [["parts"], ["distance_parts"]],
    "update": [["parts", "new.fa"]],
}
"""What a command is given besides; of others each of the inputs."""
_BY_METAVAR = {
    "IN2": "more.fa", "IN3": "more.fa", "FASTA|first|whole": "whole", "NEWICK": "tree.nwk",
    "AFA": "ab.afa", "NPY": "m.npy", "CLUSTERS": "c.uc", "file|prefix|FILE": "groups.tsv",
    "FILE|seeds|mappy": "seeds", "NEW": "new.fa", "DB": "more.fa", "NAME|FILE": "PAM250",
    "END,...": "query-start", "NAME,NAME...": "query,target,score", "LOCUS": "TRB",
    "K/N": "1/2", "TAG,...": "tp", "ADDRESS": None, "auto|NAME": None,
    "auto|cpu|cuda[:0]": None, "auto|cpu|cuda[:0,1]|opencl[:0,1]": None, "SIZE": None,
    "INTERACTIONS": "pairs.tsv",
}  # fmt: skip
"""Values of options whose metavar says more than their kind; None: they decide nothing."""
_NUMBERS = ("0.9", "1.5", "2", "5", "1000000")
_SECONDS = re.compile(r"[\d.,:]+( ?)(s|ms|min|h|[kMGT]?CUPS|[kMGT]i?B)\b|in \d\d:\d\d")
_TIMED = re.compile(r"^ *(time|speed|rate)\b.*$", re.MULTILINE)


@dataclass(frozen=True)
class Given:
    """An option with a value, as words of a command line."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What a run has said and written."""

    code: int
    said: str
    files: tuple[tuple[str, bytes], ...]


def declared(command: str) -> list[Option]:
    """The options of a command that may change its results: not how they are made."""
    one = next(one for one in COMMANDS if one.name == command)
    every = options_of(one.load_request())
    return [one for one in every if not one.required and one.name not in _SAID and _is_ours(one)]


_SAID = (
    "dry_run",
    "threads",
    "device",
    "memory",
    "kernel",
    "quiet",
    "verbose",
    "progress",
    "log",
    "given",
)


def _is_ours(one: Option) -> bool:
    return one.name not in ("input", "inputs", "output", "parts", "new", "dask", "alignments")


def values_of(one: Option, usual: str = "") -> Iterator[Given]:
    """Values that an option may have, other than its default and the usual format."""
    name = [] if one.is_place else [one.flag]
    if one.is_flag:
        yield Given(one.name, (*name,))
        return
    if one.values:
        for value in one.known_values:
            if value not in (one.default, usual):
                yield Given(one.name, (*name, str(value)))
        return
    if one.metavar in _BY_METAVAR:
        value = _BY_METAVAR[one.metavar]
        if value is not None:
            yield Given(one.name, (*name, value))
        return
    if one.kind is not None and one.kind.completes == "files":
        endings = {"HTML": "html", "TSV": "tsv", "TABLE": "tsv", "FASTA": "fa", "READS": "fa"}
        if one.name in ("also", "pairs", "table", "v_genes", "within"):
            known = {"also": "more.fa", "pairs": "pairs.tsv", "table": "groups.tsv"}
            known["within"] = "folds.csv"
            yield Given(one.name, (*name, known.get(one.name, "v.tsv")))
        else:
            ending = endings.get(one.metavar or "", "svg" if one.name == "plot" else "json")
            yield Given(one.name, (*name, f"made.{ending}"))
        return
    for value in _NUMBERS:
        if one.kind is None:
            yield Given(one.name, (*name, value))
            continue
        with contextlib.suppress(ValueError, ArithmeticError):
            if one.kind.read(value) != one.default:
                yield Given(one.name, (*name, value))


class Sweep:
    """Runs commands in a folder of its own, each once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[tuple[str, ...], Outcome] = {}
        os.chdir(folder)
        for name, text in FILES.items():
            Path(name).write_text(text)
        for words in (
            ["align", "p.fa", "-o", "own.paf"],
            ["align", "p.fa", "-o", "own.sam"],
            ["align", "p.fa", "-o", "parts", "--shard", "1/1", "--format", "paf"],
            ["distance", "p.fa", "-o", "distance_parts", "--shard", "1/1"],
            ["distance", "p.fa", "-o", "m.npy"],
            ["cluster", "p.fa", "-o", "c.uc", "--linkage", "single", "--min-identity", "0.5"],
        ):
            assert main([*words, "-q", "--device", "cpu"]) == 0
        self._before = set(os.listdir())

    def run(self, *words: str) -> Outcome:
        """Run a command; what it has written is removed again."""
        if words not in self._known:
            self._known[words] = self._run(words)
        return self._known[words]

    def _run(self, words: tuple[str, ...]) -> Outcome:
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            kept = os.dup(1), os.dup(2)
            sys.stdout.flush()
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            before = sys.stdout, sys.stderr
            sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
            sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115
            try:
                code = _code_of(list(words))
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                sys.stdout, sys.stderr = before
                for k in (0, 1):
                    os.dup2(kept[k], k + 1)
                    os.close(kept[k])
            said = b"".join((one.seek(0), one.read())[1] for one in (out, err))
        return Outcome(code, _without_times(said.decode(errors="replace")), self._made())

    def _made(self) -> tuple[tuple[str, bytes], ...]:
        found = []
        for name in sorted(set(os.listdir()) - self._before):
            path = Path(name)
            inside = sorted(path.rglob("*")) if path.is_dir() else [path]
            found += [(str(one), one.read_bytes()) for one in inside if one.is_file()]
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        return tuple(found)

    def ignored(
        self,
        command: str,
        context: tuple[str, ...],
        option: Option,
        bases: list[list[str]] | None = None,
    ) -> str | None:
        """The words with which an option is ignored beside others; None: it is not.

        It has an effect if with any of the inputs and values something changes; it is refused if
        the exit code says so.
        """
        seen = None
        for base in bases or BASES.get(command, [[one] for one in INPUTS]):
            alone = self.run(command, *base, *context, *_OUTPUT(command, context))
            for given in values_of(option, _format_of(command)):
                words = (command, *base, *context, *given.words, *_OUTPUT(command, context))
                outcome = self.run(*words)
                if outcome.code != 0 and alone.code == 0:
                    return None
                if outcome != alone:
                    return None
                if alone.code == 0:
                    seen = " ".join(words)
        return seen


def _format_of(command: str) -> str:
    one = next(one for one in COMMANDS if one.name == command)
    return str(one.load_request().STDOUT_FORMAT)


def _OUTPUT(command: str, context: tuple[str, ...]) -> tuple[str, ...]:
    """Where results go: standard output, or a folder for parts."""
    return ("-o", "out") if command in ("update",) or "--shard" in context else ("-o", "-")


def _code_of(words: list[str]) -> int:
    more = [] if words[0] in ("merge", "pack") else ["--device", "cpu"]
    try:
        return main([*words, *more, "--threads", "1"] if words[0] != "pack" else words)
    except SystemExit as ended:
        return int(ended.code or 0)


def _without_times(text: str) -> str:
    return _TIMED.sub("", _SECONDS.sub("TIME", text))
