"""Work that other processes do, through joblib: on this machine, or where a `parallel_config` says (Dask, Ray).

The search stays one loop in one process, which asks for results in a fixed order. Work is handed out ahead of its turn;
what comes back is what the loop would have computed itself, so that the formula is the same for any number of workers.
The loop has little to do itself, so that there are as many processes beside it as there are workers.

- Data travel once: work names what it needs (`Luggage`), a worker keeps what it was sent, and says what it lacks.
- Nothing is started before a search has taken `STARTS_AFTER` seconds: most end before. Processes stay for the next.
- What a worker can't do (it was killed, it ran out of memory) is done again, by others or here. Where they fail again
  and again or fall silent, the search goes on in its own process and says so in one warning.
"""

import os
import sys
import threading
import time
import uuid
import warnings
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np

from prunesymnet.bank.scan import one_thread
from prunesymnet.search.threads import one_matrix_thread

# Seconds: about what a process takes to start. A search that has taken as long may well take much longer; and if it
# ends at once, it has cost no more than as much again, on other cores.
STARTS_AFTER = 0.5
STARTED_AFTER = 0.1  # the same where they have been started before
KEPT = 16  # pieces of luggage that a worker keeps: of a level, the problem, reduced ones, and what fits need
MOST_FAILURES = 3  # of all workers in a row, before the search goes on without them
SILENT = 60.0  # seconds without any result, after which nobody counts on the workers: their work takes a few at most
GLANCE = 0.05  # seconds between two looks at the limits while the loop waits for a result
AT_A_TIME = 4  # pieces of work for each process, where a backend gives results only when all are there
QUEUED = 2  # pieces of work that are sent beyond one for each process, so that none waits for the next


@dataclass(eq=False)
class Luggage:
    """What work needs and workers keep; `level` names a search and a level of it ("search/level"), after which nobody
    needs it any more, and `sent` counts how often it was sent along."""

    content: Any
    level: str = ""
    sent: int = 0

    @cached_property
    def name(self) -> str:
        """One that no other has."""
        return f"{self.level}/{uuid.uuid4().hex}"


@dataclass(eq=False)
class Work:
    """`function` of the contents of the luggage and of the arguments, to be done where it is convenient; `result` is
    what came back, and `kind` is a name for the time that it took. The function must be one of a module."""

    kind: str
    function: Callable[..., Any]
    luggage: tuple[Luggage, ...] = ()
    arguments: tuple[Any, ...] = ()
    state: str = "new"  # then "waiting", "out" at a worker, "done", or "failed": to be done here
    result: Any = None
    lacking: frozenset[str] = frozenset()  # names of luggage that the worker who got it did not have


@dataclass(frozen=True)
class _Lacking:
    """A worker's answer where luggage is missing."""

    names: frozenset[str]


class _Failed:
    """A worker's answer where the work raised an error: it is done again in the loop's process, which raises it."""


_kept: "OrderedDict[str, Any]" = OrderedDict()  # of a worker: its luggage by name, the oldest first
_lock = threading.Lock()
_pool = threading.Lock()  # held by the search that uses the processes of this machine: one that comes has to wait
_known = {"started": False}  # of this process: whether it has had workers


def do(
    number: int, function: Callable[..., Any], names: tuple[str, ...], sent: dict[str, Any], arguments: tuple[Any, ...]
) -> tuple[int, Any, float]:
    """What a worker does: its result with the number of the work, and the seconds that it took."""
    with _lock:
        for name in names:
            _drop_others(*name.split("/")[:2])
        _kept.update(sent)
        lacking = frozenset(name for name in names if name not in _kept)
        if lacking:
            return number, _Lacking(lacking), 0.0
        for name in names:
            _kept.move_to_end(name)
        while len(_kept) > max(KEPT, len(names)):
            _kept.popitem(last=False)
        contents = [_kept[name] for name in names]
    began = time.perf_counter()
    try:
        with one_matrix_thread(), one_thread(), np.errstate(all="ignore"):
            return number, function(*contents, *arguments), time.perf_counter() - began
    except Exception:
        return number, _Failed(), time.perf_counter() - began


