"""Tests that draw their problems draw the same ones in every run."""

import importlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st


@settings(max_examples=300)
@given(st.lists(st.integers(), min_size=3))
def draw(found: list[list[int]], drawn: list[int]) -> None:
    found.append(drawn)


def test_what_is_drawn_does_not_depend_on_what_is_loaded(tmp_path, monkeypatch):
    if not settings.default.derandomize:
        pytest.skip("another profile of Hypothesis draws others each time")
    before: list[list[int]] = []
    draw(before)
    assert len(before) > 100
    (tmp_path / "loaded_later.py").write_text("NUMBERS = 123_457, -7_654_321, 31_415_927\n")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module("loaded_later")
    after: list[list[int]] = []
    draw(after)
    assert after == before
