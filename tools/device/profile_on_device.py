#!/usr/bin/env python3
"""Profiles a program on a device: pushes what it needs, runs executor_runner --profile on the
performance cores, fetches report and trace, and compares with a former run (docs/devices.md)."""

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
SPARE_BYTES = 16 << 20  # report, trace, and what the system needs
NOT_COMPARABLE = ("device", "model_name", "cores", "governors", "threads")


def parse_arguments():
    parser = argparse.ArgumentParser(
        usage="%(prog)s model.pte (--adb [SERIAL] | --ssh [USER@]HOST) [options] [-- options of executor_runner]",
        description=__doc__)
    parser.add_argument("model", type=pathlib.Path, help="program (.pte)")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--adb", nargs="?", const="", metavar="SERIAL", help="by adb; SERIAL where several are there")
    where.add_argument("--ssh", metavar="[USER@]HOST", help="by ssh, with a key")
    parser.add_argument("--runner", type=pathlib.Path, help="executor_runner for the device (default: of build/)")
    parser.add_argument("--inputs", default="", metavar="FILES", help="as of executor_runner: a.bin,b.bin:2x16")
    parser.add_argument("--data_path", default="", metavar="FILES", help="external weights (.ptd)")
    parser.add_argument("--etrecord", type=pathlib.Path, metavar="FILE", help="record of a program without one")
    parser.add_argument("--results", type=pathlib.Path, metavar="FOLDER", help="new folder (default: by time)")
    parser.add_argument("--compare", type=pathlib.Path, metavar="FOLDER", help="results of a former run")
    parser.add_argument("--fail_above", type=float, metavar="RATIO", help="exit code 2 if slower than RATIO times")
    parser.add_argument("--cores", metavar="LIST", help="cores to run on: 4,5 (default: the fastest); all")
    parser.add_argument("--settle", type=float, default=60, metavar="S", help="wait at most S seconds (60)")
    parser.add_argument("--poll", type=float, default=2, metavar="S", help="seconds between readings (2)")
    parser.add_argument("--timeout", type=float, default=600, metavar="S", help="limit of the run (600)")
    parser.add_argument("--pte_inspect", type=pathlib.Path, help="of this machine (default: of build/, or PATH)")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:end])
    options.more = words[end + 1:]
    if options.fail_above is not None and options.compare is None:
        parser.error("--fail_above needs --compare")
    return options


def say(text):
    print(text, flush=True)


def split_input(text):
    """"a.bin:2x16" -> (file, ":2x16")."""
    head, colon, shape = text.rpartition(":")
    if colon and shape and all(part.isdigit() for part in shape.split("x")):
        return pathlib.Path(head), ":" + shape
    return pathlib.Path(text), ""


class Files:
    """What is pushed, each under a name that is its own, and the runner's arguments that name it."""

    def __init__(self, options):
        self.pushed = {"model.pte": options.model}
        self.arguments = ["model.pte"]
        self._add("--inputs", "input", options.inputs)
        self._add("--data_path", "data", options.data_path)
        if options.etrecord:
            self.pushed["model.etrecord"] = options.etrecord
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
            say("cores    frequencies cannot be read: not pinned")
        return cores
    parts = text.split(",")
    if not all(part.isdigit() for part in parts):
        raise DeviceError(f"--cores {text}: expected numbers such as 4,5, or all")
    cores = tuple(sorted({int(part) for part in parts}))
    missing = [core for core in cores if core not in facts.max_khz]
    if missing:
        raise DeviceError(f"--cores {text}: core {missing[0]} is off, or there is none")
    return cores


class Workplace:
    """A folder on the device that goes away with the run."""

    def __init__(self, device):
        self.device = device
        code, out, errors = device.shell(f"mktemp -d {device.parent}/vitrine-XXXXXX")
        self.folder = out.strip()
        if code != 0 or not self.folder.startswith(device.parent + "/vitrine-"):
            raise DeviceError(f"{device.name}: no folder in {device.parent}: {errors or out.strip()}")
        self.is_running = False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        stop = f"kill $(cat {self.folder}/pid); " if self.is_running else ""
        try:
            self.device.shell(f"{stop}rm -rf {self.folder}")
        except DeviceError as error:
            say(f"{self.folder} stays on the device: {error}")

    def push(self, files):
        needed = sum(path.stat().st_size for path in files.values()) + SPARE_BYTES
        _, out, _ = self.device.shell(f"df -kP {self.folder}")
        fields = (out.splitlines() or [""])[-1].split()
        if len(fields) >= 6 and fields[3].isdigit() and int(fields[3]) * 1024 < needed:
            raise DeviceError(f"{self.device.name}: {int(fields[3]) >> 10} MB free in {self.device.parent}, "
                              f"{needed >> 20} MB needed: remove something there")
        for name, path in files.items():
            self.device.push(path, f"{self.folder}/{name}", COPY_TIMEOUT)
        self.device.shell(f"chmod 755 {self.folder}/executor_runner")

    def profile(self, arguments, cores, timeout):
        # toybox, busybox and util-linux agree on a hexadecimal mask only.
        pin = ["taskset", f"{sum(1 << core for core in cores):x}"] if cores else []
        command = pin + ["./executor_runner", "--profile", *arguments, "--format", "json",
                         "--output", "profile.json", "--etdump_path", "trace.etdp"]
        self.is_running = True
        code, out, errors = self.device.shell(
            f"cd {self.folder} && echo $$ > pid && exec {shlex.join(command)}", timeout)
        self.is_running = False
        if code != 0:
            hint = ""
            if "error while loading shared libraries" in errors or "CANNOT LINK" in errors:
                hint = "\n  install the library there, or give a --runner that needs none"
            raise DeviceError(f"{self.device.name}: executor_runner failed ({code}): "
                              f"{errors or out.strip()}{hint}")

    def pull(self, names, folder):
        for name in names:
            self.device.pull(f"{self.folder}/{name}", folder / name, COPY_TIMEOUT)


