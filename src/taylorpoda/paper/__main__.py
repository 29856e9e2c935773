"""`python -m taylorpoda.paper` is `taylorpoda reproduce`."""

from __future__ import annotations

from taylorpoda.paper.command import app

if __name__ == "__main__":
    app(prog_name="taylorpoda reproduce")
