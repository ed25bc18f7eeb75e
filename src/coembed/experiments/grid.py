"""Running cells: in this process, in several, or on a cluster; each is kept as soon as it is finished."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any, Literal, get_args

from coembed.errors import InputError
from coembed.experiments.cell import Cell, CellJob, cell_of
from coembed.experiments.cell_work import cores, run_job
from coembed.experiments.code_version import code_version
from coembed.experiments.plan import SLOW_FIT, SLOW_SEEDS
from coembed.experiments.record_file import Record
from coembed.experiments.record_store import MOST_ATTEMPTS, Store
from coembed.progress import EpochProgress

Backend = Literal["loky", "dask", "ray"]


@dataclass(frozen=True)
class Where:
    """Processes to run cells in: how many, on what, and for Dask or Ray the address of a running cluster."""

    jobs: int = 1
    backend: Backend = "loky"
    cluster: str = ""

    def __post_init__(self) -> None:
        if self.backend not in get_args(Backend):
            raise InputError(f"there is no backend {self.backend!r}; known: {', '.join(get_args(Backend))}")
        if self.jobs < 1:
            raise InputError(f"the number of jobs must be at least 1, got {self.jobs}")


@dataclass
class Tally:
    """How far a run has come."""

    total: int
    kept: int = 0
    done: int = 0
    failed: int = 0
    skipped: int = 0
    seconds_left: float = 0.0
    errors: list[str] = field(default_factory=list)

    @property
    def settled(self) -> int:
        return self.kept + self.done + self.failed + self.skipped


CellProgress = Callable[[Tally, Cell | None, Record], None]
"""Called when a cell is settled, with its record; once at the start, without a cell."""


def run_grid(
    cells: list[Cell],
    store: Store,
    data: Path,
    where: Where | None = None,
    *,
    thrifty: bool = False,
    tell: CellProgress | None = None,
    epochs: EpochProgress | None = None,
) -> Tally:
    """Run all cells that are not done yet, in their order, those that failed before at the end.

    Parameters
    ----------
    thrifty
        A method whose fit takes long has fewer seeds.
    epochs
        Called while a method learns; only where cells run in this process.
    """
    where = where or Where()
    left = [cell for cell in cells if not store.done(cell)]
    left.sort(key=store.doubtful)
    tally = Tally(len(cells), kept=len(cells) - len(left))
    pace = Pace(store)
    report = tell or (lambda tally, cell, record: None)
    tally.seconds_left = pace.left(left, where.jobs)
    report(tally, None, {})
    version = code_version()

    def keep(cell: Cell, record: Record) -> None:
        store.write(cell, {**record, "code": version})
        pending.pop(cell.name, None)
        if record["state"] == "done":
            tally.done += 1
            pace.add(cell, record["seconds"])
        else:
            tally.failed += 1
            tally.errors.append(f"{cell.name}: {record['error']}")
        tally.seconds_left = pace.left(list(pending.values()), where.jobs)
        report(tally, cell, record)

    def jobs() -> Iterator[CellJob]:
        threads = max(1, cores() // where.jobs)
        # what was in flight when a worker died is run again alone, last: so the culprit shows itself
        trusted = [cell for cell in pending.values() if cell.name not in suspects]
        queue = deque(trusted or [next(iter(pending.values()))])
        put_off = set()
        while queue:
            cell = queue.popleft()
            if store.busy(cell) and cell not in put_off:
                put_off.add(cell)
                queue.append(cell)
            elif store.done(cell) or store.busy(cell):
                # another run on the same folder was faster, or is still at it
                pending.pop(cell.name)
                tally.kept += 1
            elif thrifty and cell.seed >= SLOW_SEEDS and pace.fit(cell) > SLOW_FIT:
                pending.pop(cell.name)
                tally.skipped += 1
            else:
                store.begin(cell)
                yield CellJob(cell, data, threads)

    pending = {cell.name: cell for cell in left}
    suspects: set[str] = set()
    with _workers(where) as results:
        while pending:
            try:
                for cell, record in results(jobs(), epochs):
                    keep(cell, record)
            except _lost_worker(where) as error:
                suspects |= _count_the_lost(pending, store, keep, error)
    return tally


def _count_the_lost(
    pending: dict[str, Cell], store: Store, keep: Callable[[Cell, Record], None], error: Exception
) -> set[str]:
    """A worker is gone, with a cell that it was at: those in flight, which are tried again a few times."""
    lost = set()
    for cell in [cell for cell in pending.values() if store.running(cell)]:
        if store.attempts(cell) >= MOST_ATTEMPTS:
            reason = str(error).strip().splitlines()[0]
            keep(cell, {"state": "failed", "error": f"its process ended: {reason}", "seconds": {}})
        else:
            lost.add(cell.name)
    return lost


class Pace:
    """How long cells take, from those that are done: the best guess for those that are not."""

    def __init__(self, store: Store) -> None:
        self.totals: dict[tuple[str, ...], list[float]] = {}
        self.fits: dict[tuple[str, ...], list[float]] = {}
        for record in store.records():
            if "total" in record.get("seconds", {}):
                self.add(cell_of(record), record["seconds"])

    def add(self, cell: Cell, seconds: dict[str, float]) -> None:
        for key in self._keys(cell):
            self.totals.setdefault(key, []).append(seconds["total"])
        # processor time: on a busy machine every method would look slow
        fit = seconds.get("fit_cpu", seconds.get("fit", 0.0))
        self.fits.setdefault(self._keys(cell)[0], []).append(fit)

    def fit(self, cell: Cell) -> float:
        """Mean processor seconds of a fit of the same method on the same network; 0 if there was none."""
        return fmean(self.fits.get(self._keys(cell)[0], [0.0]))

    def left(self, cells: list[Cell], jobs: int) -> float:
        """Seconds that the cells will take, from the most similar ones that are done."""
        return sum(self._guess(cell) for cell in cells) / jobs

    def _guess(self, cell: Cell) -> float:
        return next((fmean(self.totals[key]) for key in self._keys(cell) if key in self.totals), 0.0)

    @staticmethod
    def _keys(cell: Cell) -> tuple[tuple[str, ...], ...]:
        return (cell.experiment, cell.row, cell.network), (cell.row, cell.network), (cell.network,), ()


_RunJobs = Callable[[Iterator[CellJob], EpochProgress | None], Iterator[tuple[Cell, Record]]]


@contextmanager
def _workers(where: Where) -> Iterator[_RunJobs]:
    """A function that runs jobs and gives their records as they come, in the place asked for."""
    if where.backend == "loky" and where.jobs == 1:
        yield _here
        return
    if where.backend == "ray":
        with _ray(where):
            yield lambda jobs, epochs: _on_ray(jobs, where.jobs)
        return
    from joblib import Parallel, delayed, parallel_config

    def elsewhere(jobs: Iterator[CellJob], epochs: EpochProgress | None) -> Iterator[tuple[Cell, Record]]:
        # one cell at a time for each process, dispatched when it is free: cells differ in length by minutes
        runner = Parallel(
            n_jobs=where.jobs, batch_size=1, pre_dispatch="n_jobs", return_as="generator_unordered"
        )
        yield from runner(delayed(_there)(job) for job in jobs)

    with ExitStack() as stack:
        settings: dict[str, Any] = {}
        if where.backend == "loky":
            settings["inner_max_num_threads"] = max(1, cores() // where.jobs)
        else:
            stack.enter_context(_dask(where))
        stack.enter_context(parallel_config(backend=where.backend, **settings))
        yield elsewhere


def _here(jobs: Iterator[CellJob], epochs: EpochProgress | None) -> Iterator[tuple[Cell, Record]]:
    for job in jobs:
        yield job.cell, run_job(job, epochs)


def _there(job: CellJob) -> tuple[Cell, Record]:
    import warnings

    warnings.filterwarnings("ignore", message="Sparse (CSR|invariant)")
    return job.cell, run_job(job)


def _dask(where: Where) -> AbstractContextManager[object]:
    """A client of the cluster at the address, or of one on this machine for as long as it is needed."""
    try:
        from distributed import Client
    except ImportError:
        raise _not_installed(where) from None
    if where.cluster:
        return Client(where.cluster, set_as_default=True)
    return Client(n_workers=where.jobs, threads_per_worker=1, dashboard_address=None, set_as_default=True)


def _ray(where: Where) -> AbstractContextManager[object]:
    """The same for Ray."""
    try:
        import ray
    except ImportError:
        raise _not_installed(where) from None
    return ray.init(where.cluster or None, num_cpus=None if where.cluster else where.jobs)


def _not_installed(where: Where) -> InputError:
    return InputError(
        f"backend {where.backend} is not installed; run: pip install 'coembed[{where.backend}]'"
    )


def _on_ray(jobs: Iterator[CellJob], at_a_time: int) -> Iterator[tuple[Cell, Record]]:
    """By tasks of Ray's own: its part in joblib gives nothing back before all is done."""
    import ray

    task = ray.remote(max_retries=0)(_there)
    pending: list[Any] = []
    for job in jobs:
        pending.append(task.remote(job))
        if len(pending) == at_a_time:
            finished, pending = ray.wait(pending)
            yield from ray.get(finished)
    while pending:
        finished, pending = ray.wait(pending)
        yield from ray.get(finished)


def _lost_worker(where: Where) -> tuple[type[Exception], ...]:
    """What is raised when a process ends in the middle of a cell."""
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    lost: list[type[Exception]] = [TerminatedWorkerError]
    if where.backend == "dask":
        from distributed.scheduler import KilledWorker

        lost.append(KilledWorker)
    if where.backend == "ray":
        from ray.exceptions import WorkerCrashedError

        lost.append(WorkerCrashedError)
    return tuple(lost)
