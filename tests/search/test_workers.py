"""Workers: the same search with any number of them, and what happens when they fail."""

import contextlib
import os
import signal
import threading
import time
from dataclasses import replace

import joblib
import numpy as np
import pytest

from contexts import context_of, fitter_of, table
from models import PATIENT
from prunesymnet.bank.query import Proposal
from prunesymnet.data import make_dataset
from prunesymnet.expression import parse
from prunesymnet.operators import make_operator
from prunesymnet.search import STAGES, loop, search, workers
from prunesymnet.search.ahead import Ahead, fit_ahead
from prunesymnet.search.settings import ExhaustiveSettings
from prunesymnet.search.workers import Luggage, Work, Workers, backend_and_workers

LONG = 60.0  # seconds: far more than any of this takes
FEW = tuple(stage.name for stage in STAGES if stage.name not in ("singles", "query_pairs", "fixed_terms"))
SMALL = replace(PATIENT, exhaustive=ExhaustiveSettings(levels=1, rows=20, keep=1, fits=8, without=FEW))


@pytest.fixture
def at_once(monkeypatch):
    """Workers start at once, and the loop waits until they are there, and until they have begun with what it needs:
    otherwise it may be through before."""
    began = []

    def begun(self, work, done=Workers.done):
        wait_for(lambda: work.state != "waiting" or not self.running)
        return done(self, work)

    monkeypatch.setattr(Workers, "done", begun)

    def start(self, travels, start=Workers.may_start):
        running = start(self, travels)
        if running and self not in began:
            began.append(self)
            wait_for(lambda: self._ready or self._closed)
        return running

    monkeypatch.setattr(workers, "STARTS_AFTER", 0.0)
    monkeypatch.setattr(workers, "STARTED_AFTER", 0.0)
    monkeypatch.setattr(Workers, "may_start", start)
    return began


def wait_for(holds):
    end = time.monotonic() + LONG
    while not holds() and time.monotonic() < end:
        time.sleep(0.01)
    assert holds()


def noisy_table(rows=60):
    rng = np.random.default_rng(0)
    X = rng.uniform(0.5, 3, (rows, 2))
    return make_dataset(X, np.exp(-X[:, 0]) * X[:, 1] + 0.3 * X[:, 1] + 0.02 * rng.normal(size=rows), names=["a", "b"])


def told(found):
    return [(str(equation.expression), equation.loss) for equation in found.front], found.fits, found.levels


@pytest.fixture(scope="module")
def alone():
    return told(search(noisy_table(), SMALL))


def double(number):
    return 2 * number


def scaled(by, number):
    return by * number


def fails(number):
    raise ValueError(number)


def sleeps(seconds):
    time.sleep(seconds)


def dies_once(path, number):
    """The process is gone, unless someone has been here before."""
    if not os.path.exists(path):
        with open(path, "w"):
            os.kill(os.getpid(), signal.SIGKILL)
    return number


def started(count=2):
    some = Workers(count)
    assert some.may_start(None)
    return some


def test_the_search_is_the_same_with_workers(at_once, alone):
    with joblib.parallel_config("threading", n_jobs=2):
        found = search(noisy_table(), replace(SMALL, workers=0))
    assert told(found) == alone
    assert at_once[0]._number  # of works that others were given


def test_it_is_the_same_in_other_processes_with_the_users_own_functions(at_once):
    halved = make_operator("half", lambda a: a / 2, sympy=lambda a: a / 2)
    settings = replace(SMALL, operators=("+", "*", "exp", halved), loss=lambda error: error**2, max_fits=25)
    one, two = (told(search(noisy_table(), replace(settings, workers=count))) for count in (1, 2))
    assert one == two
    assert at_once[0]._number  # of works that others were given


def test_the_next_level_is_begun_ahead_and_is_the_same(at_once, monkeypatch):
    begun = []

    def soon(self, context, level, soon=Ahead.soon):
        soon(self, context, level)
        if self.workers.running:
            begun.extend(part.work for parts in self._next[1]._prepared.values() for part in parts)

    monkeypatch.setattr(Ahead, "soon", soon)
    for ends in ("is_noise_left", "law_in_noise"):  # a level, and the search with it
        monkeypatch.setattr(loop._Search, ends, lambda *_, **__: None)
    without = (*FEW, "unwrapping", "denominators")
    settings = replace(SMALL, exhaustive=replace(SMALL.exhaustive, levels=2, without=without), max_fits=60)
    with joblib.parallel_config("threading", n_jobs=2):
        two = told(search(noisy_table(), replace(settings, workers=0)))
    assert two == told(search(noisy_table(), settings))
    assert begun
    assert all(work.state in ("done", "failed") for work in begun)


