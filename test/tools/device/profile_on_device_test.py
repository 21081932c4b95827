"""Tests tools/device/profile_on_device.py with stand-ins for adb, ssh and scp, which run everything on this
machine in a folder that looks like a device."""

import json
import os
import pathlib
import platform
import shutil
import struct
import subprocess
import sys
import time
import unittest

from stand_in import ROOT, StandIn, command, write  # the folder of this script is in the path

TOOL = ROOT / "tools/device/profile_on_device.py"
sys.path.insert(0, str(TOOL.parent))
import profile_on_device  # noqa: E402  (needs the path above)
SAMPLE = ROOT / "test/samples/linear_relu"
RUNNER = os.environ["EXECUTOR_RUNNER"]
INSPECT = os.environ["PTE_INSPECT"]
LOWER = os.environ["PTE_LOWER"]


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    return state != "Z"  # in a container, a zombie may have no parent that waits for it


def elf(path, machine, loader):
    """Writes an ELF file with only the header of a 64-bit executable and the name of its loader."""
    header = bytearray(200)
    header[:6] = b"\x7fELF\x02\x01"
    struct.pack_into("<H", header, 18, machine)
    struct.pack_into("<Q", header, 32, 64)
    struct.pack_into("<HH", header, 54, 56, 1)
    struct.pack_into("<I", header, 64, 3)
    struct.pack_into("<Q", header, 72, 140)
    header[140:140 + len(loader)] = loader.encode()
    path.write_bytes(bytes(header))
    return path


