"""Work that other processes do, through joblib: on this machine, or where a `parallel_config` says (Dask, Ray).

The search stays one loop in one process, which asks for results in a fixed order. Work is handed out ahead of its turn;
what comes back is what the loop would have computed itself, so that the formula is the same for any number of workers.
The loop's process is one of them: while it waits for a result, it does work that nobody has begun.

- Data travel once: work names what it needs (`Luggage`), a worker keeps what it was sent, and says what it lacks.
- Nothing is started before a search has taken `STARTS_AFTER` seconds: most end before. Processes stay for the next.
- What a worker can't do (it was killed, it ran out of memory) is done again, by others or here. Where they fail again
  and again or fall silent, the search goes on in its own process and says so in one warning.
"""

import atexit
import os
import sys
import threading
import time
import uuid
import warnings
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any

import numpy as np

from prunesymnet.bank.scan import one_thread
from prunesymnet.search.threads import one_matrix_thread

# Seconds: many searches end before, and would have processes started for nothing. They take a second or two until they
# are ready, on other cores, so that an early start is worth more than it costs.
STARTS_AFTER = 0.2
STARTED_AFTER = 0.1  # the same where they have been started before
KEPT = 16  # pieces of luggage that a worker keeps: of a level, the problem, reduced ones, and what fits need
MOST_FAILURES = 3  # of all workers in a row, before the search goes on without them
SILENT = 60.0  # seconds without any result, after which nobody counts on the workers: their work takes a few at most
GLANCE = 0.05  # seconds between two looks at the limits while the loop waits for a result
AT_A_TIME = 4  # pieces of work for each process, where a backend gives results only when all are there
QUEUED = 1  # pieces of work that are sent beyond one for each process, so that none waits for the next
IDLE = 300  # seconds after which processes without work end
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass(eq=False)
class Luggage:
    """What work needs and workers keep; `level` names a search and a level of it ("search/level"), after which nobody
    needs it any more, and `sent` counts how often it was sent along. In the loop's own process, `here` may stand in its
    place."""

    content: Any
    level: str = ""
    here: Any = None
    sent: int = 0

    @cached_property
    def name(self) -> str:
        """One that no other has."""
        return f"{self.level}/{uuid.uuid4().hex}"


@dataclass(eq=False)
class Work:
    """`function` of the contents of the luggage and of the arguments, to be done where it is convenient; `result` is
    what came back. The function must be one of a module. What is wanted `later` is done when nothing else waits."""

    function: Callable[..., Any]
    luggage: tuple[Luggage, ...] = ()
    arguments: tuple[Any, ...] = ()
    state: str = "new"  # then "waiting", "out" at a worker or "here", "done", or "failed": to be done when it is needed
    result: Any = None
    lacking: frozenset[str] = frozenset()  # names of luggage that the worker who got it did not have
    later: bool = False


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
_executors: dict[int, Any] = {}  # of this process: the last that it has had on this machine, by the number of processes


def _forget() -> None:
    """In a process that was forked from one that has workers: they are not its own."""
    global _pool
    _pool = threading.Lock()
    _executors.clear()
    _known["started"] = False


if hasattr(os, "register_at_fork"):  # not on Windows, where nothing is forked
    os.register_at_fork(after_in_child=_forget)


