"""Tables as spreadsheets and other programs write them: read as they mean it, or refused in words."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import numpy as np
import pytest

from taylorpoda.cli.data_files import load_data
from taylorpoda.cli.errors import InputError

READ = {
    "semicolons": ("a;b, c;d\n1;2.5;0\n3;4;0\n", {"a": [1, 3], "b, c": [2.5, 4.0], "d": [0, 0]}, True),
    "decimal commas": ('a;b\n1;2,5\n3;"4,25"\n', {"a": [1, 3], "b": [2.5, 4.25]}, True),
    "semicolons after a mark": ('\ufeff"a";b\r\n1;x,y\r\n', {"a": [1], "b": ["x,y"]}, True),
    "texts with commas": ("a;b\n1;2,5\n3;four\n", {"a": [1, 3], "b": ["2,5", "four"]}, True),
    "a quoted name with semicolons": ('"a;b;c",d\n1,2\n', {"a;b;c": [1], "d": [2]}, False),
    "a mark and carriage returns": ("\ufeffa,b\r\n1,2\r\n", {"a": [1], "b": [2]}, False),
    "quoted commas": ('a,"b, c"\n1,"x, y"\n', {"a": [1], "b, c": ["x, y"]}, False),
    "rows labeled without a name": ("a,b\nr1,1,2\nr2,3,4\n", {"a": [1, 3], "b": [2, 4]}, False),
    "a last column that is empty": ("a,b\n1,\n2,\n", {"a": [1, 2], "b": [np.nan, np.nan]}, False),
    "a line break in a name": ('"a\nb",c\n1,2\n', {"a\nb": [1], "c": [2]}, False),
}


@pytest.mark.parametrize("case", READ)
def test_it_is_read(case, tmp_path):
    text, expected, remarked = READ[case]
    path = tmp_path / "data.csv"
    path.write_bytes(text.encode())
    frame = load_data(path, "DATA")
    assert list(frame.columns) == list(expected)
    for name, cells in expected.items():
        assert repr(frame[name].tolist()) == repr(cells)
    assert frame.attrs.get("remark") == (f"{path} is separated by ';'" if remarked else None)


@pytest.mark.parametrize(
    "text", ["a,b,c\n1,2,3,\n4,5,6,\n", "a,b\n0,1,\n1,2,\n", "a;b\n0;1;\n1;2;\n", "a,b\n1,2,3,4\n", "a,b\nx,1,\ny,2,\n"]
)
def test_lines_longer_than_the_header_are_no_row_labels(text, tmp_path):
    """Each column once held its neighbor's cells, without a word."""
    path = tmp_path / "data.csv"
    path.write_text(text)
    with pytest.raises(InputError, match="have more cells than its header has names"):
        load_data(path, "DATA")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16"])
def test_other_encodings_are_named(encoding, tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes("größe,b\n1,2\n".encode(encoding))
    with pytest.raises(InputError, match="is not written in UTF-8"):
        load_data(path, "DATA")


def test_standard_input_is_read_alike(monkeypatch):
    monkeypatch.setattr("sys.stdin", StringIO("a;b\n1;2,5\n"))
    assert load_data(Path("-"), "DATA").to_dict("list") == {"a": [1], "b": [2.5]}
