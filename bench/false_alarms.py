#!/usr/bin/env python3
"""Counts the false alarms of comparisons: compares each program with itself, in one process, several times.

    python3 bench/false_alarms.py RUNNER MODEL [MODEL...] [--rounds N] [--options "--threads 1"]

RUNNER is an executor_runner, and MODEL a program or a folder with programs in it or in its folders. Each comparison
that calls one side faster or slower is a false alarm, and so is exit code 2, which --fail_above 1.02 can cause. The
interval of the rate is exact for independent comparisons (Clopper and Pearson), with 95 % confidence. Comparisons of
one round follow one another in random order, so a disturbance affects several models. A model that cannot run without
more files is skipped."""

import argparse
import json
import math
import pathlib
import random
import shlex
import subprocess
import sys

LIMIT = "1.02"


def probability_of_at_most(k, n, p):
    """Returns the probability that an event happens at most k times in n trials, each with probability p."""
    if p in (0, 1):
        return 1.0 if p == 0 or k >= n else 0.0
    logs = (math.lgamma(n + 1) - math.lgamma(i + 1) - math.lgamma(n - i + 1) + i * math.log(p)
            + (n - i) * math.log1p(-p) for i in range(k + 1))
    return math.fsum(math.exp(log) for log in logs)


def interval(k, n):
    """Returns the 95 % confidence interval for the probability of an event that happened k times in n trials."""
    def crossing(count, target):  # the p at which the probability of at most `count` falls to `target`
        low, high = 0.0, 1.0
        for _ in range(60):
            middle = (low + high) / 2
            if probability_of_at_most(count, n, middle) > target:
                low = middle
            else:
                high = middle
        return low
    return (crossing(k - 1, 0.975) if k > 0 else 0.0), (crossing(k, 0.025) if k < n else 1.0)


def rate(k, n):
    low, high = interval(k, n)
    return f"{k} of {n} = {100 * k / n:.1f} % ({100 * low:.1f} to {100 * high:.1f} %)"


def programs(paths):
    found = []
    for path in paths:
        found += sorted(path.rglob("*.pte")) if path.is_dir() else [path]
    return found


def verdict_of(ratio):
    return ratio["verdict"] if ratio else "no_ratio"


def compare(runner, model, options):
    """Returns the comparison and the exit code, or an error text."""
    command = [runner, "--profile", str(model), "--compare", str(model), "--fail_above", LIMIT, "--format", "json"]
    done = subprocess.run(command + options, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 2):
        return None, done.stderr.strip().split("\n")[0]
    return json.loads(done.stdout), done.returncode


class Model:
    def __init__(self, path, name):
        self.path, self.name = path, name
        self.comparisons = []  # wall verdict, B/A, exit code
        self.rows = []         # verdicts of ops

    def add(self, comparison, code):
        ratio = comparison["wall"]["ratio"]
        self.comparisons.append((verdict_of(ratio), ratio["p50"] if ratio else math.nan, code))
        self.rows += [verdict_of(op["ratio"]) for op in comparison["ops"] if op["ratio"]]

    def count(self, verdict):
        return sum(1 for found, _, _ in self.comparisons if found == verdict)


def short_names(paths):
    """Returns each path relative to the deepest folder that contains all paths."""
    parts = [path.resolve().parts for path in paths]
    common = 0
    while all(len(one) > common + 1 and one[common] == parts[0][common] for one in parts):
        common += 1
    return ["/".join(one[common:]).removesuffix("/model.pte") for one in parts]


def report(models):
    decided = [model for model in models if model.comparisons]
    lines = ["faster slower exit 2  of  lowest B/A  highest B/A  model"]
    for model in decided:
        ratios = [ratio for _, ratio, _ in model.comparisons]
        lines.append(f"{model.count('faster'):6} {model.count('slower'):6}"
                     f" {sum(code == 2 for _, _, code in model.comparisons):6} {len(ratios):3}"
                     f" {min(ratios):11.3f} {max(ratios):12.3f}  {model.name}")
    all_comparisons = [one for model in decided for one in model.comparisons]
    alarms = sum(found in ("faster", "slower") for found, _, _ in all_comparisons)
    undecided = sum(found == "too_few_runs" for found, _, _ in all_comparisons)
    rows = [found for model in decided for found in model.rows]
    lines.append("")
    lines.append(f"{len(decided)} models, each compared with itself")
    lines.append(f"faster or slower  {rate(alarms, len(all_comparisons))}")
    lines.append(f"exit code 2       {rate(sum(code == 2 for _, _, code in all_comparisons), len(all_comparisons))}")
    if rows:
        lines.append(f"rows of ops       {rate(sum(found in ('faster', 'slower') for found in rows), len(rows))}")
    if undecided:
        lines.append(f"undecided         {undecided} comparisons had too few runs")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runner")
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=10, help="comparisons of each model (10)")
    parser.add_argument("--options", type=shlex.split, default=[], help="more options for the runner")
    parser.add_argument("--log", type=pathlib.Path, help="file for one JSON object per comparison")
    options = parser.parse_args()
    paths = programs(options.models)
    models = [Model(*one) for one in zip(paths, short_names(paths))]
    for number in range(options.rounds):
        for model in random.sample(models, len(models)):
            comparison, code = compare(options.runner, model.path, options.options)
            if comparison is None:
                print(f"skipped {model.name}: {code}", file=sys.stderr)
                models.remove(model)
                continue
            model.add(comparison, code)
            if options.log:
                with options.log.open("a", encoding="utf-8") as log:
                    log.write(json.dumps({"model": model.name, "round": number, "code": code, **comparison}) + "\n")
    if not any(model.comparisons for model in models):
        sys.exit("false_alarms: no model could be compared")
    print(report(models))


if __name__ == "__main__":
    main()
