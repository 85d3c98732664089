"""An option is said once: a field of a frozen request, with what is known of it.

A *request* is a dataclass whose fields are made with `option`, `flag`, `choice`, `place` or
`again`, or with `group`: a group is a request of options that belong together (resources,
messages), which a step takes as it is. From the fields come the parser of a command
(`pairalign.cli.parser`), the checks of values, what `update` replays, the reference of options,
and what decides the bytes of a run. What options need of each other is a table of `Rule`, whose
messages are spelled as the user gives options: ``--mode local`` on the command line,
``mode='local'`` in Python.

Nothing heavy is imported here, nor in `pairalign.requests`: help is there at once.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields, replace
from decimal import Context, Decimal
from fractions import Fraction
from inspect import get_annotations
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, TypeVar

from pairalign.base.arguments import Kind, as_several, whole_number
from pairalign.base.error_types import ScoringError, UsageError, WrongTypeError
from pairalign.base.spelling import spelled

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Any:
        """Return what leaves a decorator as it is: type checkers alone look at it."""
        return lambda decorator: decorator


_Request = TypeVar("_Request")
_META = "option"
_GROUP = "group"
_KNOWN: dict[type, tuple[Slot, ...]] = {}
"""The options of requests that were looked up, by their type, each with its place."""
_EXACTLY = Context(prec=60)
"""More digits than any exact number that an option takes."""
_SPELLED = re.compile(r"\{(\w+)(?:=([^}]*))?\}|\{\.(\w+)\}")
_JOBS = os.path.join(os.path.dirname(os.path.dirname(__file__)), "jobs")


class Option(NamedTuple):
    """What is known of one option of a request.

    Attributes
    ----------
    name : str
        The field, and the argument in Python.
    default : object
        For choices without one of their own the first.
    about : str or None
        What documentation of Python says of it, where `help` will not do.
    flags : tuple of str
        On the command line; empty: it follows from `name`. An argument without a flag has none.
    values : callable or tuple of str
        What it may be; a callable gives them when they are needed.
    kind : Kind or None
        None: any text.
    group : str or None
        The title under which help shows it.
    required, is_flag, is_place, is_several : bool
        It must be given; it has no value; it is a place and not a flag; it may be given again.
    nargs : str or None
        Of a place, as argparse has it.
    excludes : str or None
        Options with the same word exclude each other.
    decides : bool
        Whether the identity of a run has it as the request does: the bytes of results depend on
        it, and the planned job does not hold what was made of it.
    is_how : bool
        It says how a run is done, or where to, and nothing of its results: neither the identity of
        a run has it nor what a run stores.
    surface : {"both", "command"}
        Whether Python has it, too.
    elsewhere : tuple of str
        What other programs call the same.
    formerly : str or None
        What it was called.
    needs : Rule or None
        Broken where the option has no effect; looked at where its value is not the default.
    job : str or None
        The folder of `pairalign.jobs` that carries it out; without the folder no command has it.
    may_be_none : bool
        Whether None is one of its values, as the type of the field says.
    """

    name: str
    default: object = None
    help: str | None = None
    about: str | None = None
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    values: Callable[[], Sequence[str]] | tuple[Any, ...] = ()
    kind: Kind | None = None
    group: str | None = None
    required: bool = False
    is_flag: bool = False
    is_place: bool = False
    is_several: bool = False
    nargs: str | None = None
    excludes: str | None = None
    decides: bool = True
    is_how: bool = False
    surface: str = "both"
    elsewhere: tuple[str, ...] = ()
    formerly: str | None = None
    needs: Rule | None = None
    job: str | None = None
    may_be_none: bool = False

    @property
    def known_values(self) -> tuple[Any, ...]:
        """What it may be; empty: it is no choice."""
        return tuple(self.values() if callable(self.values) else self.values)

    @property
    def expected(self) -> str:
        """What it may be, in words."""
        if self.values:
            return f"one of {', '.join(map(str, self.known_values))}"
        return "True or False" if self.kind is None else self.kind.expected

    @property
    def flag(self) -> str:
        """How the command line spells it in full."""
        long = [spelling for spelling in self.flags if spelling.startswith("--")]
        return long[0] if long else f"--{self.name.replace('_', '-')}"


def has_job(job: str) -> bool:
    """Whether the folder of a job is there: whoever deletes one has the program without it."""
    return os.path.exists(os.path.join(_JOBS, job, "__init__.py"))


def option(default: object = None, help: str | None = None, **known: Any) -> Any:
    """Declare an option of a request; `known` are the attributes of `Option`."""
    declared = Option("", default, help=help, **known)
    if declared.is_several:
        return field(default_factory=tuple, metadata={_META: declared._replace(default=())})
    return field(default=default, metadata={_META: declared})


def flag(help: str, **known: Any) -> Any:
    """Declare an option that is given or not."""
    return option(False, help, is_flag=True, **known)


def choice(values: Any, help: str | None = None, **known: Any) -> Any:
    """Declare an option that is one of some values; the first is the default."""
    known.setdefault("default", None if callable(values) else next(iter(values)))
    return option(help=help, values=values, **known)


def place(metavar: str, help: str | None = None, **known: Any) -> Any:
    """Declare an argument that is known by its place."""
    known.setdefault("required", known.get("nargs") not in ("?", "*"))
    return option(help=help, metavar=metavar, is_place=True, **known)


class Group(NamedTuple):
    """A field of a request that is a request of its own.

    Attributes
    ----------
    kind : type
        Of the group.
    title : str or None
        Under which help shows those of its options that have no title themselves; None: where the
        request places its base.
    but : tuple of str
        Options that the request does not have: they keep their defaults.
    instead : mapping of str to mapping
        What is known otherwise of some of its options, by name.
    """

    kind: type
    title: str | None
    but: tuple[str, ...]
    instead: Mapping[str, Mapping[str, Any]]

    def usual(self) -> Any:
        """Return the group with its defaults."""
        values = {
            name: attributes["default"]
            for name, attributes in self.instead.items()
            if "default" in attributes
        }
        return self.kind(**values)


def group(
    kind: type,
    title: str | None = None,
    *,
    but: tuple[str, ...] = (),
    **instead: Mapping[str, Any],
) -> Any:
    """Declare a group of options, a field of a request; see `Group`."""
    declared = Group(kind, title, but, instead)
    return field(default_factory=declared.usual, metadata={_GROUP: declared})


def again(kind: type, name: str, **known: Any) -> Any:
    """Declare an option as a base has it, but for some of what is known of it.

    Of a group `known` are mappings, by the options of which something else is known.
    """
    metadata = kind.__dataclass_fields__[name].metadata  # type: ignore[attr-defined]
    if _GROUP in metadata:
        base: Group = metadata[_GROUP]
        return group(base.kind, base.title, but=base.but, **{**base.instead, **known})
    declared: Option = metadata[_META]._replace(**known)
    usual = {"default_factory": tuple} if declared.is_several else {"default": declared.default}
    return field(**usual, metadata={_META: declared})


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def request(kind: type[_Request]) -> type[_Request]:
    """Make a dataclass of a `Request`.

    What dataclasses would compile for each class, all requests inherit: a command has forty, and
    compiling took a twelfth of the time of ``pairalign align`` of a small set.
    """
    return dataclass(init=False, repr=False, eq=False)(kind)


class Request:
    """A frozen dataclass of options, compared by its values.

    Attributes
    ----------
    RULES : tuple of Rule
        What its options need of each other.
    """

    RULES: ClassVar[tuple[Rule, ...]] = ()

    def __init__(self, **given: object) -> None:
        values = vars(self)
        for attribute in fields(self):  # type: ignore[arg-type]
            if attribute.name in given:
                values[attribute.name] = given.pop(attribute.name)
            elif attribute.default is not MISSING:
                values[attribute.name] = attribute.default
            elif attribute.default_factory is not MISSING:
                values[attribute.name] = attribute.default_factory()
            else:
                raise TypeError(f"{type(self).__name__} needs {attribute.name}")
        if given:
            raise TypeError(f"{type(self).__name__} has no {', '.join(given)}")

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({values})"


class Slot(NamedTuple):
    """An option of a request, and the group that has it.

    Attributes
    ----------
    home : str or None
        The field of the group; None: the request itself has the option.
    """

    option: Option
    home: str | None = None

    def value(self, request: object) -> Any:
        """Return the value that a request has of the option."""
        return getattr(
            request if self.home is None else getattr(request, self.home), self.option.name
        )


def slots_of(kind: type) -> tuple[Slot, ...]:
    """Return the options of a request with their places: those of its bases first, in order."""
    if kind not in _KNOWN:
        slots = tuple(_find_slots(kind))
        assert len({slot.option.name for slot in slots}) == len(slots), f"{kind}: a name twice"
        _KNOWN[kind] = slots
    return _KNOWN[kind]


def options_of(kind: type) -> tuple[Option, ...]:
    """Return the options of a request: those of its bases, in their order, then its own."""
    return tuple(slot.option for slot in slots_of(kind))


def _find_slots(kind: type) -> Iterator[Slot]:
    attributes = {attribute.name: attribute for attribute in fields(kind)}
    homes: dict[str, type] = {}
    for name, home in _homes_in_order(kind):
        homes.setdefault(name, home)
    placed: Mapping[type, str] = getattr(kind, "PLACED", {})
    for name, home in homes.items():
        declared = attributes[name].metadata if name in attributes else {}
        if _META in declared:
            option: Option = declared[_META]
            may_be_none = "None" in str(attributes[name].type)
            group = option.group or placed.get(home)
            yield Slot(option._replace(name=name, group=group, may_be_none=may_be_none))
        elif _GROUP in declared:
            yield from _slots_of_group(name, declared[_GROUP], placed.get(home))


def _slots_of_group(home: str, group: Group, placed: str | None) -> Iterator[Slot]:
    title = group.title or placed
    for option in options_of(group.kind):
        if option.name in group.but:
            continue
        changes = group.instead.get(option.name, {})
        yield Slot(option._replace(**{"group": option.group or title, **changes}), home)


def _homes_in_order(kind: type) -> Iterator[tuple[str, type]]:
    """Yield the names of fields with the class that first declares each, bases first."""
    for base in kind.__bases__:
        yield from _homes_in_order(base)
    for name in get_annotations(kind):
        yield name, kind


def _slot_of(kind: type, name: str) -> Slot:
    return next(slot for slot in slots_of(kind) if slot.option.name == name)


def value_of(request: object, name: str) -> Any:
    """Return the value of an option by its name, whichever group has it."""
    return _slot_of(type(request), name).value(request)


def values_of(request: object) -> dict[str, Any]:
    """Return the values of all options by name."""
    return {slot.option.name: slot.value(request) for slot in slots_of(type(request))}


def changed(request: _Request, **values: object) -> _Request:
    """Return a request with other values of some options, or of other fields."""
    field_values, groups = _by_group(type(request), values)
    for home, some in groups.items():
        field_values[home] = replace(getattr(request, home), **some)
    return replace(request, **field_values)  # type: ignore[type-var]


def _by_group(
    kind: type, values: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Return the values of a request's own fields, and those of its groups, by field."""
    homes = {slot.option.name: slot.home for slot in slots_of(kind)}
    field_values: dict[str, Any] = {}
    groups: dict[str, dict[str, Any]] = {}
    for name, value in values.items():
        home = homes.get(name)
        if home is None:
            field_values[name] = value
        else:
            groups.setdefault(home, {})[name] = value
    return field_values, groups


