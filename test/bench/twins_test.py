"""Tests the comparison of delegated programs and their twins (bench/twins.py) with a stand-in for executor_runner."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "bench/twins.py"


class TwinsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ("net", "net_portable", "alone"):
            (self.folder / name).mkdir()
            (self.folder / name / "model.pte").touch()

    def run_twins(self, ratio, verdict):
        wall = {"b_p50_ns": 5000, "ratio": {"p50": ratio, "ci_low": ratio - 0.1, "ci_high": ratio + 0.1,
                                            "verdict": verdict}}
        runner = self.folder / "runner"
        runner.write_text(f"#!/bin/sh\ncase $4 in *net/model.pte) echo '{json.dumps({'wall': wall})}';; *) exit 1;; esac\n")
        runner.chmod(0o755)
        return subprocess.run([sys.executable, "-B", SCRIPT, runner, self.folder, "--rounds", "2"], capture_output=True,
                              text=True, check=False)

    def test_lists_the_pairs_and_their_geometric_mean(self):
        done = self.run_twins(0.5, "faster")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| `net` | 5.0 us | 0.50 | 0.40 to 0.60 |", done.stdout)
        self.assertIn("Geometric mean of the ratios: 0.50. Slower than the twin in each round: none.", done.stdout)

    def test_fails_if_a_delegated_program_is_slower(self):
        done = self.run_twins(1.2, "slower")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("in each round: net.", done.stdout)


if __name__ == "__main__":
    unittest.main()