def _drop_others(search: str, level: str) -> None:
    """What a search has needed before this level."""
    for name in [name for name in _kept if name.startswith(f"{search}/") and name.split("/")[1] != level]:
        del _kept[name]


def get_ready() -> None:
    """A worker's first task: to import what the others need."""
    import prunesymnet.search.loop  # noqa: F401


class Workers:
    """Who does the work of a search: the process itself, and from `STARTS_AFTER` seconds on others, too. `count` is how
    many there may be (0: all cores, or as a `parallel_config` says); `check` is called while the loop waits."""

    def __init__(self, count: int = 0, check: Callable[[], None] = lambda: None) -> None:
        self.count, self.check = count, check
        self.name, self.level = uuid.uuid4().hex, 0
        self.processes = 0  # other processes
        self.began = time.monotonic()
        self.seconds: dict[str, list[float]] = {}  # that work took, by its name
        self._changed = threading.Condition()
        self._todo: deque[Work] = deque()
        self._out: dict[int, Work] = {}
        self._number = self._failures = 0
        self._error = ""  # the last that ended all work on its way
        self._heard = 0.0  # when a result came last
        self._thread: threading.Thread | None = None
        self._ready = self._closed = False
        self._reason = ""  # why the workers are not used any more, until it has been said

    @property
    def running(self) -> bool:
        return self._thread is not None and not self._closed

    def may_start(self, travels: Any) -> bool:
        """Start other processes if it is time for it, and what `travels` can be sent to them; whether they run."""
        if self.running or self._closed or self.count == 1:
            return self.running
        if time.monotonic() - self.began < (STARTED_AFTER if _known["started"] else STARTS_AFTER):
            return False
        backend, self.count = backend_and_workers(self.count)
        if self.count > 1 and _can_travel(travels):
            self.processes, _known["started"] = self.count, True
            self._heard = time.monotonic()
            self._thread = threading.Thread(target=self._serve, args=(backend,), daemon=True)
            self._thread.start()
        else:
            self._closed = True
        return self.running

    def packed(self, content: Any) -> Luggage:
        return Luggage(content, f"{self.name}/{self.level}")

    def hand_out(self, work: Work) -> None:
        """Have it done when someone is free."""
        if self.running and work.state == "new":
            with self._changed:
                work.state = "waiting"
                self._todo.append(work)
                self._changed.notify_all()

    def done(self, work: Work) -> bool:
        """Wait until a worker has done it. If False, it is to be done here, as nobody has begun or it has failed."""
        silent = False
        while True:
            with self._changed:
                if work.state == "waiting":
                    work.state = "failed"
                    if work in self._todo:
                        self._todo.remove(work)
                if work.state != "out" or self._closed:
                    break
                self._changed.wait(GLANCE)
                silent = work.state == "out" and time.monotonic() - self._heard > SILENT
            if silent:
                self._give_up(f"no result has come for {SILENT:g} seconds")
            self.check()
        self._say_why()
        return work.state == "done"

    @property
    def busy(self) -> bool:
        """Whether some are at work."""
        return bool(self._out)

    def close(self) -> None:
        """Nothing more is wanted: what is on its way is finished, and not looked at."""
        with self._changed:
            if self.running and self._failures:  # and nothing has come since
                self._reason = self._error
            elif self.running and not self._ready and time.monotonic() - self._heard > SILENT:
                self._reason = f"none has answered for {SILENT:g} seconds"
            self._closed = True
            self._todo.clear()
            self._changed.notify_all()
        self._say_why()

    # In the thread that talks to joblib

    def _serve(self, backend: Any) -> None:
        from joblib import Parallel
        from joblib.parallel import LokyBackend

        # As it comes, where the backend can do that; else some at a time.
        streams = getattr(backend, "supports_return_generator", False)
        parallel = Parallel(
            self.processes, backend=backend, batch_size=1, return_as="generator_unordered" if streams else "list",
            pre_dispatch=self.processes + QUEUED,
        )  # fmt: skip
        with _pool if isinstance(backend, LokyBackend) else nullcontext():  # which all searches here share
            self._serve_with(parallel, sys.maxsize if streams else AT_A_TIME * self.processes)

    def _serve_with(self, parallel: Any, most: int) -> None:
        from joblib import delayed

        while not self._closed:
            try:
                with parallel:
                    for _ in parallel(delayed(get_ready)() for _ in range(self.processes)):
                        self._ready, self._heard = True, time.monotonic()  # until then, the loop does all itself
                    while self._wait_for_work():
                        for number, result, seconds in parallel(islice(self._tasks(), most)):
                            self._arrived(number, result, seconds)
            except BaseException as error:  # whatever a backend raises: nobody else sees it in this thread
                self._broken(error)

    def _wait_for_work(self) -> bool:
        """Whether there is some more, as soon as that can be told."""
        with self._changed:
            while not (self._todo or self._closed):
                self._changed.wait()
        return not self._closed

    def _tasks(self) -> Iterator[Any]:
        """Whatever waits, until nothing does."""
        from joblib import delayed

        while True:
            with self._changed:
                if self._closed or not self._todo:
                    return
                work = self._todo.popleft()
                work.state, self._number = "out", self._number + 1
                number = self._number
                self._out[number], self._heard = work, time.monotonic()
                sent = {}
                for piece in work.luggage:
                    # No process has it at first, and one that was started anew has none.
                    if piece.sent < self.processes or piece.name in work.lacking:
                        sent[piece.name] = piece.content
                        piece.sent += 1
            yield delayed(do)(number, work.function, tuple(p.name for p in work.luggage), sent, work.arguments)

    def _arrived(self, number: int, result: Any, seconds: float) -> None:
        with self._changed:
            work = self._out.pop(number)
            self._heard, self._failures = time.monotonic(), 0
            if isinstance(result, _Lacking):
                work.state, work.lacking = "waiting", result.names
                self._todo.appendleft(work)
            elif isinstance(result, _Failed):
                work.state = "failed"
            else:
                work.state, work.result = "done", result
                self._note(work, seconds)
            self._changed.notify_all()

    def _note(self, work: Work, seconds: float) -> None:
        self.seconds.setdefault(work.kind, []).append(seconds)

    def _broken(self, error: BaseException) -> None:
        """What was out is to be done again."""
        with self._changed:
            for number in sorted(self._out, reverse=True):
                work = self._out.pop(number)
                work.state, work.lacking = "waiting", frozenset(piece.name for piece in work.luggage)
                self._todo.appendleft(work)
            self._failures += 1
            self._error = " ".join([f"{type(error).__name__}:", *str(error).splitlines()[:1]])
            self._changed.notify_all()
        if self._failures >= MOST_FAILURES and not self._closed:
            self._give_up(self._error)

    def _give_up(self, reason: str) -> None:
        with self._changed:
            self._closed, self._reason = True, reason
            self._todo.clear()
            self._changed.notify_all()

    def _say_why(self) -> None:
        """In the loop's own thread, where a warning belongs."""
        if reason := self._reason:
            self._reason = ""
            warnings.warn(f"the workers fail, so that the search goes on in one process: {reason}", stacklevel=2)


