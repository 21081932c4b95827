"""Profiles, comparisons and verifications."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Optional

from . import _vitrine
from ._arguments import PathLike
from ._html import escaped, table as html_table

if TYPE_CHECKING:
    import pandas

_SHOWN_ROWS = 20  # in notebooks
_FORMATS = {".html": "html", ".json": "json", ".csv": "csv", ".svg": "svg"}


def _time(nanoseconds: Optional[float]) -> str:
    if nanoseconds is None:
        return ""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if abs(nanoseconds) >= size:
            return f"{nanoseconds / size:.3g} {unit}" if nanoseconds < 100 * size else f"{nanoseconds / size:.0f} {unit}"
    return f"{nanoseconds:.0f} ns"


def _op_names(row: dict[str, Any]) -> str:
    """Shortens names of ops: "aten.relu.default" becomes "relu"."""
    names = [name.split(".")[1] if name.count(".") >= 2 else name for name in row["source_ops"]]
    return ", ".join(dict.fromkeys(names)) or row["kernel"]


def _modules(row: dict[str, Any]) -> str:
    return ", ".join(dict.fromkeys(module for module in row["modules"] if module))


def _save(path: PathLike, format: Optional[str], report: Any) -> None:
    name = os.fspath(path)
    chosen = format or _FORMATS.get(os.path.splitext(name)[1].lower(), "table")
    text = report(chosen)
    with open(name, "w", encoding="utf-8", newline="") as file:  # CSV has its own line ends
        file.write(text)


class Profile:
    """Shows where the time of a run goes, row by row. str() makes a table."""

    def __init__(self, profile: "_vitrine.Profile") -> None:
        self._profile = profile
        self.data: dict[str, Any] = json.loads(profile.json())  # docs/formats/profile_json.md

    @classmethod
    def load(cls, path: PathLike, *, record: Optional[PathLike] = None, method: str = "forward") -> "Profile":
        """Reads a profile that was saved as JSON, or a trace (ETDump). `record` is the ETRecord of a trace."""
        return cls(_vitrine.read_profile(os.fspath(path), os.fspath(record or ""), method))

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows in run order. Times are in nanoseconds per run."""
        return self.data["rows"]

    @property
    def wall_ns(self) -> dict[str, float]:
        """Statistics of the time of a run in nanoseconds: min, p50, avg and others."""
        return self.data["wall_ns"]

    def __len__(self) -> int:
        return len(self.rows)

    def group_by(self, key: str) -> list[dict[str, Any]]:
        """Returns the groups of rows by "op", "delegate", "module" or "line", with their times and shares.

        "module" gives a tree: parents precede their children, and `depth` is the level. The others are sorted, the
        slowest first.
        """
        groups = self.data["groups"]
        if key not in groups:
            raise ValueError(f"group_by: expected one of {', '.join(groups)}, got {key!r}")
        return groups[key]

    def to_pandas(self, group_by: Optional[str] = None) -> "pandas.DataFrame":
        """Returns a table of the rows, or of the groups of `group_by`, with one column per time statistic."""
        import pandas

        if group_by is None:
            return pandas.DataFrame(self.rows)
        return pandas.DataFrame([{**{key: value for key, value in group.items() if key != "time_ns"},
                                  **{f"{name}_ns": value for name, value in group["time_ns"].items()}}
                                 for group in self.group_by(group_by)])

    def table(self, width: int = 100, *, costs: bool = False, ids: bool = False, group_by: str = "none",
              filter: str = "", top: int = 0) -> str:
        """Returns the table of `executor_runner --profile`. The parameters are named like its options.

        `filter` keeps rows with this text. `top` keeps the slowest rows.
        """
        return self._profile.report("table", group_by, filter, top, width, costs, ids)

    def save(self, path: PathLike, format: Optional[str] = None) -> None:
        """Writes a report. The extension chooses HTML, JSON, CSV or SVG; other names get the table.

        `format` chooses regardless of the name: "html", "json", "jsonl", "csv", "svg", "timeline" or "table".
        """
        _save(path, format, lambda chosen: self._profile.report(chosen, "none", "", 0, 100, False, False))

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        data = self.data
        return (f"<vitrine.Profile of {data['model']}, {data['method']}: {len(self)} rows, "
                f"median {_time(self.wall_ns['p50'])} over {data['runs']} runs>")

    def _repr_html_(self) -> str:
        data = self.data
        statistic = f"{data['statistic']}_ns"
        slowest = sorted(enumerate(self.rows, 1), key=lambda item: -item[1][statistic])[:_SHOWN_ROWS]
        rows = [[number, _op_names(row), _modules(row), row["kernel"], _time(row[statistic]),
                 f"{100 * row['share']:.1f} %"] for number, row in slowest]
        rows.append(["", "unattributed", "", "", _time(data["unattributed_time_ns"][data["statistic"]]),
                     f"{100 * data['unattributed_share']:.1f} %"])
        hidden = len(self) - len(slowest)
        note = f"The {len(slowest)} slowest rows; {hidden} more are in .rows" if hidden else ""
        return html_table(". ".join([repr(self).strip("<>"), *data["warnings"]]),
                          ["#", "op", "module", "kernel", f"time ({data['statistic']})", "share"], rows, note=note)


