#!/usr/bin/env python3
"""Scores the advice of `vitrine advise`: measures each predicted gain again, in a new process.

    python3 bench/advice.py BIN MODEL [MODEL...] [--seconds N] [--options "--threads 1"] [--log FILE]
                            [--limits FILE] [--repeat N]

BIN is the folder of the programs, and MODEL an exported model or a program, or a folder with exported models in it or
in its folders. For each model, `vitrine advise` predicts. Then `advice_trials` measures each line of the advice, and
every other change that the rules know, for N seconds each.

A line hits if the measured ratio of the times is within the predicted interval. The interval of the hit rate is exact
for independent lines (Clopper and Pearson), with 95 % confidence. An advised change is slower if it takes more than
1.02 of the time of the baseline. The regret of a model is the time with the line that was ranked first, divided by the
shortest time of all changes that need no data of the user, minus 1. Noise makes the shortest time too short, so it
makes the regret too large.
Models for which `vitrine advise` refuses, for example on a busy machine, are listed and do not count.

--limits names a JSON file with min_hit_rate and max_slower_rate (advice_limits.json for CI). The exit code is 1 if the
whole interval of a rate is beyond its limit, so a few unlucky lines on a busy machine do not fail."""

import argparse
import collections
import json
import pathlib
import shlex
import statistics
import subprocess
import sys
import tempfile

from false_alarms import interval, rate, short_names

SLOWER = 1.02


class Refused(Exception):
    pass


def run(command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if "error:" in line]
        raise Refused(errors[0] if errors else f"exit code {done.returncode}")
    return done.stdout


def exported_models(paths):
    found = []
    for path in paths:
        found += sorted(path.rglob("*.pt2")) if path.is_dir() else [path]
    return found


class Score:
    """The quality of the advice for one model."""

    def __init__(self, name, advice, trials):
        self.name = name
        measured = {trial["name"]: trial["ratio"] for trial in trials if "ratio" in trial}
        lines = [line for line in advice["advice"] if line["ratio"] and line["name"] in measured]
        if advice.get("together") and len(advice["together"]["lines"]) > 1 and "together" in measured:
            lines.append({"name": "together", **advice["together"]})
        # Name of a piece of advice, low and high end of the predicted ratio, measured ratio.
        self.lines = [(line["name"], *line["ratio"], measured[line["name"]]) for line in lines]
        timed = [line["name"] for line in advice["advice"] if line["gain"] == "time" and line["name"] in measured]
        self.first = timed[0] if timed else "(none)"
        first = measured[timed[0]] if timed else 1
        needy = {line["name"] for line in advice["advice"] if line.get("needs")}
        single = {name: ratio for name, ratio in measured.items() if name not in needy | {"together"}}
        self.best = min(single, key=single.get) if single and min(single.values()) < first else self.first
        self.regret = first / min(first, 1, *single.values()) - 1

    def hits(self):
        return sum(low <= ratio <= high for _, low, high, ratio in self.lines)

    def slower(self):
        return sum(high < 1 and ratio > SLOWER for _, _, high, ratio in self.lines)

    def text(self):
        lines = [f"{self.name}: ranked first: {self.first}; fastest: {self.best}; regret: {100 * self.regret:.1f} %"]
        for name, low, high, ratio in self.lines:
            verdict = "hit" if low <= ratio <= high else "faster" if ratio < low else "slower"
            lines.append(f"  {verdict:6} predicted {low:.3f} to {high:.3f}, measured {ratio:.3f}  {name}")
        return "\n".join(lines)


def score(binaries, model, name, options, seconds):
    advice = json.loads(run([binaries / "vitrine", "advise", model, "--format", "json", *options]))
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(advice, file)
        file.flush()
        trials = run([binaries / "advice_trials", file.name, seconds, model, *options])
    return Score(name, advice, [json.loads(line) for line in trials.splitlines()])


def summary(scores, refused):
    lines = ["", "hits      rule"]
    rules = collections.defaultdict(list)
    for one in scores:
        for name, low, high, ratio in one.lines:
            rules[name.split(" ")[0].split(":")[0]].append(low <= ratio <= high)
    for rule, hits in sorted(rules.items()):
        lines.append(f"{sum(hits):3} of {len(hits):3} {rule}")
    count = sum(len(one.lines) for one in scores)
    regrets = [one.regret for one in scores]
    lines.append("")
    lines.append(f"{len(scores)} models, {len(refused)} refused")
    lines.append(f"within the interval  {rate(sum(one.hits() for one in scores), count) if count else 'no lines'}")
    lines.append(f"advised but slower   {sum(one.slower() for one in scores)} of {count}")
    if regrets:
        lines.append(f"regret               median {100 * statistics.median(regrets):.1f} %, mean "
                     f"{100 * statistics.fmean(regrets):.1f} %, max {100 * max(regrets):.1f} %")
    return "\n".join(lines)


def beyond_limits(scores, limits):
    """Returns a sentence for each rate whose whole confidence interval violates its limit."""
    count = sum(len(one.lines) for one in scores)
    if not count:
        return []
    beyond = []
    highest_hit_rate = interval(sum(one.hits() for one in scores), count)[1]
    if highest_hit_rate < limits["min_hit_rate"]:
        beyond.append(f"at most {100 * highest_hit_rate:.1f} % of the predicted intervals contain the measured "
                      f"ratio, expected {100 * limits['min_hit_rate']:.1f} %")
    lowest_slower_rate = interval(sum(one.slower() for one in scores), count)[0]
    if lowest_slower_rate > limits["max_slower_rate"]:
        beyond.append(f"at least {100 * lowest_slower_rate:.1f} % of the advised changes are slower, expected at most "
                      f"{100 * limits['max_slower_rate']:.1f} %")
    return beyond


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binaries", type=pathlib.Path)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=1.5, help="time to measure a change (1.5)")
    parser.add_argument("--options", type=shlex.split, default=[], help="more options for vitrine advise")
    parser.add_argument("--repeat", type=int, default=1, help="how many times to score each model (1)")
    parser.add_argument("--limits", type=pathlib.Path, help="JSON file with limits for the rates")
    parser.add_argument("--log", type=pathlib.Path, help="file for one JSON object per model")
    options = parser.parse_args()
    models = exported_models(options.models) * options.repeat
    scores, refused = [], []
    for model, name in zip(models, short_names(models)):
        try:
            one = score(options.binaries, model, name.removesuffix("/model.pt2"), options.options, options.seconds)
        except Refused as error:
            refused.append(name)
            print(f"{name}: refused: {error}", flush=True)
            continue
        scores.append(one)
        print(one.text(), flush=True)
        if options.log:
            with options.log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(vars(one)) + "\n")
    if not scores:
        sys.exit("advice: no model got advice")
    print(summary(scores, refused))
    beyond = beyond_limits(scores, json.loads(options.limits.read_text(encoding="utf-8"))) if options.limits else []
    if beyond:
        sys.exit("advice: " + "; ".join(beyond))


if __name__ == "__main__":
    main()
