"""Tests the count of false alarms (bench/false_alarms.py) with a runner that prints given comparisons."""

import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
import false_alarms  # noqa: E402

# A fake runner. It reports that slow.pte is slower (exit code 2), and that one row of each model is faster. For
# broken.pte, the runner fails.
RUNNER = """#!/usr/bin/env python3
import json, sys
model = sys.argv[sys.argv.index("--profile") + 1]
assert sys.argv[sys.argv.index("--compare") + 1] == model
assert "--threads=1" in sys.argv
if "broken" in model:
    sys.exit("executor_runner: error: cannot run")
slow = "slow" in model
print(json.dumps({
    "wall": {"ratio": {"p50": 1.1 if slow else 1.0, "verdict": "slower" if slow else "no_change"}},
    "ops": [{"ratio": {"p50": 0.9, "verdict": "faster"}}, {"ratio": None}]}))
sys.exit(2 if slow else 0)
"""


class FalseAlarmsTest(unittest.TestCase):
    def test_interval_is_that_of_clopper_and_pearson(self):
        for k, n, low, high in ((0, 100, 0, 1 - 0.025 ** 0.01), (100, 100, 0.025 ** 0.01, 1),
                                (5, 100, 0.0164, 0.1128), (1, 2, 1 - 0.975 ** 0.5, 0.975 ** 0.5)):
            found = false_alarms.interval(k, n)
            self.assertAlmostEqual(found[0], low, 4, (k, n))
            self.assertAlmostEqual(found[1], high, 4, (k, n))

    def test_interval_bounds_the_tails(self):
        low, high = false_alarms.interval(7, 240)
        self.assertAlmostEqual(1 - false_alarms.probability_of_at_most(6, 240, low), 0.025)
        self.assertAlmostEqual(false_alarms.probability_of_at_most(7, 240, high), 0.025)

    def test_counts_verdicts_and_exit_codes_and_skips_what_cannot_run(self):
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            runner = folder / "runner"
            runner.write_text(RUNNER)
            os.chmod(runner, 0o755)
            for name in ("slow.pte", "same.pte", "broken.pte"):
                (folder / name).touch()
            arguments = ["false_alarms.py", str(runner), str(folder), "--rounds", "3", "--options=--threads=1"]
            out, errors = io.StringIO(), io.StringIO()
            with mock.patch.object(sys, "argv", arguments), contextlib.redirect_stdout(out), \
                    contextlib.redirect_stderr(errors):
                false_alarms.main()
        self.assertEqual(errors.getvalue(), "skipped broken.pte: executor_runner: error: cannot run\n")
        lines = out.getvalue().splitlines()
        self.assertIn("     0      0      0   3       1.000        1.000  same.pte", lines)
        self.assertIn("     0      3      3   3       1.100        1.100  slow.pte", lines)
        self.assertIn("faster or slower  3 of 6 = 50.0 % (11.8 to 88.2 %)", lines)
        self.assertIn("exit code 2       3 of 6 = 50.0 % (11.8 to 88.2 %)", lines)
        self.assertIn("rows of ops       6 of 6 = 100.0 % (54.1 to 100.0 %)", lines)


if __name__ == "__main__":
    unittest.main()
