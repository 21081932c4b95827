#!/usr/bin/env python3
"""Times runs of a model while another process keeps one core busy:

    python3 bench/neighbor.py [--quiet] ROUNDS MODEL RUNNER [RUNNER...]

Each RUNNER is an executor_runner. All runners take turns, with one thread and with two. Figures are medians over the
rounds; `slower` is the ratio of the mean to that of the same runner with one thread. With --quiet, no other process
runs. The environment variable RUNS sets the runs per measurement (default: 200)."""

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
    neighbor = None
    if not quiet:
        neighbor = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        os.sched_setaffinity(neighbor.pid, {cores[-1]})
    cases = [(runner, threads) for runner in runners for threads in (1, 2)]
    rows = {case: [] for case in cases}
    try:
        for _ in range(rounds):
            for case in cases:
                rows[case].append(times(case[0], model, case[1]))
    finally:
        if neighbor:
            neighbor.kill()
    print("   min us    p50 us    p99 us   mean us  slower  threads")
    medians = {case: [statistics.median(column) for column in zip(*rows[case])] for case in cases}
    for runner, threads in cases:
        figures = medians[runner, threads]
        print("".join(f"{f:10.1f}" for f in figures),
              f"{figures[3] / medians[runner, 1][3]:7.2f} {threads:8}  {runner}")


if __name__ == "__main__":
    main()
