from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import warnings
from pathlib import Path

import numpy as np
import pytest

from taylorpoda import datasets
from taylorpoda.datasets import catalogue, download
from taylorpoda.datasets.cache import cache_root, fetch, store, write_atomically
from taylorpoda.datasets.recipes import Source, openml

DATA = os.environ.get("TAYLORPODA_DATA", "")
needs_data = pytest.mark.skipif(not Path(DATA, "abalone.csv").is_file(), reason="TAYLORPODA_DATA has no files here")

CANCER = "Clump_thickness,Uniformity_of_cell_size,Uniformity_of_cell_shape,Marginal_adhesion,"
CANCER += "Single_epithelial_cell_size,Bare_nuclei,Bland_chromatin,Normal_nucleoli,Mitoses"


def tiny_cancer(missing: bool = False) -> bytes:
    rows = ["5,1,1,1,2,1,3,1,1,2", "8,10,10,8,7,10,9,7,1,4"]
    if missing:
        rows.append("1,1,1,1,2,?,3,1,1,2")
    lines = [f"Sample_code_number,{CANCER},Class", *(f"{k},{row}" for k, row in enumerate(rows))]
    return "\n".join(lines).encode()


@pytest.fixture
def tiny(monkeypatch):
    """The cancer recipe, expecting two rows, with sources the test gives."""

    def make(*sources):
        arrays = catalogue.RECIPES["cancer"].parse(tiny_cancer())
        recipe = dataclasses.replace(
            catalogue.RECIPES["cancer"],
            shape=(2, 9),
            sources=sources,
            checksum=datasets.base.content_checksum(*arrays),
        )
        monkeypatch.setitem(catalogue.RECIPES, "cancer", recipe)
        return recipe

    return make


def csv_source(url):
    return Source(url, catalogue.RECIPES["cancer"].parse)


def test_download_then_cache_without_the_server(server, tiny):
    server.pages["/data.csv"] = [(200, tiny_cancer(missing=True), None)]
    tiny(csv_source(server.url + "/data.csv"))
    first = datasets.load("cancer")
    second = datasets.load("cancer")
    assert server.seen == ["/data.csv"]
    assert first.verified
    assert first.source == second.source == server.url + "/data.csv"
    assert np.array_equal(first.X, second.X)
    assert first.X.dtype == second.X.dtype == np.float64
    assert list(first.y) == [0, 1]
    assert first.classes == ("benign", "malignant")


def test_failures_that_pass_are_tried_again(server, tiny):
    server.pages["/data.csv"] = [
        (503, b"busy", None),
        (200, tiny_cancer()[:40], 400),
        (200, tiny_cancer(), None),
    ]
    tiny(csv_source(server.url + "/data.csv"))
    assert datasets.load("cancer").verified
    assert len(server.seen) == 3


def test_failures_that_stay_are_not_tried_again_and_the_next_source_is(server, tiny):
    server.pages["/second.csv"] = [(200, tiny_cancer(), None)]
    tiny(csv_source(server.url + "/gone.csv"), csv_source(server.url + "/second.csv"))
    assert datasets.load("cancer").source.endswith("/second.csv")
    assert server.seen == ["/gone.csv", "/second.csv"]


def test_a_page_that_is_not_the_data_is_refused(server, tiny):
    server.pages["/login.html"] = [(200, b"<html>please log in</html>", None)]
    tiny(csv_source(server.url + "/login.html"))
    with pytest.raises(datasets.DataUnavailableError, match="no column"):
        datasets.load("cancer")
    assert fetch(cache_root() / "datasets", "cancer") is None


def test_openml_description_is_followed(server, tiny, monkeypatch):
    attributes = "\n".join(f"@ATTRIBUTE '{name}' REAL" for name in CANCER.split(","))
    arff = f"% a comment\n@RELATION breast-w\n{attributes}\n@attribute Class {{benign, 'malignant'}}\n@data\n"
    arff += "5,1,1,1,2,1,3,1,1,benign\n\n8,10,10,8,7,10,9,7,1,'malignant'\n"
    server.pages["/data.arff"] = [(200, arff.encode(), None)]
    note = {"data_set_description": {"url": server.url + "/data.arff"}}
    server.pages["/api/15"] = [(200, json.dumps(note).encode(), None)]
    source = openml(15, catalogue.recipes.cancer)
    tiny(dataclasses.replace(source, url=server.url + "/api/15"))
    loaded = datasets.load("cancer")
    assert loaded.verified
    assert loaded.source == server.url + "/data.arff"


def test_the_variable_may_be_a_mirror(server, tiny, monkeypatch):
    tiny()
    server.pages["/mirror/breast_cancer_wisconsin_original.csv"] = [(200, tiny_cancer(), None)]
    monkeypatch.setenv("TAYLORPODA_DATA", server.url + "/mirror/")
    assert datasets.load("cancer").verified


