"""Tests the ratchet of the runtime's choices (bench/ratchet.py)."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench"


def result(name, variant, p50, work=64, noise=0.02):
    return {"section": "operators", "name": name, "variant": variant, "threads": 1, "work": work, "p50_ns": p50,
            "p90_ns": p50, "p99_ns": p50, "min_ns": p50, "noise": noise, "runs": 50}


class RatchetTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.known = self.folder / "known.txt"

    def run_ratchet(self, *figures, options=()):
        document = {"format": "vitrine-bench", "version": 1, "facts": {}, "limits": {}, "crossings": [],
                    "results": list(figures)}
        path = self.folder / "bench.json"
        path.write_text(json.dumps(document))
        return subprocess.run([sys.executable, "-B", BENCH / "ratchet.py", *options, path], capture_output=True, text=True,
                              check=False)

    def test_accepts_choices_within_a_tenth(self):
        done = self.run_ratchet(result("add", "portable", 300), result("add", "optimized", 100), result("add", "xnnpack", 109))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_rejects_slow_kernels_outside_and_inside_of_delegates(self):
        done = self.run_ratchet(result("add", "optimized", 100), result("add", "xnnpack", 130),
                                result("mul", "portable", 50), result("mul", "optimized", 100))
        self.assertEqual(done.returncode, 2)
        self.assertIn("slow: delegate 1 64 add: 130 ns, 1.30 times optimized (100 ns)", done.stdout)
        self.assertIn("slow: kernel 1 64 mul: 100 ns, 2.00 times portable (50.0 ns)", done.stdout)
        self.assertIn("2 new slow choices", done.stdout)

    def test_ignores_differences_within_the_noise(self):
        figures = [result("add", "optimized", 100, noise=0.1), result("add", "xnnpack", 130, noise=0.1)]
        self.assertEqual(self.run_ratchet(*figures).returncode, 0)

    def test_compares_only_equal_sizes(self):
        done = self.run_ratchet(result("add", "optimized", 100), result("add", "optimized", 900, work=1000))
        self.assertEqual(done.returncode, 0)

    def test_skips_known_choices_and_reports_those_that_became_fast(self):
        self.known.write_text("delegate 1 64 add\nkernel 1 64 add\n")
        done = self.run_ratchet(result("add", "optimized", 100), result("add", "xnnpack", 130), options=["--known", self.known])
        self.assertEqual(done.returncode, 0)
        self.assertIn("known as slow, but fast in this run: kernel 1 64 add\n", done.stdout)
        self.assertNotIn("fast in this run: delegate", done.stdout)

    def test_updates_the_list(self):
        figures = [result("add", "optimized", 100), result("add", "xnnpack", 130)]
        self.assertEqual(self.run_ratchet(*figures, options=["--update", "--known", self.known]).returncode, 0)
        self.assertEqual(self.known.read_text(), "delegate 1 64 add\n")
        self.assertEqual(self.run_ratchet(*figures, options=["--known", self.known]).returncode, 0)

    def test_reports_unreadable_files(self):
        done = self.run_ratchet(options=["--known", self.folder / "missing"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("ratchet.py: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
