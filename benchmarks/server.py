"""A process that answers requests, one JSON line each; started when it is needed, and again when it has ended."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

ROOT = Path(__file__).parents[1]
ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB", "JULIA")}
TAIL = 2000  # characters of what a process said before it ended


class Server:
    """`arguments` are those of Python; the process has one thread, no GPU, and the `environment` besides ours."""

    def __init__(self, arguments: list[str], environment: Mapping[str, str]) -> None:
        self.arguments = arguments
        self.environment = os.environ | ONE_THREAD | {"CUDA_VISIBLE_DEVICES": ""} | dict(environment)
        self.process: subprocess.Popen[str] | None = None
        self.said: IO[str] | None = None

    def start(self) -> subprocess.Popen[str]:
        self.said = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - closed by stop
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", *self.arguments], env=self.environment, cwd=ROOT, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.said,
        )  # fmt: skip
        return self.process

    def ask(self, request: dict[str, Any] | None, patience: float) -> dict[str, Any]:
        """The answer, or {"status": "crashed" or "timed out", "error": ...} where the process ends or has none within
        so many seconds. Where the request is None, the answer is what the process says unasked."""
        process = self.process or self.start()
        assert process.stdin is not None
        assert process.stdout is not None
        late = threading.Event()
        timer = threading.Timer(patience, lambda: (late.set(), process.kill()))
        timer.start()
        try:
            with contextlib.suppress(BrokenPipeError):
                if request is not None:
                    process.stdin.write(json.dumps(request) + "\n")
                    process.stdin.flush()
            line = process.stdout.readline()
        finally:
            timer.cancel()
        if line.endswith("\n"):
            answer: dict[str, Any] = json.loads(line)
            return answer
        said = self.stop()
        if late.is_set():
            return {"status": "timed out", "error": None}
        return {"status": "crashed", "error": f"exit status {process.returncode}\n{said}"}

    def stop(self) -> str:
        """Ends the process; what it said at the end, besides its answers."""
        if self.process is None or self.said is None:
            return ""
        with contextlib.suppress(subprocess.TimeoutExpired):
            if self.process.stdin is not None:
                with contextlib.suppress(BrokenPipeError):
                    self.process.stdin.close()
            self.process.wait(5.0)  # it ends by itself when nothing more can be asked
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.said.seek(0)
        text = self.said.read()[-TAIL:]
        self.said.close()
        self.process = self.said = None
        return text
