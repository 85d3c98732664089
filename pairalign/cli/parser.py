"""The parser of a command line: a line for what is wrong with it, and for what may be meant."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

from pairalign.base.console import printable
from pairalign.base.declaration import Option, options_of
from pairalign.base.option_parser import LaterValues

_UNKNOWN = "unrecognized arguments: "
_CHOICES = re.compile(r"(invalid choice: '(.*)') \(choose from (.*)\)", re.DOTALL)
_ATTACHED = re.compile(r"argument (-\w)/\S+: ignored explicit argument '(.*)'", re.DOTALL)
_RUN_TOGETHER = re.compile(r"-[a-zA-Z]\w+")
"""What may be an option of another program, or a short one and its value."""
_REQUIRED = "the following arguments are required: "
_WORD = re.compile(r"[\w.-]+")
_MOST_GUESSES = 3
_ALIKE = 0.7
"""How alike a guess is at least, as difflib counts."""


class Parser(argparse.ArgumentParser):
    """An ``ArgumentParser`` whose options are written in full and whose errors are one line.

    Parameters
    ----------
    **settings
        As for ``ArgumentParser``.

    Attributes
    ----------
    examples : str or None
        The command whose examples its help begins with, see `EXAMPLES`.
    short : tuple of str
        What the short help shows of the options; empty: all.
    """

    def __init__(self, **settings: Any) -> None:
        # argparse makes a formatter for each option; looking for the terminal's width loads much.
        unasked = partial(_HelpText, width=80)
        super().__init__(**settings, allow_abbrev=False, formatter_class=unasked)
        self._commands: dict[str, Parser] = {}
        self._words: list[str] = []
        self.examples: str | None = None
        self.short: tuple[str, ...] = ()

    def add_commands(self, **settings: Any) -> Any:
        """Add subparsers, whose options are known when one is wrong; as ``add_subparsers``."""
        added = self.add_subparsers(**settings)
        self._commands = added.choices
        return added

    def finish(self) -> None:
        """Have help look for the width of the terminal, now that all options are added."""
        self.formatter_class = _HelpText
        for command in self._commands.values():
            command.finish()

    def format_help(self) -> str:
        """Return the help: examples, and all options in their groups."""
        with self._shown():
            return super().format_help()

    def format_short_help(self) -> str:
        """Return the help: examples, and the options that people use most."""
        places = [action for action in self._actions if not action.option_strings]
        options = [action for action in self._actions if action.dest in ("help", *self.short)]
        left = len(self._actions) - len(places) - len(options)
        with self._shown():
            text = self._get_formatter()
            text.add_usage(self.usage, self._actions, self._mutually_exclusive_groups)
            text.add_text(self.description)
            for title, actions in (("positional arguments", places), ("options", options)):
                text.start_section(title)
                text.add_arguments(actions)
                text.end_section()
            text.add_text(f"{left} more options: {self.prog} --help all")
            return text.format_help()

    @contextmanager
    def _shown(self) -> Iterator[None]:
        """Put examples behind the description; have values that are looked up later be none."""
        described = self.description
        later = {
            action: action.choices
            for action in self._actions
            if isinstance(action.choices, LaterValues)
        }
        self.description = f"{described or ''}\n\n{describe_examples(self.examples)}".lstrip()
        for action in later:
            action.choices = None
        try:
            yield
        finally:
            self.description = described
            for action, values in later.items():
                action.choices = values

    def parse_args(  # type: ignore[override]
        self, args: Iterable[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> argparse.Namespace:
        """Parse a command line; exit with 2, and a line on stderr, if it is wrong."""
        words = sys.argv[1:] if args is None else list(args)
        options, unknown = self.parse_known_args(words, namespace)
        if unknown:
            used = [self._commands[word] for word in words if word in self._commands]
            (used[0] if used else self).error(f"{_UNKNOWN}{' '.join(unknown)}")
        return options

    def parse_known_args(  # type: ignore[override]
        self, args: Iterable[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        """Parse what is known; -query is no -q, nor -out an output of the name "ut"."""
        self._words = sys.argv[1:] if args is None else list(args)
        options = self._words[: self._words.index("--")] if "--" in self._words else self._words
        maybe = [word for word in options if _RUN_TOGETHER.fullmatch(word)]
        if maybe and not self._commands:
            from pairalign.cli.foreign_options import FOREIGN, elsewhere

            foreign_names = {
                *FOREIGN,
                *(name for action in self._actions for name in elsewhere(action)),
            }
            theirs = [word for word in maybe if word in foreign_names]
            if theirs:
                self.error(f"{_UNKNOWN}{' '.join(theirs)}")
        values, unknown = super().parse_known_args(self._words, namespace)
        return values, [_as_typed(word, maybe) for word in unknown]

    def error(self, message: str) -> NoReturn:
        """Say in one line what is wrong with a command line, and exit."""
        from pairalign.cli.foreign_options import new_names  # help does without

        message = _ATTACHED.sub(rf"{_UNKNOWN}\1\2", message)
        renamed = new_names(message.split(), self._option_string_actions)
        said = self._with_guesses(message)
        said += "".join(f"; {old} is {now} now" for old, now in renamed.items())
        self.exit(2, f"{self.prog}: error: {printable(said)} (see {self.prog} --help)\n")

    def _with_guesses(self, message: str) -> str:
        """Return a message with the words that may have been meant."""
        if message.startswith(_UNKNOWN):
            return message + self._guesses(message.removeprefix(_UNKNOWN).split())
        if message.startswith(_REQUIRED):
            return message + self._guesses(self._words)
        choice = _CHOICES.search(message)
        if choice is None:
            return message
        if self._commands and (os.path.splitext(choice[2])[1] or os.path.exists(choice[2])):
            return f"'{choice[2]}' is no command; did you mean pairalign align {choice[2]} -o OUT?"
        guesses = did_you_mean(choice[2], _WORD.findall(choice[3]))
        return _CHOICES.sub(lambda match: match[1] + guesses, message) if guesses else message

    def _guesses(self, words: list[str]) -> str:
        """Return what may have been meant by the options among some words that are not known."""
        from pairalign.cli.foreign_options import name_here, new_names

        options, said = self._option_string_actions, []
        for word in dict.fromkeys(word.partition("=")[0] for word in words):
            is_option = re.match(r"--?[a-zA-Z]", word) is not None
            if is_option and word not in options and not new_names([word], options):
                said.append(name_here(word, options) or did_you_mean(word, options))
        return "".join(said)


class _HelpText(argparse.HelpFormatter):
    """Help whose texts keep lines that begin with a blank; the others are wrapped."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        lines = [
            line if line.startswith(" ") else super(_HelpText, self)._fill_text(line, width, "")
            for line in text.splitlines()
        ]
        return "\n".join(lines)


