"""Files over HTTP: with a timeout, retries, progress, and never half a file."""

from __future__ import annotations

import http.client
import time
import urllib.error
import urllib.request

from taylorpoda._support.progress import ProgressBar

_CHUNK = 2**16
_ATTEMPTS = 3
_TIMEOUT = 30.0
_FIRST_PAUSE = 0.5
_TOO_MANY_REQUESTS = 429
_SERVER_ERROR = 500


class DownloadError(OSError):
    """A file could not be downloaded; the message names the address and what went wrong."""


def download(url: str, *, attempts: int = _ATTEMPTS, timeout: float = _TIMEOUT, pause: float = _FIRST_PAUSE) -> bytes:
    """Fetch a file.

    Args:
        url: Its http or https address.
        attempts: How often to try; only failures that may pass are tried again.
        timeout: Seconds to wait for the server at any point.
        pause: Seconds before the second attempt; doubled before each one after.

    Returns:
        The bytes.

    Raises:
        DownloadError: If it failed for good.
    """
    if not url.startswith(("http://", "https://")):
        msg = f"url={url!r} is not an http or https address."
        raise ValueError(msg)
    reason = ""
    for attempt in range(attempts):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        try:
            return _once(url, timeout)
        except urllib.error.HTTPError as error:
            reason = f"the server answered {error.code} {error.reason}"
            if error.code < _SERVER_ERROR and error.code != _TOO_MANY_REQUESTS:
                break
        except (OSError, http.client.HTTPException) as error:
            reason = str(error) or type(error).__name__
        except ValueError as error:  # what the library says of an address it cannot take apart
            reason = f"not an address: {error}"
            break
    msg = f"{url}: {reason}"
    raise DownloadError(msg)


def _once(url: str, timeout: float) -> bytes:
    request = urllib.request.Request(url, headers={"User-Agent": "taylorpoda"})  # noqa: S310 - the scheme is checked
    with urllib.request.urlopen(request, timeout=timeout) as answer:  # noqa: S310 - the scheme is checked
        length = answer.headers.get("Content-Length")
        expected = int(length) if length and length.isdigit() else None
        parts: list[bytes] = []
        with ProgressBar(f"downloading {url.rsplit('/', 1)[-1]}", expected or 0) as bar:
            while part := answer.read(_CHUNK):
                parts.append(part)
                bar.advance(len(part))
    content = b"".join(parts)
    if expected is not None and len(content) != expected:
        msg = f"the connection ended after {len(content)} of {expected} bytes"
        raise OSError(msg)
    return content
