"""The addresses of the studio, and the server that answers there.

Work that takes time is done in threads, and searches in processes of their own: the server answers meanwhile.
"""

import asyncio
import json
import logging
import os
import socket
import tempfile
import threading
import time
import webbrowser
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from prunesymnet.data.messages import printable
from prunesymnet.errors import PruneSymNetError
from prunesymnet.runs.files import plain, read_json
from prunesymnet.studio import pages
from prunesymnet.studio.queue import LOOK, States, cores, waiting
from prunesymnet.studio.safety import HERE, App, Door, Guard
from prunesymnet.studio.studio import Studio
from prunesymnet.studio.words import STATES
from prunesymnet.studio.workspace import NotThere, read_record, write_record

log = logging.getLogger("prunesymnet")
PORT = 8042  # unless another is asked for; if it is taken, any that is free
MOST_UPLOAD = 100  # MiB of a file, unless another limit is asked for
MOST_ANSWER = 2**20  # bytes of a form's answers
WARM_UP = 2.0  # seconds after the start: the first page is asked for before
AT_A_TIME = 4  # files that are received at the same time: the others wait
SHARED = "plot.js"  # the report draws with it, too
STATIC = {
    "studio.css": "text/css", "icon.svg": "image/svg+xml", SHARED: "text/javascript", "studio.js": "text/javascript",
    "home.js": "text/javascript", "table.js": "text/javascript", "search.js": "text/javascript",
}  # fmt: skip


class Server:
    """The addresses of one studio."""

    def __init__(self, studio: Studio, most_upload: int = MOST_UPLOAD) -> None:
        self.studio, self.most_upload = studio, most_upload
        self.receiving = asyncio.Semaphore(AT_A_TIME)

    def routes(self) -> list[Route]:
        get, post = ["GET"], ["POST"]
        one = "/api/searches/{id}"
        return [
            Route("/", self.home, methods=get),
            Route("/tables/{id}", self.table, methods=get),
            Route("/searches/{id}", self.search, methods=get),
            Route("/searches/{id}/report.html", self.report, methods=get),
            Route("/searches/{id}/model.json", self.model, methods=get),
            Route("/static/{name}", self.static, methods=get),
            Route("/parts/searches", self.listed, methods=get),
            Route("/api/tables", self.upload, methods=post),
            Route("/api/examples/{name}", self.example, methods=post),
            Route("/api/tables/{id}", self.overview, methods=get),
            Route("/api/tables/{id}/read", self.read_as, methods=post),
            Route("/api/tables/{id}/check", self.check, methods=post),
            Route("/api/tables/{id}/remove", self.remove_table, methods=post),
            Route("/api/searches", self.begin, methods=post),
            Route(one, self.status, methods=get),
            Route(one + "/fit", self.fit, methods=post),
            Route(one + "/notebook", self.notebook, methods=get),
            Route(one + "/remove", self.remove, methods=post),
            Route(one + "/formulas/{key}", self.look, methods=get),
            Route(one + "/formulas/{key}/effects", self.effects, methods=post),
            Route(one + "/difference/{first}/{second}", self.difference, methods=get),
            Route(one + "/{action}", self.tell, methods=post),
        ]

    # Pages

    async def home(self, request: Request) -> Response:
        return HTMLResponse(await run_in_threadpool(self._home))

    def _home(self) -> str:
        states = self.studio.queue.states()
        return pages.home(_listed(states), self.studio.tables.all(), self.studio.queue.at_once, self.most_upload)

    async def listed(self, request: Request) -> Response:
        states = await run_in_threadpool(self.studio.queue.states)
        return HTMLResponse(pages.searches(_listed(states), self.studio.queue.at_once))

    async def table(self, request: Request) -> Response:
        stored = await run_in_threadpool(self.studio.tables.get, request.path_params["id"])
        return HTMLResponse(pages.table(stored.name, stored.id))

    async def search(self, request: Request) -> Response:
        search = await run_in_threadpool(self.studio.search, request.path_params["id"])
        return HTMLResponse(pages.search({"search": search}))

    async def static(self, request: Request) -> Response:
        name = request.path_params["name"]
        if name not in STATIC:
            raise HTTPException(404)
        home = ("prunesymnet.report", "templates") if name == SHARED else ("prunesymnet.studio", "static")
        content = files(home[0]).joinpath(home[1], name).read_bytes()
        return Response(content, media_type=STATIC[name], headers={"cache-control": "no-cache"})

    # Tables

    async def upload(self, request: Request) -> Response:
        """A file, as it is, with its name in a header."""
        name = unquote(request.headers.get("x-file-name", ""))[:300] or "table.csv"
        async with self.receiving:
            handle, temporary = tempfile.mkstemp(dir=self.studio.workspace.path, prefix=".incoming-")
            try:
                with os.fdopen(handle, "wb") as file:
                    await received(request, file.write, self.most_upload * 2**20)
                stored = await run_in_threadpool(self.studio.tables.add, name, Path(temporary))
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary)
        return JSONResponse({"id": stored.id})

    async def example(self, request: Request) -> Response:
        stored = await run_in_threadpool(self.studio.tables.add_example, request.path_params["name"])
        return JSONResponse({"id": stored.id})

    async def overview(self, request: Request) -> Response:
        return await self._json(self.studio.table, request.path_params["id"])

    async def read_as(self, request: Request) -> Response:
        said = await answers_of(request)
        texts = [said.get(name) if isinstance(said.get(name), str) else None for name in ("decimal", "sheet")]
        stored = await run_in_threadpool(self.studio.tables.get, request.path_params["id"])
        await run_in_threadpool(self.studio.tables.read_as, stored, *texts)
        return JSONResponse({})

    async def check(self, request: Request) -> Response:
        return await self._json(self.studio.check, request.path_params["id"], await answers_of(request))

    async def remove_table(self, request: Request) -> Response:
        await run_in_threadpool(self.studio.tables.remove, request.path_params["id"])
        return JSONResponse({})

    # Searches

    async def begin(self, request: Request) -> Response:
        search = await run_in_threadpool(self.studio.begin, await answers_of(request))
        await run_in_threadpool(self.studio.queue.step)
        return JSONResponse({"id": search.id})

    async def status(self, request: Request) -> Response:
        search = await self._search(request)
        seen, front = (request.query_params.get(name, "") for name in ("seen", "front"))
        answer = await run_in_threadpool(self.studio.status, search, seen, front)
        return Response(status_code=204) if answer is None else json_response(answer)

    async def tell(self, request: Request) -> Response:
        said = await answers_of(request)
        await run_in_threadpool(self.studio.tell, request.path_params["id"], request.path_params["action"], said)
        await run_in_threadpool(self.studio.queue.step)
        return JSONResponse({})

    async def remove(self, request: Request) -> Response:
        await run_in_threadpool(self.studio.remove, request.path_params["id"])
        return JSONResponse({})

    async def look(self, request: Request) -> Response:
        return await self._json(self.studio.look, await self._search(request), request.path_params["key"])

    async def effects(self, request: Request) -> Response:
        said, key = await answers_of(request), request.path_params["key"]
        return await self._json(self.studio.effects, await self._search(request), key, said.get("at"))

    async def difference(self, request: Request) -> Response:
        first, second = request.path_params["first"], request.path_params["second"]
        return await self._json(self.studio.difference, await self._search(request), first, second)

    async def fit(self, request: Request) -> Response:
        form = str((await answers_of(request)).get("form", ""))
        return await self._json(self.studio.fit, await self._search(request), form)

    async def notebook(self, request: Request) -> Response:
        text = await run_in_threadpool(self.studio.notebook, await self._search(request))
        return JSONResponse({"text": text})

    async def report(self, request: Request) -> Response:
        search = await self._search(request)
        content = await run_in_threadpool(self.studio.report, search)
        return _download(content, f"{search.name}.html", "text/html; charset=utf-8")

    async def model(self, request: Request) -> Response:
        search = await self._search(request)
        content = await run_in_threadpool(self.studio.model, search)
        return _download(content, f"{search.name}.json", "application/json")

    async def _search(self, request: Request) -> Any:
        return await run_in_threadpool(self.studio.search, request.path_params["id"])

    async def _json(self, work: Callable[..., Any], *arguments: Any) -> Response:
        return json_response(await run_in_threadpool(work, *arguments))


