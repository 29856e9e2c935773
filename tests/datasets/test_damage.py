"""Broken and wrong files, in a directory or from the network.

A page where the data should be, an archive that was cut, an archive of something else: what the libraries raised about
them (BadZipFile, ReadError, KeyError, EOFError, numpy's advice on pickles) reached the user, and the next source was
never asked.
"""

from __future__ import annotations

import dataclasses
import io
import json
import tarfile
import warnings

import numpy as np
import pytest

from taylorpoda import datasets
from taylorpoda.datasets import catalogue, recipes
from taylorpoda.datasets.base import content_checksum
from taylorpoda.datasets.cache import cache_root, fetch, store
from taylorpoda.datasets.recipes import Source, openml
from taylorpoda.datasets.records import read_arff, read_csv

HTML = b"<!DOCTYPE html><html><body>please log in</body></html>"
BLOCKS = b"-122.23,37.88,41,880,129,322,126,8.3252,452600\n-122.22,37.86,21,7099,1106,2401,1138,8.3014,358500\n"
TITANIC = b"survived,pclass,sex,age,sibsp,parch,fare,embarked\n0,3,male,22,1,0,7.25,S\n1,1,female,38,1,0,71.28,C\n"


def tar_of(name, content, mode="w:gz"):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def digits(**changed):
    draw = np.random.default_rng(0)
    arrays = {
        "x_train": draw.integers(0, 256, (4, 28, 28)).astype(np.uint8),
        "y_train": np.array([3, 8, 5, 3], dtype=np.uint8),
        "x_test": draw.integers(0, 256, (2, 28, 28)).astype(np.uint8),
        "y_test": np.array([8, 1], dtype=np.uint8),
    }
    stream = io.BytesIO()
    np.savez_compressed(stream, **{name: one for name, one in (arrays | changed).items() if one is not None})
    return stream.getvalue()


def digits_table(pixel="7"):
    names = "".join(f"@attribute pixel{k} real\n" for k in range(784))
    rows = "".join(",".join([pixel] * 784) + f",{digit}\n" for digit in (3, 8, 1))
    return f"@relation mnist\n{names}@attribute class {{3,8,1}}\n@data\n{rows}".encode()


def one_array():
    stream = io.BytesIO()
    np.save(stream, np.zeros(3))
    return stream.getvalue()


