"""The check of lengths sees what it should see."""

import pytest
from check_lengths import faults, native_functions, python_functions


def test_bodies_of_python_functions_are_measured_without_docstrings():
    text = 'def f(\n    a,\n):\n    """Says\n\n    much."""\n    b = a\n    return b\n'
    assert list(python_functions(text)) == [("f", 2)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "int f(int a,\n      int b) {\n    if (a) {\n        a++;\n    }\n    return b;\n}\n",
            [("f", 4)],
        ),
        ("struct S {\n    int g() const {\n        return 1;\n    }\n};\n", [("g", 1)]),
        (
            "__global__ void __launch_bounds__(N, M(1))\n    k(const P p) {\n    w<1>(p);\n}\n",
            [("k", 1)],
        ),
        ('void f() {\n    say("}");  // }\n    return;\n}\n', [("f", 2)]),
        ("PAIRALIGN_SETS(DECLARE)\n#undef DECLARE\n\nint f() {\n    return 1;\n}\n", [("f", 1)]),
        ("const int table[] = {\n    1,\n    2,\n};\n", []),
    ],
)
def test_native_functions(text, expected):
    assert list(native_functions(text)) == expected


def test_what_is_too_long_is_said(tmp_path):
    (tmp_path / "pairalign").mkdir()
    (tmp_path / "cuda").mkdir()
    body = "    pass\n" * 61
    (tmp_path / "pairalign/long.py").write_text("\n" * 601 + f"def f():\n{body}")
    (tmp_path / "cuda/k.cu").write_text("void k() {\n" + "    a();\n" * 70 + "}\n")
    assert list(faults(tmp_path, {"cuda/k.cu:k": 70, "cuda/k.cu:gone": 90})) == [
        "pairalign/long.py: 663 lines, at most 600",
        "pairalign/long.py: f has 61 lines, at most 60",
        "cuda/k.cu:gone: no longer than others, strike it from LONGER",
    ]
    assert "cuda/k.cu: k has 70 lines, at most 60" in list(faults(tmp_path, {}))
