#!/usr/bin/env python3
"""Profiles a program on a device: copies the program and executor_runner to the device, runs
executor_runner --profile on the performance cores, fetches the report and the trace, and compares them with
an earlier run (docs/devices.md)."""

import argparse
import dataclasses
import itertools
import json
import os
import pathlib
import shlex
import shutil
import sys
import tempfile
import time

import runner
import target
from transport import Adb, DeviceError, Ssh, run

COPY_TIMEOUT = 1800
SPARE_BYTES = 16 << 20  # for the report, the trace and the system
MUST_MATCH = ("device", "model_name", "cores", "governors", "threads")


def parse_arguments():
    parser = argparse.ArgumentParser(
        usage="%(prog)s model.pte (--adb [SERIAL] | --ssh [USER@]HOST) [options] [-- options of executor_runner]",
        description=__doc__)
    parser.add_argument("model", type=pathlib.Path, help="program (.pte)")
    add_device_options(parser)
    parser.add_argument("--etrecord", type=pathlib.Path, metavar="FILE", help="ETRecord, if the program does not contain one")
    parser.add_argument("--results", type=pathlib.Path, metavar="FOLDER", help="folder to create for the results (default: program and time)")
    parser.add_argument("--compare", type=pathlib.Path, metavar="FOLDER", help="results of an earlier run")
    parser.add_argument("--fail_above", type=float, metavar="RATIO", help="exit code 2 if this run takes more than RATIO times the time of the earlier run")
    parser.add_argument("--pte_inspect", type=pathlib.Path, help="pte_inspect for this machine (default: from build/ or PATH)")
    options = parse_with_rest(parser)
    if options.fail_above is not None and options.compare is None:
        parser.error("--fail_above needs --compare")
    return options


def add_device_options(parser):
    """Adds the options that choose the device and say how a program runs there."""
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--adb", nargs="?", const="", metavar="SERIAL", help="reach the device by adb; give SERIAL if several are connected")
    where.add_argument("--ssh", metavar="[USER@]HOST", help="reach the device by ssh, with a key")
    parser.add_argument("--runner", type=pathlib.Path, help="executor_runner for the device (default: from build/)")
    parser.add_argument("--inputs", default="", metavar="FILES", help="input files, as for executor_runner: a.bin,b.bin:2x16")
    parser.add_argument("--data_path", default="", metavar="FILES", help="external weights (.ptd)")
    parser.add_argument("--cores", metavar="LIST", help="cores to run on: 4,5 or all (default: the performance cores)")
    parser.add_argument("--settle", type=float, default=60, metavar="S", help="wait at most S seconds for a steady temperature (60)")
    parser.add_argument("--poll", type=float, default=2, metavar="S", help="seconds between readings of the temperature (2)")
    parser.add_argument("--timeout", type=float, default=600, metavar="S", help="time limit of the run in seconds (600)")


def parse_with_rest(parser):
    """Parses the command line. `more` has the words after --, which are options of executor_runner."""
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:end])
    options.more = words[end + 1:]
    return options


def say(text):
    print(text, flush=True)


def split_input(text):
    """Splits "a.bin:2x16" into the path and ":2x16". The second part is empty without a shape."""
    head, colon, shape = text.rpartition(":")
    if colon and shape and all(part.isdigit() for part in shape.split("x")):
        return pathlib.Path(head), ":" + shape
    return pathlib.Path(text), ""


class Files:
    """Returns the files to copy to the device, each under a unique name, and the runner's arguments that name them."""

    def __init__(self, options, model, etrecord=None):
        self.pushed = {"model.pte": model}
        self.arguments = ["model.pte"]
        self._add("--inputs", "input", options.inputs)
        self._add("--data_path", "data", options.data_path)
        if etrecord:
            self.pushed["model.etrecord"] = etrecord
            self.arguments += ["--etrecord", "model.etrecord"]
        for path in self.pushed.values():
            if not path.is_file():
                raise DeviceError(f"{path}: no such file")

    def _add(self, option, stem, value):
        names = []
        for i, text in enumerate(part for part in value.split(",") if part):
            path, shape = split_input(text)
            self.pushed[f"{stem}_{i}{path.suffix}"] = path
            names.append(f"{stem}_{i}{path.suffix}{shape}")
        if names:
            self.arguments += [option, ",".join(names)]