def _listed(states: States) -> list[dict[str, Any]]:
    places = {search.id: k + 1 for k, search in enumerate(waiting(states))}
    return [
        {
            "id": search.id, "name": search.name, "made": search.made, "state": state, "words": STATES[state],
            "table": search.table.get("name", ""), "rows": search.rows, "target": search.target,
            "place": places.get(search.id, 0), "pins": len(search.pins),
        }
        for search, state in states.values()
    ]  # fmt: skip


def json_response(value: Any) -> Response:
    text = json.dumps(plain(value), ensure_ascii=False, allow_nan=False)
    return Response(text, media_type="application/json", headers={"cache-control": "no-store"})


def _download(content: bytes, name: str, kind: str) -> Response:
    said = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
    return Response(content, media_type=kind, headers={"content-disposition": said, "cache-control": "no-store"})


async def received(request: Request, write: Callable[[bytes], Any], most: int) -> None:
    """Pass on what a request brings, at most so many bytes."""
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > most:
            raise HTTPException(413, f"This is larger than {max(most // 2**20, 1)} MiB, the limit of this studio.")
        await run_in_threadpool(write, chunk)


async def answers_of(request: Request) -> dict[str, Any]:
    """The answers of a form, as JSON."""
    content = bytearray()
    await received(request, content.extend, MOST_ANSWER)
    try:
        found = read_json(content.decode("utf-8"), "the answers") if content else {}
    except (PruneSymNetError, UnicodeDecodeError):
        raise HTTPException(400, "These answers can't be read.") from None
    if not isinstance(found, dict):
        raise HTTPException(400, "These answers can't be read.")
    return found


