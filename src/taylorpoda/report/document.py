"""The frame of a page that needs nothing but itself and runs nothing."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources

from taylorpoda._version import __version__
from taylorpoda.report.markup import Markup, join, tag


def document(title: str, *body: object) -> str:
    """A whole HTML document.

    Its policy forbids scripts, frames, forms and every resource from elsewhere; the one style sheet is
    allowed by its own hash.

    Args:
        title: The title of the page; escaped, like all text.
        *body: What is on it.

    Returns:
        The document.
    """
    css = resources.files("taylorpoda.report").joinpath("page.css").read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(css.encode("utf-8")).digest()).decode("ascii")
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="generator", content=f"taylorpoda {__version__}"),
        tag("title", title),
        Markup(f"<style>{css}</style>"),
    )
    return f"<!doctype html>\n{tag('html', head, tag('body', join(body)), lang='en')}\n"
