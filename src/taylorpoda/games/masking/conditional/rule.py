"""masking="conditional": the conditional expectation of the model's output, learned by a surrogate network."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Literal

from taylorpoda._support.choices import check_choice
from taylorpoda._support.integers import whole_number
from taylorpoda._support.memory import parse_memory
from taylorpoda._support.seeds import resolve_seed, stream
from taylorpoda.games.masking.base import MaskingContext
from taylorpoda.games.masking.conditional import recipe, training
from taylorpoda.games.masking.conditional.material import Material
from taylorpoda.games.masking.conditional.network import NumpyNetwork
from taylorpoda.games.masking.conditional.surrogate import scale_of
from taylorpoda.games.masking.conditional.threads import few_threads
from taylorpoda.games.masking.conditional.torch_network import TorchNetwork
from taylorpoda.games.models import bind_model
from taylorpoda.games.players import Players
from taylorpoda.games.tables import read_background

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from taylorpoda.games.masking.conditional.network import Activation, Network
    from taylorpoda.games.masking.conditional.surrogate import Surrogate

_STREAM = 62
_BACKENDS = ("auto", "numpy", "torch")
_SURROGATES = ("ours", "paper")
_LOSSES = ("auto", "squared", "kl")


class Conditional:
    """masking="conditional": v(S) is E[model output | x_S], learned from the background by one network for all S.

    Categories and missing cells are fine: a missing cell is a value like any other. A category the background never
    had, or a missing cell where the background has none, counts as unknown.

    Args:
        surrogate: "ours", or "paper" to train by the paper's recipe for comparison.
        backend: "numpy", "torch" (the extra; a GPU is used if there is one) or "auto": numpy, which is the faster one
            for networks this small, except that the recipe runs on torch where that is installed.
        loss: "squared"; "kl" for probabilities; "auto" takes "kl" where the outputs are probabilities of classes.
        steps: Batches of 512; None decides by the number of rows. More steps, more accuracy: 4,000 are worth their
            seconds on 20,000 rows.
        device: Where torch runs, e.g. "cuda:1"; None chooses.
        seed: Seed of the training; None for the explainer's.

    Example:
        >>> import numpy as np
        >>> import taylorpoda as tp
        >>> rows = np.random.default_rng(0).normal(size=(400, 3))
        >>> model = lambda x: x[:, 0] * x[:, 1] + x[:, 2]
        >>> surrogate = tp.masking.Conditional(seed=0).train(model, rows)
        >>> explainer = tp.Explainer(model, rows, masking=surrogate)
    """

    name = "conditional"

    def __init__(
        self,
        surrogate: Literal["ours", "paper"] = "ours",
        *,
        backend: Literal["auto", "numpy", "torch"] = "auto",
        loss: Literal["auto", "squared", "kl"] = "auto",
        steps: int | None = None,
        device: str | None = None,
        seed: int | None = None,
    ) -> None:
        self.surrogate = check_choice("surrogate", surrogate, _SURROGATES)
        self.backend = check_choice("backend", backend, _BACKENDS)
        self.loss = check_choice("loss", loss, _LOSSES)
        self.steps = None if steps is None else whole_number("steps", steps, least=1, allowed="None or an integer >= 1")
        self.device = device
        self.seed = None if seed is None else resolve_seed(seed, "seed")

    def fit(self, context: MaskingContext) -> Surrogate:
        """Train on a background and serve an explainer; the model is asked about each background row once."""
        return self._trained(context).fit(context)

    def _trained(self, context: MaskingContext) -> Surrogate:
        seed = context.seed if self.seed is None else self.seed
        generator = stream(seed, _STREAM)
        backend = self._backend()
        by_recipe = self.surrogate == "paper"
        share = recipe.HELDOUT if by_recipe else training.HELDOUT
        material = Material.of(context, self.loss, generator, share, unit=by_recipe)

        def build(parameters: list[NDArray[Any]], activation: Activation, decay: tuple[float, float]) -> Network:
            if backend == "torch":
                return TorchNetwork(parameters, activation, decay, self.device)
            return NumpyNetwork(parameters, activation, decay)

        if by_recipe:
            trained = recipe.train_by_recipe(material, build, generator)
        else:
            with few_threads():
                trained = training.train(material, build, generator, self.steps)
        return trained.noted(
            surrogate=self.surrogate,
            backend=backend,
            surrogate_seed=seed,
            loss=material.loss.kind,
            trained_on=scale_of(context.model),
        )

    def train(
        self,
        model: Any,
        background: Any,
        *,
        output: Any = None,
        link: Literal["logit"] | None = None,
        groups: Any = None,
        max_memory: Any = None,
    ) -> Surrogate:
        """Train without an explainer, to save the surrogate or to share it among several.

        Args:
            model: As `taylorpoda.Explainer` takes it.
            background: Rows to learn from: the more the better.
            output: Which output is explained; None for all.
            link: None or "logit".
            groups: Columns that enter and leave together.
            max_memory: Bytes (or "2GiB") arrays may take.

        Returns:
            A surrogate to pass as `masking=`.
        """
        bound = bind_model(model, output=output, link=link)
        table, weights = read_background(background, bound.quantity.feature_names)
        players = Players.from_groups(table.names, groups)
        seed = resolve_seed(self.seed)
        return self._trained(MaskingContext(table, weights, bound, players, seed, parse_memory(max_memory)))

    def _backend(self) -> str:
        if self.backend != "auto":
            return self.backend
        return "torch" if self.surrogate == "paper" and find_spec("torch") is not None else "numpy"
