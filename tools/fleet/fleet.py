#!/usr/bin/env python3
"""Profiles models on many devices and reduces the rows of all devices (docs/fleet.md).

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
import hosts  # noqa: E402  (needs the path above)


def run(arguments):
    from concurrent.futures import ThreadPoolExecutor

    for name in arguments.host:
        hosts.host(name)  # rejects a wrong name before any work starts
    for file in (arguments.runner, *arguments.models):
        if not file.is_file():
            raise hosts.HostError(f"{file}: no such file")
    arguments.out.mkdir(parents=True, exist_ok=True)

    def on_host(name):
        """Profiles all models on one host, one after the other. Writes a file for each model that is finished."""
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
        try:
            where.close()
        except hosts.HostError as error:
            failures.append(f"{name}: {error}")
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
    for line in sorted(worse, key=lambda line: -line["ratio"])[:top]:
        print(f"{line['ratio']:.3f} x  {line['model']} #{line['row']} {line['op']} {line['module']}  "
              f"{line['device_class']}, {line['devices']} devices, q {line['q']:.1e}")
    if report["regressions"]:
        print(f"{len(worse)} of {len(report['regressions'])} pairs of op and device class are slower")
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
        report = reduction.finish(merged, commits, arguments.rate, arguments.min_change)
        report["seconds"] = time.monotonic() - start
        report["peak_bytes_of_a_worker"] = cluster.peak_memory(client)
    print(f"{report['seconds']:.1f} s, {report['rows'] / report['seconds']:,.0f} rows/s, at most "
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
    run_parser = commands.add_parser("run", help="profile models on hosts")
    run_parser.add_argument("models", nargs="+", type=pathlib.Path, help="programs (.pte)")
    run_parser.add_argument("--host", action="append", required=True,
                            help="local, ssh:user@host, adb:serial or qemu:aarch64; repeatable")
    run_parser.add_argument("--runner", required=True, type=pathlib.Path,
                            help="executor_runner for the hosts")
    run_parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("rows"),
                            help="folder for the .jsonl files (default: rows)")
    run_parser.add_argument("--commit", default="unknown", help="label for the rows: version that was profiled")
    run_parser.add_argument("--device_class", default="", help="label for the rows: class of the devices")
    run_parser.add_argument("--executions", type=int, default=20, help="number of runs of each model (default: 20)")
    run_parser.set_defaults(run=run)
    reduce_parser = commands.add_parser("reduce", help="compute percentiles and regressions; exit code 2 if an op is slower")
    reduce_parser.add_argument("rows", type=pathlib.Path, help="folder with .jsonl files")
    reduce_parser.add_argument("--compare", nargs=2, metavar=("BEFORE", "AFTER"),
                               help="find ops that became slower between two commits")
    reduce_parser.add_argument("--scheduler", default="", help="running Dask scheduler, tcp://host:8786 (default: local processes)")
    reduce_parser.add_argument("--workers", type=int, default=os.cpu_count(), help="number of local processes (default: one per processor)")
    reduce_parser.add_argument("--rate", type=float, default=0.01, help="allowed rate of false discoveries (default: 0.01)")
    reduce_parser.add_argument("--least", dest="min_change", type=float, default=0.01,
                               help="smallest change that counts (default: 0.01, which is 1 %%)")
    reduce_parser.add_argument("--top", type=int, default=20, help="number of slower ops to print (default: 20)")
    reduce_parser.add_argument("--out", type=pathlib.Path, help="file for the complete report (JSON)")
    reduce_parser.set_defaults(run=reduce)
    simulate_parser = commands.add_parser("simulate", help="write rows of simulated devices")
    simulate_parser.add_argument("rows", type=pathlib.Path, help="folder for the .jsonl files")
    simulate_parser.add_argument("--devices", type=int, default=10_000, help="number of devices (default: 10000)")
    simulate_parser.add_argument("--ops", type=int, default=25, help="number of ops of each of the two models (default: 25)")
    simulate_parser.add_argument("--runs", type=int, default=10, help="number of runs of each of the two commits (default: 10)")
    simulate_parser.add_argument("--workers", type=int, default=os.cpu_count(),
                                 help="number of local processes (default: one per processor)")
    simulate_parser.set_defaults(run=simulate)
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
