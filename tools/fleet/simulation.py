"""Simulates the rows of a fleet, to test and measure the reduction."""
import pathlib

import numpy

CLASSES = {"phone_low": 3.0, "phone_mid": 1.6, "phone_high": 1.0, "tablet": 1.2, "board": 4.0}
MODELS = ("mv2", "encoder")
OPS = ("convolution", "linear", "add", "softmax", "mul")
COMMITS = ("before", "after")
SLOWER = ("mv2", 3, "phone_mid", 1.08)  # model, row, class and ratio of the op that is slower in "after"


def lines_of(device, rows_of_model, runs, random):
    """Yields `runs` rows for every op of every model and commit."""
    names = list(CLASSES)
    kind = names[device % len(names)]
    slowness = CLASSES[kind] * random.lognormal(0, 0.15)  # of this device
    for model in MODELS:
        for commit in COMMITS:
            noise = random.lognormal(0, 0.05, size=(runs, rows_of_model))
            for run in range(runs):
                for row in range(1, rows_of_model + 1):
                    ns = 1000.0 * row * slowness * noise[run, row - 1]
                    if commit == "after" and (model, row, kind) == SLOWER[:3]:
                        ns *= SLOWER[3]
                    yield (f'{{"v":1,"device":"d{device}","device_class":"{kind}",'
                           f'"commit":"{commit}","model":"{model}","run":"{commit}{run}",'
                           f'"row":{row},"where":"kernel","op":"{OPS[row % len(OPS)]}",'
                           f'"module":"layers.{row}","p50_ns":{ns:.1f}}}\n')


def write_file(folder, first, devices, rows_of_model, runs):
    """Writes the rows of `devices` devices and returns the name of the file. Equal arguments give equal rows."""
    file = pathlib.Path(folder) / f"devices_{first:06}.jsonl"
    with open(file, "w", encoding="utf-8") as out:
        for device in range(first, first + devices):
            out.writelines(lines_of(device, rows_of_model, runs, numpy.random.default_rng(device)))
    return str(file)
