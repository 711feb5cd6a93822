"""Who may ask the server for something.

Any page that a browser has open can send requests to this machine. So a request is answered only

- if it names this server (`Host`): a stranger's name that was made to point here (DNS rebinding) is refused;
- if it changes something, only when it comes from a page of ours (`Origin`);
- if others can reach the server, only with the token that was printed when it started, which becomes a cookie.

Answers may not be put into the pages of others, and load nothing from anywhere else.
"""

import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

HERE = ("localhost", "127.0.0.1", "::1")  # what this machine calls itself
COOKIE = "prunesymnet_studio"
HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


@dataclass(frozen=True)
class Door:
    """`hosts`: the names by which the server may be asked for (none: any, since there is a token); `token`: what must
    be known to come in (empty: nothing)."""

    hosts: tuple[str, ...] = HERE
    token: str = ""

    @classmethod
    def of(cls, host: str) -> "Door":
        """That of a server which listens at `host`: with a token if others than this machine can reach it."""
        return cls() if host in HERE else cls((), secrets.token_urlsafe(32))

    def problem(self, scope: Scope) -> tuple[int, str] | None:
        """Why a request is refused, with the status that says so; None if it is let in. A token is looked at apart."""
        headers = _headers(scope)
        host = headers.get("host", "")
        if host_name(host) is None or (self.hosts and host_name(host) not in self.hosts):
            return 421, "This server is asked for by another name than its own."
        if scope["method"] not in ("GET", "HEAD") and not _is_ours(headers, host):
            return 403, "This request does not come from a page of this server."
        return None

    def may_come_in(self, scope: Scope) -> bool:
        if not self.token:
            return True
        try:
            cookies = SimpleCookie(_headers(scope).get("cookie", ""))
        except CookieError:
            return False
        return COOKIE in cookies and secrets.compare_digest(cookies[COOKIE].value, self.token)

    def brings_token(self, scope: Scope) -> bool:
        """Whether the address has the token in it."""
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        return bool(self.token) and secrets.compare_digest(given.encode(), self.token.encode())


def host_name(host: str) -> str | None:
    """The name in a Host header, without its port; None for what is none.

    >>> host_name("localhost:8000"), host_name("[::1]:8000"), host_name("a b"), host_name("")
    ('localhost', '::1', None, None)
    """
    try:
        parts = urlsplit(f"//{host}")
        parts.port  # noqa: B018 - what is no number raises
    except ValueError:
        return None
    return parts.hostname if host and not set(host) & set(" /?#@\\\t\r\n") else None


def _is_ours(headers: dict[str, str], host: str) -> bool:
    """Whether a browser says that a request comes from a page of this server."""
    origin = headers.get("origin")
    if origin is not None:
        return urlsplit(origin).netloc == host and urlsplit(origin).scheme in ("http", "https")
    return headers.get("sec-fetch-site") == "same-origin"


def _headers(scope: Scope) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope.get("headers", [])}


class Guard:
    """Around the application: lets in whom the door lets in, and adds the headers to every answer."""

    def __init__(self, app: App, door: Door) -> None:
        self.app, self.door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return  # there are no sockets here
        problem = self.door.problem(scope)
        if problem is not None:
            await _answer(send, *problem)
        elif self.door.brings_token(scope):
            await _answer(send, 303, "", _welcome(scope, self.door.token))
        elif not self.door.may_come_in(scope):
            await _answer(send, 401, "Open the address that was printed when the studio was started: it has a token.")
        else:
            await self.app(scope, receive, _with_headers(send))


def _welcome(scope: Scope, token: str) -> dict[str, str]:
    """Where to go on with the token as a cookie, so that it does not stay in the address."""
    rest = parse_qs(scope["query_string"].decode("latin-1"))
    rest.pop("token", None)
    query = urlencode(rest, doseq=True)
    path = "/" + scope["path"].lstrip("/")  # two slashes would lead to another server
    cookie = f"{COOKIE}={token}; HttpOnly; SameSite=Strict; Path=/"
    return {"location": f"{path}?{query}" if query else path, "set-cookie": cookie}


def _with_headers(send: Send) -> Send:
    async def sent(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            there = {name.lower() for name, _ in message.get("headers", [])}
            added = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
            message["headers"] = [*message.get("headers", []), *(pair for pair in added if pair[0] not in there)]
        await send(message)

    return sent


async def _answer(send: Send, status: int, text: str, more: dict[str, str] | None = None) -> None:
    headers = {"content-type": "text/plain; charset=utf-8", **HEADERS, **(more or {})}
    pairs = [(name.encode(), value.encode("latin-1", "replace")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": pairs})
    await send({"type": "http.response.body", "body": text.encode()})
