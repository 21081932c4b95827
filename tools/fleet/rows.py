"""Reads rows of profiles (docs/formats/profile_rows.md) from files of JSON lines."""
import json

import pandas

VERSION = 1
TEXTS = ("model", "op", "where", "module", "device", "device_class", "commit", "run")
COLUMNS = TEXTS + ("row", "p50_ns")


class Rejected:
    """Counts rejected lines and keeps the first reason."""

    def __init__(self):
        self.count = 0
        self.first = ""

    def add(self, location, reason):
        self.count += 1
        self.first = self.first or f"{location}: {reason}"


def parse(line):
    """Returns a JSON line's values in the order of COLUMNS. Raises ValueError if the line is invalid."""
    row = json.loads(line)
    if not isinstance(row, dict):
        raise ValueError("the line must be an object")
    if row.get("v") != VERSION:
        raise ValueError(f"the row has version {row.get('v')}, expected {VERSION}")
    # Rows that cover the entire run have no module.
    texts = [row.get(name, "") if name == "module" else row.get(name) for name in TEXTS]
    for name, text in zip(TEXTS, texts):
        if not isinstance(text, str):
            raise ValueError(f"{name} must be a string, got {text!r}")
    number, ns = row.get("row"), row.get("p50_ns")
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError(f"row must be an integer, got {number!r}")
    if isinstance(ns, bool) or not isinstance(ns, (int, float)) or not 0 <= ns < 1e18:
        raise ValueError(f"p50_ns must be a time in ns, got {ns!r}")
    return (*texts, number, float(ns))


def read(file):
    """Returns a table of a file's valid rows, and a Rejected for the invalid lines. A line may be invalid because
    a device died while it wrote the line."""
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