def make(kind: type[_Request], given: Mapping[str, Any]) -> _Request:
    """Make a request of named values; of those that it has no field for, none is taken.

    Parameters
    ----------
    kind : type
        Of the request.
    given : mapping of str to object
        A command's parsed options, a function's arguments, or what a run has stored.
    """
    slots = {slot.option.name: slot.option for slot in slots_of(kind)}
    names = slots.keys() | {attribute.name for attribute in fields(kind)}  # type: ignore[arg-type]
    values = {
        name: _as_declared(slots[name], value) if name in slots else value
        for name, value in given.items()
        if name in names
    }
    field_values, groups = _by_group(kind, values)
    for attribute in fields(kind):  # type: ignore[arg-type]
        if attribute.name in groups:
            usual = attribute.metadata[_GROUP].usual()
            field_values[attribute.name] = replace(
                field_values.get(attribute.name, usual), **groups[attribute.name]
            )
    return kind(**field_values)


def _as_declared(option: Option, value: object) -> object:
    """Return a value as the option has it: of several a tuple, of exact numbers a fraction."""
    if option.is_several:
        return as_several(option.name, value)
    if option.kind is None or option.kind.exact is None or value is None:
        return value
    return option.kind.exact(value, option.name)


class Rule(NamedTuple):
    """What options need of each other.

    Attributes
    ----------
    is_broken : callable
        Says of a request whether it breaks the rule.
    says : str
        What is wrong, and what to do: ``{name}`` and ``{name=value}`` are spelled as the user
        gives options, ``{name=.}`` with the value that the request has; ``{.name}`` is that value.
    """

    is_broken: Callable[[Any], bool]
    says: str


