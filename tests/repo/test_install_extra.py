"""scripts/install_extra.py: what has no wheel is left out, and said."""

import install_extra
import pytest


def without_wheels(*names: str, tried: list[list[str]]) -> object:
    """A pip that has wheels of all but these."""

    def install(needed: list[str], *options: str) -> bool:
        assert options == ("--only-binary=:all:",)
        tried.append(needed)
        return not any(one.startswith(names) for one in needed)

    return install


def test_all_at_once_where_all_have_wheels():
    tried: list[list[str]] = []
    needed = ["numpy>=1", "pandas"]
    assert install_extra.install_wheels(needed, without_wheels("mappy", tried=tried)) == []
    assert tried == [needed]


def test_each_half_where_one_has_none():
    """A pip takes a second, and one that installs many hardly more."""
    tried: list[list[str]] = []
    mappy = 'mappy>=2.24; platform_machine == "x86_64"'
    needed = ["numpy>=1", mappy, "pandas", "polars", "pyopencl[pocl]>=2022.1"]
    pip = without_wheels("mappy", "pyopencl", tried=tried)
    assert install_extra.install_wheels(needed, pip) == ["mappy", "pyopencl"]
    first, second = needed[:2], needed[2:]
    assert tried == [needed, first, *([one] for one in first), second, ["pandas"], *tried[6:]]
    assert tried[6:] == [["polars", second[2]], ["polars"], [second[2]]]


def test_one_of_many_is_found_with_few_calls():
    tried: list[list[str]] = []
    needed = [*(f"package{k}" for k in range(35)), "mappy"]
    pip = without_wheels("mappy", tried=tried)
    assert install_extra.install_wheels(needed, pip) == ["mappy"]
    assert len(tried) <= 13


@pytest.mark.parametrize(("left", "code"), [(["mappy"], 0), (["pytest"], 1)])
def test_only_what_all_tests_need_is_an_error(left, code, monkeypatch, capsys):
    monkeypatch.setattr(install_extra, "install_wheels", lambda needed: left)
    monkeypatch.setattr(install_extra, "install", lambda *given: False)
    assert install_extra.main(["--wheels", "test"]) == code
    said = capsys.readouterr()
    assert ("Their tests are skipped" in said.out) == (code == 0)
    assert left[0] in said.out + said.err


def test_needed_packages_are_among_those_of_the_tests():
    names = {one.split(">")[0] for one in install_extra.requirements(["test"])}
    assert names >= set(install_extra.NEEDED)
