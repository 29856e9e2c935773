"""Tables of 2**n numbers, as numpy arrays or torch tensors, through the array API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def as_table(values: Any, parameter: str = "values") -> tuple[Any, Any, int]:
    """Check a table over coalitions and bring it to floating point.

    Integers and booleans become float64 (exactly, or refused); float32 tables of an accelerator stay float32.

    Args:
        values: Array of shape (..., 2**n), numpy, torch or anything numpy reads.
        parameter: The name the user gave it, for messages.

    Returns:
        The array namespace, the table and n.
    """
    table = values if array_api_compat.is_array_api_obj(values) else as_array(values, parameter)
    check_unmasked(table, parameter)
    if isinstance(table, np.ndarray) and table.dtype.kind not in "fiub":
        msg = f"{parameter} has dtype {table.dtype}; allowed: real numbers."
        raise TypeError(msg)
    xp = array_api_compat.array_namespace(table)
    if not xp.isdtype(table.dtype, ("real floating", "integral", "bool")):
        msg = f"{parameter} has dtype {table.dtype}; allowed: real numbers."
        raise TypeError(msg)
    if table.ndim == 0:
        msg = f"{parameter} is a single number; it needs a last axis of length 2**n."
        raise ValueError(msg)
    n_players = players_of(table.shape[-1], parameter)
    if not xp.isdtype(table.dtype, "real floating"):
        exact = xp.astype(table, xp.float64)
        if bool(xp.any(xp.astype(exact, table.dtype) != table)):
            msg = f"{parameter} holds integers that float64 cannot represent exactly; pass floats instead."
            raise ValueError(msg)
        table = exact
    if not bool(xp.all(xp.isfinite(table))):
        where = tuple(int(axis[0]) for axis in xp.nonzero(~xp.isfinite(table)))
        msg = f"{parameter} holds NaN or infinity, first at index {where}; every coalition needs a finite value."
        raise ValueError(msg)
    return xp, table, n_players


def as_array(data: Any, parameter: str, dtype: Any = None) -> NDArray[Any]:
    """Anything numpy reads as one array; rows of different lengths are refused by name.

    Args:
        data: What the user passed.
        parameter: The name the user gave it, for messages.
        dtype: As numpy takes it.

    Raises:
        ValueError: If rows differ in length.
    """
    try:
        return np.asarray(data, dtype=dtype)
    except ValueError as error:
        if "inhomogeneous" not in str(error) and "sequence" not in str(error):
            raise
        msg = f"{parameter} has rows of different lengths; every row needs the same number of entries."
        raise ValueError(msg) from error


def check_unmasked(data: Any, parameter: str) -> None:
    """Refuse a masked array with masked cells: what lies behind them would be read."""
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        msg = f"{parameter} is a masked array with masked cells; fill them first, e.g. with .filled(np.nan)."
        raise ValueError(msg)


def players_of(length: int, parameter: str = "values") -> int:
    """The n with 2**n == length, or a ValueError that says what was expected."""
    if length < 1 or length & (length - 1):
        msg = f"{parameter} has a last axis of length {length}; it must be a power of two, 2**n for n players."
        raise ValueError(msg)
    return length.bit_length() - 1


def to_numpy(array: Any) -> Any:
    """A numpy view or copy of any array, brought back from an accelerator if need be."""
    if isinstance(array, np.ndarray):
        return array
    if array_api_compat.is_torch_array(array):
        return array.detach().cpu().numpy()
    return np.asarray(array)