class Comparison:
    """Compares two profiles, A and B, op by op. str() makes a table."""

    def __init__(self, a: Profile, b: Profile) -> None:
        self._comparison = _vitrine.Comparison(a._profile, b._profile)
        self.data: dict[str, Any] = json.loads(self._comparison.report("json", 100))  # docs/inspecting.md, "JSON"

    @property
    def ops(self) -> list[dict[str, Any]]:
        """The ops with their times in A and B, and the ratio of the times with its confidence interval."""
        return self.data["ops"]

    @property
    def ratio(self) -> Optional[float]:
        """The median time of B, divided by the median time of A; None if A took no time."""
        ratio = self.data["wall"]["ratio"]
        return None if ratio is None else ratio["p50"]

    @property
    def verdict(self) -> str:
        """"faster", "slower" or "no_change", or "too_few_runs" if the runs cannot decide."""
        ratio = self.data["wall"]["ratio"]
        return "too_few_runs" if ratio is None else ratio["verdict"]

    def to_pandas(self) -> "pandas.DataFrame":
        import pandas

        return pandas.json_normalize(self.ops, sep="_")

    def table(self, width: int = 100) -> str:
        return self._comparison.report("table", width)

    def save(self, path: PathLike, format: Optional[str] = None) -> None:
        """Writes HTML, JSON or CSV if the path ends in .html, .json or .csv. Otherwise, writes the table."""
        _save(path, format, lambda chosen: self._comparison.report(chosen, 100))

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        a, b, ratio = self.data["a"]["model"], self.data["b"]["model"], self.ratio
        text = "no ratio" if ratio is None else f"B/A {ratio:.3g}"
        return f"<vitrine.Comparison of {a} (A) and {b} (B): {text}, {self.verdict.replace('_', ' ')}>"

    def _repr_html_(self) -> str:
        def row(name: str, module: str, op: dict[str, Any]) -> list[Any]:
            ratio = op["ratio"]
            return [name, module, _time(op["a_p50_ns"]), _time(op["b_p50_ns"]),
                    "" if ratio is None else f"{ratio['p50']:.3g}",
                    "" if ratio is None else ratio["verdict"].replace("_", " ")]

        changed = sorted(self.ops, key=lambda op: -abs(op["change_ns"]))[:_SHOWN_ROWS]
        rows = [row("whole run", "", self.data["wall"])]
        rows += [row(op["op"], op["module"] or "", op) for op in changed]
        hidden = len(self.ops) - len(changed)
        note = f"The {len(changed)} largest changes; {hidden} more are in .ops" if hidden else ""
        return html_table(repr(self).strip("<>"), ["op", "module", "A (p50)", "B (p50)", "B/A", "verdict"], rows,
                          note=note)


class ValueComparison:
    """Compares the results of each op in two runs; A is the reference. str() makes a table."""

    def __init__(self, a: "_vitrine.RecordedRun", b: "_vitrine.RecordedRun", min_sqnr: float) -> None:
        self._comparison = _vitrine.ValueComparison(a, b, min_sqnr)
        self.data: dict[str, Any] = json.loads(self._comparison.json())  # docs/inspecting.md, "JSON"
        if not self._comparison.has_figures():
            reasons = {entry["reason"] for entry in self.data["not_compared"]}
            raise _vitrine.Error("nothing was compared: A and B have no comparable values"
                                 + (f" ({'; '.join(sorted(reasons))})" if reasons else ""))

    @property
    def values(self) -> list[dict[str, Any]]:
        """The results of ops in run order: op, module, sqnr_db, cosine, max_abs and others."""
        return self.data["values"]

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """One entry for each output of the method, with figures such as sqnr_db."""
        return self.data["outputs"]

    @property
    def first_below(self) -> Optional[dict[str, Any]]:
        """The first result whose SQNR is below the limit; None if there is none."""
        index = self.data["first_below"]
        return None if index is None else self.values[index]

    @property
    def is_below(self) -> bool:
        """True if a result or output is below the limit."""
        return self._comparison.is_below()

    def to_pandas(self) -> "pandas.DataFrame":
        import pandas

        return pandas.DataFrame(self.values)

    def table(self, width: int = 100) -> str:
        return self._comparison.table(width)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        a, b = self.data["a"]["model"], self.data["b"]["model"]
        limit = f"{self.data['min_sqnr_db']:g} dB"
        verdict = f"below {limit}" if self.is_below else f"none below {limit}"
        return f"<vitrine.ValueComparison of {a} (A) and {b} (B): {len(self.values)} values, {verdict}>"

    def _repr_html_(self) -> str:
        def figure(value: Any, text: str) -> str:
            return "" if value is None else format(value, text)

        shown = self.values[:_SHOWN_ROWS]
        entries = shown + [{**output, "op": f"output {output['index']}", "module": ""} for output in self.outputs]
        rows = [[entry["op"], entry["module"] or "",
                 "equal" if entry.get("different") == 0 else figure(entry.get("sqnr_db"), ".1f"),
                 figure(entry.get("cosine"), ".6f"), figure(entry.get("max_abs"), ".3g")] for entry in entries]
        hidden = len(self.values) - len(shown)
        note = f"The first {len(shown)} values; {hidden} more are in .values" if hidden else ""
        return html_table(repr(self).strip("<>"), ["op", "module", "SQNR (dB)", "cosine", "largest difference"], rows,
                          note=note)


class Verification:
    """The result of comparing outputs with expected outputs. str() makes a table."""

    def __init__(self, report: "_vitrine.Verification") -> None:
        self._report = report
        self.data: dict[str, Any] = json.loads(report.json())  # docs/formats/bundled_program.md

    @property
    def passed(self) -> bool:
        return self._report.passed()

    def __str__(self) -> str:
        return self._report.table()

    def __repr__(self) -> str:
        return f"<vitrine.Verification of {self.data['model']}: {'passed' if self.passed else 'failed'}>"

    def _repr_html_(self) -> str:
        return f"<pre>{escaped(self)}</pre>"
