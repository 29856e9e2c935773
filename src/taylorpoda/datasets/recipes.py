"""The data sets of the paper: which file, which rows and columns of it, where it can be downloaded."""

from __future__ import annotations

import io
import json
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from taylorpoda.datasets.records import DataFormatError, Records, read_arff, read_csv

Arrays = tuple[NDArray[Any], NDArray[Any]]
Parser = Callable[[bytes], Arrays]

_UCI = "https://archive.ics.uci.edu/static/public"
_OPENML = "https://www.openml.org/api/v1/json/data"


@dataclass(frozen=True)
class Source:
    """One place a data set can be downloaded from.

    Attributes:
        url: Its address.
        parse: Reads the bytes found there, or at the address that `follow` finds in them.
        follow: Reads the address of the data out of a description (OpenML's), where there is one.
    """

    url: str
    parse: Parser
    follow: Callable[[bytes], str] | None = None


@dataclass(frozen=True)
class Recipe:
    """How a data set is made.

    Attributes:
        file: Its file name in the directory TAYLORPODA_DATA.
        parse: Reads that file.
        sources: Where to download it, in order of preference.
        task: "classification" or "regression".
        names: The features.
        classes: What 0 and 1 stand for.
        shape: Its shape, which every form of it must have.
        checksum: Its content (see `content_checksum`).
        description: One sentence on what it is and what was kept.
        train_rows: How many leading rows are the official training part, where there is one.
    """

    file: str
    parse: Parser
    sources: tuple[Source, ...]
    task: str
    names: tuple[str, ...]
    classes: tuple[str, ...]
    shape: tuple[int, ...]
    checksum: str
    description: str
    train_rows: int | None = None


def uci(number: int, parse: Callable[[Records], Arrays]) -> Source:
    """The CSV the UCI repository serves for one of its data sets."""
    return Source(f"{_UCI}/{number}/data.csv", lambda content: parse(read_csv(content)))


def openml(number: int, parse: Callable[[Records], Arrays]) -> Source:
    """The ARFF file an OpenML description points to."""
    return Source(f"{_OPENML}/{number}", lambda content: parse(read_arff(content)), _openml_address)


def _openml_address(content: bytes) -> str:
    try:
        address = str(json.loads(content)["data_set_description"]["url"])
    except (ValueError, KeyError, TypeError) as error:
        msg = f"not an OpenML description: {error}"
        raise DataFormatError(msg) from error
    if not address.startswith(("http://", "https://")):
        msg = f"an OpenML description that points to {address!r}, which is not an http or https address."
        raise DataFormatError(msg)
    return address


def cancer(records: Records) -> Arrays:
    """The complete rows of Breast Cancer Wisconsin (Original); 1 = malignant."""
    features = np.column_stack([records.numbers(*aliases) for aliases in CANCER_COLUMNS])
    classes = records.codes({"2": 0, "4": 1, "benign": 0, "malignant": 1}, "Class")
    complete = ~np.isnan(features).any(axis=1)
    return features[complete], classes[complete]


def rice(records: Records) -> Arrays:
    """Cammeo (0) and Osmancik (1)."""
    features = np.column_stack([records.numbers(name) for name in RICE_COLUMNS])
    return features, records.codes({"Cammeo": 0, "Osmancik": 1}, "Class")


def titanic(records: Records) -> Arrays:
    """The passengers whose age and port are known; survivors are 1."""
    age, fare, port = records.numbers("Age"), records.numbers("Fare"), records.column("Embarked")
    siblings, parents = records.numbers("SibSp"), records.numbers("Parch")
    adult_male = (np.array(records.column("Sex")) == "male") & (age >= 16)
    alone = (siblings == 0) & (parents == 0)
    features = np.column_stack([age, fare, records.numbers("Pclass"), siblings, parents, alone, adult_male])
    known = ~np.isnan(age) & np.array([cell != "" for cell in port])
    return features[known], records.codes({"0": 0, "1": 1}, "Survived")[known]


def abalone(records: Records) -> Arrays:
    """Eight features, Sex coded F = 0, I = 1, M = 2."""
    sex = records.codes({"F": 0, "I": 1, "M": 2}, "Sex")
    rest = [records.numbers(name) for name in ABALONE_COLUMNS[1:]]
    return np.column_stack([sex, *rest]), records.numbers("Rings", "Class_number_of_rings")


def california(records: Records) -> Arrays:
    """Blocks in scikit-learn's form: averages per household, the value in 100,000 dollars."""
    if "MedInc" in records.header:
        features = np.column_stack([records.numbers(name) for name in CALIFORNIA_COLUMNS])
        return features, records.numbers("MedHouseVal")
    households, population = records.numbers("households"), records.numbers("population")
    if not (households > 0).all():
        msg = "column 'households' holds a cell that is not a positive number."
        raise DataFormatError(msg)
    features = np.column_stack(
        [
            records.numbers("medianIncome"),
            records.numbers("housingMedianAge"),
            records.numbers("totalRooms") / households,
            records.numbers("totalBedrooms") / households,
            population,
            population / households,
            records.numbers("latitude"),
            records.numbers("longitude"),
        ]
    )
    return features, records.numbers("medianHouseValue") / 100_000.0


