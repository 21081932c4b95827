#!/usr/bin/env python3
"""Profiles models on many devices, and reduces the rows of all of them (docs/fleet.md).

  fleet.py run --host local --host ssh:pi@bench-07 --runner build/release/bin/executor_runner mv2.pte
  fleet.py reduce rows --compare before after
"""
import argparse
import json
import os
import pathlib
import socket
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import hosts  # noqa: E402  (after the path)


def run(arguments):
    from concurrent.futures import ThreadPoolExecutor

    for name in arguments.host:
        hosts.host(name)  # a wrong name ends this before any work, as does a missing file
    for file in (arguments.runner, *arguments.models):
        if not file.is_file():
            raise hosts.HostError(f"{file}: no such file")
    arguments.out.mkdir(parents=True, exist_ok=True)

    def on_host(name):
        """All models on one host, one after the other; each becomes a file when it is complete."""
        failures = []
        where = hosts.host(name)
        for model in arguments.models:
            device = name if name != "local" else socket.gethostname()
            labels = {"device": device, "commit": arguments.commit}
            if arguments.device_class:
                labels["device_class"] = arguments.device_class
            try:
                rows = hosts.profile(where, arguments.runner, model, labels, arguments.executions)
            except (hosts.HostError, OSError) as error:
                failures.append(f"{name}, {model}: {error}")
                continue
            plain = "".join(c if c.isalnum() else "_" for c in f"{name}_{model}")
            file = arguments.out / f"{plain}_{time.time_ns()}.jsonl"
            file.with_suffix(".part").write_text(rows, encoding="utf-8")
            os.replace(file.with_suffix(".part"), file)
            print(f"{file}: {rows.count(chr(10))} rows", flush=True)
        return failures

    with ThreadPoolExecutor(len(arguments.host)) as pool:
        failures = sum(pool.map(on_host, arguments.host), [])
    for failure in failures:
        print(f"failed: {failure}", file=sys.stderr)
    return 1 if failures else 0


def show(report, top):
    print(f"{report['rows']} rows, {report['rejected']} rejected"
          + (f" (first: {report['first_rejected']})" if report["rejected"] else ""))
    worse = [line for line in report["regressions"] if line["worse"]]
    for line in sorted(worse, key=lambda each: -each["ratio"])[:top]:
        print(f"{line['ratio']:.3f} x  {line['model']} #{line['row']} {line['op']} {line['module']}  "
              f"{line['device_class']}, {line['devices']} devices, q {line['q']:.1e}")
    if report["regressions"]:
        print(f"{len(worse)} of {len(report['regressions'])} ops by class are slower")
    return 2 if worse else 0


def reduce(arguments):
    import cluster
    import reduction

    files = sorted(str(file) for file in arguments.rows.glob("**/*.jsonl"))
    if not files:
        print(f"fleet.py: no .jsonl files in {arguments.rows}", file=sys.stderr)
        return 1
    commits = tuple(arguments.compare or ())
    def progress(done, count, elapsed):
        left = elapsed / done * (count - done)
        print(f"\r{done} of {count} files, {left:.0f} s left ", end="", file=sys.stderr, flush=True)

    with cluster.connected(arguments.scheduler, arguments.workers) as client:
        start = time.monotonic()
        merged = cluster.reduce_files(client, files, commits, progress)
        print(file=sys.stderr)
        report = reduction.finish(merged, commits, arguments.rate, arguments.least)
        report["seconds"] = time.monotonic() - start
        report["peak_bytes_of_a_worker"] = cluster.peak_memory(client)
    print(f"{report['seconds']:.1f} s, {report['rows'] / report['seconds']:,.0f} rows a second, at most "
          f"{report['peak_bytes_of_a_worker'] / 1e6:.0f} MB in a worker")
    if arguments.out:
        arguments.out.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return show(report, arguments.top)


def simulate(arguments):
    import cluster
    import simulation

    arguments.rows.mkdir(parents=True, exist_ok=True)
    firsts = list(range(0, arguments.devices, 100))
    with cluster.connected("", arguments.workers) as client:
        client.gather(client.map(
            simulation.write_file, [str(arguments.rows)] * len(firsts), firsts,
            [min(100, arguments.devices - first) for first in firsts],
            rows_of_model=arguments.ops, runs=arguments.runs))
    count = arguments.devices * arguments.ops * arguments.runs * 4
    print(f"{count} rows of {arguments.devices} devices in {arguments.rows}")
    return 0


def parser():
    top = argparse.ArgumentParser(description=__doc__,
                                  formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = top.add_subparsers(required=True)
    one = commands.add_parser("run", help="profile models on hosts")
    one.add_argument("models", nargs="+", type=pathlib.Path)
    one.add_argument("--host", action="append", required=True,
                     help="local, ssh:user@host, adb:serial, qemu:aarch64; several times")
    one.add_argument("--runner", required=True, type=pathlib.Path,
                     help="executor_runner, built for the hosts")
    one.add_argument("--out", type=pathlib.Path, default=pathlib.Path("rows"))
    one.add_argument("--commit", default="unknown")
    one.add_argument("--device_class", default="")
    one.add_argument("--executions", type=int, default=20)
    one.set_defaults(run=run)
    two = commands.add_parser("reduce", help="percentiles and regressions; exit code 2 if slower")
    two.add_argument("rows", type=pathlib.Path, help="folder of .jsonl files")
    two.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"), help="two commits")
    two.add_argument("--scheduler", default="", help="a running one, tcp://host:8786")
    two.add_argument("--workers", type=int, default=os.cpu_count(), help="processes on this machine")
    two.add_argument("--rate", type=float, default=0.01, help="false discoveries allowed (0.01)")
    two.add_argument("--least", type=float, default=0.01, help="change that counts (0.01: 1 %%)")
    two.add_argument("--top", type=int, default=20)
    two.add_argument("--out", type=pathlib.Path, help="the whole report, as JSON")
    two.set_defaults(run=reduce)
    three = commands.add_parser("simulate", help="write rows of devices that do not exist")
    three.add_argument("rows", type=pathlib.Path)
    three.add_argument("--devices", type=int, default=10_000)
    three.add_argument("--ops", type=int, default=25, help="of each of two models")
    three.add_argument("--runs", type=int, default=10, help="of each of two commits")
    three.add_argument("--workers", type=int, default=os.cpu_count())
    three.set_defaults(run=simulate)
    return top


def main():
    arguments = parser().parse_args()
    try:
        return arguments.run(arguments)
    except (hosts.HostError, OSError) as error:
        print(f"fleet.py: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