def test_what_nobody_has_begun_is_done_while_the_loop_waits():
    def comes_back(work, number):
        work.state = "done"
        return number

    some, awaited = Workers(2), Work(double, state="out")
    some._heard = time.monotonic()
    later, soon = (
        Work(comes_back, (Luggage(None, here=awaited),), (7,), "waiting", later=wanted) for wanted in (True, False)
    )
    some._todo.extend([later, soon])
    assert some.done(awaited)
    assert (soon.state, soon.result, later.state) == ("done", 7, "waiting")


def test_what_is_known_of_a_problem_is_not_used_for_another():
    one, other = (context_of(table(f"{factor}*x*y", names="xy", rows=20)) for factor in (1, 1000000))
    fitter, proposal = fitter_of(one), Proposal(parse("x*y"), 1.0)
    ahead = Ahead(Workers(1), fitter)
    ahead.now(fitter, one.problem)
    fitter.known.add(fit_ahead(fitter, one.problem, [proposal], fitter.archive.standing()))
    assert fitter.known.formulas
    assert fitter.formulas(proposal, one.problem) != fitter.formulas(proposal, other.problem)
    ahead.now(fitter, other.problem)
    assert not fitter.known.formulas


def test_limits_hold_with_workers(at_once):
    limited = replace(SMALL, max_fits=30)
    with joblib.parallel_config("threading", n_jobs=2):
        two = search(noisy_table(), replace(limited, workers=0))
    assert told(two) == told(search(noisy_table(), limited))


def test_a_short_search_starts_none(monkeypatch):
    monkeypatch.setattr(threading.Thread, "start", None)
    x = np.linspace(-3, 3, 60)
    monkeypatch.setattr(workers, "STARTS_AFTER", LONG)
    monkeypatch.setattr(workers, "STARTED_AFTER", LONG)
    assert str(search(make_dataset(x, x**2 / 2 - x, names=["x"])).best.expression) == "x**2/2 - x"


def test_work_comes_back(at_once):
    with joblib.parallel_config("threading"):
        some = started()
    works = [Work(double, arguments=(k,)) for k in range(20)]
    for work in works:
        some.hand_out(work)
    assert [work.result if some.done(work) else double(k) for k, work in enumerate(works)] == list(range(0, 40, 2))
    some.close()
    assert not some.running


def test_luggage_that_a_worker_has_dropped_is_sent_again(at_once, monkeypatch):
    monkeypatch.setattr(workers, "KEPT", 1)
    with joblib.parallel_config("threading"):
        some = started()
    pieces = [Luggage(10), Luggage(100)]
    works = [Work(scaled, (pieces[k % 2],), (k,)) for k in range(12)]
    for work in works:
        some.hand_out(work)
        wait_for(lambda work=work: work.state == "done")
    assert [work.result for work in works] == [k * (10, 100)[k % 2] for k in range(12)]
    assert all(piece.sent > 2 for piece in pieces)
    some.close()


def test_luggage_of_an_earlier_level_is_dropped():
    workers._kept.clear()
    pieces = [Luggage(10, "search/1"), Luggage(100, "other/1"), Luggage(1000, "search/2")]
    for piece in pieces:
        assert workers.do(7, scaled, (piece.name,), {piece.name: piece.content}, (2,)) == (7, 2 * piece.content)
    assert list(workers._kept) == [pieces[1].name, pieces[2].name]


def test_what_goes_wrong_is_left_to_the_loop(at_once):
    with joblib.parallel_config("threading"):
        some = started()
    work = Work(fails, arguments=(1,))
    some.hand_out(work)
    wait_for(lambda: work.state == "failed")
    assert not some.done(work)
    assert some.running
    some.close()


def test_silent_workers_are_given_up(at_once, monkeypatch):
    monkeypatch.setattr(workers, "SILENT", 0.05)
    with joblib.parallel_config("threading"):
        some = started()
    work = Work(sleeps, arguments=(0.5,))
    some.hand_out(work)
    wait_for(lambda: work.state == "out")
    with pytest.warns(UserWarning, match="goes on in one process: no result has come"):
        assert not some.done(work)
    assert not some.running


@pytest.mark.slow  # three processes start
def test_the_work_of_a_process_that_was_killed_is_done_again(at_once, tmp_path):
    some = started()
    works = [Work(dies_once, arguments=(str(tmp_path / "was here"), k)) for k in range(6)]
    for work in works:
        some.hand_out(work)
    wait_for(lambda: all(work.state == "done" for work in works))
    assert [work.result for work in works] == list(range(6))
    assert some.running
    some.close()


