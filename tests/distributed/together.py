"""Run a function in several processes that are joined by gloo, and get what each gives."""

import multiprocessing
import os
import traceback
from datetime import timedelta

import torch
import torch.distributed as dist


def together(processes, folder, function, *arguments, seconds=120):
    """What function(rank, processes, *arguments) gives in every process; one process is this one."""
    if processes == 1:
        return [function(0, 1, *arguments)]
    folder.mkdir(parents=True, exist_ok=True)
    store = folder / f"store-{len(os.listdir(folder))}"
    # forked, as importing torch anew would take longer than the tests
    fork = multiprocessing.get_context("fork")
    workers = [
        fork.Process(target=_work, args=(rank, processes, store, function, arguments))
        for rank in range(processes)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(seconds)
        if worker.is_alive():
            for one in workers:
                one.kill()
            raise AssertionError("the processes wait for each other")
    for rank in range(processes):
        failed = store.with_name(f"{store.name}-{rank}.txt")
        assert not failed.exists(), failed.read_text()
    return [
        torch.load(store.with_name(f"{store.name}-{rank}.pt"), weights_only=False)
        for rank in range(processes)
    ]


def _work(rank, processes, store, function, arguments):
    try:
        torch.set_num_threads(1)
        dist.init_process_group(
            "gloo",
            init_method=f"file://{store}",
            rank=rank,
            world_size=processes,
            timeout=timedelta(seconds=60),
        )
        found = function(rank, processes, *arguments)
        torch.save(found, store.with_name(f"{store.name}-{rank}.pt"))
        dist.barrier()
    except BaseException:
        store.with_name(f"{store.name}-{rank}.txt").write_text(traceback.format_exc())
    finally:
        os._exit(0)