class ProfileOnDevice(StandIn):
    def run_tool(self, *arguments, code=0, model=SAMPLE / "model.pte", runner=RUNNER,
                 more=("--num_executions", "6"), **environment):
        done = subprocess.run(
            [sys.executable, TOOL, model, "--runner", runner, "--pte_inspect", INSPECT,
             "--settle", "60", "--poll", "0.01", *arguments, "--", *more],
            env={**self.environment, **environment}, cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertEqual(self.left_on_device(), [], "files were left on the device")
        self.assertEqual(list(self.folder.glob(".partial-*")), [], "files were left on this machine")
        return done.stdout if code in (0, 2) else done.stderr

    def fails(self, text, *arguments, **options):
        self.assertIn(text, self.run_tool(*arguments, code=1, **options))

    def test_adb_profiles_and_compares(self):
        record = ("--etrecord", SAMPLE / "etrecord.bin", "--inputs", SAMPLE / "input_0.bin")
        out = self.run_tool("--adb", "--results", "one", *record)
        self.assertIn("cores    2,3 of 4", out)  # those with at least three quarters of the highest frequency
        self.assertIn("governor schedutil, 41.5 C", out)
        self.assertEqual((self.device / "mask").read_text(), "c\n")
        one = self.folder / "one"
        profile = json.loads((one / "profile.json").read_text())
        self.assertEqual(profile["runs"], 6)
        self.assertEqual(profile["inputs"], ["f32[4,16]"])
        self.assertEqual(profile["record"], "model.etrecord")
        self.assertEqual(profile["rows"][0]["source_ops"], ["aten.linear.default"])
        self.assertIn("<html", (one / "report.html").read_text())
        facts = json.loads((one / "device.json").read_text())
        self.assertEqual((facts["cores"], facts["after"]["celsius"]), ([2, 3], 41.5))
        out = self.run_tool("--adb", "A1", "--results", "two", "--compare", "one", *record, "--cores", "0")
        self.assertIn("note: different cores: [2, 3] before, [0] now", out)
        self.assertIn("aligned by debug handles: 2 of 2 rows of A, 2 of 2 of B", out)
        self.assertIn("linear + relu", (self.folder / "two/comparison.txt").read_text())
        # This run takes more than 0.001 of the earlier run's time, so --fail_above 0.001 reports a failure.
        self.run_tool("--adb", "--results", "three", "--compare", "two", "--fail_above", "0.001", *record, code=2)

    def test_ssh_profiles(self):
        out = self.run_tool("--ssh", "board", "--results", "deep/er")
        self.assertIn("device   board: ", out)
        self.assertIn("device.json, profile.json, report.html, trace.etdp", out)
        self.fails("--results deep/er: the folder exists", "--ssh", "board", "--results", "deep/er")
        self.fails("Could not resolve hostname other: Name or service not known\n  `ssh other true` must work", "--ssh", "other")
        self.fails("expected [USER@]HOST", "--ssh=-oProxyCommand=true")

    def test_profiles_on_emulated_processor(self):
        emulator = shutil.which(f"qemu-{platform.machine()}")
        if emulator is None:
            self.skipTest("qemu-user is not installed")
        command(self.device / "bin/taskset", f'echo "$1" > "$FAKE_DEVICE/mask"; shift; exec {emulator} "$@"\n')
        for shell in (("--adb",), ("--ssh", "board")):
            with self.subTest(shell[0]):
                (self.device / "mask").unlink(missing_ok=True)
                self.run_tool(*shell, "--results", shell[0].strip("-"), "--etrecord", SAMPLE / "etrecord.bin")
                self.assertEqual((self.device / "mask").read_text(), "c\n")
                profile = json.loads((self.folder / shell[0].strip("-") / "profile.json").read_text())
                self.assertEqual((profile["runs"], profile["rows"][0]["source_ops"]), (6, ["aten.linear.default"]))

    def test_results_folders_are_unique(self):
        name = str(self.folder / "model-20260101-000000")
        for expected in (name, name + "-2", name + "-3"):
            folder = profile_on_device.new_folder(name)
            self.assertEqual(str(folder), expected)
            folder.mkdir()

    def test_uses_record_inside_program(self):
        model = self.folder / "relu.pte"
        subprocess.run([LOWER, SAMPLE / "model.pt2", "-o", model], check=True, capture_output=True)
        self.run_tool("--ssh", "board", "--results", "one", model=model)
        out = self.run_tool("--ssh", "board", "--results", "two", "--compare", "one", model=model)
        self.assertIn("aligned by debug handles", out)  # needs both records
        self.assertIn("linear", (self.folder / "two/report.html").read_text())

    def test_errors_about_devices(self):
        self.fails("no device is connected: connect one", "--adb", FAKE_DEVICES="")
        self.fails("several devices are connected: A1 (device), B2 (device); choose", "--adb", FAKE_DEVICES="A1 device\nB2 device")
        self.fails("device C3 is not connected; connected: A1 (device)", "--adb", "C3")
        self.fails("device A1 is offline: reconnect it", "--adb", FAKE_DEVICES="A1 offline")
        self.fails("does not trust this computer", "--adb", FAKE_DEVICES="A1 unauthorized")
        self.fails("adb: device 'A1' not found\n  reconnect it until `adb devices` lists it", "--adb", FAKE_GONE="1")
        self.fails("adb is not in PATH", "--adb", PATH=str(self.device))

    def test_errors_about_full_disks(self):
        for way, parent in (("--adb", "/data/local/tmp"), ("--ssh=board", "/tmp")):
            self.fails(f"no space left in {parent} for ", way, FAKE_FULL=str(self.device))
            self.fails("no space left on this machine for ", way, "--results", self.folder / "results",
                       FAKE_FULL=f"{self.folder}/.partial-")
        command(self.device / "bin/df", "echo 'Filesystem 1024-blocks Used Available Capacity Mounted on'\n"
                                        "echo '/dev/block 9000 8000 1000 90% /data'\n")
        self.fails("/data/local/tmp has 0 MB free, but ", "--adb")

    def test_rejects_runner_for_other_processor(self):
        arm = elf(self.folder / "arm", 183, "/lib/ld-linux-aarch64.so.1")
        command(self.device / "bin/uname", "echo armv7l\n")
        self.fails("is for linux aarch64, but the device is linux armv7l: build one with make PRESET=armv7",
                   "--ssh", "board", runner=arm)
        self.android("arm64-v8a,armeabi-v7a")
        self.fails("is for linux aarch64, but the device is android arm64-v8a armeabi-v7a: build one with "
                   "make PRESET=android-arm64-v8a", "--adb", runner=arm)
        # The tool accepts this runner for Android, but this machine cannot run an Android program.
        arm = elf(self.folder / "arm", 183, "/system/bin/linker64")
        self.fails("executor_runner failed", "--adb", runner=arm)
        self.fails("not an executable for a device", "--adb", runner=SAMPLE / "model.pte")
        self.fails("no such file; build one with make PRESET=android-arm64-v8a", "--adb", runner="absent")

    def test_waits_for_steady_temperature(self):
        self.frequencies(3, "scaling_max_freq", 1000000)
        self.assertIn("not settled after 0.05 s, continuing: governor schedutil, 41.5 C, cores 3 are limited below",
                      self.run_tool("--adb", "--settle", "0.05"))
        shutil.rmtree(self.device / "sys")
        out = self.run_tool("--adb", "--results", "blind")
        self.assertIn("the frequencies cannot be read: the run is not pinned", out)
        self.assertIn("neither governor nor temperature can be read", out)
        self.fails("core 9 is offline or does not exist", "--adb", "--cores", "9")

    def test_errors_on_this_machine_come_first(self):
        self.fails("profile_on_device: --results /proc/no/folder: /proc/no: No such file or directory",
                   "--adb", "--results", "/proc/no/folder")
        file = write(self.folder / "a file", "")
        self.fails("a file: File exists", "--adb", "--results", file / "results")
        broken = write(self.folder / "inspect", "no program")
        self.fails(f"{broken} cannot be executed: Permission denied", "--adb", "--pte_inspect", broken)
        broken.chmod(0o755)
        self.fails(f"{broken} cannot be executed: Exec format error", "--adb", "--pte_inspect", broken)
        self.assertEqual(list(self.folder.glob("model-*")), [], "the run started in spite of the error")

    def test_failed_run_leaves_nothing(self):
        self.fails("no method absent", "--adb", "--results", "failed", more=("--method_name", "absent"))
        self.assertFalse((self.folder / "failed").exists())
        command(self.device / "bin/taskset", 'echo $$ > "$FAKE_DEVICE/stuck"; exec sleep 600\n')
        self.fails("or allow a longer run with --timeout", "--adb", "--timeout", "6")
        process = int((self.device / "stuck").read_text())
        for _ in range(100):
            if not is_alive(process):
                break
            time.sleep(0.1)
        self.assertFalse(is_alive(process), "the runner is still running")
        self.fails("absent.bin: no such file", "--adb", "--inputs", "absent.bin:2x16")
        self.fails("the folder has no trace.etdp", "--adb", "--compare", ".")


if __name__ == "__main__":
    unittest.main()
