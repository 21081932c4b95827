"""Rows of profiles (docs/formats/profile_rows.md), read from files of JSON lines."""
import json

import pandas

VERSION = 1
TEXTS = ("model", "op", "where", "module", "device", "device_class", "commit", "run")
COLUMNS = TEXTS + ("row", "p50_ns")


class Rejected:
    """Lines that are no rows, with the first reason."""

    def __init__(self):
        self.count = 0
        self.first = ""

    def add(self, place, reason):
        self.count += 1
        self.first = self.first or f"{place}: {reason}"


def parse(line):
    """The values of COLUMNS. ValueError says what is wrong."""
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError("is not an object")
    if row.get("v") != VERSION:
        raise ValueError(f"has version {row.get('v')}, not {VERSION}")
    # Rows of the run as a whole have no module.
    texts = [row.get(name, "") if name == "module" else row.get(name) for name in TEXTS]
    for name, text in zip(TEXTS, texts):
        if not isinstance(text, str):
            raise ValueError(f"has no text {name}")
    number, ns = row.get("row"), row.get("p50_ns")
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError("has no number row")
    if isinstance(ns, bool) or not isinstance(ns, (int, float)) or not 0 <= ns < 1e18:
        raise ValueError("has no time p50_ns")
    return (*texts, number, float(ns))


def read(file):
    """A table of a file's rows, and the lines that were rejected: a device may die while it writes."""
    rejected = Rejected()
    rows = []
    with open(file, encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                rows.append(parse(line))
            except ValueError as error:
                rejected.add(f"{file}:{number}", str(error))
    table = pandas.DataFrame(rows, columns=COLUMNS)
    for name in TEXTS:
        table[name] = table[name].astype("category")
    return table, rejected