def find_inspect(given):
    if given:
        if not given.is_file():
            raise DeviceError(f"--pte_inspect {given}: no such file")
        run([str(given), "--help"], 60)  # fails now, not after the device has worked
        return given
    for preset in ("release", "package", "dev"):
        path = runner.ROOT / "build" / preset / "bin" / "pte_inspect"
        if path.is_file():
            return path
    found = shutil.which("pte_inspect")
    return pathlib.Path(found) if found else None


def record_in(folder):
    """The file that names a result's source ops, if it has one."""
    for name in ("model.etrecord", "model.pte"):
        if (folder / name).is_file():
            return str(folder / name)
    return None


def write_html(inspect, folder):
    if inspect is None:
        return say("report   no pte_inspect on this machine: no report.html")
    record = record_in(folder)
    code, _, errors = run([str(inspect), str(folder / "trace.etdp"), "--format", "html", "--output",
                           str(folder / "report.html"), *(["--etrecord", record] if record else [])], 600)
    if code != 0:
        say(f"report   no report.html: {errors}")


def read_json(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise DeviceError(f"{path}: {error}") from None


def compare(inspect, former, folder, fail_above):
    for key in NOT_COMPARABLE:
        old, new = (read_json(one / "device.json").get(key) for one in (former, folder))
        if old != new:
            say(f"note: {key.replace('_', ' ')} differs: {old} before, {new} now")
    command = [str(inspect), "--compare", str(former / "trace.etdp"), str(folder / "trace.etdp")]
    records = [record_in(former), record_in(folder)]
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
    """Completes the results and puts them where they belong, whole or not at all."""
    profile = read_json(partial / "profile.json")
    info["threads"] = profile.get("threads")
    (partial / "device.json").write_text(json.dumps(info, indent=1) + "\n")
    if options.etrecord:
        shutil.copyfile(options.etrecord, partial / "model.etrecord")
    elif profile.get("record"):  # the program's own: a later comparison needs it
        shutil.copyfile(files.pushed["model.pte"], partial / "model.pte")
    os.chmod(partial, 0o755)
    os.replace(partial, options.results)
    wall = profile["wall_ns"]
    say(f"run      {profile['runs']} runs, {profile['threads']} threads: median {wall['p50'] / 1e3:.1f} us "
        f"({wall['p10'] / 1e3:.1f} to {wall['p90'] / 1e3:.1f})")


def profile_on(device, options, files):
    facts = target.facts_of(device)
    say(f"device   {device.name}: {facts.model or facts.machine} ({' '.join(facts.abis) or facts.machine})")
    binary = options.runner or runner.find_runner(facts)
    if not binary.is_file():
        raise DeviceError(f"--runner {binary}: no such file; {runner.advice(facts)}")
    runner.check_fits(binary, facts)
    cores = choose_cores(options.cores, facts)
    if cores:
        say(f"cores    {target.cpu_list(cores)} of {len(facts.max_khz)}")

    def read_state():
        return target.state_of(device, facts, cores or tuple(facts.max_khz))

    with Workplace(device) as place, tempfile.TemporaryDirectory(
            dir=options.results.parent, prefix=".partial-", ignore_cleanup_errors=True) as partial:
        place.push({"executor_runner": binary, **files.pushed})
        before = target.settle(read_state, options.settle, options.poll, say)
        place.profile([*files.arguments, *options.more], cores, options.timeout)
        after = read_state()
        if set(after.limited) - set(before.limited):
            say(f"note: the device slowed down during the run: {after.text()}")
        place.pull(("profile.json", "trace.etdp"), pathlib.Path(partial))
        keep_results(pathlib.Path(partial), options, files, {
            "device": device.name, "model_name": facts.model or facts.machine, "cores": list(cores),
            "governors": list(after.governors), "before": dataclasses.asdict(before),
            "after": dataclasses.asdict(after), "program": str(options.model), "runner": str(binary)})


def new_folder(name):
    """`name`, or the first of name-2, name-3, ... that is free: two runs can start within one second."""
    names = itertools.chain([name], (f"{name}-{number}" for number in itertools.count(2)))
    return next(path for path in map(pathlib.Path, names) if not path.exists())


def main():
    options = parse_arguments()
    try:
        files = Files(options)
        inspect = find_inspect(options.pte_inspect)
        if options.compare is not None:
            if inspect is None:
                raise DeviceError("--compare needs pte_inspect on this machine: make, or --pte_inspect FILE")
            for name in ("trace.etdp", "device.json"):
                if not (options.compare / name).is_file():
                    raise DeviceError(f"--compare {options.compare}: no {name} in it")
        if options.results is None:
            options.results = new_folder(time.strftime(f"{options.model.stem}-%Y%m%d-%H%M%S"))
        if options.results.exists():
            raise DeviceError(f"{options.results} is there already; name a new folder")
        try:
            options.results.absolute().parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DeviceError(f"--results {options.results}: {error.filename}: {error.strerror}") from None
        device = Ssh(options.ssh) if options.ssh is not None else Adb(options.adb or None)
        profile_on(device, options, files)
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