def is_given(request: object, name: str) -> bool:
    """Whether an option has another value than its default."""
    slot = _slot_of(type(request), name)
    value, usual = slot.value(request), slot.option.default
    return value is not usual and (usual is None or bool(value != usual))


def excluded(where: Callable[[Any], Any], says: str, *names: str) -> tuple[Rule, ...]:
    """Return the rules that options are not given `where` something else is asked.

    `says` is as of a `Rule`; ``{}`` stands for the option.
    """

    def rule(name: str) -> Rule:
        said = says.replace("{}", f"{{{name}}}")
        return Rule(lambda request: where(request) and is_given(request, name), said)

    return tuple(rule(name) for name in names)


def excludes(name: str, why: str, *others: str) -> tuple[Rule, ...]:
    """Return the rules that others are not given with an option; `why` follows its name."""
    says = f"{{{name}}} {why}: leave {{}} out"
    return excluded(lambda request: is_given(request, name), says, *others)


def check(request: Any, more: tuple[Rule, ...] = ()) -> None:
    """Refuse values that an option cannot have, and options that exclude or need each other.

    Parameters
    ----------
    more : tuple of Rule
        Of one surface alone.

    Raises
    ------
    UsageError
        Options are spelled as the user gave them, see `pairalign.base.spelling`.
    TypeError, ScoringError, ValueError
        Something is no number, or too low.
    """
    for slot in slots_of(type(request)):
        option, value = slot.option, slot.value(request)
        may_be_wrong = option.values and value is not None and value != option.default
        if may_be_wrong and value not in option.known_values:
            named = spelled(option.name, flag=option.flag)
            raise UsageError(f"{named} {value!r}: expected {option.expected}")
        if option.kind is not None and value is not None:
            _check_number(option.name, value, option.kind)
        if value is None and option.default is not None and not option.may_be_none:
            raise WrongTypeError(f"{option.name} None: expected {option.expected}")
        if value is not option.default and option.job is not None and not has_job(option.job):
            named = spelled(option.name, flag=option.flag)
            raise UsageError(f"{named} needs pairalign.jobs.{option.job}, which is not here")
    needs = [
        slot.option.needs
        for slot in slots_of(type(request))
        if slot.option.needs is not None and slot.value(request) != slot.option.default
    ]
    for rule in (*request.RULES, *more, *needs):
        if rule.is_broken(request):
            raise UsageError(_spell_out(rule.says, request))


