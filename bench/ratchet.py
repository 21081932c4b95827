#!/usr/bin/env python3
"""Fails if the runtime chooses a kernel that is clearly slower than another variant (docs/benchmarks.md):

    python3 bench/ratchet.py [--known FILE] [--update] [--bench PROGRAM] bench.json...

A choice is slow if it takes more than 1.1 of the time of the fastest variant of the same run, by the medians (beyond
the noise of both) and by the minima, in each of the given runs. The time of a delegate does not include the cost of its
call, which the run measures with one element. FILE lists the slow choices that are known, one a line:
where, number of threads, size, operator. With --bench, the program measures the operators of new slow choices twice
more, and only choices that are slow each time count. The exit code is 2 if such a choice is not in the list. --update
writes the choices to FILE whose ratio is above 1.1 in each run, by medians and minima, even if it is within the
noise. The first line of FILE names the processor; on another one, the script compares nothing."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import page

REPEATS = 2


def name_of(where, chosen):
    return f"{where} {chosen['threads']} {chosen.get('work', 0):.0f} {chosen['name']}"


def check(results, known, costs=None):
    """Returns the slow choices that are not listed in `known`, as {name: text}, and the listed ones that are fast now.
    `costs` are those of page.choices()."""
    new, fast = {}, []
    for where, chosen, best, ratio in page.choices(results, costs):
        name = name_of(where, chosen)
        if page.is_slow(chosen, best, ratio):
            if name not in known:
                new[name] = (f"{name}: {page.time_text(chosen['p50_ns'])}, {ratio:.2f} times {best['variant']} "
                             f"({page.time_text(best['p50_ns'])})")
        elif name in known and ratio <= page.MAX_RATIO:
            fast.append(name)
    return new, fast


def slow_in_all(documents, known):
    """Runs check() on each document. Returns the unlisted choices that are slow in all of them, and the listed choices
    that are fast in all of them."""
    checks = [check(results, known) for results in documents]
    new = {name: text for name, text in checks[-1][0].items() if all(name in slow for slow, _ in checks)}
    return new, [name for name in checks[-1][1] if all(name in fast for _, fast in checks)]


def above_limit(results):
    """Returns the names of all choices that take more than page.MAX_RATIO times as long as the fastest variant, both in
    the median and in the minimum."""
    return {name_of(where, chosen) for where, chosen, best, ratio in page.choices(results)
            if ratio > page.MAX_RATIO and chosen["min_ns"] > page.MAX_RATIO * best["min_ns"]}


def measure(program, operator):
    """Returns new results of the operators whose names contain `operator`, on one thread."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "bench.json"
        subprocess.run([program, "--short", "--section", "operators", "--threads", "1", "--filter", operator, "--out",
                        out], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return page.Results(json.loads(out.read_text()))


def confirmed(new, known, program, costs):
    """Measures the choices in `new` another REPEATS times. Returns the choices that are slow every time."""
    for _ in range(REPEATS):
        again = {}
        for operator in sorted({name.split(" ", 3)[3] for name in new}):
            again.update(check(measure(program, operator), known, costs)[0])
        new = {name: text for name, text in again.items() if name in new}
    return new


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path, nargs="+")
    parser.add_argument("--known", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--bench", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.update and not arguments.known:
        parser.error("--update needs --known FILE")
    try:
        documents = [page.Results(json.loads(path.read_text())) for path in arguments.results]
        known = set()
        if arguments.known and not arguments.update:
            known = set(arguments.known.read_text().splitlines())
        if arguments.update:
            slow = sorted(set.intersection(*map(above_limit, documents)))
            machine = documents[0].fact("machine")
            arguments.known.write_text("".join(f"{line}\n" for line in [f"# {machine}", *slow]))
            print(f"{len(slow)} slow choices in {arguments.known}")
            return 0
        others = {line.removeprefix("# ") for line in known if line.startswith("#")}
        if others and documents[0].fact("machine") not in others:
            print(f"{arguments.known} is for another processor: {', '.join(others)}")
            return 0
        new, fast = slow_in_all(documents, known)
        if arguments.bench:
            new = confirmed(new, known, arguments.bench.resolve(), page.call_costs(documents[-1]))
    except (OSError, ValueError, KeyError, subprocess.CalledProcessError) as error:
        sys.exit(f"ratchet.py: {error}")
    for name in fast:
        print(f"known as slow, but fast in this run: {name}")
    for text in new.values():
        print(f"slow: {text}")
    print(f"{len(new)} new slow choices")
    return 2 if new else 0


if __name__ == "__main__":
    sys.exit(main())
