"""Tests the fleet tools: rows, statistics, and the reduction on a cluster in which a worker dies.

Usage: fleet_test.py FOLDER_OF_TOOLS [RUNNER [MODEL]]. The exit code is 77 if a package is missing.
"""
import importlib.util
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

for package in ("distributed", "pandas", "numpy"):
    if importlib.util.find_spec(package) is None:
        print(f"skipped: the Python package {package} is not installed (apt install python3-distributed "
              "python3-pandas)")
        sys.exit(77)

sys.path.insert(0, sys.argv[1])
RUNNER = sys.argv[2] if len(sys.argv) > 2 else ""
MODEL = sys.argv[3] if len(sys.argv) > 3 else ""

import numpy  # noqa: E402
import pandas  # noqa: E402

import cluster  # noqa: E402
import histogram  # noqa: E402
import hosts  # noqa: E402
import reduction  # noqa: E402
import rows  # noqa: E402
import significance  # noqa: E402
import simulation  # noqa: E402


class Rows(unittest.TestCase):
    GOOD = ('{"v":1,"model":"m","op":"add","where":"kernel","module":"","device":"d","device_class":"c",'
            '"commit":"x","run":"1","row":1,"p50_ns":12.5}')

    def test_parses_valid_row(self):
        self.assertEqual(rows.parse(self.GOOD),
                         ("m", "add", "kernel", "", "d", "c", "x", "1", 1, 12.5))

    def test_counts_invalid_lines_and_keeps_first_reason(self):
        wrong = [self.GOOD[:40], "[1]", "null", self.GOOD.replace('"v":1', '"v":2'),
                 self.GOOD.replace("12.5", "NaN"), self.GOOD.replace("12.5", "-1"),
                 self.GOOD.replace('"row":1', '"row":"1"'), self.GOOD.replace('"device":"d",', "")]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "a.jsonl"
            file.write_text("\n".join([self.GOOD, *wrong, "", self.GOOD]))
            table, rejected = rows.read(file)
        self.assertEqual(len(table), 2)
        self.assertEqual(rejected.count, len(wrong))
        self.assertIn("a.jsonl:2: ", rejected.first)


class Significance(unittest.TestCase):
    def test_signed_rank_of_known_case(self):
        # The ranks are 1 to 12, and the values with the ranks 3 and 5 are negative. The sum of the positive
        # ranks is 78 - 8 = 70. Its expected value is 39, and its variance is 12 * 13 * 25 / 24 = 162.5. The result is
        # z = (70 - 39 - 0.5) / 12.748 = 2.3926, with an upper tail of 0.00836.
        values = [1, 2, -3, 4, -5, 6, 7, 8, 9, 10, 11, 12]
        self.assertAlmostEqual(significance.signed_rank(values), 0.00836, places=4)

    def test_ties_share_ranks(self):
        # All ten values have the rank 5.5, and two values are negative. The sum of the positive ranks is 8 * 5.5 = 44.
        # Its expected value is 27.5, and its variance is 10 * 11 * 21 / 24 - (1000 - 10) / 48 = 75.625. The result is
        # z = (44 - 27.5 - 0.5) / 8.6963 = 1.8399, with an upper tail of 0.0329.
        self.assertAlmostEqual(significance.signed_rank([1] * 8 + [-1] * 2), 0.0329, places=4)

    def test_fewer_than_ten_differences_give_p_one(self):
        self.assertEqual(significance.signed_rank([5] * 9 + [0] * 20), 1.0)

    def test_false_positive_rate_matches_level(self):
        random = numpy.random.default_rng(7)
        found = sum(significance.signed_rank(random.normal(size=50)) < 0.05 for _ in range(2000))
        self.assertTrue(60 <= found <= 140, found)  # the expectation is 100, the standard deviation 9.7

    def test_false_discovery_rates(self):
        # Each of the 4 p-values is multiplied by 4 / rank (Benjamini and Hochberg). If a higher rank has a smaller
        # product, this product is used instead.
        numpy.testing.assert_allclose(
            significance.false_discovery_rates([0.01, 0.04, 0.03, 0.5]),
            [0.04, 0.16 / 3, 0.16 / 3, 0.5])


class Histogram(unittest.TestCase):
    def test_percentiles_are_within_half_a_percent(self):
        ns = numpy.random.default_rng(3).lognormal(10, 1, size=20001)
        bins, counts = numpy.unique(histogram.bins_of(ns), return_counts=True)
        for share in (0.01, 0.5, 0.9, 0.99):
            exact = numpy.percentile(ns, 100 * share)
            self.assertAlmostEqual(histogram.percentile(bins, counts, share) / exact, 1, delta=0.0065)


