"""The options of functions on the documentation site: an extension of Griffe.

Griffe reads sources; the options that a function takes, and what they are, are made when somebody
asks for it (`pairalign.base.function_options`).
"""

from __future__ import annotations

import inspect
from typing import Any

import griffe

import pairalign


class Options(griffe.Extension):
    """Gives functions with options the signature and the docstring that users see."""

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
