"""Tasks in a few processes that die with their parent, and say what they are doing."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.context import SpawnProcess

Tell = Callable[[str, str], None]
Work = Callable[[Any, Tell], None]
Listen = Callable[[int, str, str], None]
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class TaskError(RuntimeError):
    """A task failed in its process; the note holds where."""


@dataclass
class _Worker:
    process: SpawnProcess
    pipe: Connection
    task: int


def run_all(work: Work, tasks: Sequence[Any], *, jobs: int, listen: Listen) -> None:
    """Do every task, `jobs` at a time.

    With one job the work is done here; with more, in processes started afresh (never forked). Each computes
    with one thread, so that the results do not depend on their number. An error or Ctrl-C stops them all.

    Args:
        work: A function of a module, f(task, tell); it may tell (stage, state).
        tasks: What to do, first things first; each must pickle if there are several jobs.
        jobs: How many at a time.
        listen: Hears (number of the task, stage, state); the states "begun" and "done" come with stage "".

    Raises:
        TaskError: If a task failed in its process.
    """
    if jobs < 1:
        msg = f"jobs={jobs}; it must be at least 1."
        raise ValueError(msg)
    if jobs == 1 or len(tasks) < 2:
        for number, task in enumerate(tasks):
            listen(number, "", "begun")
            with one_thread():
                work(task, lambda stage, state, number=number: listen(number, stage, state))  # type: ignore[misc]
            listen(number, "", "done")
        return
    workers: list[_Worker] = []
    try:
        with _thread_variables():
            for number in range(min(jobs, len(tasks))):
                workers.append(_start(work, tasks, number, listen))  # noqa: PERF401 - all that started must be ended
        _supervise(workers, tasks, listen)
    finally:
        for worker in workers:
            worker.pipe.close()
            worker.process.terminate()
            worker.process.join()


def _start(work: Work, tasks: Sequence[Any], number: int, listen: Listen) -> _Worker:
    spawning = multiprocessing.get_context("spawn")
    here, there = spawning.Pipe()
    process = spawning.Process(target=_serve, args=(work, there), daemon=True)
    with _interrupt_ignored():
        process.start()
    there.close()
    worker = _Worker(process, here, number)
    _assign(worker, tasks, number, listen)
    return worker


def _assign(worker: _Worker, tasks: Sequence[Any], number: int, listen: Listen) -> None:
    worker.task = number
    listen(number, "", "begun")
    worker.pipe.send(tasks[number])


def _supervise(workers: list[_Worker], tasks: Sequence[Any], listen: Listen) -> None:
    busy = {worker.pipe: worker for worker in workers}
    following = iter(range(len(workers), len(tasks)))
    while busy:
        for pipe in wait(list(busy)):
            assert isinstance(pipe, Connection)  # noqa: S101 - only pipes are waited for
            worker = busy[pipe]
            try:
                stage, state = pipe.recv()
            except (EOFError, OSError):
                worker.process.join()
                msg = f"the process of task {tasks[worker.task]!r} ended with exit code {worker.process.exitcode}."
                raise TaskError(msg) from None
            if state == "failed":
                error = TaskError(f"{tasks[worker.task]!r} failed: {stage.strip().splitlines()[-1]}")
                error.add_note(stage)
                raise error
            listen(worker.task, stage, state)
            if state == "done":
                number = next(following, None)
                if number is None:
                    del busy[pipe]
                else:
                    _assign(worker, tasks, number, listen)


def _serve(work: Work, pipe: Connection) -> None:
    """A worker process: tasks in, events out, until the parent closes the pipe or dies."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # where the parent could not see to it
    threading.Thread(target=_die_with_parent, daemon=True).start()
    while True:
        try:
            task = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            with one_thread():
                work(task, lambda stage, state: pipe.send((stage, state)))
        except Exception:  # noqa: BLE001 - whatever it is, the parent must hear of it
            pipe.send((traceback.format_exc(), "failed"))
        else:
            pipe.send(("", "done"))


@contextlib.contextmanager
def _interrupt_ignored() -> Iterator[None]:
    """Processes started meanwhile never hear Ctrl-C: it reaches the parent, which ends them.

    They inherit it: what they said to Ctrl-C themselves would come after their imports, and those are long. A Ctrl-C
    in the milliseconds that a start takes is lost.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or before is None:
        yield  # Python lets nobody else decide on signals, nor could it put back what it did not set
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Linear algebra in one thread: sums in one order, whatever the machine."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(ImportError):  # comes with scikit-learn
            from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

            stack.enter_context(threadpool_limits(limits=1))
        torch = sys.modules.get("torch")
        if torch is not None:
            threads = torch.get_num_threads()
            torch.set_num_threads(1)
            stack.callback(torch.set_num_threads, threads)
        yield


@contextlib.contextmanager
def _thread_variables() -> Iterator[None]:
    """What processes started meanwhile read when they import numpy and torch."""
    before = {name: os.environ.get(name) for name in _THREAD_VARIABLES}
    os.environ.update(dict.fromkeys(_THREAD_VARIABLES, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
