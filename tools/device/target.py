"""Reads the facts and the state of a device: processor, cores, frequencies and temperature."""

import dataclasses
import time

from transport import DeviceError

SETTLED_READINGS = 3
SETTLED_CELSIUS = 1.0

# The scripts use only POSIX shell and features that toybox, busybox and coreutils share.
FACTS = r"""
echo "machine $(uname -m)"
echo "model $(getprop ro.product.model 2>/dev/null || tr -d '\0' < /proc/device-tree/model 2>/dev/null)"
echo "abis $(getprop ro.product.cpu.abilist 2>/dev/null)"
for c in /sys/devices/system/cpu/cpu[0-9]*; do
  echo "cpu ${c##*/cpu} $(cat $c/online 2>/dev/null || echo 1) $(cat $c/cpufreq/cpuinfo_max_freq 2>/dev/null)"
done
"""
STATE = r"""
for c in /sys/devices/system/cpu/cpu[0-9]*; do
  echo "governor ${c##*/cpu} $(cat $c/cpufreq/scaling_governor 2>/dev/null)"
  echo "limit ${c##*/cpu} $(cat $c/cpufreq/scaling_max_freq 2>/dev/null)"
done
for z in /sys/class/thermal/thermal_zone*; do
  echo "zone $(cat $z/type 2>/dev/null || echo -) $(cat $z/temp 2>/dev/null)"
done
"""


@dataclasses.dataclass
class Facts:
    machine: str = ""
    model: str = ""
    abis: tuple = ()  # of Android; empty on other systems
    max_khz: dict = dataclasses.field(default_factory=dict)  # by core that is online; None if unknown


@dataclasses.dataclass
class State:
    governors: tuple  # of the chosen cores
    limited: tuple    # chosen cores whose limit is below their maximum frequency
    celsius: float | None

    def text(self):
        parts = ["governor " + "/".join(self.governors) if self.governors else "governor unknown"]
        parts.append("temperature unknown" if self.celsius is None else f"{self.celsius:.1f} C")
        if self.limited:
            parts.append(f"cores {cpu_list(self.limited)} are limited below their maximum frequency")
        return ", ".join(parts)


def cpu_list(cpus):
    return ",".join(str(cpu) for cpu in cpus)


def facts_of(device):
    code, out, errors = device.shell(FACTS)
    facts = Facts()
    for line in out.splitlines():
        key, _, value = line.strip().partition(" ")
        if key in ("machine", "model"):
            setattr(facts, key, value.strip())
        elif key == "abis":
            facts.abis = tuple(value.strip().split(",")) if value.strip() else ()
        elif key == "cpu":
            number, is_on, *khz = value.split()
            if number.isdigit() and is_on == "1":
                facts.max_khz[int(number)] = int(khz[0]) if khz and khz[0].isdigit() else None
    if not facts.machine:
        raise DeviceError(f"{device.name}: unexpected output of the device's shell: {errors or out}")
    return facts


def performance_cores(facts):
    """Returns the cores with at least three quarters of the highest frequency, like
    runtime/threads/thread_pool.cc. Empty if the frequencies are unknown."""
    known = {cpu: khz for cpu, khz in facts.max_khz.items() if khz}
    highest = max(known.values(), default=0)
    return tuple(sorted(cpu for cpu, khz in known.items() if khz * 4 >= highest * 3))


def state_of(device, facts, cpus):
    _, out, _ = device.shell(STATE)
    governors, limited, zones = [], [], []
    for line in out.splitlines():
        key, name, *value = line.split() + [""]
        if key == "governor" and name.isdigit() and int(name) in cpus and value[0]:
            governors.append(value[0])
        elif key == "limit" and name.isdigit() and int(name) in cpus and value[0].isdigit():
            if int(value[0]) < (facts.max_khz.get(int(name)) or 0):
                limited.append(int(name))
        elif key == "zone" and value[0].isdigit():
            celsius = int(value[0]) / 1000
            if 0 < celsius < 150:  # disabled sensors report other values
                zones.append((name, celsius))
    # Temperatures of batteries and chargers do not limit the cores.
    chip = [celsius for name, celsius in zones if "cpu" in name or "soc" in name]
    celsius = max(chip or [celsius for _, celsius in zones], default=None)
    return State(tuple(sorted(set(governors))), tuple(limited), celsius)


def settle(read_state, limit, interval, say):
    """Waits until the temperature is steady and no core is limited, but at most `limit` seconds. Returns
    the last state."""
    deadline = time.monotonic() + limit
    readings = []
    while True:
        state = read_state()
        if state.celsius is None and not state.governors:
            say("settle   skipped: neither governor nor temperature can be read")
            return state
        readings.append(state.celsius)
        last = readings[-SETTLED_READINGS:]
        is_steady = state.celsius is None or (
            len(last) == SETTLED_READINGS and None not in last and max(last) - min(last) <= SETTLED_CELSIUS)
        if is_steady and not state.limited:
            say(f"settle   {state.text()}")
            return state
        if time.monotonic() + interval > deadline:
            say(f"settle   not settled after {limit:g} s, continuing: {state.text()}")
            return state
        time.sleep(interval)
