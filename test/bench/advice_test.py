"""Tests the score of advice (bench/advice.py) with programs that print given predictions and measurements."""

import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import advice  # noqa: E402

VITRINE = """#!/usr/bin/env python3
import json, sys
assert sys.argv[1] == "advise" and "--threads=1" in sys.argv
if "busy" in sys.argv[2]:
    sys.exit("vitrine advise: error: no advice: busy")
def line(name, low, high, gain="time"):
    return {"name": name, "gain": gain, "ratio": [low, high], "lower": ["--" + name], "run": []}
if "none" in sys.argv[2]:
    print(json.dumps({"advice": []}))
else:
    print(json.dumps({"advice": [line("optimize", 0.7, 0.8), line("threads", 0.8, 0.9), line("shrink", 0.9, 1.1, "file")],
                      "together": {"lines": [1, 2], "ratio": [0.5, 0.6], "lower": [], "run": []}}))
"""

TRIALS = """#!/usr/bin/env python3
import json, sys
assert json.load(open(sys.argv[1])).keys() >= {"advice"}
ratios = {"other": 0.6, "optimize": 0.75, "threads": 1.1, "shrink": 1.0, "together": 0.55}
assert float(sys.argv[2]) == 1.5
if "none" in sys.argv[3]:
    ratios = {"other": 1.2}
for name, ratio in ratios.items():
    print(json.dumps({"name": name, "ratio": ratio}))
print(json.dumps({"name": "broken", "error": "cannot lower"}))
"""


class AdviceTest(unittest.TestCase):
    def output(self, models):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for name, text in (("vitrine", VITRINE), ("advice_trials", TRIALS)):
                (folder / name).write_text(text)
                os.chmod(folder / name, 0o755)
            for name in models:
                (folder / name).touch()
            arguments = ["advice.py", str(folder), str(folder), "--options=--threads=1", "--log", str(folder / "log")]
            out = io.StringIO()
            with mock.patch.object(sys, "argv", arguments), contextlib.redirect_stdout(out):
                advice.main()
            logged = [json.loads(line)["name"] for line in (folder / "log").read_text().splitlines()]
        return out.getvalue().splitlines(), logged

    def test_counts_hits_slower_changes_and_regret(self):
        lines, logged = self.output(["busy.pt2", "none.pt2", "some.pt2"])
        self.assertEqual(logged, ["none.pt2", "some.pt2"])
        self.assertIn("busy.pt2: refused: vitrine advise: error: no advice: busy", lines)
        # For none.pt2, the advice is empty, and the only measured change makes the model slower. For some.pt2, the best
        # single change reduces the time to 60 %. The change that is advised first reduces it to 75 %, so the regret is
        # 75 / 60 - 1.
        self.assertIn("none.pt2: ranked first: (none); fastest: (none); regret: 0.0 %", lines)
        self.assertIn("some.pt2: ranked first: optimize; fastest: other; regret: 25.0 %", lines)
        self.assertIn("  hit    predicted 0.700 to 0.800, measured 0.750  optimize", lines)
        self.assertIn("  slower predicted 0.800 to 0.900, measured 1.100  threads", lines)
        self.assertIn("2 models, 1 refused", lines)
        self.assertIn("within the interval  3 of 4 = 75.0 % (19.4 to 99.4 %)", lines)
        self.assertIn("advised but slower   1 of 4", lines)
        self.assertIn("regret               median 12.5 %, mean 12.5 %, max 25.0 %", lines)

    def test_reports_rates_that_are_certainly_beyond_limits(self):
        def one(hit, slower):
            score = mock.Mock(lines=[None])
            score.hits.return_value, score.slower.return_value = hit, slower
            return score

        limits = {"min_hit_rate": 0.5, "max_slower_rate": 0.3}
        self.assertEqual(advice.beyond_limits([], limits), [])
        # With 0 hits of 5, the confidence interval of the rate ends at 52.2 %; with 0 hits of 6, it ends at 45.9 %.
        self.assertEqual(advice.beyond_limits([one(0, 0)] * 5, limits), [])
        self.assertEqual(advice.beyond_limits([one(0, 0)] * 6, limits),
                         ["at most 45.9 % of the predicted intervals contain the measured ratio, expected 50.0 %"])
        self.assertEqual(len(advice.beyond_limits([one(1, 1)] * 10, limits)), 1)

    def test_fails_without_scores(self):
        with self.assertRaises(SystemExit) as raised:
            self.output(["busy.pt2"])
        self.assertEqual(str(raised.exception), "advice: no model got advice")


if __name__ == "__main__":
    unittest.main()