class _Help(argparse.Action):
    """Prints the short help, or with the word `all` the whole one."""

    def __call__(self, parser: Any, _: object, word: object, __: str | None = None) -> None:
        print(parser.format_help() if word == "all" else parser.format_short_help(), end="")
        parser.exit()


def _as_typed(unknown: str, maybe: list[str]) -> str:
    """Return the word whose end is not known: Python 3.12 and later take -q from -quick."""
    if unknown in maybe:
        return unknown
    return next((word for word in maybe if word.endswith(unknown.removeprefix("-"))), unknown)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return what to say of words like one that is not known; empty: there are none.

    Parameters
    ----------
    word : str
        What was given: misspelt, or the beginning of what was meant.
    """
    from difflib import get_close_matches

    from pairalign.cli.foreign_options import VALUES

    bare, choices = word.lstrip("-"), {name.lstrip("-"): name for name in known}
    begun = [name for name in choices if len(bare) > 1 and name.startswith(bare)]
    now = VALUES.get(bare, bare)
    same = [name for name in choices if name.lower() == now.lower()]
    guesses = same or begun or get_close_matches(bare, choices, _MOST_GUESSES, _ALIKE)
    shown = [choices[name] for name in guesses[:_MOST_GUESSES]]
    return f"; did you mean {' or '.join(shown)}?" if shown else ""


def add_help(parser: Parser, kind: Any) -> None:
    """Give a parser the line of usage, and the option for help.

    Parameters
    ----------
    parser : Parser
        Of a subcommand, without an option for help.
    kind : type
        Of the request, whose `SHORT` names the options of the short help.
    """
    parser.usage, parser.short = _usage(options_of(kind)), tuple(kind.SHORT.split())
    if parser.short:
        about = "show this help and exit; all: every option, in groups"
        parser.add_argument("-h", "--help", action=_Help, nargs="?", metavar="all", help=about)
    else:
        parser.add_argument("-h", "--help", action="help", help="show this help and exit")


def _usage(options: Sequence[Option]) -> str:
    """Return the line of usage: what must be given, and places."""
    needed = [
        f"{option.flag} {option.metavar}"
        for option in options
        if option.required and not option.is_place
    ]
    places = []
    for option in options:
        if option.is_place:
            name = option.metavar or option.name
            many = f"[{name} ...]"
            forms = {"?": f"[{name}]", "*": many, "+": f"{name} {many}"}
            places.append(forms.get(option.nargs or "", name))
    return " ".join(["%(prog)s", "[options]", *needed, *places])


EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "align": (
        ("every pair, as a table", "align proteins.fasta -o pairs.tsv"),
        (
            "the ten best hits of each query, as BLAST writes them",
            "align queries.fasta database.fasta --mode local -k 10 -o hits.b6",
        ),
        (
            "pairs at least 90% identical, on two cores",
            "align genes.fasta --min-identity 0.9 -t 2 -o alike.paf",
        ),
    ),
    "distance": (
        ("a matrix for programs that make trees", "distance proteins.fasta -o proteins.phy"),
        (
            "identities, as a table",
            "distance genes.fasta --measure identity --similarity -o genes.tsv",
        ),
        (
            "peptides within two edits, as SciPy's matrix",
            "distance cdr3.fasta --max-edits 2 -o cdr3.npz",
        ),
    ),
    "tree": (
        ("for Clustal Omega", "tree family.fasta --for clustalo -o family.nwk"),
        ("in the terminal", "tree family.fasta --format ascii -o -"),
        ("of distances that are there", "tree family.phy --method mixed -o mixed.nwk"),
    ),
    "overlap": (
        ("for miniasm", "overlap reads.fastq.gz --candidates seeds --remove-weak -o overlaps.paf"),
        (
            "an assembly graph of accurate reads",
            "overlap reads.fasta --preset short --unitigs -o unitigs.gfa",
        ),
        ("what is wrong with reads", "overlap reads.fasta -o reads.paf --read-report reads.tsv"),
    ),
    "merge": (
        ("which parts are missing, as commands", "merge parts --plan"),
        ("the file that a single run writes", "merge parts -o all.paf"),
        ("compressed", "merge parts -o all.paf.gz"),
    ),
    "update": (
        ("into a folder, so that more can be added", "update run1 new.fasta -o run2/"),
        ("into a file", "update run1 new.fasta -o updated.paf"),
        ("of several files", "update run1 new.fasta newer.fasta -o more.paf"),
    ),
    "cluster": (
        ("at 90% identity", "cluster proteins.fasta --min-identity 0.9 -o clusters.tsv"),
        (
            "as vsearch writes them, with the representatives",
            "cluster amplicons.fasta --min-identity 97% -o otus.uc --representatives otus.fasta",
        ),
        (
            "single linkage, as a network",
            "cluster proteins.fasta --linkage single --min-identity 0.5 -o net.graphml",
        ),
    ),
    "split": (
        ("five folds without homologs across them", "split proteins.fasta -o folds.csv"),
        (
            "training, validation and test",
            "split proteins.fasta --min-identity 0.95 --test 0.2 --val 0.2 -o sets.csv",
        ),
        (
            "say what was removed",
            "split proteins.fasta --min-identity 0.9 --folds 2 -o two.csv --removed gone.csv",
        ),
    ),
    "audit": (
        ("folds of split", "audit folds.csv proteins.fasta -o leaks.csv"),
        (
            "clusters of vsearch or ours",
            "audit otus.uc amplicons.fasta --min-identity 97% --identity-of columns -o otus.csv",
        ),
        (
            "a training and a test set",
            "audit queries.fasta database.fasta --min-identity 0.9 -o leaks2.csv",
        ),
    ),
    "verify": (
        ("legal, and scored as it says?", "verify pairs.tsv proteins.fasta -o checked.tsv"),
        (
            "how far from the optimum",
            "verify alike.paf genes.fasta --mode global --optimal -o optimal.tsv",
        ),
        (
            "only what is wrong",
            "verify hits.b6 queries.fasta database.fasta --mode local --illegal -o wrong.tsv",
        ),
    ),
    "msa": (
        ("a family, with the confidence of each residue", "msa family.fasta -o family.sto"),
        (
            "rows and tree in the same order",
            "msa family.fasta -o family.afa --order tree --tree-out guide.nwk",
        ),
        (
            "how sure another program's alignment is",
            "msa family.fasta --confidence-of theirs.afa -o sure.html",
        ),
    ),
    "posterior": (
        ("as a table", "posterior family.fasta -o posteriors.tsv"),
        ("a library for T-Coffee", "posterior family.fasta -o family.tc_lib"),
        (
            "only what is likely, for NumPy",
            "posterior family.fasta --threshold 0.5 -o posteriors.npz",
        ),
    ),
    "rotate": (
        ("to where s0 begins", "rotate genomes.fasta --to s0 -o same_start.fasta"),
        (
            "to a gene's coordinate, on either strand",
            "rotate genomes.fasta --to s0:577 --strand both -o from_gene.fasta",
        ),
        ("compressed", "rotate genomes.fasta --to s0 -o same_start.fasta.gz"),
    ),
    "pack": (
        ("a store", "pack proteins.fasta -o proteins.pairset"),
        ("of a compressed file", "pack reads.fastq.gz -o reads.pairset"),
        ("of two files", "pack proteins.fasta --also new.fasta -o more.pairset"),
    ),
    "devices": (
        ("what is here", "devices"),
        ("what kernels can do", "devices --kernels"),
        ("keep it", "devices > devices.txt"),
    ),
    "help": (
        ("of the program", "help"),
        ("of a command", "help align"),
        ("every option of it", "help align all"),
    ),
    "completion": (
        ("bash, for this shell", "completion bash > pairalign.bash"),
        ("zsh, in a folder of $fpath", "completion zsh > _pairalign"),
        ("look at it", "completion bash"),
    ),
}
"""What an example does, and the arguments; later ones may read what earlier ones have written."""

_FIRST = ("align", "distance", "cluster", "msa")
"""Commands whose first examples the help of the program shows."""


def describe_examples(command: str | None) -> str:
    """Return the lines with which the help of a command begins, or that of the program."""
    shown = [EXAMPLES[name][0] for name in _FIRST] if command is None else EXAMPLES[command]
    return "examples:\n" + "".join(f"  # {what}\n  pairalign {words}\n" for what, words in shown)