def test_without_file_and_network_the_error_says_both_ways_out(tiny):
    tiny(csv_source("http://127.0.0.1:9/data.csv"))
    with pytest.raises(datasets.DataUnavailableError) as caught:
        datasets.load("cancer")
    message = str(caught.value)
    assert "http://127.0.0.1:9/data.csv" in message
    assert "TAYLORPODA_DATA" in message
    assert "breast_cancer_wisconsin_original.csv" in message
    assert "internet" in message


@pytest.mark.parametrize("damage", ["flip", "truncate", "delete note", "foreign note"])
def test_a_damaged_cache_is_not_believed(server, tiny, damage):
    server.pages["/data.csv"] = [(200, tiny_cancer(), None)]
    tiny(csv_source(server.url + "/data.csv"))
    datasets.load("cancer")
    directory = cache_root() / "datasets"
    cached, note = directory / "cancer.npz", directory / "cancer.json"
    content = bytearray(cached.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
        cached.write_bytes(content)
    elif damage == "truncate":
        cached.write_bytes(content[:-10])
    elif damage == "delete note":
        note.unlink()
    else:
        note.write_text("[]")
    assert datasets.load("cancer").verified
    assert len(server.seen) == 2


def test_other_content_of_the_right_shape_is_said_so(server, tiny, tmp_path):
    tiny()
    (tmp_path / "breast_cancer_wisconsin_original.csv").write_bytes(tiny_cancer().replace(b"8,10,10", b"8,10,9"))
    with pytest.warns(UserWarning, match="not its content"):
        assert not datasets.load("cancer", data=tmp_path).verified


def test_a_file_of_another_shape_is_refused(tmp_path):
    (tmp_path / "breast_cancer_wisconsin_original.csv").write_bytes(tiny_cancer())
    with pytest.raises(datasets.DataFormatError, match=r"\(2, 9\).*\(683, 9\)"):
        datasets.load("cancer", data=tmp_path)


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'california'"):
        datasets.load("californa")


def test_only_web_addresses_are_downloaded():
    with pytest.raises(ValueError, match="file:///etc/passwd"):
        download.download("file:///etc/passwd")


def test_the_cache_directory_follows_xdg(monkeypatch, tmp_path):
    monkeypatch.delenv("TAYLORPODA_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_root() == tmp_path / "taylorpoda"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_root() == Path.home() / ".cache" / "taylorpoda"


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomically(path, b"old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_stored_arrays_come_back_bit_for_bit(tmp_path):
    features, target = np.array([[0.1, -0.0], [1e-300, np.pi]]), np.array([0, 1])
    store(tmp_path, "x", features, target, "here")
    back = fetch(tmp_path, "x")
    assert back is not None
    assert back.X.tobytes() == features.tobytes()
    assert back.source == "here"


@needs_data
@pytest.mark.parametrize("name", datasets.names())
def test_the_published_data_sets(name):
    """Shapes of the paper, and the recorded checksum against the file's own numbers."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = datasets.load(name, data=DATA)
    shapes = {"cancer": (683, 9), "rice": (3810, 7), "titanic": (712, 7), "abalone": (4177, 8)}
    shapes |= {"california": (20640, 8), "concrete": (1030, 8), "mnist38": (13966, 28, 28)}
    assert loaded.X.shape == shapes[name]
    assert loaded.verified
    assert len(loaded.checksum) == len(hashlib.sha256().hexdigest())
    assert not np.isnan(loaded.X.astype(float)).any()
    assert len(loaded.names) in (0, loaded.X.shape[1])
    if loaded.task == "classification":
        assert set(loaded.y) == {0, 1}
        assert len(loaded.classes) == 2


@needs_data
def test_titanic_by_hand():
    """Two passengers worked out by hand: Braund (a man of 22 with a sibling), Heikkinen (a woman alone)."""
    titanic = datasets.load("titanic", data=DATA)
    assert titanic.names == ("age", "fare", "pclass", "sibsp", "parch", "alone", "adult_male")
    assert list(titanic.X[0]) == [22.0, 7.25, 3.0, 1.0, 0.0, 0.0, 1.0]
    assert list(titanic.X[2]) == [26.0, 7.925, 3.0, 0.0, 0.0, 1.0, 0.0]
    assert list(titanic.y[:3]) == [0, 1, 1]


@needs_data
def test_california_from_raw_counts():
    """The raw form (totals per block) gives scikit-learn's averages."""
    raw = b"longitude,latitude,housingMedianAge,totalRooms,totalBedrooms,population,households,"
    raw += b"medianIncome,medianHouseValue\n-122.23,37.88,41,880,129,322,126,8.3252,452600\n"
    features, target = catalogue.recipes.california(catalogue.recipes.read_csv(raw))
    california = datasets.load("california", data=DATA)
    assert np.max(np.abs(features[0] - california.X[0])) < 1e-12
    assert abs(target[0] - california.y[0]) < 1e-12


@needs_data
def test_to_frame_keeps_names_and_target():
    pandas = pytest.importorskip("pandas")
    frame = datasets.load("concrete", data=DATA).to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns)[-1] == "target"
    assert frame.shape == (1030, 9)
