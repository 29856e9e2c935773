"""The paper's recipe step by step against the published network, built anew from torch's own parts."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from taylorpoda.games.masking.conditional import recipe
from taylorpoda.games.masking.conditional.loss import Loss
from taylorpoda.games.masking.conditional.network import NumpyNetwork, initial_parameters

torch = pytest.importorskip("torch")
PLAYERS, ROWS = 4, 90


def material(kind):
    draw = np.random.default_rng(3)
    features = draw.random((ROWS, PLAYERS))
    signal = features @ [3.0, -2.0, 1.0, 0.0]
    outputs = (1 / (1 + np.exp(-3 * signal)) if kind == "sigmoid" else 0.2 + 0.1 * signal)[:, None]
    weights = np.full(ROWS, 1 / ROWS)
    return SimpleNamespace(
        features=features,
        outputs=outputs,
        loss=Loss.of(kind, outputs, weights).in_unit_range(outputs),
        player_of_feature=np.arange(PLAYERS),
        players=SimpleNamespace(n_players=PLAYERS),
        weights=weights,
        train=np.arange(60),
        heldout=np.arange(60, ROWS),
        share=lambda rows: np.full(len(rows), 1 / len(rows)),
    )


def published(parameters):
    layers = []
    for weight, bias in zip(parameters[::2], parameters[1::2], strict=True):
        linear = torch.nn.Linear(*weight.shape)
        with torch.no_grad():
            linear.weight.copy_(torch.from_numpy(weight.T.copy()))
            linear.bias.copy_(torch.from_numpy(bias))
        layers += [linear, torch.nn.ELU()]
    return torch.nn.Sequential(*layers[:-1])


def published_loss(network, given, rows, coalitions):
    known = torch.from_numpy(coalitions.astype(np.float32))
    features = torch.from_numpy(given.features[rows].astype(np.float32))
    scores = network(torch.cat([features * known, known], dim=1))
    if given.loss.kind == "sigmoid":
        of_one = torch.from_numpy(given.outputs[rows, 0].astype(np.float32))
        target = torch.stack([1 - of_one, of_one], dim=1)
        return torch.nn.KLDivLoss(reduction="batchmean")(scores.log_softmax(dim=1), target)
    low, high = given.outputs.min(), given.outputs.max()
    target = torch.from_numpy(((given.outputs[rows] - low) / (high - low)).astype(np.float32))
    return torch.nn.MSELoss()(scores, target)


@pytest.mark.parametrize("kind", ["sigmoid", "squared"])
def test_steps_and_held_out_losses_are_the_published_ones(kind, monkeypatch):
    monkeypatch.setattr(recipe, "_COALITIONS_PER_ROW", 3)
    given = material(kind)
    heads = 2 if kind == "sigmoid" else 1
    start = initial_parameters([2 * PLAYERS, 16, 16, heads], np.random.default_rng(0), still=False)
    theirs = published(start)
    adam = torch.optim.Adam(theirs.parameters(), lr=1e-3)
    ours = NumpyNetwork([array.copy() for array in start], "elu", (0.9, 0.999))
    trainer = recipe._Trainer(given, ours, np.random.default_rng(1))
    drawn = []
    monkeypatch.setattr(
        recipe._Trainer, "_draw", lambda _, count: drawn.append(np.random.default_rng(count).random((count, 4)) < 0.5)
        or drawn[-1]
    )  # fmt: skip
    for step in range(30):
        rows = np.random.default_rng(step).integers(60, size=20)
        trainer._step(rows, 1e-3)
        adam.zero_grad()
        published_loss(theirs, given, rows, drawn[-1]).backward()
        adam.step()
    for mine, other in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert np.max(np.abs(mine - other.detach().numpy().T)) < 1e-4
    with torch.no_grad():
        expected = float(published_loss(theirs, given, trainer._heldout, trainer._coalitions))
    assert abs(trainer._loss() - expected) < 1e-4 * expected + 1e-6


def test_two_scores_are_one_log_odds():
    draw = np.random.default_rng(0)
    hidden, weight = draw.normal(size=(5, 16)).astype(np.float32), draw.normal(size=(16, 2)).astype(np.float32)
    scores = hidden @ weight
    softmax = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    joined = hidden @ recipe._log_odds(weight, 1)
    assert np.max(np.abs(1 / (1 + np.exp(-joined[:, 0])) - softmax[:, 1])) < 1e-6


def test_numbers_are_matched_in_the_unit_range_whatever_their_unit():
    outputs = np.array([[-3.0, 7.0], [1.0, 7.0], [5.0, 7.0]])
    loss = Loss.of("squared", outputs, np.full(3, 1 / 3)).in_unit_range(outputs)
    assert np.array_equal(loss.targets(outputs), [[0.0, 0.0], [0.5, 0.0], [1.0, 0.0]])
    assert np.array_equal(loss.outputs(loss.targets(outputs)), outputs)
