"""One search for each core; the others wait, and are shown in the order in which they will begin."""

import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from prunesymnet.data.messages import printable
from prunesymnet.studio.searches import (
    OUTPUT,
    RECORD,
    WORKER,
    Search,
    Worker,
    is_alive,
    read_search,
    read_worker,
    state_of,
    thaw,
)
from prunesymnet.studio.workspace import NotThere, Workspace, write_record

LAST_WORDS = 2000  # bytes at the end of what a process wrote, among which is why it failed
# What a session of its own is on Windows: Ctrl-C in the window of the server does not reach it.
APART = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0) | getattr(subprocess, "CREATE_NO_WINDOW", 0)
LOOK = 0.2  # seconds between two looks at the queue
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
ACTIVE = ("running", "starting", "stopping")
JUST_NOW = 3.0  # seconds since a search was told to run: it does what it is told within a tenth of one
OVER = ("ended", "stopped", "failed")  # nothing changes but by a record that is written anew
States = dict[str, tuple[Search, str]]


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class Queue:
    """Starts searches as cores become free. Processes of an earlier server are known by the locks that they hold."""

    def __init__(self, workspace: Workspace, at_once: int) -> None:
        self.workspace, self.at_once = workspace, at_once
        self.started: dict[str, subprocess.Popen[bytes]] = {}
        self.known: dict[str, tuple[tuple[int, int], Search, str]] = {}
        self.lock = threading.RLock()  # several requests may look at the same time

    def alive(self, search: Search) -> bool:
        """Whether the process of a search is there."""
        with self.lock:
            process = self.started.get(search.id)
            if process is not None:
                if process.poll() is None:
                    return True
                del self.started[search.id]
                if read_worker(search.folder).round < search.round:
                    _say_that_it_did_not_start(search)
            return is_alive(search.folder)

    def state(self, search: Search) -> str:
        with self.lock:
            written = _written(search.folder)
            known = self.known.get(search.id)
            if known is not None and known[0] == written and known[2] in OVER:
                return known[2]
            state = state_of(search, self.alive(search))
            self.known[search.id] = written, search, state
            return state

    def states(self) -> States:
        """Every search that can be read with its state, the newest first."""
        found: States = {}
        with self.lock:
            there = self.workspace.ids("searches")
            for gone in set(self.known) - set(there):
                del self.known[gone]
            for known_as in there:
                with suppress(NotThere):  # one that is just being made, or removed
                    search = self._read(known_as)
                    found[known_as] = search, self.state(search)
        return dict(sorted(found.items(), key=lambda item: -item[1][0].made))

    def _read(self, known_as: str) -> Search:
        known = self.known.get(known_as)
        if known is not None and known[0][0] == _written(known[1].folder)[0]:
            return known[1]
        return read_search(self.workspace, known_as)

    def step(self) -> None:
        """Start what there is a free core for."""
        with self.lock:
            states = self.states()
            active = sum(state in ACTIVE for _, state in states.values())
            for search, state in states.values():
                # One that was just told to go on may have been about to stand still: once more does no harm.
                if state == "running" and time.time() - search.asked < JUST_NOW:
                    thaw(search)
            for search in waiting(states)[: max(self.at_once - active, 0)]:
                if self.alive(search):
                    thaw(search)  # it was paused, and holds all that it had
                elif read_worker(search.folder).round < search.round:
                    self.started[search.id] = start(search.folder)


def _say_that_it_did_not_start(search: Search) -> None:
    """For a process that ended before it could say anything itself: it is not started again and again."""
    with open(search.folder / OUTPUT, "rb") as output:
        output.seek(max(os.fstat(output.fileno()).st_size - LAST_WORDS, 0))
        lines = output.read().decode(errors="replace").strip().splitlines() or ["its process ended at once"]
    worker = Worker(round=search.round, ended=True, error=f"The search did not start: {printable(lines[-1])}")
    write_record(search.folder / WORKER, "worker", vars(worker))


def waiting(states: States) -> list[Search]:
    """The searches that wait, the next first."""
    return sorted((search for search, state in states.values() if state == "queued"), key=lambda one: one.asked)


def _written(folder: Path) -> tuple[int, int]:
    """When the records of a search were written."""
    times = []
    for name in (RECORD, WORKER):
        try:
            times.append((folder / name).stat().st_mtime_ns)
        except OSError:
            times.append(0)
    return times[0], times[1]


def start(folder: Path) -> subprocess.Popen[bytes]:
    """The process of a search, in a session of its own: it outlives the server."""
    environment = os.environ | dict.fromkeys(ONE_THREAD, "1")
    with open(folder / OUTPUT, "ab") as output:
        return subprocess.Popen(  # noqa: S603 - our own module, on a folder whose name we drew
            [sys.executable, "-m", "prunesymnet.studio.worker", str(folder)],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment, start_new_session=True,
            creationflags=APART,
        )  # fmt: skip
