"""A studio in a folder of its own, and a client that speaks to it without a browser."""

import time

import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx2")

from starlette.testclient import TestClient

from prunesymnet.studio.server import application
from prunesymnet.studio.studio import Studio

ORIGIN = "http://localhost"


@pytest.fixture(scope="module")
def studio(tmp_path_factory):
    """One that starts no searches by itself: `studio.queue.step` does."""
    found = Studio(tmp_path_factory.mktemp("studio"), at_once=1)
    yield found
    for process in found.queue.started.values():
        process.kill()
        process.wait()


@pytest.fixture(scope="module")
def client(studio):
    # Without its lifespan, so that no queue runs beside the test.
    return TestClient(application(studio, most_upload=1), base_url=ORIGIN, headers={"origin": ORIGIN})


@pytest.fixture(scope="session")
def until():
    def wait(condition, seconds=120):
        """Wait for something to become true; what it was at the end."""
        end = time.monotonic() + seconds
        while not (found := condition()) and time.monotonic() < end:
            time.sleep(0.05)
        return found

    return wait
