"""A folder that looks like a device, for the stand-ins of adb, ssh and scp, which run everything on this machine."""

import os
import pathlib
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CORES = {0: 1800000, 1: 1800000, 2: 2400000, 3: 2800000}  # kHz


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def command(path, text):
    write(path, "#!/bin/sh\n" + text).chmod(0o755)


class StandIn(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.device = self.folder / "device"
        for name in ("tmp", "data/local/tmp", "bin"):
            (self.device / name).mkdir(parents=True)
        command(self.device / "bin/taskset", 'echo "$1" > "$FAKE_DEVICE/mask"; shift; exec "$@"\n')
        for core, khz in CORES.items():
            self.frequencies(core, "cpuinfo_max_freq", khz)
            self.frequencies(core, "scaling_max_freq", khz)
            self.frequencies(core, "scaling_governor", "schedutil")
        self.zone(0, "battery", 31000)
        self.zone(1, "cpu-thermal", 41500)
        self.environment = {**os.environ, "PATH": f"{HERE}:{os.environ['PATH']}",
                            "FAKE_DEVICE": str(self.device), "FAKE_DEVICES": "A1 device"}

    def frequencies(self, core, name, value):
        write(self.device / f"sys/devices/system/cpu/cpu{core}/cpufreq/{name}", f"{value}\n")

    def zone(self, number, kind, value):
        write(self.device / f"sys/class/thermal/thermal_zone{number}/type", kind + "\n")
        write(self.device / f"sys/class/thermal/thermal_zone{number}/temp", f"{value}\n")

    def android(self, abis):
        command(self.device / "bin/getprop",
                f'[ "$1" = ro.product.cpu.abilist ] && echo {abis} || echo Phone 9\n')

    def left_on_device(self):
        return [path for parent in ("tmp", "data/local/tmp") for path in (self.device / parent).iterdir()]