def choose_cores(text, facts):
    if text == "all":
        return ()
    if text is None:
        cores = target.performance_cores(facts)
        if not cores:
            say("cores    the frequencies cannot be read: the run is not pinned to cores")
        return cores
    parts = text.split(",")
    if not all(part.isdigit() for part in parts):
        raise DeviceError(f"--cores {text}: expected numbers such as 4,5, or all")
    cores = tuple(sorted({int(part) for part in parts}))
    missing = [core for core in cores if core not in facts.max_khz]
    if missing:
        raise DeviceError(f"--cores {text}: core {missing[0]} is offline or does not exist")
    return cores


class DeviceFolder:
    """A temporary folder on the device, which is removed after the run. `program` is the executable to run in it."""

    def __init__(self, device, program="executor_runner"):
        self.device = device
        self.program = program
        code, out, errors = device.shell(f"mktemp -d {device.parent}/vitrine-XXXXXX")
        self.folder = out.strip()
        if code != 0 or not self.folder.startswith(device.parent + "/vitrine-"):
            raise DeviceError(f"{device.name}: cannot create a folder in {device.parent}: {errors or out.strip()}")
        self.is_running = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        stop = f"kill $(cat {self.folder}/pid); " if self.is_running else ""
        try:
            self.device.shell(f"{stop}rm -rf {self.folder}")
        except DeviceError as error:
            say(f"note: {self.folder} was not removed from the device: {error}")

    def push(self, files):
        needed = sum(path.stat().st_size for path in files.values()) + SPARE_BYTES
        _, out, _ = self.device.shell(f"df -kP {self.folder}")
        fields = (out.splitlines() or [""])[-1].split()
        if len(fields) >= 6 and fields[3].isdigit() and int(fields[3]) * 1024 < needed:
            raise DeviceError(f"{self.device.name}: {self.device.parent} has {int(fields[3]) >> 10} MB free, but "
                              f"{needed >> 20} MB are needed: delete files there")
        for name, path in files.items():
            self.device.push(path, f"{self.folder}/{name}", COPY_TIMEOUT)
        self.device.shell(f"chmod 755 {self.folder}/{self.program}")

    def run(self, arguments, cores, timeout):
        """Runs the program and returns its output. Pins it to `cores` unless the list is empty."""
        # Every taskset (toybox, busybox, util-linux) accepts a hexadecimal mask.
        pin = ["taskset", f"{sum(1 << core for core in cores):x}"] if cores else []
        command = pin + [f"./{self.program}", *arguments]
        self.is_running = True
        code, out, errors = self.device.shell(
            f"cd {self.folder} && echo $$ > pid && exec {shlex.join(command)}", timeout)
        self.is_running = False
        if code != 0:
            hint = ""
            if "error while loading shared libraries" in errors or "CANNOT LINK" in errors:
                hint = "\n  install the library on the device, or give a static executable with --runner"
            raise DeviceError(f"{self.device.name}: {self.program} failed with exit code {code}: "
                              f"{errors or out.strip()}{hint}")
        return out

    def pull(self, names, folder):
        for name in names:
            self.device.pull(f"{self.folder}/{name}", folder / name, COPY_TIMEOUT)


def find_inspect(given):
    if given:
        if not given.is_file():
            raise DeviceError(f"--pte_inspect {given}: no such file")
        run([str(given), "--help"], 60)  # fails now instead of after the run on the device
        return given
    for preset in ("release", "package", "dev"):
        path = runner.ROOT / "build" / preset / "bin" / "pte_inspect"
        if path.is_file():
            return path
    found = shutil.which("pte_inspect")
    return pathlib.Path(found) if found else None


def record_in(folder):
    """Returns the file in a results folder that contains the ETRecord, or None."""
    for name in ("model.etrecord", "model.pte"):
        if (folder / name).is_file():
            return str(folder / name)
    return None


def write_html(inspect, folder):
    if inspect is None:
        return say("report   report.html was not written: this machine has no pte_inspect")
    record = record_in(folder)
    code, _, errors = run([str(inspect), str(folder / "trace.etdp"), "--format", "html", "--output",
                           str(folder / "report.html"), *(["--etrecord", record] if record else [])], 600)
    if code != 0:
        say(f"report   report.html was not written: {errors}")


