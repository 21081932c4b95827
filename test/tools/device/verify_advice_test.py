"""Tests tools/device/verify_advice.py and `vitrine advise --profile` with stand-ins for adb and ssh."""

import json
import os
import subprocess
import sys
import unittest

from stand_in import ROOT, StandIn

TOOLS = ROOT / "tools/device"
MODEL = ROOT / "test/samples/linear_relu/model.pt2"
RUNNER = os.environ["EXECUTOR_RUNNER"]
VITRINE = os.environ["VITRINE"]
LOWERED = ["--backend", "xnnpack"]
ALWAYS, NEVER = [0, 1e6], [0, 1e-6]  # ratios


def line(name, words, ratio, **more):
    return {"name": name, "program": words, "ratio": ratio, "gain": "time", **more}


class VerifyAdvice(StandIn):
    def run_tool(self, tool, *arguments, code=0):
        done = subprocess.run(
            [sys.executable, TOOLS / tool, "--ssh", "board", "--runner", RUNNER, "--poll", "0.01", *arguments],
            env=self.environment, cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(self.left_on_device(), [], "files were left on the device")
        return done.stdout if code in (0, 2) else done.stderr

    def verify(self, lines, *arguments, code=0, **more):
        advice = {"device": "Phone 9", "method": "forward", "is_program": False, "baseline": LOWERED, "threads": 1,
                  "advice": lines, **more}
        (self.folder / "advice.json").write_text(json.dumps(advice))
        return self.run_tool("verify_advice.py", "advice.json", MODEL, "--vitrine", VITRINE, *arguments, code=code)

    def test_compares_each_line_with_its_interval(self):
        optimized, plain = line("optimize", [*LOWERED, "--optimize"], ALWAYS), line("none", ["--backend", "none"], NEVER)
        together = {"lines": [1, 2], "program": ["--backend", "none", "--optimize"], "ratio": ALWAYS}
        out = self.verify([optimized, plain], code=2, together=together)
        verdicts = {row[:12].strip(): row.split("  ")[-1].strip() for row in out.splitlines() if " to " in row}
        self.assertEqual(verdicts, {"optimize": "as predicted", "none": "slower", "all together": "as predicted"})
        self.assertIn("cores    2,3 of 4", out)
        self.assertNotIn("none", self.verify([optimized, plain], "--apply", "optimize"))

    def test_rejects_lines_that_it_cannot_measure(self):
        good = line("optimize", LOWERED, ALWAYS)
        for bad in (line("threads", None, ALWAYS), line("file", LOWERED, None), line("int8", LOWERED, ALWAYS, needs="data"),
                    {**good, "name": "small", "gain": "file"}):
            self.assertIn("does not predict the time", self.verify([good, bad], "--apply", bad["name"], code=1))
            self.assertIn("no line predicts the time", self.verify([bad], code=1))
        self.assertIn("--apply 3: expected a name, or a number from 1 to 1", self.verify([good], "--apply", "3", code=1))
        self.assertIn("--source: the advice is about a program", self.verify([good], is_program=True, code=1))
        self.assertIn("vitrine lower", self.verify([line("bad", ["--backend", "nonsense"], ALWAYS)], code=1))
        (self.folder / "other.json").write_text("{}")
        self.assertIn("expected the output of 'vitrine advise --format json'",
                      self.run_tool("verify_advice.py", "other.json", MODEL, code=1))

    def test_profile_of_device_becomes_advice(self):
        program = self.folder / "model.pte"
        subprocess.run([VITRINE, "lower", MODEL, "--backend", "none", "-o", program], check=True, capture_output=True)
        self.run_tool("profile_on_device.py", program, "--results", "phone", "--", "--threads", "1", "--executions", "20")
        done = subprocess.run([VITRINE, "advise", MODEL, "--baseline", "--backend none", "--profile", "phone", "--force",
                               "--seconds", "1", "--format", "json"],
                              env={**self.environment, "XDG_CACHE_HOME": str(self.folder / "cache")}, cwd=self.folder,
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)
        advice = json.loads(done.stdout)
        facts = json.loads((self.folder / "phone/device.json").read_text())
        profile = json.loads((self.folder / "phone/profile.json").read_text())
        self.assertEqual((advice["device"], advice["threads"]), (facts["model_name"], 1))
        self.assertEqual(advice["wall_ns"], profile["wall_ns"]["p50"])
        for one in advice["advice"]:
            if one["gain"] == "time":
                self.assertEqual(one["confidence"], "modeled")
                self.assertIn(f"for {advice['device']}: ", one["method"])
        self.assertIn("threads", json.dumps(advice["not_tried"]))


if __name__ == "__main__":
    unittest.main()
