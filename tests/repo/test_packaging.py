"""The sdist holds what a build needs, and the wheel built from it works where it is installed."""

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from install_extra import requirements
from packaging.requirements import Requirement

import pairalign
from pairalign.engines.cpu.cpu_engine import instruction_sets

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "pairalign/jobs/report/templates"
IGNORED = (".*", "__pycache__", "*.so", "*.egg-info", "build", "demo", "dist", "cuda_kernels")
TIMEOUT_SECONDS = 900  # the kernels take their time on a slow machine


def call(*command: str | os.PathLike[str], cwd: Path, path: Path | None = None) -> str:
    """Run a program; return what it prints. `path`: where Python finds more packages."""
    environment = dict(os.environ)
    for name in ("PYTHONPATH", "PAIRALIGN_BUILD_SETS"):
        environment.pop(name, None)
    # Here it is about what packages hold; `make demo` and `make wheel` compile as users do. With
    # ccache, as in CI, the objects are those of `make demo`.
    if "ccache" not in environment.get("CC", ""):
        environment["PAIRALIGN_FLAGS"] = "-O0"
    if path is not None:
        environment["PYTHONPATH"] = str(path)
    done = subprocess.run(
        list(map(os.fspath, command)),
        cwd=cwd,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=TIMEOUT_SECONDS,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def pip(*arguments: str | os.PathLike[str], cwd: Path, path: Path | None = None) -> str:
    """Run the pip of the Python that runs the tests."""
    quiet = ("--disable-pip-version-check", "--quiet")
    return call(sys.executable, "-m", "pip", *arguments, *quiet, cwd=cwd, path=path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where all is built: no file of the source tree changes."""
    return tmp_path_factory.mktemp("packaging")


@pytest.fixture(scope="module")
def tools(folder: Path) -> Path | None:
    """Where the build system is that pyproject.toml asks for; None: it is installed here."""
    listed = re.search(r"requires = \[(.*)\]", (ROOT / "pyproject.toml").read_text())
    assert listed
    required = re.findall(r'"(.*?)"', listed[1])
    if all(map(is_installed, required)):
        return None
    target = folder / "tools"
    pip("install", "--target", target, *required, cwd=folder)
    return target


def is_installed(requirement: str) -> bool:
    """Whether it is here in a version that will do: then the tests need no network."""
    asked = Requirement(requirement)
    try:
        return asked.specifier.contains(metadata.version(asked.name))
    except metadata.PackageNotFoundError:
        return False


@pytest.fixture(scope="module")
def sdist(folder: Path, tools: Path | None) -> Path:
    """The sdist of a copy of the source tree, in which `make cuda` has compiled a kernel."""
    source = folder / "source"
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*IGNORED))
    compiled = source / "pairalign/cuda_kernels/made_here.sm90.fatbin"
    compiled.parent.mkdir()
    compiled.write_bytes(b"machine code")
    shutil.copytree(ROOT / ".ci", source / ".ci")
    program = "from setuptools import build_meta; build_meta.build_sdist('../dist')"
    call(sys.executable, "-c", program, cwd=source, path=tools)
    (found,) = (folder / "dist").glob("*.tar.gz")
    return found


@pytest.fixture(scope="module")
def wheel(folder: Path, tools: Path | None, sdist: Path) -> Path:
    """The wheel that pip builds from the sdist."""
    pip("wheel", sdist, "--no-deps", "--no-build-isolation", "-w", "wheels", cwd=folder, path=tools)
    (found,) = (folder / "wheels").iterdir()
    return found


@pytest.fixture(scope="module")
def environment(folder: Path, wheel: Path) -> Path:
    """An environment with the wheel; what it depends on comes from the one that runs the tests."""
    home = folder / "environment"
    venv.create(home, with_pip=False, symlinks=True)
    pip("--python", home / "bin/python", "install", "--no-deps", "--no-index", wheel, cwd=folder)
    (packages,) = (home / "lib").glob("python3*/site-packages")
    # A plain path: editable installs there do not take effect.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home


def test_sdist_holds_all_sources(sdist):
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    patterns = ["cpu/**/*.cpp", "cpu/**/*.h", "cuda/**/*.cu*", "opencl/*.cl*"]
    patterns += ["common/*.h"]
    patterns += ["pairalign/**/*.py", "tests/*.py"]
    needed = [
        path.relative_to(ROOT).as_posix() for pattern in patterns for path in ROOT.glob(pattern)
    ]
    needed += ["setup.py", "setup.cfg", "pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md"]
    needed += ["Makefile", ".ci/run", "scripts/make_venv.py", "pairalign/py.typed"]
    needed += ["examples/cytochrome_p450.fasta", "tests/data/golden_scores.tsv"]
    assert set(needed) <= names, sorted(set(needed) - names)
    assert not [name for name in names if name.endswith((".so", ".pyc", ".o", ".fatbin"))]


def test_instruction_sets_that_are_not_there_are_refused(tools):
    """Without them a library would have no kernels, or not those that were asked for."""
    environment = {**os.environ, "PYTHONPATH": str(tools), "PAIRALIGN_BUILD_SETS": "mmx"}
    command = [sys.executable, "setup.py", "--version"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 1
    assert "PAIRALIGN_BUILD_SETS: no instruction sets of" in done.stderr
    assert "mmx" in done.stderr


def test_wheel_is_for_every_python(wheel):
    """The library does not link to Python; the tag names the platform alone."""
    version = pairalign.__version__
    assert re.fullmatch(rf"pairalign-{re.escape(version)}-py3-none-linux_\w+\.whl", wheel.name)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        tops = {name.partition("/")[0] for name in names}
        assert tops == {"pairalign", f"pairalign-{version}.dist-info"}
        assert {"pairalign/_native.so", "pairalign/py.typed", "pairalign/cli/main.py"} <= set(names)
        page = {f"pairalign/jobs/report/templates/{one.name}" for one in TEMPLATES.iterdir()}
        assert page <= set(names)
        assert any(
            name.endswith("licenses/pairalign/jobs/report/templates/d3.LICENSE.txt")
            for name in names
        )
        (notes,) = (name for name in names if name.endswith("/METADATA"))
        metadata = archive.read(notes).decode()
        assert any(name.endswith("/LICENSE") for name in names)
    assert "Requires-Python: >=3.10" in metadata
    assert "Requires-Dist: numpy>=1.23" in metadata
    assert "# pairalign" in metadata  # the README is the description
    links = re.findall(r"\]\((.*?)\)", metadata)
    assert links
    assert not [link for link in links if not link.startswith(("https://", "#"))]


def test_installed_wheel_works_elsewhere(environment, family, tmp_path):
    """From another folder, without the source tree, with the same bytes as here."""
    program = "import pairalign; print(pairalign.__file__, pairalign.__version__)"
    where, version = call(environment / "bin/python", "-c", program, cwd=tmp_path).split()
    assert Path(where).is_relative_to(environment)
    assert version == pairalign.__version__
    command = environment / "bin/pairalign"
    assert call(command, "--version", cwd=tmp_path) == f"pairalign {version}\n"
    assert "cpu" in call(command, "devices", cwd=tmp_path)
    said = call(command, "align", family, "-o", "there.paf", cwd=tmp_path)
    assert "1,596" in said
    call(sys.executable, "-m", "pairalign", "align", family, "-o", "here.paf", cwd=tmp_path)
    assert (tmp_path / "there.paf").read_bytes() == (tmp_path / "here.paf").read_bytes()


def test_installed_wheel_finds_its_kernels(environment, family, tmp_path):
    command = environment / "bin/pairalign"
    devices = call(command, "devices", cwd=tmp_path)
    if not re.search(r"^opencl:0 +yes", devices, re.MULTILINE):
        pytest.skip("no OpenCL device")
    for device in ("opencl", "cpu"):
        out = f"{device}.paf"
        call(command, "align", family, "-o", out, "--device", device, cwd=tmp_path)
    assert (tmp_path / "opencl.paf").read_bytes() == (tmp_path / "cpu.paf").read_bytes()


def test_an_editable_installation_is_a_path(folder, tools, sdist):
    """Of a module that finds others mypy and pyright know nothing."""
    source = folder / "source"
    program = "from setuptools import build_meta; build_meta.build_editable('../editable')"
    call(sys.executable, "-c", program, cwd=source, path=tools)
    (found,) = (folder / "editable").glob("*.whl")
    with zipfile.ZipFile(found) as archive:
        paths = [archive.read(name).decode() for name in archive.namelist() if "pth" in name]
    assert [Path(path.strip()) for path in paths] == [source]
    kernels = [re.findall(r"kernel_(\w+)\.cpp", path) for path in compiled_in(source)]
    built = {name for names in kernels for name in names}
    assert built == {instruction_sets()[0]}


def compiled_in(source: Path) -> set[str]:
    """The sources that a build in a folder compiled, now or before."""
    commands = json.loads((source / "build/compile_commands.json").read_text())
    return {command["file"] for command in commands}


def test_a_change_compiles_what_includes_it(folder, tools, sdist):
    source = folder / "source"

    def build() -> set[str]:
        """Build in place; return the sources that were compiled."""
        command = (sys.executable, "setup.py", "build_ext", "--inplace")
        return set(re.findall(r"-c (\S+\.cpp)", call(*command, cwd=source, path=tools)))

    build()
    assert build() == set()
    header = source / "cpu/near/near.h"
    header.write_text(header.read_text() + "// one more line\n")
    compiled = build()
    assert {"cpu/near/near.cpp", "cpu/near/tcrdist.cpp"} < compiled
    assert all(path.startswith("cpu/near/") for path in compiled)
    assert compiled < compiled_in(source)


def test_build_needs_are_those_of_pip():
    """`make` builds with the extra `build`, pip with what pyproject.toml lists."""
    listed = re.search(r"requires = \[(.*)\]", (ROOT / "pyproject.toml").read_text())
    assert listed
    assert set(re.findall(r'"(.*?)"', listed[1])) == set(requirements(["build"]))
