"""Memory bounds: parse what the user wrote, find out what is free."""

from __future__ import annotations

import math
import operator
import os
import re
from pathlib import Path

_UNITS = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
_DEFAULT_SHARE = 4
_BEYOND_READING = 2**70


def free_memory() -> int:
    """Bytes this process could still use: what the machine has free, or less where a cgroup says so."""
    free = _machine_free()
    for limit_file, used_file in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
    ):
        try:
            limit, used = int(Path(limit_file).read_text()), int(Path(used_file).read_text())
        except (OSError, ValueError):
            continue
        free = min(free, max(limit - used, 0))
    return free


def _machine_free() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (ValueError, OSError, AttributeError):
        return 4 * 2**30


def parse_memory(max_memory: object) -> int:
    """The bound in bytes: a quarter of what is free for None, else the number or "2GiB", "500 MB".

    Raises:
        ValueError: If the text is not a number with a unit, or the bound is not positive.
        TypeError: If it is neither None, a number nor text.
    """
    if max_memory is None:
        return max(free_memory() // _DEFAULT_SHARE, 2**20)
    if isinstance(max_memory, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*", max_memory)
        if match is None or match[2].lower() not in _UNITS:
            msg = f'max_memory={max_memory!r} is not understood; allowed: bytes or text such as "2GiB", "500MB".'
            raise ValueError(msg)
        size = int(float(match[1]) * _UNITS[match[2].lower()])
    else:
        try:
            if isinstance(max_memory, bool):
                raise TypeError  # noqa: TRY301 - one message for every wrong type
            size = operator.index(max_memory)  # type: ignore[arg-type]
        except TypeError:
            msg = (
                f"max_memory={max_memory!r} has type {type(max_memory).__name__}; "
                'allowed: None, bytes as an integer, or text such as "2GiB".'
            )
            raise TypeError(msg) from None
    if size <= 0:
        msg = f'max_memory={max_memory!r} is not positive; allowed: None, bytes above 0, or text such as "2GiB".'
        raise ValueError(msg)
    return size


def human_bytes(size: float) -> str:
    """A size a person reads: 1536 -> "1.5 KiB", and beyond what any machine has "10**40 bytes"."""
    if size >= _BEYOND_READING:
        return f"10**{math.floor(math.log10(size))} bytes"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if size < 1024 or unit == "PiB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    raise AssertionError
