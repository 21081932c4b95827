#!/usr/bin/env python3
"""Verifies on a device what `vitrine advise --format json` predicted: makes the programs of the advice on this
machine, runs each in turn with the baseline on the device, and compares the measured ratios with the predicted
intervals (docs/advice.md). The exit code is 2 if a ratio is outside its interval."""

import argparse
import json
import pathlib
import shutil
import sys
import tempfile

import runner
import target
from profile_on_device import (COPY_TIMEOUT, DeviceFolder, Files, add_device_options, connect, parse_with_rest,
                               prepare, read_json, say)
from transport import DeviceError, run

LOWER_TIMEOUT = 3600
OUTSIDE = 2


def parse_arguments():
    parser = argparse.ArgumentParser(
        usage="%(prog)s advice.json model (--adb [SERIAL] | --ssh [USER@]HOST) [options] [-- options of executor_runner]",
        description=__doc__)
    parser.add_argument("advice", type=pathlib.Path, help="advice (JSON)")
    parser.add_argument("model", type=pathlib.Path, help="model that the advice is about (.pt2, .ptn or .pte)")
    parser.add_argument("--source", type=pathlib.Path, metavar="FILE",
                        help="exported model from which the .pte was lowered")
    parser.add_argument("--apply", default="", metavar="LINES",
                        help="numbers or names of lines of advice: 1,3 (default: each line, and all lines together)")
    parser.add_argument("--vitrine", type=pathlib.Path, metavar="FILE", help="the command vitrine (default: from build/ or PATH)")
    add_device_options(parser)
    return parse_with_rest(parser)


def find_vitrine(given):
    built = [runner.ROOT / "build" / preset / "bin" / "vitrine" for preset in ("release", "package", "dev")]
    found = given or next(filter(pathlib.Path.is_file, built), None) or shutil.which("vitrine")
    if not found or not pathlib.Path(found).is_file():
        raise DeviceError("vitrine was not found: run make, or give --vitrine FILE")
    return str(found)


def is_measurable(line):
    """Returns True if this command can apply the line of advice without more input and the line predicts a time."""
    return bool(line["program"] and line["ratio"] and not line.get("needs")) and line.get("gain", "time") == "time"


def chosen_lines(advice, text, path):
    """Returns the lines of advice to verify, as pairs of a name and the line."""
    lines = advice["advice"]
    names = [line["name"] for line in lines]
    if text:
        chosen = []
        for word in text.split(","):
            number = int(word) if word.isdigit() else names.index(word) + 1 if word in names else 0
            if not 1 <= number <= len(lines):
                raise DeviceError(f"--apply {word}: expected a name, or a number from 1 to {len(lines)}")
            if not is_measurable(lines[number - 1]):
                raise DeviceError(f"--apply {word}: the line {names[number - 1]} does not predict the time, "
                                  "or this command cannot make its program")
            chosen.append((names[number - 1], lines[number - 1]))
        return chosen
    chosen = [(name, line) for name, line in zip(names, lines) if is_measurable(line)]
    together = advice.get("together")
    if together and len(together["lines"]) > 1 and is_measurable(together):
        chosen.append(("all together", together))
    if not chosen:
        raise DeviceError(f"{path}: no line predicts the time of a program that can be made automatically")
    return chosen


def lower(vitrine, model, words, output):
    code, _, errors = run([vitrine, "lower", str(model), *words, "-o", str(output)], LOWER_TIMEOUT)
    if code != 0:
        raise DeviceError(f"vitrine lower {model} {' '.join(words)}: {errors}")
    return output


def make_programs(options, advice, lines, folder):
    """Returns the baseline's program and one program per line of advice."""
    source = options.source or options.model
    if advice["is_program"] and options.source is None:
        raise DeviceError("--source: the advice is about a program (.pte), so give the exported model from which the "
                          "changed programs are lowered")
    vitrine = find_vitrine(options.vitrine)
    baseline = options.model if advice["is_program"] else lower(vitrine, source, advice["baseline"], folder / "baseline.pte")
    return baseline, [lower(vitrine, source, line["program"], folder / f"changed_{i}.pte") for i, (_, line) in enumerate(lines)]


def verdict_of(ratio, predicted):
    return "faster" if ratio < predicted[0] else "slower" if ratio > predicted[1] else "as predicted"


def verify(device, options, advice, lines, folder):
    baseline, changed = make_programs(options, advice, lines, folder)
    files = Files(options, baseline)
    files.pushed.update((path.name, path) for path in changed)
    facts, binary, cores = prepare(device, options)
    arguments = [*files.arguments, "--method_name", advice["method"], "--threads", str(advice["threads"]), *options.more]
    rows = [("advice", "predicted ratio", "measured", "95 % interval", "verdict")]
    with DeviceFolder(device) as remote:
        remote.push({"executor_runner": binary, **files.pushed})
        for (name, line), path in zip(lines, changed):
            target.settle(lambda: target.state_of(device, facts, cores or tuple(facts.max_khz)), options.settle,
                          options.poll, say)
            output = path.with_suffix(".json").name
            remote.run(["--profile", *arguments, "--compare", path.name, "--format", "json", "--output", output],
                       cores, options.timeout)
            remote.pull([output], folder)
            ratio = (read_json(folder / output)["wall"] or {}).get("ratio")
            if ratio is None:
                raise DeviceError(f"{name}: the report from the device contains no time ratio")
            rows.append((name, "{:.3f} to {:.3f}".format(*line["ratio"]), f"{ratio['p50']:.3f}",
                         f"{ratio['ci_low']:.3f} to {ratio['ci_high']:.3f}" if "ci_low" in ratio else "",
                         verdict_of(ratio["p50"], line["ratio"])))
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        say("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    return OUTSIDE if any(row[-1] != "as predicted" for row in rows[1:]) else 0


def read_advice(path):
    advice = read_json(path)
    missing = [key for key in ("advice", "baseline", "is_program", "method", "threads") if key not in advice]
    if missing:
        raise DeviceError(f"{path}: expected the output of 'vitrine advise --format json', found no \"{missing[0]}\"")
    if not advice.get("device"):
        say("note: the advice was measured on another machine; 'vitrine advise --profile' predicts for a device")
    return advice


def main():
    options = parse_arguments()
    try:
        advice = read_advice(options.advice)
        lines = chosen_lines(advice, options.apply, options.advice)
        with tempfile.TemporaryDirectory() as folder:
            return verify(connect(options), options, advice, lines, pathlib.Path(folder))
    except (DeviceError, OSError) as error:
        print(f"verify_advice: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