# How every kind of file is read, and a small one of the kind.
KINDS = {
    "titanic": ("titanic", lambda content: recipes.titanic(read_csv(content)), TITANIC),
    "california": ("california", recipes.california_archive, tar_of("CaliforniaHousing/cal_housing.data", BLOCKS)),
    "digits": ("mnist38", recipes.digits_38, digits()),
    "digits table": ("mnist38", lambda content: recipes.digits_38_records(read_arff(content)), digits_table()),
}
WRONG = [
    *((kind, HTML) for kind in KINDS),
    *((kind, b"") for kind in KINDS),
    *((kind, content[: len(content) // 2]) for kind, (_, _, content) in KINDS.items()),
    # Not for digits: whatever stands before a zip archive is no part of it.
    *((kind, b"\xff\xfe" + content) for kind, (_, _, content) in KINDS.items() if kind != "digits"),
    *((kind, b"\0" * 500) for kind in KINDS),
    ("titanic", TITANIC.splitlines()[0] + b"\n"),
    ("titanic", TITANIC.replace(b"22", b"nan")),
    ("titanic", TITANIC.replace(b"7.25", b"")),
    ("titanic", TITANIC.replace(b"7.25", b"1e999")),
    ("titanic", digits()),
    ("california", tar_of("something/else.data", BLOCKS)),
    ("california", tar_of("CaliforniaHousing/cal_housing.data", b"")),
    ("california", tar_of("CaliforniaHousing/cal_housing.data", BLOCKS.replace(b",126,", b",0,"))),
    ("california", tar_of("CaliforniaHousing/cal_housing.data", BLOCKS, "w")[:700]),
    ("california", digits()),
    ("digits", one_array()),
    ("digits", digits(x_test=None)),
    ("digits", digits(y_test=np.array([8, "x"], dtype=object))),
    ("digits", digits(y_test=np.array(["8", "1"]))),
    ("digits", digits(y_test=np.array([8]))),
    ("digits", digits(x_test=np.zeros((2, 784), np.uint8))),
    ("digits", digits(x_test=np.full((2, 28, 28), 256.0))),
    ("digits", digits(x_test=np.full((2, 28, 28), np.nan))),
    ("digits", tar_of("x_train.npy", one_array())),
    ("digits table", digits_table("x")),
    ("digits table", digits_table("0.5")),
    ("digits table", digits_table("300")),
    ("digits table", digits_table().replace(b"@data\n", b"@attribute one_more real\n@data\n")),
    ("digits table", b"@relation r\n@attribute class {3}\n@data\n3\n"),
    ("digits table", digits_table().replace(b"@data\n", b"@data\n" + b"7\r7" * 9)),
]


@pytest.fixture
def small(monkeypatch):
    """The recipe a kind of file belongs to, expecting the small one."""

    def make(kind, *sources, content=None):
        name, parse, good = KINDS[kind]
        arrays = parse(good if content is None else content)
        recipe = dataclasses.replace(
            catalogue.RECIPES[name],
            parse=parse,
            shape=arrays[0].shape,
            checksum=content_checksum(*arrays),
            sources=tuple(Source(url, parse) for url in sources),
        )
        monkeypatch.setitem(catalogue.RECIPES, name, recipe)
        return name, recipe

    return make


@pytest.mark.parametrize(("kind", "content"), WRONG)
def test_a_wrong_file_is_refused_by_name(small, tmp_path, kind, content):
    name, recipe = small(kind)
    (tmp_path / recipe.file).write_bytes(content)
    with pytest.raises(datasets.DataFormatError) as caught:
        datasets.load(name, data=tmp_path)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / recipe.file}: ")
    assert "pickle" not in message


@pytest.mark.parametrize(("kind", "content"), WRONG)
def test_a_wrong_download_counts_as_that_source_failing(server, small, kind, content):
    name, _ = small(kind, server.url + "/wrong", server.url + "/good")
    server.pages["/wrong"] = [(200, content, None)]
    server.pages["/good"] = [(200, KINDS[kind][2], None)]
    loaded = datasets.load(name)
    assert loaded.verified
    assert loaded.source == server.url + "/good"
    assert server.seen == ["/wrong", "/good"]


@pytest.mark.parametrize(("kind", "content"), WRONG)
def test_where_every_source_is_wrong_the_error_says_both_ways_out(server, small, kind, content):
    name, recipe = small(kind, server.url + "/wrong")
    server.pages["/wrong"] = [(200, content, None)]
    with pytest.raises(datasets.DataUnavailableError) as caught:
        datasets.load(name)
    message = str(caught.value)
    for said in (server.url + "/wrong", "TAYLORPODA_DATA", recipe.file, "internet"):
        assert said in message
    assert "pickle" not in message
    assert fetch(cache_root() / "datasets", name) is None


@pytest.mark.parametrize("kind", KINDS)
def test_damage_anywhere_is_seen_or_harmless(small, tmp_path, kind):
    """Bytes overwritten, cut or zeroed: the error that is documented, or the data with their true checksum."""
    name, recipe = small(kind)
    messages = []
    for seed in range(200):
        draw = np.random.default_rng(seed)
        content = bytearray(KINDS[kind][2])
        start, length = int(draw.integers(len(content))), int(draw.integers(1, 40))
        if seed % 3 == 0:
            content[start : start + length] = draw.bytes(len(content[start : start + length]))
        elif seed % 3 == 1:
            del content[start:]
        else:
            content[start:] = bytes(len(content) - start)
        (tmp_path / recipe.file).write_bytes(content)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                loaded = datasets.load(name, data=tmp_path)
        except datasets.DataFormatError as error:
            messages.append(str(error))
        else:
            assert loaded.verified == (content_checksum(loaded.X, loaded.y) == recipe.checksum)
    assert len(messages) > 100
    assert all(message.startswith(f"{tmp_path / recipe.file}: ") for message in messages)


@pytest.mark.parametrize("address", ["file:///etc/passwd", "data.arff", "http://[bad", "http://host\u00e9/\u00e9", ""])
def test_a_description_that_leads_nowhere_counts_as_that_source_failing(server, small, monkeypatch, address):
    name, recipe = small("titanic", server.url + "/good")
    lost = dataclasses.replace(openml(1, recipes.titanic), url=server.url + "/api")
    monkeypatch.setitem(catalogue.RECIPES, name, dataclasses.replace(recipe, sources=(lost, *recipe.sources)))
    server.pages["/api"] = [(200, json.dumps({"data_set_description": {"url": address}}).encode(), None)]
    server.pages["/good"] = [(200, TITANIC, None)]
    assert datasets.load(name).source == server.url + "/good"


def test_other_content_is_the_last_resort(server, small):
    """A source may have changed: the next one may not have."""
    name, _ = small("titanic", server.url + "/other", server.url + "/good")
    server.pages["/other"] = [(200, TITANIC.replace(b"22", b"23"), None)]
    server.pages["/good"] = [(200, TITANIC, None)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = datasets.load(name)
    assert loaded.verified
    assert datasets.load(name).source == server.url + "/good"
    assert server.seen == ["/other", "/good"]


def test_other_content_is_said_so_and_never_cached(server, small):
    name, _ = small("titanic", server.url + "/other", server.url + "/gone")
    server.pages["/other"] = [(200, TITANIC.replace(b"22", b"23"), None)]
    for times in (1, 2):
        with pytest.warns(UserWarning, match="not its content"):
            loaded = datasets.load(name)
        assert not loaded.verified
        assert loaded.X[0, 0] == 23
        assert server.seen == ["/other", "/gone"] * times
    assert fetch(cache_root() / "datasets", name) is None


@pytest.mark.parametrize("cell", [23.0, np.nan])
def test_other_content_in_the_cache_is_asked_for_again(server, small, cell):
    """Earlier versions kept whatever had the right shape."""
    name, recipe = small("titanic", server.url + "/good")
    features, target = recipe.parse(TITANIC)
    features[0, 0] = cell
    store(cache_root() / "datasets", name, features, target, "somewhere")
    server.pages["/good"] = [(200, TITANIC, None)]
    assert datasets.load(name).verified
    assert datasets.load(name).source == server.url + "/good"
    assert server.seen == ["/good"]


def test_a_cache_that_cannot_be_used_is_named_before_the_download(server, small, monkeypatch, tmp_path):
    name, _ = small("titanic", server.url + "/good")
    server.pages["/good"] = [(200, TITANIC, None)]
    (tmp_path / "file").touch()
    monkeypatch.setenv("TAYLORPODA_CACHE", str(tmp_path / "file"))
    with pytest.raises(ValueError, match=r"TAYLORPODA_CACHE='.*file' cannot be used: Not a directory; allowed"):
        datasets.load(name)
    with pytest.raises(ValueError, match=r"^cache='.*file/below' cannot be used"):
        datasets.load(name, cache=tmp_path / "file" / "below")
    monkeypatch.setenv("TAYLORPODA_CACHE", "~nobody-of-this-name/cache")
    with pytest.raises(ValueError, match="TAYLORPODA_CACHE='~nobody-of-this-name/cache' cannot be used"):
        datasets.load(name)
    assert not server.seen
