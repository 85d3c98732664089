"""Options of functions, and docstrings of results, on the documentation site: for Griffe.

Griffe reads sources; the options that a function takes, and what they are, are made when somebody
asks for it (`pairalign.base.function_options`). A result has the docstring of its data.
"""

from __future__ import annotations

import inspect
from typing import Any

import griffe

import pairalign


class Options(griffe.Extension):
    """Gives functions with options, and results, what users see of them."""

    def on_class(self, *, cls: griffe.Class, **_: Any) -> None:
        """Take the docstring of a result from the class itself."""
        if cls.docstring is None and cls.module.path.startswith("pairalign.results."):
            text = inspect.getdoc(getattr(pairalign, cls.name))
            cls.docstring = griffe.Docstring(text or "", parent=cls)

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        """Take both from the function itself."""
        function = getattr(pairalign, func.name, None)
        if not hasattr(function, "taken") or function.__module__ != func.module.path:
            return
        assert func.docstring is not None
        func.docstring.value = inspect.getdoc(function) or ""
        func.parameters = griffe.Parameters(
            *(
                griffe.Parameter(
                    one.name,
                    annotation=str(one.annotation),
                    kind=griffe.ParameterKind(one.kind.description),
                    default=None if one.default is one.empty else repr(one.default),
                )
                for one in inspect.signature(function).parameters.values()
            )
        )