def do(
    number: int, function: Callable[..., Any], names: tuple[str, ...], sent: dict[str, Any], arguments: tuple[Any, ...]
) -> tuple[int, Any]:
    """What a worker does: its result with the number of the work."""
    with _lock:
        for name in names:
            _drop_others(*name.split("/")[:2])
        _kept.update(sent)
        lacking = frozenset(name for name in names if name not in _kept)
        if lacking:
            return number, _Lacking(lacking)
        for name in names:
            _kept.move_to_end(name)
        while len(_kept) > max(KEPT, len(names)):
            _kept.popitem(last=False)
        contents = [_kept[name] for name in names]
    try:
        with one_matrix_thread(), one_thread(), np.errstate(all="ignore"):
            return number, function(*contents, *arguments)
    except Exception:
        return number, _Failed()


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

    def __init__(self, count: int = 0) -> None:
        self.count = count
        self.check: Callable[[], None] = lambda: None
        self.name, self.level = uuid.uuid4().hex, 0
        self.processes = 0  # other processes
        self.began = time.monotonic()
        self._changed = threading.Condition()
        self._todo: deque[Work] = deque()
        self._out: dict[int, Work] = {}
        self._number = self._failures = 0
        self._error = ""  # that has just ended all work on its way
        self._failure = ""  # the last such
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
            from joblib.parallel import LokyBackend

            here = isinstance(backend, LokyBackend)
            self.processes, _known["started"] = self.count - here, True
            self._heard = time.monotonic()
            serve = self._serve_here if here else partial(self._serve, backend)
            self._thread = threading.Thread(target=serve, daemon=True)
            self._thread.start()
        else:
            self._closed = True
        return self.running

    def packed(self, content: Any, here: Any = None) -> Luggage:
        return Luggage(content, f"{self.name}/{self.level}", here)

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
                other = self._not_begun()
                if other is None:
                    self._changed.wait(GLANCE)
                silent = work.state == "out" and time.monotonic() - self._heard > SILENT
            if silent:
                self._give_up(f"no result has come for {SILENT:g} seconds")
            elif other is not None:
                self._do_here(other)
            self.check()
        self._say_why()
        return work.state == "done"

    def _not_begun(self) -> Work | None:
        """Work that will be needed soon, and that this process does now."""
        work = next((one for one in self._todo if not one.later), None)
        if work is not None:
            self._todo.remove(work)
            work.state = "here"
        return work

    def _do_here(self, work: Work) -> None:
        try:
            contents = [piece.content if piece.here is None else piece.here for piece in work.luggage]
            with one_thread():
                work.result, work.state = work.function(*contents, *work.arguments), "done"
        except Exception:
            work.state = "failed"  # when it has its turn, it is done again, which raises the error

    @property
    def busy(self) -> bool:
        """Whether some are at work."""
        return bool(self._out)

    def close(self) -> None:
        """Nothing more is wanted: what is on its way is finished, and not looked at."""
        with self._changed:
            if self.running and self._failures:  # and nothing has come since
                self._reason = self._failure
            elif self.running and not self._ready and time.monotonic() - self._heard > SILENT:
                self._reason = f"none has answered for {SILENT:g} seconds"
            self._closed = True
            self._todo.clear()
            self._changed.notify_all()
        self._say_why()

    # In the thread that hands out work

    def _serve_here(self) -> None:
        """To processes of this machine, one by one: each gets the next as soon as it is free."""
        executor = None
        with _pool:
            while not self._closed:
                try:
                    executor = processes_here(self.processes)
                    for _ in range(self.processes):
                        executor.submit(get_ready).add_done_callback(partial(self._came_back, None))
                    while self._wait_for_work(self.processes + QUEUED):
                        for number, *work in islice(self._tasks(), 1):
                            self._send(executor, number, work)
                except BaseException as error:  # it has ended, or can't be started
                    self._error = _told(error)
                if self._error:
                    _executors.clear()
                    self._wait_for_the_last(executor)
                    self._broken()
            self._wait_for_the_last(executor)  # those who come next may want another number of processes

    def _send(self, executor: Any, number: int, work: list[Any]) -> None:
        try:
            future = executor.submit(do, number, *work)
        except BaseException:  # a process has ended while none had work
            with self._changed:
                self._again(number)  # else, it would be waited for
            raise
        future.add_done_callback(partial(self._came_back, number))

    def _came_back(self, number: int | None, future: Any) -> None:
        error = future.exception()
        with self._changed:
            if error is not None:
                self._error = self._error or _told(error)
                self._again(number)
            elif number is None:
                self._ready, self._heard = True, time.monotonic()
            else:
                self._arrived(*future.result())
            self._changed.notify_all()

    def _wait_for_the_last(self, executor: Any) -> None:
        """Processes that are still silent after a while are ended: else no other search would get any, and this process
        would wait for them when it ends."""
        with self._changed:
            is_back = self._changed.wait_for(lambda: not self._out, SILENT)
        if not is_back:
            _executors.clear()
            executor.shutdown(wait=False, kill_workers=True)

    def _serve(self, backend: Any) -> None:
        """Wherever joblib's backend has its workers: as it comes, where it can do that; else some at a time."""
        from joblib import Parallel

        streams = getattr(backend, "supports_return_generator", False)
        parallel = Parallel(
            self.processes, backend=backend, batch_size=1, return_as="generator_unordered" if streams else "list",
            pre_dispatch=self.processes + QUEUED,
        )  # fmt: skip
        self._serve_with(parallel, sys.maxsize if streams else AT_A_TIME * self.processes)

    def _serve_with(self, parallel: Any, most: int) -> None:
        from joblib import delayed

        while not self._closed:
            try:
                with parallel:
                    for _ in parallel(delayed(get_ready)() for _ in range(self.processes)):
                        self._ready, self._heard = True, time.monotonic()  # until then, the loop does all itself
                    while self._wait_for_work(sys.maxsize):
                        tasks = (delayed(do)(*task) for task in self._tasks())
                        for number, result in parallel(islice(tasks, most)):
                            self._arrived(number, result)
            except BaseException as error:  # whatever a backend raises: nobody else sees it in this thread
                self._error = _told(error)
                self._broken()

    def _wait_for_work(self, most: int) -> bool:
        """Whether there is some more, as soon as that can be told and less than the `most` is out; False also where
        something has failed."""
        with self._changed:
            while not (self._closed or self._error or (self._ready and self._todo and len(self._out) < most)):
                self._changed.wait()
            return not (self._closed or self._error)

    def _tasks(self) -> Iterator[tuple[Any, ...]]:
        """Arguments of `do` for whatever waits, until nothing does."""
        while True:
            with self._changed:
                if self._closed or not self._todo:
                    return
                work = next((one for one in self._todo if not one.later), self._todo[0])
                self._todo.remove(work)
                work.state, self._number = "out", self._number + 1
                number = self._number
                self._out[number], self._heard = work, time.monotonic()
                sent = {}
                for piece in work.luggage:
                    # No process has it at first, and one that was started anew has none.
                    if piece.sent < self.processes or piece.name in work.lacking:
                        sent[piece.name] = piece.content
                        piece.sent += 1
            yield number, work.function, tuple(p.name for p in work.luggage), sent, work.arguments

    def _arrived(self, number: int, result: Any) -> None:
        with self._changed:
            work = self._out.pop(number, None)
            if work is None:  # it came too late, and is done again
                return
            self._heard, self._failures = time.monotonic(), 0
            if isinstance(result, _Lacking):
                work.state, work.lacking = "waiting", result.names
                self._todo.appendleft(work)
            elif isinstance(result, _Failed):
                work.state = "failed"
            else:
                work.state, work.result = "done", result
            self._changed.notify_all()

    def _again(self, number: int | None) -> None:
        """What was out is to be done by others."""
        if number in self._out:
            work = self._out.pop(number)
            work.state, work.lacking = "waiting", frozenset(piece.name for piece in work.luggage)
            self._todo.appendleft(work)

    def _broken(self) -> None:
        """All that was out is to be done again."""
        with self._changed:
            for number in sorted(self._out, reverse=True):
                self._again(number)
            self._failures += 1
            error, self._error = self._error, ""
            self._failure = error
            self._changed.notify_all()
        if self._failures >= MOST_FAILURES and not self._closed:
            self._give_up(error)

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


def processes_here(count: int) -> Any:
    """So many processes of this machine, which stay for the next search."""
    from joblib.externals.loky import ProcessPoolExecutor

    if count not in _executors:
        for executor in _executors.values():
            executor.shutdown(wait=False)
        _executors.clear()
        _executors[count] = ProcessPoolExecutor(count, timeout=IDLE, env=ONE_THREAD)
        atexit.unregister(_executors.clear)
        atexit.register(_executors.clear)  # while Python still has all that ends the processes
    return _executors[count]


def _told(error: BaseException) -> str:
    return " ".join([f"{type(error).__name__}:", *str(error).splitlines()[:1]])


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
