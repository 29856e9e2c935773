"""Pictures of an Explanation. Importing this room gives it its `plot`; matplotlib is loaded on use."""

from __future__ import annotations

from taylorpoda.explanation import accessors
from taylorpoda.plots.accessor import PlotAccessor

accessors.register("plot", PlotAccessor)

__all__ = ["PlotAccessor"]
