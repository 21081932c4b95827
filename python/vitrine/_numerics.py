"""The errors of a program's operators against a reference."""

from __future__ import annotations

import json
import os
from typing import Any, Optional

from . import _vitrine
from ._arguments import PathLike
from ._html import table as html_table

_SHOWN_ROWS = 20  # in notebooks


def _db(figures: Optional[dict[str, Any]]) -> str:
    if figures is None:
        return ""
    if figures["sqnr_db"] is None:
        return "same" if figures["is_equal"] else "not finite"
    return f"{figures['sqnr_db']:.1f}"


class Numerics:
    """Shows which operators introduce errors, and which inherit them from their inputs. str() makes a table."""

    def __init__(self, numerics: "_vitrine.Numerics") -> None:
        self._numerics = numerics
        self.data: dict[str, Any] = json.loads(numerics.json())  # docs/numerics.md
        for row in self.data["rows"]:
            row["saturated_share"] = row["saturated"] / row["elements"] if row["elements"] else 0.0

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The values of operators in run order.

        `made_here`, `inherited` and `total` have sqnr_db, cosine, max_abs and max_rel. They are None if they were not
        measured; `not_measured` then gives the reason. `sqnr_db` is None for equal tensors.
        """
        return self.data["rows"]

    @property
    def outputs(self) -> list[dict[str, Any]]:
        """The errors of the method's outputs against the reference's outputs."""
        return self.data["outputs"]

    @property
    def first_below(self) -> Optional[dict[str, Any]]:
        """The first row whose own SQNR is below the limit; None if there is none."""
        index = self.data["first_below"]
        return None if index is None else self.rows[index]

    @property
    def first_not_finite(self) -> Optional[dict[str, Any]]:
        """The first row with a NaN or an infinity; None if there is none."""
        index = self.data["first_not_finite"]
        return None if index is None else self.rows[index]

    def to_json(self) -> str:
        """Returns the document of `vitrine run --numerics --format json`."""
        return self._numerics.json()

    def table(self, width: int = 100) -> str:
        """Returns the table of `vitrine run --numerics`."""
        return self._numerics.table(width)

    def save_html(self, path: PathLike) -> None:
        """Writes one page for a browser, which needs no network and no other files."""
        page = self._numerics.html()
        with open(os.fspath(path), "w", encoding="utf-8", newline="") as file:
            file.write(page)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        first, limit = self.first_below, f"{self.data['limit_db']:g} dB"
        verdict = f"none below {limit}" if first is None else f"first below {limit}: #{first['row'] + 1} {first['op']}"
        return f"<vitrine.Numerics of {self.data['program']['model']}: {len(self.rows)} values, {verdict}>"

    def _repr_html_(self) -> str:
        shown = [row for row in self.rows if row["made_here"] is not None]
        shown = sorted(shown, key=lambda row: float("inf") if row["made_here"]["sqnr_db"] is None
                       else row["made_here"]["sqnr_db"])[:_SHOWN_ROWS]
        rows = [[row["row"] + 1, row["op"], row["module"],
                 *(_db(row[error]) for error in ("made_here", "inherited", "total"))] for row in shown]
        hidden = len(self.rows) - len(shown)
        note = f"The {len(shown)} largest errors; {hidden} more values are in .rows" if hidden else ""
        return html_table(repr(self).strip("<>"), ["#", "op", "module", "made here (dB)", "inherited", "total"], rows,
                          note=note)