def read_json(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise DeviceError(f"{path}: {error}") from None


def compare(inspect, earlier, folder, fail_above):
    for key in MUST_MATCH:
        old, new = (read_json(result / "device.json").get(key) for result in (earlier, folder))
        if old != new:
            say(f"note: different {key.replace('_', ' ')}: {old} before, {new} now")
    command = [str(inspect), "--compare", str(earlier / "trace.etdp"), str(folder / "trace.etdp")]
    records = [record_in(earlier), record_in(folder)]
    if all(records):
        command += ["--etrecord", ",".join(records)]
    if fail_above is not None:
        command += ["--fail_above", str(fail_above)]
    code, out, errors = run(command, 600)
    (folder / "comparison.txt").write_text(out)
    print(out, end="")
    if code not in (0, 2):
        raise DeviceError(f"comparison: {errors}")
    if errors:
        print(errors, file=sys.stderr)
    return code


def keep_results(partial, options, files, info):
    """Completes the results in `partial`, then renames it to the results folder. A failure leaves no results folder."""
    profile = read_json(partial / "profile.json")
    info["threads"] = profile.get("threads")
    (partial / "device.json").write_text(json.dumps(info, indent=1) + "\n")
    if options.etrecord:
        shutil.copyfile(options.etrecord, partial / "model.etrecord")
    elif profile.get("record"):  # a later comparison needs the record inside the program
        shutil.copyfile(files.pushed["model.pte"], partial / "model.pte")
    os.chmod(partial, 0o755)
    os.replace(partial, options.results)
    wall = profile["wall_ns"]
    say(f"run      {profile['runs']} runs, {profile['threads']} threads: median {wall['p50'] / 1e3:.1f} us "
        f"({wall['p10'] / 1e3:.1f} to {wall['p90'] / 1e3:.1f})")


def prepare(device, options, program="executor_runner"):
    """Prints which device and cores are used. Returns the device's facts, the executable to run and the cores."""
    facts = target.facts_of(device)
    say(f"device   {device.name}: {facts.model or facts.machine} ({' '.join(facts.abis) or facts.machine})")
    binary = options.runner or runner.find_runner(facts, program)
    if not binary.is_file():
        raise DeviceError(f"--runner {binary}: no such file; {runner.advice(facts)}")
    runner.check_runnable(binary, facts)
    cores = choose_cores(options.cores, facts)
    if cores:
        say(f"cores    {target.cpu_list(cores)} of {len(facts.max_khz)}")
    return facts, binary, cores


def profile_on(device, options, files):
    facts, binary, cores = prepare(device, options)

    def read_state():
        return target.state_of(device, facts, cores or tuple(facts.max_khz))

    with DeviceFolder(device) as remote, tempfile.TemporaryDirectory(
            dir=options.results.parent, prefix=".partial-", ignore_cleanup_errors=True) as partial:
        remote.push({"executor_runner": binary, **files.pushed})
        before = target.settle(read_state, options.settle, options.poll, say)
        remote.run(["--profile", *files.arguments, *options.more, "--format", "json", "--output", "profile.json",
                    "--etdump_path", "trace.etdp"], cores, options.timeout)
        after = read_state()
        if set(after.limited) - set(before.limited):
            say(f"note: the device slowed down during the run: {after.text()}")
        remote.pull(("profile.json", "trace.etdp"), pathlib.Path(partial))
        keep_results(pathlib.Path(partial), options, files, {
            "device": device.name, "model_name": facts.model or facts.machine, "cores": list(cores),
            "governors": list(after.governors), "before": dataclasses.asdict(before),
            "after": dataclasses.asdict(after), "program": str(options.model), "runner": str(binary)})


def connect(options):
    return Ssh(options.ssh) if options.ssh is not None else Adb(options.adb or None)


def new_folder(name):
    """Returns the first of `name`, name-2, name-3, ... that does not exist. `name` may exist if two runs
    start in the same second."""
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(path for path in map(pathlib.Path, names) if not path.exists())


def main():
    options = parse_arguments()
    try:
        files = Files(options, options.model, options.etrecord)
        inspect = find_inspect(options.pte_inspect)
        if options.compare is not None:
            if inspect is None:
                raise DeviceError("--compare needs pte_inspect on this machine: run make, or give --pte_inspect FILE")
            for name in ("trace.etdp", "device.json"):
                if not (options.compare / name).is_file():
                    raise DeviceError(f"--compare {options.compare}: the folder has no {name}")
        if options.results is None:
            options.results = new_folder(time.strftime(f"{options.model.stem}-%Y%m%d-%H%M%S"))
        if options.results.exists():
            raise DeviceError(f"--results {options.results}: the folder exists; give a new folder")
        try:
            options.results.absolute().parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DeviceError(f"--results {options.results}: {error.filename}: {error.strerror}") from None
        profile_on(connect(options), options, files)
        write_html(inspect, options.results)
        say(f"results  {options.results}: {', '.join(sorted(os.listdir(options.results)))}")
        if options.compare is not None:
            return compare(inspect, options.compare, options.results, options.fail_above)
        return 0
    except (DeviceError, OSError) as error:
        print(f"profile_on_device: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
