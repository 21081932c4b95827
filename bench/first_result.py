#!/usr/bin/env python3
"""Measures the time to the first result in fresh processes, and the memory:
python3 bench/first_result.py [--times N] [--threads N] [--before RUNNER] RUNNER [MODEL.pte ...]

RUNNER is an executor_runner. A folder in place of a model means the files */model.pte in it. Without models,
the script runs those in test/samples and $VITRINE_CORPUS whose runs take at least 1 ms. Times are medians in ms: of opening and verifying the file
(load), of preparing the method, of packing weights, of planning memory, of the first run, their sum (total),
and of the runs after the first (steady). "peak" is the peak memory in MB. "total*"
and "peak*" are measured with a file of packed weights. With --before, another runner takes turns, and each ratio is
the median of the ratio of each pair."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile


def measure(runner, model, threads, cache=None):
    """Returns the times in ms and the sizes in MB of one new process."""
    command = [runner, model, "--profile", "--cpu_threads", str(threads), "--warmup", "1"]
    command += ["--executions", "8", "--format", "json", "-o", "-"]
    if cache:
        command += ["--weights_cache", cache]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        raise RuntimeError(run.stderr.strip().splitlines()[-1])
    profile = json.loads(run.stdout)
    parts = profile.get("first_result_ns") or {"prepare": 0, "pack": 0, "plan": 0}  # an older runner
    times = {part: parts[part] / 1e6 for part in ("prepare", "pack", "plan")}
    wall = profile["wall_ns"]
    load, init, first = profile["load_ns"] / 1e6, profile["init_ns"] / 1e6, wall["first"] / 1e6
    return {**times, "load": load, "init": init, "first": first, "steady": wall["steady"] / 1e6,
            "total": load + init + first, "peak": profile["peak_rss_bytes"] / 1e6}


def medians(runs):
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def default_models(runner):
    folders = [pathlib.Path(__file__).parent.parent / "test/samples"]
    if os.environ.get("VITRINE_CORPUS"):
        folders.append(pathlib.Path(os.environ["VITRINE_CORPUS"]))
    for model in (path for folder in folders for path in sorted(folder.glob("*/model.pte"))):
        try:
            if measure(runner, model, 1)["steady"] >= 1:
                yield model
        except RuntimeError as error:
            print(f"{model}: {error}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--times", type=int, default=7, help="number of processes to measure in each case (default: 7)")
    parser.add_argument("--threads", type=int, default=1, help="number of threads (default: 1)")
    parser.add_argument("--before", help="an executor_runner to compare with")
    parser.add_argument("runner")
    parser.add_argument("models", nargs="*")
    options = parser.parse_args()
    models = [path for model in options.models
              for path in (sorted(pathlib.Path(model).glob("*/model.pte")) if os.path.isdir(model) else [model])]
    print(f"{'':22}   load prepare   pack   plan  first  total total* steady    peak   peak*"
          + ("  init, first, total, peak / before" if options.before else ""))
    for model in models or default_models(options.runner):
        runs, cached, before = [], [], []
        with tempfile.TemporaryDirectory() as folder:
            cache = os.path.join(folder, "weights")
            measure(options.runner, model, options.threads, cache)  # writes the file
            for _ in range(options.times):
                runs.append(measure(options.runner, model, options.threads))
                if options.before:
                    before.append(measure(options.before, model, options.threads))
                cached.append(measure(options.runner, model, options.threads, cache))
        now, from_file = medians(runs), medians(cached)
        line = f"{pathlib.Path(model).parent.name[:22]:22} {now['load']:6.2f} {now['prepare']:7.2f}" + "".join(
            f" {now[key]:6.2f}" for key in ("pack", "plan", "first", "total"))
        line += f" {from_file['total']:6.2f} {now['steady']:6.2f} {now['peak']:7.1f} {from_file['peak']:7.1f}"
        if before:
            line += "  " + " ".join(f"{statistics.median(a[key] / b[key] for a, b in zip(runs, before)):.2f}"
                                    for key in ("init", "first", "total", "peak"))
        print(line, flush=True)


if __name__ == "__main__":
    main()