class Hosts(unittest.TestCase):
    def test_rejects_unknown_kinds(self):
        with self.assertRaisesRegex(hosts.HostError, "expected one of local"):
            hosts.host("telnet:x")

    def test_rejects_hosts_that_look_like_options(self):
        for name in ("ssh:-oProxyCommand=touch x", "adb:-x"):
            with self.subTest(name), self.assertRaisesRegex(hosts.HostError, "must not begin with -"):
                hosts.host(name)

    def test_remote_files_are_in_a_new_folder(self):
        stand_ins = pathlib.Path(__file__).resolve().parents[1] / "device"
        with tempfile.TemporaryDirectory() as device:
            program = pathlib.Path(device, "program")
            program.write_text("#!/bin/sh\necho ran with $1\n")
            environment = {"PATH": f"{stand_ins}:{os.environ['PATH']}", "FAKE_DEVICE": device,
                           "FAKE_DEVICES": "A1 device"}
            for name, parent in (("ssh:board", "tmp"), ("adb:A1", "data/local/tmp")):
                files = pathlib.Path(device, parent)
                files.mkdir(parents=True)
                # put() must not use this existing folder, because the folder may belong to another user.
                (files / "vitrine_fleet").mkdir()
                with self.subTest(name), unittest.mock.patch.dict(os.environ, environment):
                    where = hosts.host(name)
                    sent = where.put(program)
                    self.assertEqual(sent, where.put(program))
                    (folder,) = files.glob("vitrine-*")
                    self.assertEqual(folder.stat().st_mode & 0o777, 0o700)
                    self.assertRegex(sent, f"^/{parent}/{folder.name}/")
                    self.assertEqual(where.run([sent, "a b"], 10), "ran with a b\n")
                    where.close()
                    self.assertEqual([file.name for file in files.iterdir()], ["vitrine_fleet"])

    def test_errors_name_missing_programs(self):
        for program, text in (("no_such_program", "no_such_program is not installed"),
                              ("/no/such/program", "/no/such/program: no such file"),
                              (__file__, "cannot be executed: Permission denied")):
            with self.subTest(program), self.assertRaisesRegex(hosts.HostError, text):
                hosts.host("local").run([program], 10)
        with self.assertRaises(hosts.HostError):
            hosts.host("local").run(["false"], 10)

    def test_rejects_invalid_command_lines_before_work(self):
        tool = pathlib.Path(hosts.__file__).resolve().with_name("fleet.py")
        model = os.path.abspath(__file__)
        with tempfile.TemporaryDirectory() as folder:
            def error_of(*arguments):
                done = subprocess.run([sys.executable, "-B", tool, *arguments],
                                      capture_output=True, text=True, cwd=folder)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual(list(pathlib.Path(folder).iterdir()), [], "the tool started to work in spite of the error")
                return done.stderr
            run = ("run", "--runner", sys.executable, "--host")
            self.assertEqual(error_of(*run, "telnet:x", model),
                             "fleet.py: telnet:x: expected one of local, qemu, ssh, adb\n")
            self.assertEqual(error_of(*run, "local", "absent.pte"), "fleet.py: absent.pte: no such file\n")
            self.assertEqual(error_of("run", "--runner", "/absent", "--host", "local", model),
                             "fleet.py: /absent: no such file\n")
            self.assertIn("fleet.py: [Errno 2] No such file or directory: '/proc/no",
                          error_of(*run, "local", "--out", "/proc/no/folder", model))

    @unittest.skipUnless(RUNNER and MODEL, "needs executor_runner")
    def test_local_profile_becomes_rows(self):
        text = hosts.profile(hosts.host("local"), RUNNER, MODEL, {"device": "here", "commit": "x"}, 3)
        read = [rows.parse(line) for line in text.splitlines()]
        self.assertEqual({row[2] for row in read} & {"run", "unattributed"}, {"run", "unattributed"})
        self.assertTrue(any(row[2] in ("kernel", "delegate") for row in read))
        self.assertEqual({(row[4], row[6]) for row in read}, {("here", "x")})


class Reduction(unittest.TestCase):
    """Uses 6,000 rows: 150 devices, two models with 5 ops, two commits, two runs."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.files = [simulation.write_file(cls.folder.name, first, 15, 5, 2)
                     for first in range(0, 150, 15)]
        cls.expected = reduction.merge([reduction.partial(file, simulation.COMMITS)
                                        for file in cls.files])

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def assert_same(self, merged):
        self.assertEqual(merged.read, 6000)
        for name, keys in (("counts", ["commit", "bin"]), ("devices", ["device", "commit"])):
            tables = [getattr(part, name).sort_values(reduction.OP + keys).reset_index(drop=True)
                      for part in (merged, self.expected)]
            pandas.testing.assert_frame_equal(*tables, check_dtype=False)

    def test_percentiles_match_all_rows(self):
        table = pandas.concat([rows.read(file)[0].astype({"model": str}) for file in self.files])
        lines = reduction.finish(self.expected)["percentiles"]
        self.assertEqual(len(lines), 2 * 5 * 5 * 2)
        self.assertEqual(sum(line["rows"] for line in lines), 6000)
        for line in lines[::17]:
            same = table
            for key in ("model", "row", "device_class", "commit"):
                same = same[same[key] == line[key]]
            # The exact median is between the two middle samples.
            ordered = numpy.sort(same["p50_ns"].to_numpy())
            self.assertGreater(line["p50_ns"], 0.99 * ordered[(len(ordered) - 1) // 2])
            self.assertLess(line["p50_ns"], 1.01 * ordered[len(ordered) // 2])

    def test_finds_only_the_slower_op(self):
        report = reduction.finish(self.expected, simulation.COMMITS)
        worse = [(line["model"], line["row"], line["device_class"])
                 for line in report["regressions"] if line["worse"]]
        self.assertEqual(worse, [simulation.SLOWER[:3]])
        self.assertEqual(len(report["regressions"]), 50)
        self.assertEqual(json.loads(json.dumps(report)), report)

    def test_finds_nothing_in_reverse(self):
        report = reduction.finish(self.expected, simulation.COMMITS[::-1])
        self.assertFalse([line for line in report["regressions"] if line["worse"]])

    def test_cluster_survives_death_of_worker(self):
        deaths = []
        with cluster.connected("", 2) as client:
            before = set(client.run(os.getpid).values())

            def kill_one(done, count, elapsed):
                if done == 3 and not deaths:
                    deaths.append(sorted(before)[0])
                    os.kill(deaths[0], signal.SIGKILL)

            merged = cluster.reduce_files(client, self.files, simulation.COMMITS, kill_one)
            self.assertTrue(deaths)
            client.wait_for_workers(2, timeout=60)
            self.assertNotIn(deaths[0], set(client.run(os.getpid).values()))
        self.assert_same(merged)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
