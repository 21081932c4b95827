"""Hosts on which profiles are made: this machine, another machine, a phone, or an emulated processor."""
import pathlib
import shlex
import subprocess


class HostError(Exception):
    pass


def _run(command, timeout):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False)
    except FileNotFoundError as error:
        is_path = "/" in command[0]
        raise HostError(f"{command[0]}: no such file" if is_path and not pathlib.Path(command[0]).exists()
                        else f"{command[0]}: its interpreter is missing" if is_path
                        else f"{command[0]} is not installed") from error
    except OSError as error:
        raise HostError(f"{command[0]} cannot be executed: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise HostError(f"no answer within {timeout} s: {shlex.join(command)}; check that the host is awake "
                        "and reachable") from error
    if done.returncode != 0:
        why = (done.stderr or done.stdout).strip().splitlines()
        raise HostError(f"{shlex.join(command)}: {why[-1] if why else done.returncode}")
    return done.stdout


class Local:
    """`local`: this machine, which needs no copies of files."""

    prefix = []

    def __init__(self, name="local"):
        self.name = name

    def put(self, file):
        return str(file)

    def run(self, command, timeout):
        return _run(self.prefix + command, timeout)

    def close(self):
        pass


class Qemu(Local):
    """`qemu:aarch64` or `qemu:/path/qemu-aarch64`. The runner must be built for the emulated processor."""

    def __init__(self, name):
        super().__init__(name)
        emulator = name.partition(":")[2]
        self.prefix = [emulator if "/" in emulator else f"qemu-{emulator}"]
        if emulator in ("aarch64", "arm"):
            root = {"aarch64": "/usr/aarch64-linux-gnu", "arm": "/usr/arm-linux-gnueabihf"}[emulator]
            self.prefix += ["-L", root]


class _Remote:
    """A host that gets copies of files. Each file is sent once, to a new folder that close() removes."""

    parent = "/tmp"

    def __init__(self, name):
        self.name = name
        self.address = name.partition(":")[2]
        if self.address.startswith("-"):  # ssh or adb would read it as an option
            raise HostError(f"{name}: a host must not begin with -")
        self.folder = None
        self.sent = {}

    def put(self, file):
        file = pathlib.Path(file)
        if self.folder is None:
            folder = self.shell(f"mktemp -d {self.parent}/vitrine-XXXXXX", 60).strip()
            if not folder.startswith(f"{self.parent}/vitrine-"):
                raise HostError(f"{self.name}: cannot create a folder in {self.parent}: {folder}")
            self.folder = folder
        if file not in self.sent:
            remote = f"{self.folder}/{len(self.sent)}_{file.name}"
            self.send(file, remote)
            self.sent[file] = remote
        return self.sent[file]

    def close(self):
        if self.folder is not None:
            self.shell(f"rm -rf {shlex.quote(self.folder)}", 60)

    def run(self, command, timeout):
        program = shlex.quote(command[0])
        return self.shell(f"chmod +x {program} && {shlex.join(command)}", timeout)


class Ssh(_Remote):
    """`ssh:user@host`. The login must work with a key, because nobody can type a password."""

    options = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=20"]

    def shell(self, text, timeout):
        return _run(["ssh", *self.options, self.address, text], timeout)

    def send(self, file, remote):
        _run(["scp", "-q", *self.options, str(file), f"{self.address}:{remote}"], 600)


class Adb(_Remote):
    """`adb:serial`, or `adb:` for the only phone."""

    parent = "/data/local/tmp"

    def _adb(self, *arguments):
        return ["adb", *(["-s", self.address] if self.address else []), *arguments]

    def shell(self, text, timeout):
        return _run(self._adb("shell", text), timeout)

    def send(self, file, remote):
        _run(self._adb("push", str(file), remote), 600)


KINDS = {"local": Local, "qemu": Qemu, "ssh": Ssh, "adb": Adb}


def host(name):
    kind = name.partition(":")[0]
    if kind not in KINDS:
        raise HostError(f"{name}: expected one of {', '.join(KINDS)}")
    return KINDS[kind](name)


def profile(where, runner, model, labels, executions, timeout=900):
    """Returns the rows of one model on one host as text."""
    command = [where.put(runner), "--profile", "--format", "jsonl",
               "--num_executions", str(executions)]
    for key, value in labels.items():
        command += ["--label", f"{key}={value}"]
    return where.run(command + [where.put(model)], timeout)
