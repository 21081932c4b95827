#!/usr/bin/env python3
"""Fails if the runtime chooses a kernel that is clearly slower than another variant (docs/benchmarks.md):

    python3 bench/ratchet.py [--known FILE] [--update] bench.json

A choice is slow if it takes more than 1.1 of the time of the fastest variant in the same run, beyond the noise of both,
by the medians and by the minima.
FILE lists the slow choices that are known, one a line: where, number of threads, size, operator. The exit code is 2 if
a slow choice is not in the list. --update writes the choices above 1.1 to FILE, even if they are within the noise."""

import argparse
import json
import pathlib
import sys

import page


def name_of(where, chosen):
    return f"{where} {chosen['threads']} {chosen.get('work', 0):.0f} {chosen['name']}"


def check(results, known):
    """Returns the slow choices that are not known, as {name: text}, and the known ones that are fast now."""
    new, fast = {}, []
    for where, chosen, best, ratio in page.choices(results):
        name = name_of(where, chosen)
        if page.is_slow(chosen, best, ratio):
            if name not in known:
                new[name] = (f"{name}: {page.time_text(chosen['p50_ns'])}, {ratio:.2f} times {best['variant']} "
                             f"({page.time_text(best['p50_ns'])})")
        elif name in known and ratio <= page.MAX_RATIO:
            fast.append(name)
    return new, fast


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--known", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    if arguments.update and not arguments.known:
        parser.error("--update needs --known FILE")
    try:
        results = page.Results(json.loads(arguments.results.read_text()))
        known = set()
        if arguments.known and not arguments.update:
            known = set(arguments.known.read_text().splitlines())
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"ratchet.py: {error}")
    if arguments.update:
        slow = sorted(name_of(where, chosen) for where, chosen, best, ratio in page.choices(results)
                      if ratio > page.MAX_RATIO and chosen["min_ns"] > page.MAX_RATIO * best["min_ns"])
        arguments.known.write_text("".join(f"{name}\n" for name in slow))
        print(f"{len(slow)} slow choices in {arguments.known}")
        return 0
    new, fast = check(results, known)
    for name in fast:
        print(f"known as slow, but fast in this run: {name}")
    for text in new.values():
        print(f"slow: {text}")
    print(f"{len(new)} new slow choices")
    return 2 if new else 0


if __name__ == "__main__":
    sys.exit(main())
