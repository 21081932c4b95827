#!/usr/bin/env python3
"""Times whole processes, which run in turn: python3 bench/processes.py RUNS COMMAND COMMAND ...

Elapsed time, CPU time and peak memory are medians. Each ratio is relative to the first command. The
peak is at least about 15 MB, because it includes that of Python, which starts the commands."""

import os
import shlex
import statistics
import sys
import time


def run(command, null):
    """Returns the elapsed and CPU milliseconds and the peak memory in MB."""
    start = time.perf_counter()
    to_null = [(os.POSIX_SPAWN_DUP2, null, fd) for fd in (1, 2)]
    child = os.posix_spawnp(command[0], command, os.environ, file_actions=to_null)
    _, status, usage = os.wait4(child, 0)
    elapsed = time.perf_counter() - start
    if status != 0:
        sys.exit(f"{shlex.join(command)}: failed with wait status {status}")
    return 1e3 * elapsed, 1e3 * (usage.ru_utime + usage.ru_stime), usage.ru_maxrss * 1024 / 1e6


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    commands = [shlex.split(text) for text in sys.argv[2:]]
    null = os.open(os.devnull, os.O_WRONLY)
    runs = [[] for _ in commands]
    for _ in range(int(sys.argv[1])):
        for command, times in zip(commands, runs):
            times.append(run(command, null))
    print("elapsed ms  ratio   CPU ms  ratio  peak MB")
    medians = [[statistics.median(column) for column in zip(*times)] for times in runs]
    for command, (elapsed, cpu, peak) in zip(commands, medians):
        print(f"{elapsed:10.2f} {elapsed / medians[0][0]:6.3f} {cpu:8.2f} {cpu / medians[0][1]:6.3f}"
              f" {peak:8.1f}  {shlex.join(command)}")


if __name__ == "__main__":
    main()
