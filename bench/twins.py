#!/usr/bin/env python3
"""Compares delegated programs with their undelegated twins, in one process and in turn (docs/performance.md):

    python3 bench/twins.py RUNNER FOLDER [--rounds N] [--options "--threads 1"]

RUNNER is an executor_runner. The twin of FOLDER/NAME/model.pte is FOLDER/NAME_portable/model.pte. Prints a Markdown
table with the median of all rounds: the delegated program's time, its time relative to the twin's, and the smallest
and largest bound of the intervals of 95 % confidence. The exit code is 2 if a delegated program is slower than its
twin in each round."""

import argparse
import json
import math
import pathlib
import shlex
import statistics
import subprocess
import sys

TWIN = "_portable"


def compare(runner, program, twin, options):
    command = [runner, "--profile", twin, "--compare", program, "--format", "json", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"twins.py: {program}: {done.stderr.strip()}")
    wall = json.loads(done.stdout)["wall"]
    if not wall.get("ratio"):
        sys.exit(f"twins.py: {program}: there are too few runs for a ratio: add --options '--executions 20'")
    return wall


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runner")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--options", type=shlex.split, default=["--threads", "1"])
    arguments = parser.parse_args()
    names = sorted(path.parent.name for path in arguments.folder.glob("*/model.pte")
                   if (arguments.folder / (path.parent.name + TWIN) / "model.pte").is_file())
    if not names or arguments.rounds < 1:
        parser.error(f"expected --rounds of at least 1, and both NAME/model.pte and NAME{TWIN}/model.pte in "
                     f"{arguments.folder}")
    slow, logs = [], []
    print("| program | delegated | ratio | interval |\n|---|---:|---:|---|")
    for name in names:
        walls = [compare(arguments.runner, arguments.folder / name / "model.pte",
                         arguments.folder / (name + TWIN) / "model.pte", arguments.options)
                 for _ in range(arguments.rounds)]
        ratios = [wall["ratio"] for wall in walls]
        ratio = statistics.median(each["p50"] for each in ratios)
        logs.append(math.log(ratio))
        if all(each["verdict"] == "slower" for each in ratios):
            slow.append(name)
        time = statistics.median(wall["b_p50_ns"] for wall in walls)
        print(f"| `{name}` | {time / 1e3:.1f} us | {ratio:.2f} | {min(each['ci_low'] for each in ratios):.2f} to "
              f"{max(each['ci_high'] for each in ratios):.2f} |", flush=True)
    print(f"\nGeometric mean of the ratios: {math.exp(statistics.fmean(logs)):.2f}. Slower than the twin in each round: "
          f"{', '.join(slow) or 'none'}.")
    return 2 if slow else 0


if __name__ == "__main__":
    sys.exit(main())
