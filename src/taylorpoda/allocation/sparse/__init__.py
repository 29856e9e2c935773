"""Policies on sparse dividends: any number of players, no table of all coalitions."""

from __future__ import annotations

from taylorpoda.allocation.sparse.base import SparseGames
from taylorpoda.allocation.sparse.front import SPARSE_POLICIES, allocate_sparse, score_sparse

__all__ = ["SPARSE_POLICIES", "SparseGames", "allocate_sparse", "score_sparse"]
