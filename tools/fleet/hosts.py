"""Where profiles are made: this machine, another, a phone, an emulated processor."""
import hashlib
import pathlib
import shlex
import subprocess

FOLDER = "/tmp/vitrine_fleet"
PHONE_FOLDER = "/data/local/tmp/vitrine_fleet"


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
        raise HostError(f"no answer within {timeout} s: {shlex.join(command)}; see that the host is awake "
                        "and reachable") from error
    if done.returncode != 0:
        why = (done.stderr or done.stdout).strip().splitlines()
        raise HostError(f"{shlex.join(command)}: {why[-1] if why else done.returncode}")
    return done.stdout


class Local:
    """`local`: files stay where they are."""

    prefix = []

    def __init__(self, name="local"):
        self.name = name

    def put(self, file):
        return str(file)

    def run(self, command, timeout):
        return _run(self.prefix + command, timeout)


class Qemu(Local):
    """`qemu:aarch64` or `qemu:/path/qemu-aarch64`: the runner is a program of that processor."""

    def __init__(self, name):
        super().__init__(name)
        emulator = name.partition(":")[2]
        self.prefix = [emulator if "/" in emulator else f"qemu-{emulator}"]
        if emulator in ("aarch64", "arm"):
            root = {"aarch64": "/usr/aarch64-linux-gnu", "arm": "/usr/arm-linux-gnueabihf"}[emulator]
            self.prefix += ["-L", root]


class _Remote:
    """Files are sent once; their digest is in their name there."""

    folder = FOLDER

    def __init__(self, name):
        self.name = name
        self.address = name.partition(":")[2]
        self.sent = {}

    def put(self, file):
        file = pathlib.Path(file)
        if file not in self.sent:
            digest = hashlib.sha256(file.read_bytes()).hexdigest()[:16]
            there = f"{self.folder}/{digest}/{file.name}"
            self.shell(f"mkdir -p {shlex.quote(f'{self.folder}/{digest}')}", 60)
            self.send(file, there)
            self.sent[file] = there
        return self.sent[file]

    def run(self, command, timeout):
        program = shlex.quote(command[0])
        return self.shell(f"chmod +x {program} && {shlex.join(command)}", timeout)


class Ssh(_Remote):
    """`ssh:user@host`, with keys: nobody is there to type a password."""

    options = ["-o", "BatchMode=yes", "-o", "ConnectTimeout=20"]

    def shell(self, text, timeout):
        return _run(["ssh", *self.options, self.address, text], timeout)

    def send(self, file, there):
        _run(["scp", "-q", *self.options, str(file), f"{self.address}:{there}"], 600)


class Adb(_Remote):
    """`adb:serial`, or `adb:` for the only phone."""

    folder = PHONE_FOLDER

    def _adb(self, *arguments):
        return ["adb", *(["-s", self.address] if self.address else []), *arguments]

    def shell(self, text, timeout):
        return _run(self._adb("shell", text), timeout)

    def send(self, file, there):
        _run(self._adb("push", str(file), there), 600)


KINDS = {"local": Local, "qemu": Qemu, "ssh": Ssh, "adb": Adb}


def host(name):
    kind = name.partition(":")[0]
    if kind not in KINDS:
        raise HostError(f"{name}: expected one of {', '.join(KINDS)}")
    return KINDS[kind](name)


def profile(where, runner, model, labels, executions, timeout=900):
    """The rows of one model on one host, as text."""
    command = [where.put(runner), "--profile", "--format", "jsonl",
               "--num_executions", str(executions)]
    for key, value in labels.items():
        command += ["--label", f"{key}={value}"]
    return where.run(command + [where.put(model)], timeout)
