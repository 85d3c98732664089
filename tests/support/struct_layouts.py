"""Where the fields of structs lie that cross a language boundary: in Python, in C++, in OpenCL C.

The names come from the Python declaration alone (a NumPy dtype or a ctypes structure); what another
language makes of them is asked of its compiler. So there is no list here that could go stale.
"""

import ctypes
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
SHIM = ROOT / "tests" / "cuda_on_host" / "cuda_on_host.h"

Declaration = Any
"""A structured dtype, or a subclass of ctypes.Structure."""

Layout = dict[str, tuple[int, int]]
"""Offset and size by dotted field name; the whole struct under the empty name."""


def declared_layout(declaration: Declaration) -> Layout:
    """Where Python puts each field, those of nested structs included."""
    whole = (
        declaration.itemsize if isinstance(declaration, np.dtype) else ctypes.sizeof(declaration)
    )
    return {"": (0, whole), **dict(_fields(declaration, "", 0))}


def _fields(declaration: Declaration, prefix: str, start: int) -> Iterator[tuple[str, Any]]:
    if isinstance(declaration, np.dtype):
        for name, (inner, offset, *_) in (declaration.fields or {}).items():
            yield prefix + name, (start + offset, inner.itemsize)
            if inner.names:
                yield from _fields(inner, f"{prefix}{name}.", start + offset)
        return
    for name, inner in declaration._fields_:
        field = getattr(declaration, name)
        yield prefix + name, (start + field.offset, field.size)
        if issubclass(inner, ctypes.Structure):
            yield from _fields(inner, f"{prefix}{name}.", start + field.offset)


def cpp_values(
    includes: Sequence[Path],
    expressions: Sequence[str],
    folder: Path,
    defines: Mapping[str, int | str] | None = None,
) -> list[int]:
    """Values of integer expressions of a C++ source, by g++; `folder` is for files."""
    source, program = folder / "values.cpp", folder / "values"
    body = "".join(f'    std::printf("%lld\\n", (long long)({one}));\n' for one in expressions)
    headers = "".join(f'#include "{one}"\n' for one in ("cstddef", "cstdint", "cstdio", *includes))
    source.write_text(f"{headers}int main() {{\n{body}}}\n")
    command = ["g++", "-std=c++17", "-O0", "-w", "-pthread", "-o", str(program), str(source)]
    command += [f"-D{name}={value}" for name, value in (defines or {}).items()]
    subprocess.run(command, check=True)
    printed = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    return [int(line) for line in printed.split()]


def layout_expressions(declaration: Declaration, struct: str) -> list[str]:
    """What to ask C++ for `layout_of`; it does not compile where it has no such field."""
    return [one for name in declared_layout(declaration) for one in _place(struct, name)]


def layout_of(declaration: Declaration, struct: str, value_of: Callable[[str], int]) -> Layout:
    """Where C++ puts the fields that Python declares, by the values of expressions."""
    return {
        name: tuple(map(value_of, _place(struct, name))) for name in declared_layout(declaration)
    }


def _place(struct: str, name: str) -> tuple[str, str]:
    if not name:
        return "0", f"sizeof({struct})"
    return f"__builtin_offsetof({struct}, {name})", f"sizeof((({struct}*)0)->{name})"


def opencl_layout(declaration: Declaration, struct: str, source: str, device: Any) -> Layout:
    """Where a device's OpenCL compiler puts the fields that Python declares."""
    cl, context = device.cl, device.context()
    names = list(declared_layout(declaration))
    lines = []
    for number, name in enumerate(names):
        place = f"(int)((private char*)&one.{name} - (private char*)&one)" if name else "0"
        size = f"sizeof(one.{name})" if name else "sizeof(one)"
        lines.append(f"out[{2 * number}] = {place}; out[{2 * number + 1}] = (int){size};")
    text = f"{source}\nkernel void layout(global int* out) {{ {struct} one; {' '.join(lines)} }}\n"
    program = cl.Program(context, text).build(cache_dir=False)
    values = np.zeros(2 * len(names), np.int32)
    queue = cl.CommandQueue(context)
    buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, values.nbytes)
    kernel = cl.Kernel(program, "layout")
    kernel.set_arg(0, buffer)
    cl.enqueue_nd_range_kernel(queue, kernel, (1,), (1,))
    cl.enqueue_copy(queue, values, buffer, is_blocking=True)
    pairs = zip(values[::2].tolist(), values[1::2].tolist(), strict=True)
    return dict(zip(names, pairs, strict=True))
