"""The record of a search, and what state it is in.

What was asked for stands in search.json, which only the server writes; what became of it stands in worker.json, which
only the process of the search writes, and in the folder of the run. The state follows from these, and from whether the
process is alive, which is known by the lock that it holds. So it is right after whatever has ended from outside.

Each time a search is to go on, its `round` is counted up: a process says which round it was started for.
"""

import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from prunesymnet.runs.folder import MODEL
from prunesymnet.studio.workspace import NotThere, Workspace, clean_name, read_record, write_record

RECORD, WORKER, LOCK, RUN, OUTPUT = "search.json", "worker.json", ".worker.lock", "run", "output.txt"
CAN_FREEZE = hasattr(signal, "SIGSTOP")  # where it can't, a search that is paused ends, and goes on from its folder
MOST_PINS = 30  # formulas that a person keeps: more are not looked at
WANTED = ("run", "pause", "stop")


@dataclass(frozen=True)
class Search:
    """What was asked for. `wanted` is "run", "pause" or "stop"; `seconds` is for how long this round may search, and
    `more` what was added to that while it ran; `asked` is when it was last told to run: the queue goes by it."""

    id: str
    folder: Path
    name: str
    made: float
    table: Mapping[str, Any]  # id and name of the table
    columns: Mapping[str, Any]  # see `tables.Columns`
    options: Mapping[str, Any]  # see `forms`
    target: str
    rows: int
    wanted: str = "run"
    round: int = 1
    asked: float = 0.0
    seconds: float = 60.0
    more: float = 0.0
    pins: tuple[str, ...] = ()
    features: tuple[str, ...] = field(default=())

    @property
    def run(self) -> Path:
        """The folder of its run."""
        return self.folder / RUN

    def record(self) -> dict[str, Any]:
        left_out = ("id", "folder")
        return {name: getattr(self, name) for name in self.__dataclass_fields__ if name not in left_out}

    def save(self) -> "Search":
        write_record(self.folder / RECORD, "search", self.record())
        return self


def read_search(workspace: Workspace, known_as: str) -> Search:
    folder = workspace.folder("searches", known_as)
    content = read_record(folder / RECORD, "search")
    try:
        return Search(
            known_as, folder, clean_name(str(content["name"]), "search"), float(content["made"]),
            dict(content["table"]), dict(content["columns"]), dict(content["options"]), str(content["target"]),
            int(content["rows"]), content["wanted"] if content["wanted"] in WANTED else "stop", int(content["round"]),
            float(content["asked"]), float(content["seconds"]), float(content["more"]),
            tuple(map(str, content["pins"])), tuple(map(str, content["features"])),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError):
        raise NotThere("the record of this search can't be read") from None


@dataclass(frozen=True)
class Worker:
    """What the process of a search says of itself."""

    pid: int = 0
    round: int = 0
    frozen: bool = False
    ended: bool = False
    error: str = ""


def read_worker(folder: Path) -> Worker:
    try:
        content = read_record(folder / WORKER, "worker")
        said = {name: content[name] for name in Worker.__dataclass_fields__}
        return Worker(**said) if all(type(v) is type(getattr(Worker, k)) for k, v in said.items()) else Worker()
    except (NotThere, KeyError):
        return Worker()


def is_alive(folder: Path) -> bool:
    """Whether a process holds the lock of a search."""
    from filelock import FileLock, Timeout

    if not (folder / LOCK).exists():
        return False
    lock = FileLock(folder / LOCK, timeout=0)
    try:
        with lock:
            return False
    except Timeout:
        return True


def state_of(search: Search, alive: bool) -> str:
    """One of `words.STATES`."""
    worker = read_worker(search.folder)
    if alive:
        if search.wanted == "stop":
            return "stopping"
        if search.wanted == "pause":
            return "paused"
        return "queued" if worker.frozen else "running" if worker.round == search.round else "starting"
    if search.wanted == "pause":
        return "paused"
    if search.wanted == "stop":
        return "ended" if (search.run / MODEL).exists() else "stopped"
    if worker.round < search.round:
        return "queued"
    return "failed" if worker.error else "ended" if worker.ended else "cut off"


# What a person can tell a search; each gives the record as it is then.


def pause(search: Search) -> Search:
    return replace(search, wanted="pause").save()


def stop(search: Search, alive: bool) -> Search:
    told = replace(search, wanted="stop").save()
    if alive:
        thaw(search)
    return told


def go_on(search: Search, state: str, alive: bool, seconds: float | None = None) -> Search:
    """Run on, from where it is: a process that is frozen waits for its turn, else there will be a new one."""
    told = replace(search, wanted="run", asked=time.time())
    if not (alive and state == "paused"):
        told = replace(told, round=search.round + 1, seconds=seconds or search.seconds, more=0.0)
    return told.save()


def give_more(search: Search, state: str, alive: bool, seconds: float) -> Search:
    """More time: for the round that runs or waits, or for another one."""
    if state in ("running", "starting", "paused", "queued") and (alive or state == "queued"):
        return replace(search, more=search.more + seconds).save()
    return go_on(search, state, alive, seconds)


def thaw(search: Search) -> None:
    """Let a process that is frozen go on."""
    worker = read_worker(search.folder)
    if worker.pid > 0 and CAN_FREEZE:
        with suppress(OSError):
            os.kill(worker.pid, signal.SIGCONT)  # it holds the lock, so that its number is still its own
