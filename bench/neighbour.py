#!/usr/bin/env python3
"""Times runs beside a process that keeps one core busy:

    python3 bench/neighbour.py [--quiet] ROUNDS MODEL RUNNER [RUNNER...]

Each RUNNER is an executor_runner; they take turns, on one thread and on two. Figures are medians of the rounds;
`slower` is the mean's ratio to one thread of the same runner. --quiet starts no such process."""

import json
import os
import statistics
import subprocess
import sys

FIGURES = ("min", "p50", "p99", "avg")


def times(runner, model, threads):
    command = [runner, "--profile", model, "--cpu_threads", str(threads), "--format", "json",
               "--num_executions", os.environ.get("RUNS", "200")]
    profile = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return [profile["wall_ns"][figure] / 1e3 for figure in FIGURES]


def main():
    arguments = sys.argv[1:]
    quiet = arguments[:1] == ["--quiet"]
    if quiet:
        arguments.pop(0)
    if len(arguments) < 3:
        sys.exit(__doc__)
    rounds, model, runners = int(arguments[0]), arguments[1], arguments[2:]
    cores = sorted(os.sched_getaffinity(0))
    neighbour = None
    if not quiet:
        neighbour = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        os.sched_setaffinity(neighbour.pid, {cores[-1]})
    sides = [(runner, threads) for runner in runners for threads in (1, 2)]
    rows = {side: [] for side in sides}
    try:
        for _ in range(rounds):
            for side in sides:
                rows[side].append(times(side[0], model, side[1]))
    finally:
        if neighbour:
            neighbour.kill()
    print("   min us    p50 us    p99 us   mean us  slower  threads")
    medians = {side: [statistics.median(c) for c in zip(*rows[side])] for side in sides}
    for runner, threads in sides:
        figures = medians[runner, threads]
        print("".join(f"{f:10.1f}" for f in figures),
              f"{figures[3] / medians[runner, 1][3]:7.2f} {threads:8}  {runner}")


if __name__ == "__main__":
    main()