def california_archive(content: bytes) -> Arrays:
    """The archive scikit-learn downloads."""
    wanted = "CaliforniaHousing/cal_housing.data"
    try:
        with tarfile.open(fileobj=io.BytesIO(content), mode="r:*") as archive:
            member = archive.extractfile(wanted)
            table = b"" if member is None else member.read()
    except KeyError as error:
        msg = f"the archive has no {wanted}."
        raise DataFormatError(msg) from error
    except (tarfile.TarError, EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as error:
        msg = f"not a whole tar archive: {error}"
        raise DataFormatError(msg) from error
    header = (
        "longitude,latitude,housingMedianAge,totalRooms,totalBedrooms,population,households,"
        "medianIncome,medianHouseValue"
    )
    return california(read_csv(table, header.split(",")))


def concrete(records: Records) -> Arrays:
    """Eight ingredients and the strength, to two decimals."""
    features = np.column_stack([records.numbers(*aliases) for aliases in CONCRETE_COLUMNS])
    target = records.numbers("Concrete compressive strength", "strength", "Concrete_compressive_strength")
    return features, np.round(target, 2)


def digits_38(content: bytes) -> Arrays:
    """The digits 3 (0) and 8 (1), the training part first."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            arrays = {name: _member(archive, name) for name in ("x_train", "y_train", "x_test", "y_test")}
    except zipfile.BadZipFile as error:
        begin = f"it begins with {content[:12]!r}" if content else "it is empty"
        msg = f"not a whole .npz archive: {error} ({begin})."
        raise DataFormatError(msg) from error
    for part in ("train", "test"):
        images, digits = arrays[f"x_{part}"], arrays[f"y_{part}"]
        if images.shape[1:] != (28, 28) or digits.shape != images.shape[:1]:
            msg = (
                f"x_{part} has shape {images.shape} and y_{part} {digits.shape}; they must have (rows, 28, 28) and "
                "(rows,)."
            )
            raise DataFormatError(msg)
    images, digits = (np.concatenate([arrays[f"{kind}_train"], arrays[f"{kind}_test"]]) for kind in "xy")
    return _three_or_eight(images, digits)


def _member(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """One array of numbers; its bytes are checked before its shape is believed, which may ask for any memory."""
    try:
        content = archive.read(f"{name}.npy")
    except KeyError as error:
        msg = f"the archive lacks {name!r}; it needs x_train, y_train, x_test, y_test."
        raise DataFormatError(msg) from error
    # What the formats, the compression and a password that is wanted raise.
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, ValueError, RuntimeError) as error:
        msg = f"{name} of the archive is damaged: {error}"
        raise DataFormatError(msg) from error
    try:
        array: NDArray[Any] = np.lib.format.read_array(io.BytesIO(content), allow_pickle=False)
    except (ValueError, EOFError) as error:
        msg = f"{name} of the archive is not an array of numbers."
        raise DataFormatError(msg) from error
    if array.dtype.kind not in "biuf":
        msg = f"{name} of the archive has dtype {array.dtype}; it must hold numbers."
        raise DataFormatError(msg)
    return array


def digits_38_records(records: Records) -> Arrays:
    """The same from OpenML's table of 784 pixels and a class."""
    if len(records.header) != 785:
        msg = f"the table has {len(records.header)} columns; it must have 784 pixels and a class."
        raise DataFormatError(msg)
    try:
        pixels = np.array([row[:-1] for row in records.rows], dtype=np.float64)
    except ValueError as error:
        msg = f"a pixel that is not a number: {error}"
        raise DataFormatError(msg) from error
    return _three_or_eight(pixels.reshape(-1, 28, 28), records.numbers("class"))


def _three_or_eight(images: NDArray[Any], digits: NDArray[Any]) -> Arrays:
    kept = (digits == 3) | (digits == 8)
    chosen = images[kept]
    if not ((chosen >= 0) & (chosen <= 255) & (chosen == np.floor(chosen))).all():
        msg = "a pixel is not a whole number from 0 to 255."
        raise DataFormatError(msg)
    return chosen.astype(np.uint8), (digits[kept] == 8).astype(np.int64)


CANCER_COLUMNS = (
    ("Clump_thickness",),
    ("Uniformity_of_cell_size", "Cell_Size_Uniformity"),
    ("Uniformity_of_cell_shape", "Cell_Shape_Uniformity"),
    ("Marginal_adhesion",),
    ("Single_epithelial_cell_size", "Single_Epi_Cell_Size"),
    ("Bare_nuclei",),
    ("Bland_chromatin",),
    ("Normal_nucleoli",),
    ("Mitoses",),
)
RICE_COLUMNS = (
    "Area",
    "Perimeter",
    "Major_Axis_Length",
    "Minor_Axis_Length",
    "Eccentricity",
    "Convex_Area",
    "Extent",
)
TITANIC_COLUMNS = ("age", "fare", "pclass", "sibsp", "parch", "alone", "adult_male")
ABALONE_COLUMNS = (
    "Sex",
    "Length",
    "Diameter",
    "Height",
    "Whole_weight",
    "Shucked_weight",
    "Viscera_weight",
    "Shell_weight",
)
CALIFORNIA_COLUMNS = (
    "MedInc",
    "HouseAge",
    "AveRooms",
    "AveBedrms",
    "Population",
    "AveOccup",
    "Latitude",
    "Longitude",
)
CONCRETE_COLUMNS = (
    ("Cement",),
    ("Blast Furnace Slag",),
    ("Fly Ash",),
    ("Water",),
    ("Superplasticizer",),
    ("Coarse Aggregate",),
    ("Fine Aggregate",),
    ("Age",),
)
