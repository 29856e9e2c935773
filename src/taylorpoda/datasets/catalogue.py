"""The names `load` knows; a new data set is one entry here and one reader in `recipes`."""

from __future__ import annotations

from taylorpoda.datasets import recipes
from taylorpoda.datasets.recipes import Recipe, Source, openml, uci
from taylorpoda.datasets.records import read_csv

_MNIST = "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz"

RECIPES: dict[str, Recipe] = {
    "cancer": Recipe(
        file="breast_cancer_wisconsin_original.csv",
        parse=lambda content: recipes.cancer(read_csv(content)),
        sources=(uci(15, recipes.cancer), openml(15, recipes.cancer)),
        task="classification",
        names=tuple(aliases[0] for aliases in recipes.CANCER_COLUMNS),
        classes=("benign", "malignant"),
        shape=(683, 9),
        checksum="f66772e7253ba7de44a7fe914c77ac737d5fccdc386c5d047860333e7318e19a",
        description="Breast Cancer Wisconsin (Original): the 683 complete rows of 699, without the id.",
    ),
    "rice": Recipe(
        file="rice_cammeo_osmancik.csv",
        parse=lambda content: recipes.rice(read_csv(content)),
        sources=(uci(545, recipes.rice),),
        task="classification",
        names=recipes.RICE_COLUMNS,
        classes=("Cammeo", "Osmancik"),
        shape=(3810, 7),
        checksum="2e742a6870e439edf298573aa138b380672f63b2182e339b2eefa73e33680aa2",
        description="Rice (Cammeo and Osmancik): seven measures of 3,810 grains.",
    ),
    "titanic": Recipe(
        file="titanic.csv",
        parse=lambda content: recipes.titanic(read_csv(content)),
        sources=(
            Source(
                "https://raw.githubusercontent.com/mwaskom/seaborn-data/master/titanic.csv",
                lambda content: recipes.titanic(read_csv(content)),
            ),
        ),
        task="classification",
        names=recipes.TITANIC_COLUMNS,
        classes=("died", "survived"),
        shape=(712, 7),
        checksum="f0410003d99684ee94a650b3db17092e86bb90ac66e2efc0b9ba16596d1353b2",
        description=(
            "Titanic, the 712 of 891 passengers whose age and port are known; alone: no siblings, spouse, "
            "parents or children aboard; adult_male: male and at least 16."
        ),
    ),
    "abalone": Recipe(
        file="abalone.csv",
        parse=lambda content: recipes.abalone(read_csv(content)),
        sources=(uci(1, recipes.abalone), openml(44956, recipes.abalone)),
        task="regression",
        names=recipes.ABALONE_COLUMNS,
        classes=(),
        shape=(4177, 8),
        checksum="654832578e7ec4ea58aa6a747c12f31c765e651ddde6172012f128b3b8b3ff8f",
        description="Abalone: the rings of 4,177 shells; Sex coded F = 0, I (infant) = 1, M = 2.",
    ),
    "california": Recipe(
        file="california_housing.csv",
        parse=lambda content: recipes.california(read_csv(content)),
        sources=(
            Source("https://ndownloader.figshare.com/files/5976036", recipes.california_archive),
            openml(44977, recipes.california),
        ),
        task="regression",
        names=recipes.CALIFORNIA_COLUMNS,
        classes=(),
        shape=(20640, 8),
        checksum="424e44c6c3e20d5610809c952cb1e4505c88a4d47e4e24ffbba9d48ae2128124",
        description="California housing: median values of 20,640 blocks, in 100,000 dollars.",
    ),
    "concrete": Recipe(
        file="concrete.csv",
        parse=lambda content: recipes.concrete(read_csv(content)),
        sources=(uci(165, recipes.concrete), openml(44959, recipes.concrete)),
        task="regression",
        names=tuple(aliases[0] for aliases in recipes.CONCRETE_COLUMNS),
        classes=(),
        shape=(1030, 8),
        checksum="419000b095a845a81ca6f2b08136d97e1fa4a8f2996ff8b07fbf0099978d7124",
        description="Concrete compressive strength of 1,030 mixtures, rounded to two decimals.",
    ),
    "mnist38": Recipe(
        file="mnist_3_8.npz",
        parse=recipes.digits_38,
        sources=(
            Source(_MNIST, recipes.digits_38),
            openml(554, recipes.digits_38_records),
        ),
        task="classification",
        names=(),
        classes=("3", "8"),
        shape=(13966, 28, 28),
        checksum="0008f39e329430250e658928337aed5d8f8e03aa4e5ca001108b819db61f24ad",
        description="The digits 3 and 8 of MNIST, 11,982 to train and 1,984 to test on, 28 x 28 gray values.",
        train_rows=11982,
    ),
}
