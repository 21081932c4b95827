"""Finds a program that a device can run, such as executor_runner, among the builds of this machine."""

import pathlib
import struct

from transport import DeviceError

ROOT = pathlib.Path(__file__).resolve().parents[2]
PT_INTERP = 3
MACHINES = {3: "x86", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}  # values of e_machine in ELF files

# Machine types of executables that a processor (`uname -m` or an Android ABI) can run, best first.
RUNNABLE_MACHINES = {
    "aarch64": ("aarch64", "arm"), "arm64": ("aarch64", "arm"), "armv8l": ("arm",), "armv7l": ("arm",),
    "x86_64": ("x86_64",), "riscv64": ("riscv64",),
    "arm64-v8a": ("aarch64",), "armeabi-v7a": ("arm",), "x86": ("x86",),
}
PRESETS = {
    ("linux", "aarch64"): ("aarch64",), ("linux", "arm"): ("armv7",), ("linux", "riscv64"): ("riscv64",),
    ("linux", "x86_64"): ("release", "package", "dev"),
    ("android", "aarch64"): ("android-arm64-v8a",), ("android", "arm"): ("android-armeabi-v7a",),
    ("android", "x86_64"): ("android-x86_64",),
}


def elf_target(path):
    """Returns the (system, machine) of an executable. The system of a static executable is None."""
    data = path.read_bytes()
    if data[:4] != b"\x7fELF" or len(data) < 64 or data[5] != 1:
        raise DeviceError(f"{path}: not an executable for a device (expected a little-endian ELF file)")
    is_64 = data[4] == 2
    machine = struct.unpack_from("<H", data, 18)[0]
    offset, = struct.unpack_from("<Q" if is_64 else "<I", data, 32 if is_64 else 28)
    size, count = struct.unpack_from("<HH", data, 54 if is_64 else 42)
    system = None
    for i in range(count):
        at = offset + i * size
        if at + 40 > len(data):
            raise DeviceError(f"{path}: the executable is truncated")
        if struct.unpack_from("<I", data, at)[0] != PT_INTERP:
            continue
        begin, = struct.unpack_from("<Q" if is_64 else "<I", data, at + (8 if is_64 else 4))
        loader = data[begin:data.find(b"\0", begin)]
        system = "android" if loader.startswith(b"/system/bin/linker") else "linux"
    return system, MACHINES.get(machine, f"machine {machine}")


def machines_of(facts):
    found = []
    for name in facts.abis or (facts.machine,):
        found += RUNNABLE_MACHINES.get(name, ())
    if not found:
        raise DeviceError(f"the device has an unknown processor: {' '.join(facts.abis) or facts.machine}")
    return found


def check_runnable(path, facts):
    system, machine = elf_target(path)
    device_system = "android" if facts.abis else "linux"
    if machine in machines_of(facts) and system in (None, device_system):
        return
    raise DeviceError(f"{path} is for {system or 'any'} {machine}, but the device is {device_system} "
                      f"{' '.join(facts.abis) or facts.machine}: {advice(facts)}")


def advice(facts):
    system = "android" if facts.abis else "linux"
    presets = [preset for machine in machines_of(facts) for preset in PRESETS.get((system, machine), ())]
    if not presets:
        return "no preset builds for this processor; name an executable with --runner"
    return f"build one with make PRESET={presets[0]}, or name it with --runner"


def find_runner(facts, name="executor_runner"):
    system = "android" if facts.abis else "linux"
    for machine in machines_of(facts):
        for preset in PRESETS.get((system, machine), ()):
            path = ROOT / "build" / preset / "bin" / name
            if path.is_file():
                check_runnable(path, facts)
                return path
    raise DeviceError(f"no {name} for {system} {' '.join(facts.abis) or facts.machine} "
                      f"below {ROOT / 'build'}: {advice(facts)}")