# Errors


def _failed(request: Request, status: int, text: str) -> Response:
    if request.url.path.startswith(("/api/", "/parts/")):
        return JSONResponse({"error": text}, status_code=status)
    title = {404: "Not here", 413: "Too large"}.get(status, "That did not work")
    return HTMLResponse(pages.problem(status, title, text), status_code=status)


async def _not_there(request: Request, problem: Exception) -> Response:
    return _failed(request, 404, printable(str(problem)))


async def _wrong(request: Request, problem: Exception) -> Response:
    return _failed(request, 422, str(problem)[:2000])


async def _refused(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, HTTPException)  # noqa: S101 - it is registered for these
    text = problem.detail if problem.status_code != 404 else "There is no such page."
    return _failed(request, problem.status_code, text)


async def _unforeseen(request: Request, problem: Exception) -> Response:
    log.error("the studio failed at %s", request.url.path, exc_info=problem)
    return _failed(request, 500, f"This is a fault of the studio ({type(problem).__name__}). The searches go on.")


async def _gone(request: Request, problem: Exception) -> Response:
    return Response(status_code=400)


def application(studio: Studio, door: Door | None = None, most_upload: int = MOST_UPLOAD) -> App:
    """The studio as an application that any server of the kind (ASGI) can run."""

    @asynccontextmanager
    async def lifespan(app: Any) -> AsyncIterator[None]:
        threading.Thread(target=_warm_up, daemon=True).start()
        task = asyncio.create_task(_keep_going(studio))
        yield
        task.cancel()

    inner = Starlette(
        routes=Server(studio, most_upload).routes(),
        lifespan=lifespan,
        exception_handlers={
            NotThere: _not_there, PruneSymNetError: _wrong, ValueError: _wrong, TypeError: _wrong, KeyError: _wrong,
            ImportError: _wrong, HTTPException: _refused, ClientDisconnect: _gone, Exception: _unforeseen,
        },
    )  # fmt: skip
    return Guard(inner, door or Door())


async def _keep_going(studio: Studio) -> None:
    """The queue, looked at while the server runs."""
    while True:
        try:
            await run_in_threadpool(studio.queue.step)
        except Exception as problem:  # a full disk, a folder that was removed: another look may find it mended
            log.error("the queue: %s", problem)
        await asyncio.sleep(LOOK)


def _warm_up() -> None:
    """Import what the first search and the first look will need, once the first page is there."""
    time.sleep(WARM_UP)
    import prunesymnet.studio.looks  # noqa: F401


# The command


def serve(folder: Path, host: str, port: int | None, at_once: int | None, most_upload: int, browser: bool) -> None:
    """Answer until Ctrl-C. Searches go on after that."""
    import uvicorn

    studio = Studio(folder, at_once or cores())
    with _alone(studio), _listening(host, port) as listener:
        door = Door.of(host)
        address = _address(host, listener.getsockname()[1], door)
        write_record(studio.workspace.path / "server.json", "server", {"address": address})
        print(f"The studio is at {address}", flush=True)  # noqa: T201 - that is what was asked for
        if browser:
            threading.Timer(0.5, webbrowser.open, [address]).start()
        config = uvicorn.Config(
            application(studio, door, most_upload), log_level="warning", access_log=False, timeout_graceful_shutdown=2,
            server_header=False, proxy_headers=False,
        )  # fmt: skip
        uvicorn.Server(config).run(sockets=[listener])
    left = sum(state in ("running", "starting", "paused") for _, state in studio.queue.states().values())
    if left:
        print(f"{left} search{'es' * (left > 1)} will go on without the page; open the studio again to see.")  # noqa: T201


@contextmanager
def _alone(studio: Studio) -> Iterator[None]:
    """One server for a folder: two would start a search twice."""
    from filelock import FileLock, Timeout

    path = studio.workspace.path
    try:
        with FileLock(path / ".server.lock", timeout=0):
            yield
    except Timeout:
        address = ""
        with suppress(NotThere):
            address = f" at {read_record(path / 'server.json', 'server').get('address')}"
        raise OSError(f"{path}: a studio has this folder open{address}; name another folder") from None


@contextmanager
def _listening(host: str, port: int | None) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        if os.name == "posix":  # a port that was just given up; on Windows it would be one that is in use
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, PORT if port is None else port))
        except OSError as problem:
            if port is not None:
                raise OSError(f"{host}:{port} can't be listened at ({problem.strerror}); name another --port") from None
            listener.bind((host, 0))
        listener.listen()  # from now on whoever comes waits until the server is ready
        yield listener


def _address(host: str, port: int, door: Door) -> str:
    shown = "localhost" if host in HERE else socket.gethostname() if host in ("0.0.0.0", "::") else host  # noqa: S104
    shown = f"[{shown}]" if ":" in shown else shown
    return f"http://{shown}:{port}/" + (f"?token={door.token}" if door.token else "")
