"""HTML in which only what was written here is markup: any other text is escaped, whoever named it."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_VOID = frozenset({"br", "circle", "line", "link", "meta", "path", "polyline", "rect"})


class Markup(str):
    """Text that is already markup; plain `str` never is."""

    __slots__ = ()


def escape(text: object) -> Markup:
    """Any text as markup: Markup as it is, everything else with <, >, & and both quotes escaped.

    Lone surrogates, which no UTF-8 file holds, and control characters, which no HTML may, become "?".
    """
    if isinstance(text, Markup):
        return text
    clean = str(text).encode("utf-8", "replace").decode("utf-8")
    clean = "".join(mark if mark.isprintable() or mark in "\n\t " else _harmless(mark) for mark in clean)
    return Markup(html.escape(clean, quote=True))


def _harmless(mark: str) -> str:
    """Spaces and joiners of other scripts stay; what controls a terminal or the direction of writing does not."""
    code = ord(mark)
    control = code < 0x20 or 0x7F <= code < 0xA0
    direction = code in {0x200E, 0x200F, 0x061C} or 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069
    return "?" if control or direction or code & 0xFFFE == 0xFFFE else mark


def join(parts: Iterable[object], separator: str = "") -> Markup:
    """Many pieces as one, each escaped unless it is markup."""
    return Markup(escape(separator).join(escape(part) for part in parts))


def tag(element: str, /, *children: object, **attributes: object) -> Markup:
    """An element.

    Args:
        element: Its name.
        *children: What is in it; text is escaped, Markup is not, None is left out.
        **attributes: Its attributes, values escaped. A trailing underscore is dropped (`class_`), other
            underscores become hyphens, None leaves the attribute out, True writes it empty.

    Returns:
        The element.

    Example:
        >>> tag("p", "1 < 2", class_="note")
        '<p class="note">1 &lt; 2</p>'
    """
    written = []
    for key, value in attributes.items():
        plain = key.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        written.append(f' {plain}="{"" if value is True else escape(value)}"')
    head = f"<{element}{''.join(written)}"
    if element in _VOID and not children:
        return Markup(f"{head}/>")
    return Markup(f"{head}>{join(child for child in children if child is not None)}</{element}>")


def scrolling(content: Markup, label: str) -> Markup:
    """Something wide in a box of its own, which a keyboard can scroll too."""
    return tag("div", content, class_="scroll", role="region", aria_label=label, tabindex=0)
