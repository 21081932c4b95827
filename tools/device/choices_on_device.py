#!/usr/bin/env python3
"""Measures on a device which kernels run operators of delegates faster: runs `bench --choices` on a performance core
of the device, and fetches the table that the option "choices" of the XNNPACK backend reads (docs/xnnpack.md)."""

import argparse
import pathlib
import sys

import target
from profile_on_device import DeviceFolder, add_device_options, connect, prepare, say
from transport import DeviceError

TABLE = "choices.txt"


def measure(device, options):
    facts, binary, cores = prepare(device, options, "bench")

    def read_state():
        return target.state_of(device, facts, cores or tuple(facts.max_khz))

    with DeviceFolder(device, "bench") as remote:
        remote.push({"bench": binary})
        target.settle(read_state, options.settle, options.poll, say)
        table = remote.run(["--choices", TABLE], cores[-1:], options.timeout)
        device.pull(f"{remote.folder}/{TABLE}", options.table, options.timeout)
    print(table, end="")
    say(f"table    {options.table}: use it with --backend_option choices={options.table}")


def main():
    parser = argparse.ArgumentParser(usage="%(prog)s choices.txt (--adb [SERIAL] | --ssh [USER@]HOST) [options]",
                                     description=__doc__)
    parser.add_argument("table", type=pathlib.Path, help="table to write")
    add_device_options(parser)
    options = parser.parse_args()
    try:
        if not options.table.absolute().parent.is_dir():
            raise DeviceError(f"{options.table}: the folder does not exist")
        measure(connect(options), options)
        return 0
    except (DeviceError, OSError) as error:
        print(f"choices_on_device: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
