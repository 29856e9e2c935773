"""What the tests of data sets need: no surroundings, and a web server of their own."""

from __future__ import annotations

import http.server
import threading

import pytest

from taylorpoda.datasets import download, loading


@pytest.fixture(autouse=True)
def _no_surroundings(monkeypatch, tmp_path):
    monkeypatch.delenv("TAYLORPODA_DATA", raising=False)
    monkeypatch.setenv("TAYLORPODA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(download, "_FIRST_PAUSE", 0.0)
    monkeypatch.setattr(loading, "download", lambda url: download.download(url, pause=0.0, timeout=5.0))


@pytest.fixture
def server():
    """A web server on the loopback address whose pages and failures the test decides."""
    pages: dict[str, list[tuple[int, bytes, int | None]]] = {}
    seen: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.path)
            answers = pages.get(self.path)
            if not answers:
                self.send_error(404)
                return
            status, body, length = answers.pop(0) if len(answers) > 1 else answers[0]
            self.send_response(status)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=web.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    web.pages, web.seen = pages, seen
    web.url = f"http://127.0.0.1:{web.server_port}"
    yield web
    web.shutdown()
    web.server_close()
