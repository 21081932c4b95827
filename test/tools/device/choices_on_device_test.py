"""Tests tools/device/choices_on_device.py with stand-ins for ssh and scp. A stand-in for taskset plays `bench`."""

import os
import subprocess
import sys
import unittest

from stand_in import ROOT, StandIn, command  # the folder of this script is in the path

TOOL = ROOT / "tools/device/choices_on_device.py"


class ChoicesOnDevice(StandIn):
    def run_tool(self, table):
        return subprocess.run([sys.executable, TOOL, table, "--ssh", "board", "--runner", os.environ["EXECUTOR_RUNNER"],
                               "--poll", "0.01"], env=self.environment, cwd=self.folder, capture_output=True, text=True,
                              timeout=120)

    def test_measures_on_one_performance_core_and_fetches_the_table(self):
        command(self.device / "bin/taskset", 'echo "$*" > "$FAKE_DEVICE/arguments"; echo rows > choices.txt; echo "| ratio |"\n')
        done = self.run_tool("here.txt")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.device / "arguments").read_text(), "8 ./bench --choices choices.txt\n")
        self.assertEqual((self.folder / "here.txt").read_text(), "rows\n")
        self.assertIn("| ratio |\ntable    here.txt: use it with --backend_option choices=here.txt", done.stdout)
        self.assertEqual(self.left_on_device(), [])

    def test_reports_failures(self):
        command(self.device / "bin/taskset", "echo 'no kernel' >&2; exit 3\n")
        done = self.run_tool("here.txt")
        self.assertEqual(done.returncode, 1)
        self.assertIn("choices_on_device: board: bench failed with exit code 3: no kernel", done.stderr)
        self.assertIn("missing/here.txt: the folder does not exist", self.run_tool("missing/here.txt").stderr)
        self.assertEqual(self.left_on_device(), [])


if __name__ == "__main__":
    unittest.main()
