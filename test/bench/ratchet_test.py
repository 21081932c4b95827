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

    def write_results(self, name, *figures):
        document = {"format": "vitrine-bench", "version": 1, "facts": {"machine": "Z80"}, "limits": {}, "crossings": [],
                    "results": list(figures)}
        path = self.folder / name
        path.write_text(json.dumps(document))
        return path

    def run_ratchet(self, *figures, options=()):
        path = self.write_results("bench.json", *figures)
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

    def test_subtracts_the_cost_of_a_call_from_the_time_of_a_delegate(self):
        calls = [result("abs (one element)", "optimized", 20, work=1), result("abs (one element)", "xnnpack", 32, work=1)]
        self.assertEqual(self.run_ratchet(*calls, result("add", "optimized", 40), result("add", "xnnpack", 52)).returncode, 0)
        done = self.run_ratchet(*calls, result("add", "optimized", 40), result("add", "xnnpack", 62))
        self.assertIn("slow: delegate 1 64 add: 50.0 ns, 1.25 times optimized (40.0 ns)", done.stdout)
        done = self.run_ratchet(*calls, result("add", "portable", 40), result("add", "optimized", 52))
        self.assertEqual(done.returncode, 2)

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
        self.assertEqual(self.known.read_text(), "# Z80\ndelegate 1 64 add\n")
        self.assertEqual(self.run_ratchet(*figures, options=["--known", self.known]).returncode, 0)

    def test_counts_only_choices_that_are_slow_in_each_run(self):
        fast = self.write_results("fast.json", result("add", "optimized", 100), result("add", "xnnpack", 105))
        slow = self.write_results("slow.json", result("add", "optimized", 100), result("add", "xnnpack", 140))
        figures = [result("add", "optimized", 100), result("add", "xnnpack", 130)]
        self.assertEqual(self.run_ratchet(*figures, options=[fast]).returncode, 0)
        self.assertEqual(self.run_ratchet(*figures, options=[slow]).returncode, 2)

    def test_measures_new_slow_choices_again(self):
        program = self.folder / "bench"
        figures = [result("add (a row)", "optimized", 100), result("add (a row)", "xnnpack", 130)]
        for again, code in ((105, 0), (140, 2)):
            results = self.write_results("again.json", figures[0], result("add (a row)", "xnnpack", again))
            program.write_text('#!/bin/sh\nfor out; do :; done\n'
                               f'case "$*" in *"--filter add (a row) --out"*) cp {results} "$out";; *) exit 1;; esac\n')
            program.chmod(0o755)
            done = self.run_ratchet(*figures, options=["--bench", program])
            self.assertEqual(done.returncode, code, done.stderr)
        program.write_text("#!/bin/sh\nexit 3\n")
        self.assertIn("ratchet.py: Command", self.run_ratchet(*figures, options=["--bench", program]).stderr)

    def test_compares_nothing_on_another_processor(self):
        self.known.write_text("# 8086\n")
        done = self.run_ratchet(result("add", "optimized", 100), result("add", "xnnpack", 130), options=["--known", self.known])
        self.assertEqual(done.returncode, 0)
        self.assertIn("is for another processor: 8086", done.stdout)

    def test_reports_unreadable_files(self):
        done = self.run_ratchet(options=["--known", self.folder / "missing"])
        self.assertEqual(done.returncode, 1)
        self.assertIn("ratchet.py: ", done.stderr)


if __name__ == "__main__":
    unittest.main()