@pytest.mark.slow  # two processes start
def test_work_goes_to_new_processes_where_one_was_killed_without_work(at_once):
    some = started()
    executor = workers.processes_here(some.processes)
    for process in list(executor._processes):
        os.kill(process, signal.SIGKILL)
    wait_for(lambda: executor._flags.broken is not None)
    work = Work(double, arguments=(4,))
    some.hand_out(work)
    wait_for(lambda: work.state == "done")
    assert work.result == 8
    some.close()
    some._thread.join(LONG)
    assert not workers._pool.locked()


@pytest.mark.slow  # a process starts
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="processes can't be stopped here")
def test_silent_processes_are_ended(at_once, monkeypatch):
    some = started()
    executor = workers.processes_here(some.processes)
    processes = list(executor._processes.values())
    for process in processes:
        os.kill(process.pid, signal.SIGSTOP)
    monkeypatch.setattr(workers, "SILENT", 0.05)
    work = Work(double, arguments=(4,))
    some.hand_out(work)
    wait_for(lambda: work.state == "out")
    with pytest.warns(UserWarning, match="goes on in one process: no result has come"):
        assert not some.done(work)
    some._thread.join(LONG)
    assert not workers._pool.locked()
    wait_for(lambda: not any(process.is_alive() for process in processes))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_no_workers_of_another(monkeypatch):
    monkeypatch.setitem(workers._executors, 1, "of the process that forks")
    with workers._pool:
        child = os.fork()
        if not child:
            os._exit(workers._pool.locked() or bool(workers._executors))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_what_can_t_be_sent_is_searched_here(at_once):
    lock = threading.Lock()

    def loss(error):
        with lock:
            return error**2

    settings = replace(SMALL, max_fits=20, loss=loss, workers=2)
    with pytest.warns(UserWarning, match="runs in one process.*can't be sent to another .*lock"):
        two = search(noisy_table(), settings)
    assert told(two) == told(search(noisy_table(), replace(settings, workers=1)))


@pytest.mark.slow  # five processes start
def test_another_number_of_processes_comes_after_the_last_work_of_those_before(at_once):
    for count in (2, 3):
        some = started(count)
        some.hand_out(Work(sleeps, arguments=(0.3,)))
        wait_for(lambda some=some: some.busy)
        some.close()
    some._thread.join(LONG)  # for others that use the same processes


def test_inside_of_parallel_work_there_is_one():
    for backend in ("threading", "loky"):
        inside = joblib.Parallel(2, backend=backend)(joblib.delayed(count_of_workers)() for _ in range(2))
        assert inside == [1, 1]


def count_of_workers():
    return backend_and_workers(0)[1]


def test_their_number_is_what_joblib_is_told():
    assert backend_and_workers(0)[1] == joblib.cpu_count()
    assert backend_and_workers(3)[1] == 3
    with joblib.parallel_config("threading", n_jobs=5):
        assert backend_and_workers(0)[1] == 5
        assert backend_and_workers(2)[1] == 2
    with joblib.parallel_config("sequential"):
        assert backend_and_workers(4)[1] == 1


@pytest.mark.slow  # a cluster of two processes starts
def test_a_dask_cluster_does_the_same(at_once, alone):
    distributed = pytest.importorskip("dask.distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
        joblib.parallel_config("dask"),
    ):
        assert told(search(noisy_table(), replace(SMALL, workers=0))) == alone
        assert at_once[0]._number  # of works that others were given
        processes = list(client.run(os.getpid).values())

        def kill_one(_update):  # in the middle
            if len(processes) == 2:
                os.kill(processes.pop(), signal.SIGKILL)

        assert told(search(noisy_table(), replace(SMALL, workers=0), watch=kill_one)) == alone


@pytest.mark.slow
def test_a_search_goes_on_without_its_scheduler(at_once, alone):
    distributed = pytest.importorskip("dask.distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    cluster = distributed.LocalCluster(**options)
    client = distributed.Client(cluster)
    gone = []

    def close(_update):
        if at_once and at_once[0].busy and not gone:
            gone.append(cluster.loop.add_callback(cluster.scheduler.close))

    with joblib.parallel_config("dask"), pytest.warns(UserWarning, match="the search goes on in one process"):
        found = search(noisy_table(), replace(SMALL, workers=0), watch=close)
    assert told(found) == alone
    with contextlib.suppress(TimeoutError):  # there is nobody left to say goodbye to
        client.close(timeout=1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # Ray's own
def test_ray_does_the_same(at_once, alone):
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    register_ray()
    try:
        with joblib.parallel_config("ray", n_jobs=2):
            assert told(search(noisy_table(), replace(SMALL, workers=0))) == alone
        assert at_once[0]._number  # of works that others were given
    finally:
        ray.shutdown()
