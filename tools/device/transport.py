"""Runs shell commands on a device and copies files: by adb on Android, by ssh on boards."""

import os
import shlex
import shutil
import subprocess

SHORT = 30  # seconds, for commands that answer at once


class DeviceError(Exception):
    """An error whose text says what is wrong and what to do."""


def run(command, timeout):
    """Runs a command on this machine. Returns (exit code, output, errors)."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              errors="replace", timeout=timeout)
    except subprocess.TimeoutExpired:
        raise DeviceError(f"no answer within {timeout:g} s: {shlex.join(command)}; check that the device is awake "
                          "and reachable, or allow a longer run with --timeout") from None
    except OSError as error:
        raise DeviceError(f"{command[0]} cannot be executed: {error.strerror}") from None
    return done.returncode, done.stdout, done.stderr.strip()


def require(program, package):
    if shutil.which(program) is None:
        raise DeviceError(f"{program} is not in PATH: install {package}")


def copy_error(name, path, location, errors):
    if "No space left" in errors or "ENOSPC" in errors:
        return DeviceError(f"{name}: no space left {location} for {path}: delete files there")
    return DeviceError(f"{name}: cannot copy {path}: {errors or 'no reason given'}")


class Adb:
    parent = "/data/local/tmp"  # the user `shell` may write and execute files here

    def __init__(self, serial):
        require("adb", "Android's platform tools")
        self._serial = self._choose(serial)
        self.name = f"device {self._serial}"

    @staticmethod
    def _choose(serial):
        code, out, errors = run(["adb", "devices"], SHORT)
        if code != 0:
            raise DeviceError(f"adb devices: {errors}")
        states = dict(line.split("\t", 1) for line in out.splitlines() if "\t" in line)
        listed = ", ".join(f"{name} ({state})" for name, state in states.items())
        if not states:
            raise DeviceError("no device is connected: connect one and allow USB debugging on it")
        if serial is None:
            if len(states) > 1:
                raise DeviceError(f"several devices are connected: {listed}; choose one with --adb SERIAL")
            serial = next(iter(states))
        if serial not in states:
            raise DeviceError(f"device {serial} is not connected; connected: {listed}")
        state = states[serial]
        if state == "unauthorized":
            raise DeviceError(f"device {serial} does not trust this computer yet: confirm the dialog on its screen")
        if state != "device":
            raise DeviceError(f"device {serial} is {state}: reconnect it, or try adb reconnect")
        return serial

    def _adb(self, *arguments, timeout):
        return run(["adb", "-s", self._serial, *arguments], timeout)

    def shell(self, script, timeout=SHORT):
        code, out, errors = self._adb("shell", script, timeout=timeout)
        if code != 0 and errors.startswith(("error:", "adb:")):
            raise DeviceError(f"{self.name}: {errors}\n  reconnect it until `adb devices` lists it as `device`")
        return code, out, errors

    def push(self, path, remote, timeout):
        code, out, errors = self._adb("push", str(path), remote, timeout=timeout)
        if code != 0:
            raise copy_error(self.name, path, f"in {self.parent}", errors or out.strip())

    def pull(self, remote, path, timeout):
        code, out, errors = self._adb("pull", remote, str(path), timeout=timeout)
        if code != 0:
            raise copy_error(self.name, remote, "on this machine", errors or out.strip())


class Ssh:
    parent = "/tmp"
    # BatchMode makes ssh fail instead of asking for a password.
    options = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=10"]

    def __init__(self, host):
        if host.startswith("-"):
            raise DeviceError(f"--ssh {host}: expected [USER@]HOST")
        for program in ("ssh", "scp"):
            require(program, "openssh-client")
        self._host = host
        self.name = host

    def shell(self, script, timeout=SHORT):
        code, out, errors = run(["ssh", *self.options, self._host, script], timeout)
        if code == 255:  # the exit code of ssh itself
            raise DeviceError(f"{self.name}: {errors or 'ssh failed'}\n"
                              f"  `ssh {self._host} true` must work without a password")
        return code, out, errors

    def push(self, path, remote, timeout):
        local = os.path.abspath(path)  # in a relative path, scp takes a colon for the end of a host name
        code, _, errors = run(["scp", "-q", *self.options, local, f"{self._host}:{remote}"], timeout)
        if code != 0:
            raise copy_error(self.name, path, f"in {self.parent}", errors)

    def pull(self, remote, path, timeout):
        local = os.path.abspath(path)
        code, _, errors = run(["scp", "-q", *self.options, f"{self._host}:{remote}", local], timeout)
        if code != 0:
            raise copy_error(self.name, remote, "on this machine", errors)
