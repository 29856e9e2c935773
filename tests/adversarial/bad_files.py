"""Files and paths that no explanation is saved to or read from."""

from __future__ import annotations

import io
import json
import pickle
import zipfile

import numpy as np

import taylorpoda as tp


class Evil:
    """Unpickling this would be an error of another kind."""

    def __reduce__(self):
        return (eval, ("1/0",))


def saved(w, name="good", **options):
    """A good file, as its members."""
    path = w.folder / name
    w.explanation(**options).save(path)
    with zipfile.ZipFile(path) as archive:
        return {member: archive.read(member) for member in archive.namelist()}


def load(w, members):
    """Load an archive of these members."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return tp.load(w.write("forged", stream.getvalue()))


def changed(w, **entries):
    """A good file whose header says something else."""
    members = saved(w)
    header = {**json.loads(members["explanation.json"]), **entries}
    return load(w, {**members, "explanation.json": json.dumps(header).encode()})


def replaced(w, name, array):
    """A good file with another array in it."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=array.dtype.kind == "O")
    return load(w, {**saved(w), name: stream.getvalue()})


def cut(w, length):
    saved(w)
    return tp.load(w.write("cut", (w.folder / "good").read_bytes()[:length]))


def flipped(w):
    saved(w)
    content = bytearray((w.folder / "good").read_bytes())
    content[content.index(b"\x93NUMPY") + 140] ^= 255
    return tp.load(w.write("flipped", bytes(content)))


def unstorable(w):
    """Rows that hold what no file can."""
    cells = np.array([[object(), object()], [object(), object()]], dtype=object)
    return tp.Explainer(lambda rows: np.zeros(len(rows)), cells, policy="shapley")(cells).save(w.folder / "objects")


CASES = {
    "load: not there": (lambda w: tp.load(w.folder / "nothing"), FileNotFoundError, "path=... does not exist."),
    "load: a folder": (
        lambda w: tp.load(w.folder),
        IsADirectoryError,
        "is a directory; the file of an explanation is needed.",
    ),
    "load: None": (lambda w: tp.load(None), TypeError, "path=None has type NoneType; allowed: text or a path."),
    "load: a number": (lambda w: tp.load(0), TypeError, "path=0 has type int; allowed: text or a path."),
    "load: an open file": (
        lambda w: tp.load(io.BytesIO(b"")),
        TypeError,
        "path=<_io.BytesIO object ...> has type BytesIO; allowed: text or a path.",
    ),
    "load: nothing in it": (
        lambda w: tp.load(w.write("empty", b"")),
        ValueError,
        "no explanation that can be read: it is not a whole archive",
    ),
    "load: text": (
        lambda w: tp.load(w.write("words", "a story")),
        ValueError,
        "no explanation that can be read: it is not a whole archive",
    ),
    "load: a table": (
        lambda w: tp.load(w.folder / "data.csv"),
        ValueError,
        "no explanation that can be read: it is not a whole archive",
    ),
    "load: a model": (
        lambda w: tp.load(w.folder / "model.json"),
        ValueError,
        "no explanation that can be read: it is not a whole archive",
    ),
    "load: a pickle": (
        lambda w: tp.load(w.write("pickle", pickle.dumps(Evil()))),
        ValueError,
        "no explanation that can be read: it is not a whole archive",
    ),
    "load: a gzip file": (
        lambda w: tp.load(w.write("zipped", b"\x1f\x8b\x08\0\0\0\0\0")),
        ValueError,
        "no explanation that can be read: it is not a whole archive",
    ),
    "load: another archive": (
        lambda w: load(w, {"a.txt": b"hello"}),
        ValueError,
        "no explanation that can be read: it has no explanation.json inside, so it was not written",
    ),
    "load: cut to 0 bytes of its directory": (
        lambda w: cut(w, -22),
        ValueError,
        "no explanation that can be read: it is not a whole archive",
    ),
    "load: cut in half": (
        lambda w: cut(w, 2000),
        ValueError,
        "no explanation that can be read: it is not a whole archive",
    ),
    "load: a bit turned": (
        flipped,
        ValueError,
        "no explanation that can be read: it is not a whole archive",
    ),
    "load: of another format": (
        lambda w: changed(w, format="tensor"),
        ValueError,
        "no explanation that can be read: its header is not that of an explanation",
    ),
    "load: a version that is text": (
        lambda w: changed(w, format_version="two"),
        ValueError,
        "no explanation that can be read: its header is not that of an explanation",
    ),
    "load: an engine that is a path": (
        lambda w: changed(w, engine="../../os"),
        ValueError,
        "no explanation that can be read: its parts do not fit together (ValueError:",
    ),
    "load: a header that lacks its subject": (
        lambda w: changed(w, subject=None),
        ValueError,
        "no explanation that can be read: its parts do not fit together",
    ),
    "load: a header that is a list": (
        lambda w: load(w, {**saved(w), "explanation.json": b"[1]"}),
        ValueError,
        "no explanation that can be read: its header is no mapping",
    ),
    "load: a member outside": (
        lambda w: load(w, {**saved(w), "../evil.npy": b"x"}),
        ValueError,
        "no explanation that can be read: it has a member of the name '../evil.npy', which no",
    ),
    "load: a program inside": (
        lambda w: load(w, {**saved(w), "setup.py": b"print(1)"}),
        ValueError,
        "no explanation that can be read: it has a member of the name 'setup.py', which no",
    ),
    "load: objects inside": (
        lambda w: replaced(w, "attributions.npy", np.array([[[Evil()]]], dtype=object)),
        ValueError,
        "no explanation that can be read: its member 'attributions.npy' holds object cells, which no",
    ),
    "load: NaN attributions": (
        lambda w: replaced(w, "attributions.npy", np.full((2, 1, 3), np.nan)),
        ValueError,
        "no explanation that can be read: its attributions has shape (2, 1, 3) and dtype float64, or",
    ),
    "load: attributions that do not add up": (
        lambda w: replaced(w, "attributions.npy", np.full((2, 1, 3), 9.0)),
        ValueError,
        "no explanation that can be read: its parts do not fit together (DiscrepancyError:",
    ),
    "load: attributions of other rows": (
        lambda w: replaced(w, "attributions.npy", np.zeros((7, 1, 3))),
        ValueError,
        "no explanation that can be read: its games do not belong to its attributions of shape (7,",
    ),
    "load: games of other players": (
        lambda w: replaced(w, "games/values.npy", np.zeros((2, 1, 16))),
        ValueError,
        "no explanation that can be read: its games do not belong to its attributions of shape (2,",
    ),
    "load: a utility that is text": (
        lambda w: tp.load(saved_path(w), utility="mine"),
        ValueError,
        "utility='mine' is not the one the file names, 'inclusion_aup'; allowed: None, or a Utility",
    ),
    "save: None": (
        lambda w: w.explanation().save(None),
        TypeError,
        "path=None has type NoneType; allowed: text or a path.",
    ),
    "save: a folder": (lambda w: w.explanation().save(w.folder), OSError, "is a directory; a file name is needed."),
    "save: a folder that is not there": (
        lambda w: w.explanation().save(w.folder / "no" / "file"),
        OSError,
        "path=... is in a folder that does not exist; make it first.",
    ),
    "save: rows that are objects": (
        unstorable,
        TypeError,
        "a cell of type builtins.object cannot be stored",
    ),
    "surrogate: a saved explanation": (
        lambda w: tp.masking.load_surrogate(saved_path(w)),
        ValueError,
        "holds no surrogate written by Surrogate.save.",
    ),
}


def saved_path(w):
    saved(w)
    return w.folder / "good"