def check_arguments(kinds: Iterable[type], given: Mapping[str, Any]) -> None:
    """Refuse what `check` does of the arguments that a function has of some requests."""
    for kind in kinds:
        check(make(kind, given))


def _check_number(name: str, value: object, kind: Kind) -> None:
    if kind.least is not None:
        whole_number(name, value, kind.least)
    if kind.above is not None:
        if not isinstance(value, Real):
            raise WrongTypeError(f"{name} {value!r}: expected {kind.expected}")
        if not kind.above < float(value) < math.inf:
            raise ScoringError(f"{name} {value!r}: expected {kind.expected}")


def _spell_out(text: str, request: object) -> str:
    """Return a message with its options as the user gives them, see `Rule`."""

    def spell(match: re.Match[str]) -> str:
        if match[3] is not None:
            values = values_of(request)
            return str(values[match[3]] if match[3] in values else getattr(request, match[3]))
        value = str(value_of(request, match[1])) if match[2] == "." else match[2]
        return spelled(match[1], value, _slot_of(type(request), match[1]).option.flag)

    return _SPELLED.sub(spell, text)


def decided_by(request: object) -> dict[str, Any]:
    """Return the options that the identity of a run has, by name: see `Option.decides`."""
    return {
        slot.option.name: slot.value(request)
        for slot in slots_of(type(request))
        if slot.option.decides and not slot.option.is_how
    }


def stored(request: object) -> dict[str, Any]:
    """Return what a run stores of its request, as JSON has it: see `Option.is_how`.

    Options that have their defaults are left out; of the others there is the text that the command
    line takes, of several a list, and of a flag true.
    """
    pairs = ((slot.option, slot.value(request)) for slot in slots_of(type(request)))
    return {
        option.name: _stored_value(option, value)
        for option, value in pairs
        if not option.is_how and value != option.default
    }


def _stored_value(option: Option, value: object) -> object:
    if option.is_several:
        assert isinstance(value, tuple)
        return list(value)
    if option.is_flag:
        return True
    if isinstance(value, Fraction):  # exactly: it was written as a decimal number
        value = _EXACTLY.divide(Decimal(value.numerator), Decimal(value.denominator))
    return str(value)


def restored(kind: type[_Request], found: Mapping[str, Any]) -> _Request:
    """Return the request of which `stored` returned something.

    Parameters
    ----------
    kind : type
        Of the request.
    found : mapping of str to object
        As JSON has it; any file may say so.

    Raises
    ------
    ValueError
        It is nothing that such a request stores; or UsageError, see `check`.
    """
    options = {option.name: option for option in options_of(kind) if not option.is_how}
    unknown = [name for name in found if name not in options]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is no option that a run stores")
    request = make(kind, {name: _restored_value(options[name], found[name]) for name in found})
    check(request)
    return request


def _restored_value(option: Option, value: Any) -> object:
    texts = value if option.is_several and isinstance(value, list) else [value]
    if option.is_flag and value is True:
        return True
    if option.is_flag or not all(isinstance(text, str) for text in texts):
        raise ValueError(f"{option.name}: found {value!r}, expected what such an option stores")
    try:
        read = texts if option.kind is None else [option.kind.read(text) for text in texts]
    except (ValueError, ArithmeticError):
        assert option.kind is not None
        raise ValueError(
            f"{option.name}: found {value!r}, expected {option.kind.expected}"
        ) from None
    return tuple(read) if option.is_several else read[0]
