"""Tables of values that are none: what every function over 2**n numbers refuses."""

from __future__ import annotations

import numpy as np

import taylorpoda as tp

NAN, INF = float("nan"), float("inf")

CASES = {
    "harsanyi: NaN": (
        lambda w: tp.harsanyi([0.0, NAN]),
        ValueError,
        "values holds NaN or infinity, first at index (1,); every coalition needs a finite value.",
    ),
    "harsanyi: infinity": (
        lambda w: tp.harsanyi([[0.0, 1], [0, -INF]]),
        ValueError,
        "values holds NaN or infinity, first at index (1, 1); every coalition needs a finite value.",
    ),
    "harsanyi: three numbers": (
        lambda w: tp.harsanyi([0.0, 1, 2]),
        ValueError,
        "values has a last axis of length 3; it must be a power of two, 2**n for n players.",
    ),
    "harsanyi: no numbers": (
        lambda w: tp.harsanyi([]),
        ValueError,
        "values has a last axis of length 0; it must be a power of two, 2**n for n players.",
    ),
    "harsanyi: one number": (
        lambda w: tp.harsanyi(3.0),
        ValueError,
        "values is a single number; it needs a last axis of length 2**n.",
    ),
    "harsanyi: text": (lambda w: tp.harsanyi(["a", "b"]), TypeError, "values has dtype <U1; allowed: real numbers."),
    "harsanyi: None": (lambda w: tp.harsanyi(None), TypeError, "values has dtype object; allowed: real numbers."),
    "harsanyi: None among numbers": (
        lambda w: tp.harsanyi([0.0, None]),
        TypeError,
        "values has dtype object; allowed: real numbers.",
    ),
    "harsanyi: complex": (
        lambda w: tp.harsanyi([0j, 1j]),
        TypeError,
        "values has dtype complex128; allowed: real numbers.",
    ),
    "harsanyi: dates": (
        lambda w: tp.harsanyi(np.array(["2020-01-01", "NaT"], dtype="M8[D]")),
        TypeError,
        "values has dtype datetime64[D]; allowed: real numbers.",
    ),
    "harsanyi: a dictionary": (
        lambda w: tp.harsanyi({0: 1.0, 1: 2.0}),
        TypeError,
        "values has dtype object; allowed: real numbers.",
    ),
    "harsanyi: ragged rows": (
        lambda w: tp.harsanyi([[0.0, 1], [0.0]]),
        (ValueError, TypeError),
        "values has rows of different lengths; every row needs the same number of entries.",
    ),
    "harsanyi: integers beyond float64": (
        lambda w: tp.harsanyi([0, 2**53 + 1]),
        ValueError,
        "values holds integers that float64 cannot represent exactly; pass floats instead.",
    ),
    "harsanyi: integers beyond int64": (
        lambda w: tp.harsanyi([0, 2**70 + 1]),
        (TypeError, ValueError),
        "values has dtype object; allowed: real numbers.",
    ),
    "harsanyi: records": (
        lambda w: tp.harsanyi(np.zeros(2, dtype=[("a", "f8")])),
        TypeError,
        "values has dtype [('a', '<f8')]; allowed: real numbers.",
    ),
    "harsanyi: masked": (
        lambda w: tp.harsanyi(np.ma.masked_equal([0.0, 1.0], 1)),
        ValueError,
        "values is a masked array with masked cells; fill them first, e.g. with .filled(np.nan).",
    ),
    "harsanyi: a generator": (
        lambda w: tp.harsanyi(x for x in (0.0, 1.0)),
        TypeError,
        "values has dtype object; allowed: real numbers.",
    ),
    "values_from: NaN": (
        lambda w: tp.values_from([0.0, NAN]),
        ValueError,
        "dividends holds NaN or infinity, first at index (1,); every coalition needs a finite value.",
    ),
    "values_from: five numbers": (
        lambda w: tp.values_from(range(5)),
        ValueError,
        "dividends has a last axis of length 5; it must be a power of two, 2**n for n players.",
    ),
    "values_from: text": (lambda w: tp.values_from("ab"), TypeError, "dividends has dtype <U2; allowed: real numbers."),
    "TableGame: three axes": (
        lambda w: tp.TableGame(np.zeros((2, 2, 4))),
        ValueError,
        "values has shape (2, 2, 4); allowed: (2**n,) or (outputs, 2**n).",
    ),
    "TableGame: NaN": (
        lambda w: tp.TableGame([NAN]),
        ValueError,
        "values holds NaN or infinity, first at index (0,); every coalition needs a finite value.",
    ),
    "TableGame: coalitions of other players": (
        lambda w: tp.TableGame([0.0, 1.0])(np.ones((1, 2), dtype=bool)),
        ValueError,
        "coalitions has shape (1, 2); expected (m, 1).",
    ),
    "TableGame: coalitions of numbers": (
        lambda w: tp.TableGame(w.values)(np.array([[0, 2, 1]])),
        (TypeError, ValueError),
        "coalitions has dtype int64; allowed: booleans, True where a player is present.",
    ),
    "TableGame: one coalition without its axis": (
        lambda w: tp.TableGame([0.0, 1.0])(np.array([True])),
        ValueError,
        "coalitions has shape (1,); expected (m, 1).",
    ),
    "tabulate: no game": (
        lambda w: tp.tabulate("game", 2),
        TypeError,
        "game has type str; it must be a callable v(bool[m, n]) -> (m,) or (m, outputs).",
    ),
    "tabulate: negative players": (
        lambda w: tp.tabulate(lambda s: s[:, 0], -1),
        ValueError,
        "n_players=-1 is negative; it must be an integer >= 0.",
    ),
    "tabulate: half a player": (
        lambda w: tp.tabulate(lambda s: s[:, 0], 1.5),
        TypeError,
        "n_players=1.5 has type float; it must be an integer >= 0.",
    ),
    "tabulate: players as text": (
        lambda w: tp.tabulate(lambda s: s[:, 0], "3"),
        TypeError,
        "n_players='3' has type str; it must be an integer >= 0.",
    ),
    "tabulate: 60 players": (
        lambda w: tp.tabulate(lambda s: s[:, 0], 60),
        ValueError,
        "n_players=60 needs 2**60 values, at least 8192.0 PiB, and max_memory is ...; use fewer players or groups",
    ),
    "tabulate: no chunk": (
        lambda w: tp.tabulate(lambda s: s[:, 0], 2, chunk=0),
        ValueError,
        "chunk=0 is not allowed; allowed: None, or the number of coalitions per call, an integer >= 1.",
    ),
    "tabulate: chunk of text": (
        lambda w: tp.tabulate(lambda s: s[:, 0], 2, chunk="all"),
        TypeError,
        "chunk='all' has type str; allowed: None, or the number of coalitions per call, an integer",
    ),
    "tabulate: NaN": (
        lambda w: tp.tabulate(lambda s: np.where(s.all(axis=1), NAN, 1.0), 2),
        ValueError,
        "the game gave NaN or infinity for coalition {0, 1}; every coalition needs a finite value.",
    ),
    "tabulate: one number for all": (
        lambda w: tp.tabulate(lambda s: 1.0, 2),
        ValueError,
        "the game gave shape () for 4 rows; allowed: (4,), (4, 1) or (4, outputs).",
    ),
    "tabulate: too few numbers": (
        lambda w: tp.tabulate(lambda s: s[1:, 0], 2),
        ValueError,
        "the game gave shape (3,) for 4 rows; allowed: (4,), (4, 1) or (4, outputs).",
    ),
    "tabulate: nothing": (
        lambda w: tp.tabulate(lambda s: None, 2),
        TypeError,
        "the game gave objects such as None; real numbers are needed. For a classifier pass the",
    ),
    "tabulate: text": (
        lambda w: tp.tabulate(lambda s: np.full(len(s), "no"), 2),
        TypeError,
        "the game gave <U2 values (such as 'no'); real numbers are needed. For a classifier pass the",
    ),
    "tabulate: complex": (
        lambda w: tp.tabulate(lambda s: s[:, 0] * 1j, 2),
        TypeError,
        "the game gave complex128 values (such as '0j'); real numbers are needed. For a classifier",
    ),
    "tabulate: a game that raises": (
        lambda w: tp.tabulate(lambda s: 1 / 0, 2),
        ValueError,
        "the game raised ZeroDivisionError on 4 coalitions starting at {}: division by zero",
    ),
    "tabulate: outputs that change": (
        lambda w: tp.tabulate(lambda s: np.zeros((len(s), 1 + int(s[0, 1]))), 2, chunk=1),
        ValueError,
        "the game gave 2 outputs for coalitions 2.. but 1 before.",
    ),
    "tabulate: three axes": (
        lambda w: tp.tabulate(lambda s: np.zeros((len(s), 1, 1)), 2),
        ValueError,
        "the game gave shape (4, 1, 1) for 4 rows; allowed: (4,), (4, 1) or (4, outputs).",
    ),
    "tabulate: a table beyond memory": (
        lambda w: tp.tabulate(lambda s: s[:, 0], 20, max_memory="1MB"),
        ValueError,
        "n_players=20 needs 2**20 values, at least 8.0 MiB, and max_memory is ...; use fewer players or groups",
    ),
    "tabulate: memory of no unit": (
        lambda w: tp.tabulate(lambda s: s[:, 0], 2, max_memory="2 elephants"),
        ValueError,
        'max_memory=\'2 elephants\' is not understood; allowed: bytes or text such as "2GiB", "500MB".',
    ),
    "tabulate: memory below zero": (
        lambda w: tp.tabulate(lambda s: s[:, 0], 2, max_memory=-1),
        ValueError,
        'max_memory=-1 is not positive; allowed: None, bytes above 0, or text such as "2GiB".',
    ),
    "tabulate: memory as a list": (
        lambda w: tp.tabulate(lambda s: s[:, 0], 2, max_memory=[1]),
        TypeError,
        'max_memory=[1] has type list; allowed: None, bytes as an integer, or text such as "2GiB".',
    ),
    "shapley: NaN": (
        lambda w: tp.methods.shapley([0.0, NAN]),
        ValueError,
        "values holds NaN or infinity, first at index (1,); every coalition needs a finite value.",
    ),
    "occlusion: six numbers": (
        lambda w: tp.methods.occlusion(np.zeros(6)),
        ValueError,
        "values has a last axis of length 6; it must be a power of two, 2**n for n players.",
    ),
    "occlusion: a patch of a stranger": (
        lambda w: tp.methods.occlusion(w.values, patches=[[0, 5]]),
        ValueError,
        "patches[0] holds player 5; allowed: 0 to 2.",
    ),
    "occlusion: an empty patch": (
        lambda w: tp.methods.occlusion(w.values, patches=[[]]),
        ValueError,
        "patches[0] is empty; a patch holds at least one player.",
    ),
    "occlusion: per player without patches": (
        lambda w: tp.methods.occlusion(w.values, per_player=True),
        ValueError,
        "per_player=True needs patches=; without patches every player has its own effect already.",
    ),
    "weighted_shap: no players": (
        lambda w: tp.methods.weighted_shap([1.0]),
        ValueError,
        "values has shape (1,): a game without players; WeightedSHAP needs n >= 1.",
    ),
    "weighted_shap: labels missing": (
        lambda w: tp.methods.weighted_shap(w.values, utility="inclusion_auc"),
        ValueError,
        "utility='inclusion_auc' compares with the labels: give target= (in an explainer, y=): 0 or",
    ),
    "prediction_difference: another form": (
        lambda w: tp.methods.prediction_difference(w.values, form="ratio"),
        ValueError,
        "form='ratio' is not known. Did you mean 'information'? Allowed: 'difference',",
    ),
    "prediction_difference: no probabilities": (
        lambda w: tp.methods.prediction_difference(w.values, form="evidence"),
        ValueError,
        "form='evidence' is not known. Did you mean 'difference'? Allowed: 'difference',",
    ),
    "taylorpoda: shares of a stranger": (
        lambda w: tp.methods.taylorpoda(w.values, shares={9: [0.5, 0.5, 0]}),
        ValueError,
        "shares has the key 9; with 3 players keys are 0 to 7.",
    ),
    "compare: an unknown method": (
        lambda w: tp.methods.compare(w.values, methods=["shap"]),
        ValueError,
        "method='shap' is not known. Did you mean 'shapley'? Allowed: 'lime', 'occlusion',",
    ),
    "compare: others that do not fit": (
        lambda w: tp.methods.compare(w.values, others={"mine": [1.0, 2.0]}),
        ValueError,
        "attributions have shape (2,); the last axis must hold 3 players.",
    ),
    "audit: an unknown name": (
        lambda w: tp.audit("sharpley", 3),
        ValueError,
        "method='sharpley' is not known. Did you mean 'shapley'? Allowed: 'lime', 'occlusion',",
    ),
    "audit: one player": (
        lambda w: tp.audit("shapley", 1),
        ValueError,
        "n_players=1; allowed: 2 to 10 (one player has no interactions to share).",
    ),
    "audit: players as text": (
        lambda w: tp.audit("shapley", "three"),
        TypeError,
        "n_players='three' has type str; it must be an integer.",
    ),
    "audit: a number": (
        lambda w: tp.audit(7, 3),
        TypeError,
        "method=7 has type int; allowed: a callable values -> attributions, the name of a registered",
    ),
    "audit: no family": (
        lambda w: tp.audit([], 3),
        ValueError,
        "method is a family with no members; allowed: one or more callables values -> attributions.",
    ),
    "audit: a method that is not linear": (
        lambda w: tp.audit(lambda v: np.square(v[:3]), 3),
        ValueError,
        "method=<lambda>.<locals>.<lambda> is not linear in the game: a game is not attributed as",
    ),
    "audit: a method of another shape": (
        lambda w: tp.audit(lambda v: v[:2], 3),
        ValueError,
        "method=<lambda>.<locals>.<lambda> gave shape (2,) for 8 values; expected (3,).",
    ),
}