def threads_for_scans(count: int) -> int:
    """How many threads a scan may have in this process while no others work for the search."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if "joblib" not in sys.modules:  # the search is not part of anything that is parallel by it
        return count or cores
    return count if count > 1 else min(backend_and_workers(count)[1], sys.modules["joblib"].cpu_count())


def backend_and_workers(count: int) -> tuple[Any, int]:
    """Where work is done as joblib has it now, and by how many, this process included. Of no `count` (0), as many as a
    `parallel_config` around the search says, or all cores that this process may use. Inside of work that is parallel
    already, one."""
    from joblib.parallel import get_active_backend

    backend, said = get_active_backend()
    if getattr(backend, "nesting_level", 0) or type(backend).__name__ == "SequentialBackend":
        return backend, 1
    wanted = count or (said if said not in (None, 1) else -1)
    return backend, max(int(backend.effective_n_jobs(wanted)), 1)


def _can_travel(content: Any) -> bool:
    """Whether it can be sent to another process; where the user's own functions can't be, a warning says so."""
    from joblib.externals.loky.backend.reduction import dumps

    try:
        dumps(content)
    except Exception as error:  # whatever the objects raise that the functions hold
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        warnings.warn(
            f"the search runs in one process: what it needs can't be sent to another ({reason})", stacklevel=2
        )
        return False
    return True
