"""What load is given instead of an explanation: refused with one clear error, and nothing is run or written."""

from __future__ import annotations

import io
import json
import pickle
import struct
import zipfile

import numpy as np
import pandas as pd
import pytest

import taylorpoda as tp
from taylorpoda.explanation import StorageError


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    """The members of a good file, by name."""
    path = tmp_path_factory.mktemp("good") / "explained"
    rows = pd.DataFrame({"a": [1.0, 2.0, 4.0], "b": pd.Categorical(["x", "y", "x"]), "c": ["p", None, "q"]})
    explanation = tp.Explainer(
        lambda part: part["a"].to_numpy() * (part["b"] == "x") + part["c"].isna(),
        rows,
        policy="optimal",
        random_state=0,
    )(rows[:2])
    explanation.save(path)
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive(members, compression=zipfile.ZIP_STORED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as written:
        for name, content in members.items() if isinstance(members, dict) else members:
            written.writestr(name, content)
    return stream.getvalue()


def npy(array, *, allow_pickle=False):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


def told(good, **changes):
    header = json.loads(good["explanation.json"])
    for path, value in changes.items():
        target = header
        *folders, last = path.split("__")
        for folder in folders:
            target = target[folder]
        if value is KeyError:
            del target[last]
        else:
            target[last] = value
    return {**good, "explanation.json": json.dumps(header).encode()}


class Runs:
    """Unpickling this would show."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was run",))


def with_header(shape, descr="<f8", body=b"\0" * 8):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


HUGE = with_header("(1000000000000,)")
CASES = {
    "empty": lambda good: b"",
    "text": lambda good: b"not an archive",
    "csv": lambda good: b"a,b\n1,2\n" * 50,
    "pickle": lambda good: pickle.dumps(Runs()),
    "npy": lambda good: npy(np.arange(3.0)),
    "npz": lambda good: archive({"a.npy": npy(np.arange(3.0))}),
    "cut in half": lambda good: archive(good)[: len(archive(good)) // 2],
    "cut at the end": lambda good: archive(good)[:-10],
    "a byte changed": lambda good: _flipped(archive(good)),
    "no header": lambda good: archive({k: v for k, v in good.items() if k != "explanation.json"}),
    "header is a list": lambda good: archive({**good, "explanation.json": b"[]"}),
    "header is no json": lambda good: archive({**good, "explanation.json": b"{"}),
    "header is not text": lambda good: archive({**good, "explanation.json": b"\xff\xfe\xfa"}),
    "header is nested": lambda good: archive({**good, "explanation.json": b"[" * 100_000 + b"]" * 100_000}),
    "header of another format": lambda good: archive(told(good, format="other")),
    "no version": lambda good: archive(told(good, format_version="1")),
    "no subject": lambda good: archive(told(good, subject=KeyError)),
    "compressed": lambda good: archive(good, zipfile.ZIP_DEFLATED),
    "a bomb": lambda good: archive({**good, "bomb.npy": b"\0" * 10**7}, zipfile.ZIP_DEFLATED),
    "a member outside": lambda good: archive({**good, "../../evil.npy": npy(np.zeros(1))}),
    "an absolute member": lambda good: archive({**good, "/etc/evil.npy": npy(np.zeros(1))}),
    "a script": lambda good: archive({**good, "run.py": b"print(1)"}),
    "a member twice": lambda good: archive([*good.items(), ("attributions.npy", npy(np.zeros(1)))]),
    "a huge array": lambda good: archive({**good, "attributions.npy": HUGE}),
    "a negative array": lambda good: archive({**good, "attributions.npy": with_header("(-1,)")}),
    "an array of objects": lambda good: archive(
        {**good, "attributions.npy": npy(np.array([Runs()]), allow_pickle=True)}
    ),
    "an array of records": lambda good: archive({**good, "attributions.npy": npy(np.zeros(2, dtype=[("a", "f8")]))}),
    "an array cut short": lambda good: archive({**good, "attributions.npy": good["attributions.npy"][:-8]}),
    "an array too long": lambda good: archive({**good, "attributions.npy": good["attributions.npy"] + b"\0" * 8}),
    "an array without header": lambda good: archive({**good, "attributions.npy": b"\x93NUMPY"}),
    "an array header that computes": lambda good: archive(
        {**good, "attributions.npy": with_header("__import__('os')")}
    ),
    "an array header that is long": lambda good: archive(
        {**good, "attributions.npy": with_header("(1,)" + " " * 60_000)}
    ),
    "no attributions": lambda good: archive({k: v for k, v in good.items() if k != "attributions.npy"}),
    "attributions of text": lambda good: archive({**good, "attributions.npy": npy(np.array([[["a", "b", "c"]]]))}),
    "attributions of NaN": lambda good: archive({**good, "attributions.npy": npy(np.full((2, 1, 3), np.nan))}),
    "attributions of other rows": lambda good: archive({**good, "attributions.npy": npy(np.zeros((5, 1, 3)))}),
    "attributions that do not add up": lambda good: archive({**good, "attributions.npy": npy(np.full((2, 1, 3), 7.0))}),
    "attributions of one axis": lambda good: archive({**good, "attributions.npy": npy(np.zeros(6))}),
    "no games": lambda good: archive({k: v for k, v in good.items() if not k.startswith("games/")}),
    "games of NaN": lambda good: archive({**good, "games/values.npy": npy(np.full((2, 1, 8), np.nan))}),
    "games of another size": lambda good: archive({**good, "games/values.npy": npy(np.zeros((2, 1, 16)))}),
    "games of no power of two": lambda good: archive({**good, "games/values.npy": npy(np.zeros((2, 1, 7)))}),
    "games of float32": lambda good: archive({**good, "games/values.npy": npy(np.zeros((2, 1, 8), dtype="f4"))}),
    "games of another engine": lambda good: archive(told(good, engine="trees")),
    "an engine that is a module": lambda good: archive(told(good, engine="os.system")),
    "a score of another shape": lambda good: archive({**good, "evidence/score.npy": npy(np.zeros((3, 1)))}),
    "a score of NaN": lambda good: archive({**good, "evidence/score.npy": npy(np.full((2, 1), np.nan))}),
    "no score": lambda good: archive({k: v for k, v in good.items() if k != "evidence/score.npy"}),
    "verdicts that are numbers": lambda good: archive({**good, "evidence/certified.npy": npy(np.ones((2, 1)))}),
    "other columns": lambda good: archive({**good, "player_of_column.npy": npy(np.arange(2))}),
    "columns of no player": lambda good: archive({**good, "player_of_column.npy": npy(np.array([0, 1, 9]))}),
    "too many names": lambda good: archive(told(good, subject__feature_names=list("abcd"))),
    "output names that are none": lambda good: archive(told(good, subject__output_names="x")),
    "a utility nobody knows": lambda good: archive(told(good, utility__name="nonsense")),
    "a container nobody knows": lambda good: archive(told(good, rows__kind="spreadsheet")),
    "options that are a list": lambda good: archive(told(good, options=[1])),
    "a value of no kind": lambda good: archive(told(good, provenance={"a": {"!": ["eval", "1"]}})),
    "a number with too many digits": lambda good: archive(
        told(good, seed=1).copy() | {"explanation.json": b"9" * 5000}
    ),
    "codes outside the categories": lambda good: archive(
        {**good, _named(good, "codes"): npy(np.array([9, 0], dtype="i1"))}
    ),
    "cells that are no json": lambda good: archive(
        {**good, _named(good, "2/cells"): npy(np.frombuffer(b"[1,", dtype="u1"))}
    ),
    "columns of different length": lambda good: archive({**good, _named(good, "0/cells"): npy(np.zeros(3))}),
}


def _flipped(content):
    place = content.index(b"\x93NUMPY") + 200
    return content[:place] + bytes([content[place] ^ 255]) + content[place + 1 :]


def _named(good, ending):
    return next(name for name in good if name.endswith(f"{ending}.npy") and name.startswith("rows/"))


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_with_one_clear_error(case, good, tmp_path):
    path = tmp_path / "hostile"
    path.write_bytes(CASES[case](good))
    with pytest.raises(StorageError, match=r"path='.*hostile' is no explanation that can be read: ") as refused:
        tp.load(path)
    assert isinstance(refused.value, ValueError)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 1000
    assert [file.name for file in tmp_path.iterdir()] == ["hostile"], "nothing is unpacked"


def test_the_good_file_is_good(good, tmp_path):
    (tmp_path / "fine").write_bytes(archive(good))
    assert tp.load(tmp_path / "fine").values.shape == (2, 3)


def test_every_truncation_is_refused(good, tmp_path):
    whole = archive(good)
    for length in np.random.default_rng(0).choice(len(whole), 60, replace=False):
        (tmp_path / "cut").write_bytes(whole[: int(length)])
        with pytest.raises(StorageError):
            tp.load(tmp_path / "cut")


def test_no_change_of_any_byte_does_worse_than_an_error(good, tmp_path):
    """Flipping a byte is caught by a checksum or a check, or changes nothing that is read."""
    whole = archive(good)
    draw = np.random.default_rng(1)
    expected = tp.explanation.storage.loads(whole).values
    for _ in range(150):
        place = int(draw.integers(len(whole)))
        changed = whole[:place] + bytes([whole[place] ^ (1 << int(draw.integers(8)))]) + whole[place + 1 :]
        (tmp_path / "flipped").write_bytes(changed)
        try:
            again = tp.load(tmp_path / "flipped")
        except StorageError:
            continue
        assert np.array_equal(again.values, expected)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"path='.*missing' does not exist"):
        tp.load(tmp_path / "missing")
    with pytest.raises(IsADirectoryError, match="is a directory"):
        tp.load(tmp_path)
    with pytest.raises(TypeError, match="path=3 has type int; allowed: text or a path"):
        tp.load(3)
