"""The process of a search: `python -m prunesymnet.studio.worker FOLDER`.

It goes on with the run that lies in the folder of the search, and looks ten times a second at what the server has
written down: whether to pause, to stop, or to take more time. It needs no server, and ends by itself.
"""

import _thread
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from prunesymnet.data.messages import printable
from prunesymnet.studio.searches import CAN_FREEZE, LOCK, RECORD, RUN, WORKER, Worker
from prunesymnet.studio.workspace import NotThere, read_record, write_record

LOOK = 0.1  # seconds between two looks at what is wanted: nobody sees that a click takes so long
# Seconds that a thread sleeps after the signal: it may reach another one first, and this one a little later.
STILL = 0.05
WAIT = 5.0  # seconds for the lock, which the server tries for a moment now and then


class Clock:
    """The time that a search goes by: it stands still from `stop` to `go_on`, and never goes back. `more` is what it
    was given beyond its limit."""

    def __init__(self) -> None:
        self.more = 0.0
        self._stood: tuple[float, float | None] = 0.0, None  # for how long, and since when: changed at once

    def __call__(self) -> float:
        stood, since = self._stood
        return (time.monotonic() if since is None else since) - stood

    def stop(self) -> None:
        self._stood = self._stood[0], time.monotonic()

    def go_on(self) -> None:
        self._stood = time.monotonic() - self(), None

    def more_time(self) -> float:
        return self.more


class Watch(threading.Thread):
    """Does what the record of the search asks for, beside the search."""

    def __init__(self, folder: Path, worker: Worker, clock: Clock) -> None:
        super().__init__(daemon=True)
        self.folder, self.worker, self.clock = folder, worker, clock
        self.seen, self.over = -1, threading.Event()

    def run(self) -> None:
        while not self.over.wait(LOOK):
            with suppress(OSError, NotThere):
                self.look()

    def look(self) -> None:
        changed = (self.folder / RECORD).stat().st_mtime_ns
        if changed == self.seen:
            return
        self.seen = changed
        record = read_record(self.folder / RECORD, "search")
        self.clock.more = record["more"]
        if record["wanted"] == "stop" or (record["wanted"] == "pause" and not CAN_FREEZE):
            _thread.interrupt_main()  # the search ends with the best so far, as by Ctrl-C
            self.over.set()
        elif record["wanted"] == "pause":
            self.freeze()

    def freeze(self) -> None:
        """Stand still until the server lets the process go on."""
        from dataclasses import replace

        self.say(replace(self.worker, frozen=True))
        self.clock.stop()
        try:
            while read_record(self.folder / RECORD, "search")["wanted"] == "pause":
                os.kill(os.getpid(), signal.SIGSTOP)
                time.sleep(STILL)
        finally:  # also where the record is gone
            self.clock.go_on()
        self.seen = -1
        self.say(self.worker)

    def say(self, worker: Worker) -> None:
        write_record(self.folder / WORKER, "worker", vars(worker))


def main(folder: Path) -> None:
    from filelock import FileLock, Timeout

    try:
        with FileLock(folder / LOCK, timeout=WAIT):
            _work(folder)
    except Timeout:
        return  # another process has this search


def _work(folder: Path) -> None:
    from dataclasses import replace

    record = read_record(folder / RECORD, "search")
    worker, clock = Worker(os.getpid(), record["round"]), Clock()
    watch = Watch(folder, worker, clock)
    watch.say(worker)
    watch.start()
    error = ""
    try:
        _search(folder, record["seconds"], clock)
    except KeyboardInterrupt:
        error = "stopped before a formula was found"
    except Exception as problem:  # whatever it is, the page says it
        error = printable(str(problem)) or type(problem).__name__
    watch.over.set()
    watch.say(replace(worker, ended=True, error=error))


def _search(folder: Path, seconds: float, clock: Clock) -> None:
    from prunesymnet.runs import resume

    resume(folder / RUN, time_limit=seconds, progress=False, clock=clock, more_time=clock.more_time)


if __name__ == "__main__":
    # A server that was started in the background has Ctrl-C switched off, and so would this process: it could not be
    # stopped.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    main(Path(sys.argv[1]))
