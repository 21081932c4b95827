"""The fleet: rows, statistics, and the reduction on a cluster of processes, one of which dies.

Usage: fleet_test.py FOLDER_OF_TOOLS [RUNNER [MODEL]]. Exit code 77: skipped.
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

    def test_a_good_row_is_read(self):
        self.assertEqual(rows.parse(self.GOOD),
                         ("m", "add", "kernel", "", "d", "c", "x", "1", 1, 12.5))

    def test_wrong_lines_are_counted_with_the_first_reason(self):
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
    def test_signed_rank_of_a_known_case(self):
        # 1 to 12 without ties, of which 3 and 5 are negative: W+ = 78 - 8 = 70, mean 39, variance
        # 12 * 13 * 25 / 24 = 162.5, z = (70 - 39 - 0.5) / 12.748 = 2.3926, upper tail 0.00836.
        values = [1, 2, -3, 4, -5, 6, 7, 8, 9, 10, 11, 12]
        self.assertAlmostEqual(significance.signed_rank(values), 0.00836, places=4)

    def test_ties_share_ranks(self):
        # Ten of one size, two negative: all ranks 5.5, W+ = 44, mean 27.5,
        # variance 10 * 11 * 21 / 24 - (1000 - 10) / 48 = 75.625, z = 16 / 8.6963 = 1.8399: 0.0329.
        self.assertAlmostEqual(significance.signed_rank([1] * 8 + [-1] * 2), 0.0329, places=4)

    def test_too_few_say_nothing(self):
        self.assertEqual(significance.signed_rank([5] * 9 + [0] * 20), 1.0)

    def test_chance_is_found_as_often_as_it_should_be(self):
        random = numpy.random.default_rng(7)
        found = sum(significance.signed_rank(random.normal(size=50)) < 0.05 for _ in range(2000))
        self.assertTrue(60 <= found <= 140, found)  # 100 expected, 9.7 the standard deviation

    def test_false_discovery_rates(self):
        # Benjamini and Hochberg's rule by hand: p * 4 / rank, then the minimum from above.
        numpy.testing.assert_allclose(
            significance.false_discovery_rates([0.01, 0.04, 0.03, 0.5]),
            [0.04, 0.16 / 3, 0.16 / 3, 0.5])


class Histogram(unittest.TestCase):
    def test_percentiles_are_within_half_a_percent_and_a_rank(self):
        ns = numpy.random.default_rng(3).lognormal(10, 1, size=20001)
        bins, counts = numpy.unique(histogram.bins_of(ns), return_counts=True)
        for share in (0.01, 0.5, 0.9, 0.99):
            exact = numpy.percentile(ns, 100 * share)
            self.assertAlmostEqual(histogram.percentile(bins, counts, share) / exact, 1, delta=0.0065)


class Hosts(unittest.TestCase):
    def test_unknown_kinds_are_refused(self):
        with self.assertRaisesRegex(hosts.HostError, "expected one of local"):
            hosts.host("telnet:x")

    def test_names_missing_programs_and_failures(self):
        for program, text in (("no_such_program", "no_such_program is not installed"),
                              ("/no/such/program", "/no/such/program: no such file"),
                              (__file__, "cannot be executed: Permission denied")):
            with self.subTest(program), self.assertRaisesRegex(hosts.HostError, text):
                hosts.host("local").run([program], 10)
        with self.assertRaises(hosts.HostError):
            hosts.host("local").run(["false"], 10)

    def test_refuses_wrong_command_lines(self):
        tool = pathlib.Path(hosts.__file__).resolve().with_name("fleet.py")
        model = os.path.abspath(__file__)
        with tempfile.TemporaryDirectory() as folder:
            def told(*arguments):
                done = subprocess.run([sys.executable, "-B", tool, *arguments],
                                      capture_output=True, text=True, cwd=folder)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual(list(pathlib.Path(folder).iterdir()), [], "it has begun to work")
                return done.stderr
            run = ("run", "--runner", sys.executable, "--host")
            self.assertEqual(told(*run, "telnet:x", model),
                             "fleet.py: telnet:x: expected one of local, qemu, ssh, adb\n")
            self.assertEqual(told(*run, "local", "absent.pte"), "fleet.py: absent.pte: no such file\n")
            self.assertEqual(told("run", "--runner", "/absent", "--host", "local", model),
                             "fleet.py: /absent: no such file\n")
            self.assertIn("fleet.py: [Errno 2] No such file or directory: '/proc/no",
                          told(*run, "local", "--out", "/proc/no/folder", model))

    @unittest.skipUnless(RUNNER and MODEL, "needs executor_runner")
    def test_a_profile_of_this_machine_becomes_rows(self):
        text = hosts.profile(hosts.host("local"), RUNNER, MODEL, {"device": "here", "commit": "x"}, 3)
        read = [rows.parse(line) for line in text.splitlines()]
        self.assertEqual({row[2] for row in read} & {"run", "unattributed"}, {"run", "unattributed"})
        self.assertTrue(any(row[2] in ("kernel", "delegate") for row in read))
        self.assertEqual({(row[4], row[6]) for row in read}, {("here", "x")})


class Reduction(unittest.TestCase):
    """6,000 rows: 150 devices, two models of 5 ops, two commits, twice."""

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

    def test_percentiles_match_those_of_all_rows(self):
        table = pandas.concat([rows.read(file)[0].astype({"model": str}) for file in self.files])
        lines = reduction.finish(self.expected)["percentiles"]
        self.assertEqual(len(lines), 2 * 5 * 5 * 2)
        self.assertEqual(sum(line["rows"] for line in lines), 6000)
        for line in lines[::17]:
            same = table
            for key in ("model", "row", "device_class", "commit"):
                same = same[same[key] == line[key]]
            # Between two of few samples numpy interpolates: the median is one of these two.
            ordered = numpy.sort(same["p50_ns"].to_numpy())
            self.assertGreater(line["p50_ns"], 0.99 * ordered[(len(ordered) - 1) // 2])
            self.assertLess(line["p50_ns"], 1.01 * ordered[len(ordered) // 2])

    def test_only_what_became_slower_is_found(self):
        report = reduction.finish(self.expected, simulation.COMMITS)
        worse = [(line["model"], line["row"], line["device_class"])
                 for line in report["regressions"] if line["worse"]]
        self.assertEqual(worse, [simulation.SLOWER[:3]])
        self.assertEqual(len(report["regressions"]), 50)
        self.assertEqual(json.loads(json.dumps(report)), report)

    def test_nothing_is_slower_the_other_way(self):
        report = reduction.finish(self.expected, simulation.COMMITS[::-1])
        self.assertFalse([line for line in report["regressions"] if line["worse"]])

    def test_a_cluster_gives_the_same_though_a_worker_dies(self):
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
