"""What a new user reads and tries first: messages about devices, the summary, a table elsewhere."""

import io
import logging

import numpy as np
import pytest
from commands import fasta, run

import pairalign
from pairalign.engines.cuda import cuda_devices, cuda_selection
from pairalign.errors import DeviceError
from pairalign.formats.distances import read_distances, write_distances

SEQUENCES = {"a": "MKVLAAGGWTRE", "b": "MKVLAGGWTE", "c": "MKWLAGRE"}


# ---------------------------------------------------------------------------------------------
# Devices


@pytest.fixture(params=[False, True], ids=["no-gpu", "gpu"])
def gpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """A machine without PyCUDA, and without a GPU or with one."""

    def no_pycuda() -> None:
        raise DeviceError("PyCUDA is not installed")

    monkeypatch.setattr(cuda_devices, "_import_driver", no_pycuda)
    for module in (cuda_devices, cuda_selection):
        monkeypatch.setattr(module, "has_nvidia_gpu", lambda: request.param)
    return request.param


def test_pycuda_is_named_where_a_gpu_is(gpu, caplog):
    with caplog.at_level(logging.INFO):
        pairalign.align(SEQUENCES)
    assert ("PyCUDA" in caplog.text) == gpu
    ((name, usable, description),) = cuda_selection.list_cuda_devices()
    assert (name, usable) == ("cuda", False)
    assert description == ("PyCUDA is not installed" if gpu else "no NVIDIA GPU is there")


def test_pycuda_is_named_to_those_who_ask(gpu):
    with pytest.raises(DeviceError, match="PyCUDA is not installed"):
        pairalign.align(SEQUENCES, device="cuda")


@pytest.mark.parametrize("sign", ["proc/driver/nvidia", "dev/nvidia0", "dev/dxg"])
def test_signs_of_a_gpu(tmp_path, sign):
    assert not cuda_devices.has_nvidia_gpu(tmp_path)
    (tmp_path / sign).mkdir(parents=True)
    assert cuda_devices.has_nvidia_gpu(tmp_path)


# ---------------------------------------------------------------------------------------------
# The summary


def test_overlaps_are_ranked_by_score(tmp_path):
    """Five residues at the ends of two sequences are all equal; the two others are 90% the same."""
    rng = np.random.default_rng(5)
    letters = list("ARNDCQEGHILKMFPSTWYV")
    one, other, third = ("".join(rng.choice(letters, 60)) for _ in range(3))
    changed = "".join(rng.choice(letters) if k % 10 == 5 else c for k, c in enumerate(third))
    records = {"left": one + "WWWWW", "right": "WWWWW" + other, "x": third, "y": changed}
    (tmp_path / "in.fa").write_text(fasta(records))
    done = run("align", "in.fa", "-o", "out.tsv", "--mode", "semiglobal", cwd=tmp_path)
    rows = dict(line.split(None, 1) for line in done.stderr.decode().splitlines() if "  " in line)
    found = pairalign.align(records, mode="semiglobal")
    (pair,) = (p for p in found if {p.query.name, p.target.name} == {"x", "y"})
    assert max(found.identity) == 1 > pair.identity
    assert "closest" not in rows
    assert done.stderr.count(b"highest score  x and y: ") == 1
    assert rows["highest"] == (
        "score  "
        f"x and y: {pair.matches} of {pair.columns} columns identical "
        f"({100 * pair.identity:.1f}%), score {pair.score}"
    )


# ---------------------------------------------------------------------------------------------
# Tables of distances


def test_a_table_opens_in_scikit_bio_and_pandas(tmp_path):
    skbio = pytest.importorskip("skbio", reason="scikit-bio is not installed")
    pandas = pytest.importorskip("pandas")
    matrix = pairalign.distance(SEQUENCES)
    path = tmp_path / "out.tsv"
    write_distances(path, matrix)
    read = skbio.DistanceMatrix.read(path, format="lsmat")
    assert list(read.ids) == matrix.names
    np.testing.assert_allclose(read.data, matrix.square(), atol=1e-6)
    frame = pandas.read_csv(path, sep="\t", index_col=0)
    assert list(frame.index) == list(frame.columns) == matrix.names
    # And back: what scikit-bio writes.
    text = io.StringIO()
    read.write(text, format="lsmat")
    path.write_text(text.getvalue())
    np.testing.assert_allclose(read_distances(path).condensed, matrix.condensed, atol=1e-6)
