"""Reduces the rows of any number of devices to percentiles and regressions.

partial() reduces one file, merge() adds results, and finish() makes the report. The work can be split over
processes and machines in any way, and a result that is lost can be computed again.
"""
from dataclasses import dataclass

import numpy
import pandas

import histogram
import rows
import significance

OP = ["model", "row", "op", "module", "device_class"]


@dataclass
class Partial:
    counts: pandas.DataFrame  # OP, commit, bin -> count
    devices: pandas.DataFrame  # OP, device, commit -> sum of log p50_ns, count; only for the two commits that are compared
    read: int = 0
    rejected: int = 0
    first_rejected: str = ""


def _sums(table, keys):
    return table.groupby(keys, observed=True, sort=False).sum().reset_index()


def _as_text(table):
    for name in table.columns:
        if table[name].dtype == "category":
            table[name] = table[name].astype(object)
    return table


def partial(file, commits=()):
    """Reduces one file. `commits` names the two versions to compare, or is empty if nothing is compared."""
    table, rejected = rows.read(file)
    table["bin"] = histogram.bins_of(table["p50_ns"].to_numpy())
    table["count"] = 1
    counts = _sums(table[OP + ["commit", "bin", "count"]], OP + ["commit", "bin"])
    compared = table[table["commit"].isin(list(commits))].copy()
    compared["log"] = numpy.log(numpy.maximum(compared["p50_ns"].to_numpy(), 1e-3))
    devices = _sums(compared[OP + ["device", "commit", "log", "count"]], OP + ["device", "commit"])
    return Partial(_as_text(counts), _as_text(devices), len(table), rejected.count, rejected.first)


def merge(parts):
    return Partial(
        _sums(pandas.concat([part.counts for part in parts], ignore_index=True),
              OP + ["commit", "bin"]),
        _sums(pandas.concat([part.devices for part in parts], ignore_index=True),
              OP + ["device", "commit"]),
        sum(part.read for part in parts),
        sum(part.rejected for part in parts),
        next((part.first_rejected for part in parts if part.first_rejected), ""))


def _named(key):
    """Returns a group's key as a dictionary from field names to Python values."""
    names = (OP + ["commit"])[:len(key)]
    return {name: value.item() if isinstance(value, numpy.generic) else value
            for name, value in zip(names, key)}


def percentiles(counts):
    """Returns a line for each op, device class and commit."""
    lines = []
    for key, group in counts.groupby(OP + ["commit"], observed=True, sort=True):
        group = group.sort_values("bin")
        bins, amounts = group["bin"].to_numpy(), group["count"].to_numpy()
        lines.append(dict(_named(key), rows=int(amounts.sum()),
                          p50_ns=histogram.percentile(bins, amounts, 0.5),
                          p90_ns=histogram.percentile(bins, amounts, 0.9),
                          p99_ns=histogram.percentile(bins, amounts, 0.99)))
    return lines


def regressions(devices, baseline, candidate, rate, min_change):
    """Returns a line for each op and device class. Each device contributes one sample: its change in time."""
    devices = devices.assign(mean=devices["log"] / devices["count"])
    sides = [devices[devices["commit"] == commit].set_index(OP + ["device"])["mean"]
             for commit in (baseline, candidate)]
    change = (sides[1] - sides[0]).dropna().rename("change").reset_index()
    lines = []
    for key, group in change.groupby(OP, observed=True, sort=True):
        logs = group["change"].to_numpy()
        # Tests for a slowdown by more than `min_change`.
        lines.append(dict(_named(key), devices=len(logs), ratio=float(numpy.exp(numpy.median(logs))),
                          p=significance.signed_rank(logs - numpy.log(1 + min_change))))
    rates = significance.false_discovery_rates([line["p"] for line in lines])
    for line, q in zip(lines, rates):
        line.update(q=float(q), worse=bool(q < rate))
    return lines


def finish(part, commits=(), rate=0.01, min_change=0.01):
    report = {"rows": part.read, "rejected": part.rejected, "first_rejected": part.first_rejected,
              "percentiles": percentiles(part.counts), "regressions": []}
    if commits:
        report["regressions"] = regressions(part.devices, *commits, rate, min_change)
    return report
