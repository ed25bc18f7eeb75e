"""What one of P processes needs to train a model together with the others: memory, time, bytes sent.

    python benchmarks/distributed.py NETWORK [--processes 1,2,4] [--preset paper] [--epochs 3] [--json]
        [--output FILE.jsonl]

The network is prepared once, in a process of its own. Memory of a process is the peak of its resident memory
while it opens its share and trains, minus what it had with its libraries loaded and warm. All
processes share this machine: seconds say little where it has fewer cores than processes; bytes, counted at
the calls of torch.distributed, hold anywhere.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CALLS = ("broadcast", "reduce", "all_reduce")


def main() -> None:
    arguments = parse()
    if arguments.role == "prepare":
        prepare_all(arguments)
    elif arguments.role == "train":
        print(json.dumps(train_share(arguments)))
    else:
        report = compare(arguments)
        if arguments.output:
            from coembed.experiments.record_file import RecordFile

            RecordFile(arguments.output, ("network", "preset")).append(report)
        print_report(report, arguments.json)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("network", help="any file or folder that coembed reads")
    parser.add_argument("--processes", default="1,2,4", help="numbers of processes (default 1,2,4)")
    parser.add_argument("--preset", default="paper")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="change a setting")
    parser.add_argument("--epochs", type=int, default=3, help="epochs (default 3); the first is not timed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--output", "-o", type=Path, help="file of JSON lines to add the report to")
    parser.add_argument("--role", choices=("prepare", "train"), help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    return parser.parse_args()


def compare(arguments: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        started(arguments, "prepare", folder, 1)
        found = {}
        for processes in (int(number) for number in arguments.processes.split(",")):
            shares = started(arguments, "train", folder, processes)
            found[processes] = {
                "memory_mb": [share["memory_mb"] for share in shares],
                "seconds_per_epoch": max(share["seconds_per_epoch"] for share in shares),
                "sent_mb_per_epoch": shares[0]["sent_mb_per_epoch"],
                "loss": shares[0]["loss"],
            }
        described = json.loads((Path(folder) / "described.json").read_text())
    one = max(found[min(found)]["memory_mb"])
    for figures in found.values():
        figures["share_of_memory"] = max(figures["memory_mb"]) / one
    return {**described, "preset": arguments.preset, "epochs": arguments.epochs, "processes": found}


def started(arguments: argparse.Namespace, role: str, folder: str, processes: int) -> list[dict[str, Any]]:
    """What the processes of a job print, by rank."""
    command = [sys.executable, __file__, arguments.network, "--preset", arguments.preset]
    command += ["--epochs", str(arguments.epochs), "--role", role, "--folder", folder]
    command += [part for setting in arguments.set for part in ("--set", setting)]
    store = str(Path(folder) / f"store-{processes}")
    jobs = [
        subprocess.Popen(
            command,
            env=os.environ
            | {"OMP_NUM_THREADS": "1", "RANK": str(rank), "WORLD_SIZE": str(processes), "STORE": store},
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(processes)
    ]
    texts = [job.communicate()[0] for job in jobs]
    if any(job.returncode for job in jobs):
        sys.exit(f"a process of {processes} failed")
    return [json.loads(text) for text in texts if text]


def prepare_all(arguments: argparse.Namespace) -> None:
    from coembed.network import read
    from coembed.settings import preset_settings
    from coembed.training.fit import prepare
    from coembed.training.prepared import write_prepared

    network = read(arguments.network)
    settings = preset_settings(arguments.preset).parse(arguments.set)
    write_prepared(prepare(network, settings, None, lambda step: None), Path(arguments.folder) / "prepared")
    described = {
        "network": network.name,
        "nodes": network.n_nodes,
        "links": network.n_links,
        "attributes": network.n_attributes,
        "entries": int(network.attributes.nnz),
        "hidden": settings.hidden,
        "dim": settings.dim,
        "classes": network.n_classes,
    }
    (Path(arguments.folder) / "described.json").write_text(json.dumps(described))


def train_share(arguments: argparse.Namespace) -> dict[str, Any]:
    import torch
    import torch.distributed as dist

    from coembed.distributed.job import job_here
    from coembed.distributed.shares import Share
    from coembed.model.scan import scan
    from coembed.training import train
    from coembed.training.prepared import open_prepared

    job = job_here()
    if job.processes > 1:
        where = f"file://{os.environ['STORE']}"
        dist.init_process_group("gloo", init_method=where, rank=job.rank, world_size=job.processes)
    sent = counted(dist)
    warm_up(job.processes)
    before = resident_mb()
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    prepared = open_prepared(Path(arguments.folder) / "prepared")
    share = Share.of(prepared.network, job.processes, job.rank)
    seen = prepared.seen
    settings = prepared.settings
    del prepared
    torch.manual_seed(0)
    model = scan(share, settings, seen=seen)
    del share, seen
    marks: list[tuple[float, int]] = []

    def mark(epoch: int, epochs: int, figures: dict[str, float]) -> None:
        marks.append((time.perf_counter(), sent["bytes"]))

    history = train(model, epochs=arguments.epochs, processes=job.processes, progress=mark)
    steps = max(len(marks) - 1, 1)
    return {
        "memory_mb": round(peak_mb() - before, 1),
        "seconds_per_epoch": round((marks[-1][0] - marks[0][0]) / steps, 3),
        "sent_mb_per_epoch": round((marks[-1][1] - marks[0][1]) / steps / 1e6, 2),
        "loss": history.figures["loss"][-1],
    }


def warm_up(processes: int) -> None:
    """A little of everything, so that what torch loads at the first use is there before memory is counted."""
    import torch
    import torch.distributed as dist

    from coembed.model import scan
    from coembed.network import synthesize
    from coembed.settings import preset_settings
    from coembed.training import train

    small = synthesize(nodes=300, links=1000, attributes=50, entries=2000, classes=3, seed=0)
    train(scan(small, preset_settings("paper")), epochs=2)
    if processes > 1:
        dist.all_reduce(torch.zeros(1))
        dist.broadcast(torch.zeros(1), 0)
        dist.reduce(torch.zeros(1), 0)


def counted(dist: Any) -> dict[str, int]:
    """Bytes of the tensors that are handed to collective calls from now on."""
    sent = {"bytes": 0}
    for name in CALLS:
        plain = getattr(dist, name)

        def call(tensor: Any, *more: Any, plain: Any = plain, **named: Any) -> Any:
            sent["bytes"] += tensor.numel() * tensor.element_size()
            return plain(tensor, *more, **named)

        setattr(dist, name, call)
    return sent


def status_mb(field: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 1024
    raise OSError(f"/proc/self/status has no {field}")


def resident_mb() -> float:
    return status_mb("VmRSS")


def peak_mb() -> float:
    return status_mb("VmHWM")


def print_report(report: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(report, indent=2))
        return
    sizes = f"{report['nodes']:,} nodes, {report['links']:,} links"
    print(f"{report['network']}: {sizes}, preset {report['preset']}")
    print("processes  memory of one [MB]  share  s/epoch  MB/epoch in collective calls")
    for processes, figures in report["processes"].items():
        print(
            f"{processes:9d}  {max(figures['memory_mb']):18.0f}  {figures['share_of_memory']:5.2f}  "
            f"{figures['seconds_per_epoch']:7.2f}  {figures['sent_mb_per_epoch']:9.1f}"
        )


if __name__ == "__main__":
    main()
