"""Runs reduction.py on Dask's distributed scheduler."""
import contextlib
import logging
import pathlib
import resource
import time

from distributed import Client, LocalCluster, as_completed

import reduction

FAN_IN = 16  # number of results per merge
RETRIES = 3  # for a file whose worker died


@contextlib.contextmanager
def connected(scheduler, workers, memory="auto"):
    """Yields a client of `scheduler` ("tcp://host:8786"). If `scheduler` is empty, starts local processes instead."""
    if scheduler:
        with Client(scheduler) as client:
            send_code(client)
            yield client
        return
    with LocalCluster(n_workers=workers, threads_per_worker=1, processes=True, memory_limit=memory,
                      dashboard_address=None, silence_logs=logging.CRITICAL) as cluster:
        with Client(cluster) as client:
            send_code(client)
            yield client


def peak_memory(client):
    """Returns the largest peak of resident memory among the workers, in bytes."""
    def of_this_process():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    return max(client.run(of_this_process).values())


def send_code(client):
    """Sends the modules of this folder to the workers, because the modules are not installed there."""
    folder = pathlib.Path(__file__).parent
    for name in ("histogram", "significance", "rows", "reduction", "simulation"):
        client.upload_file(str(folder / f"{name}.py"))


def reduce_files(client, files, commits=(), on_progress=None):
    """Returns the merged Partial of all files. If a worker dies, another worker repeats its work."""
    level = client.map(reduction.partial, files, commits=tuple(commits), retries=RETRIES)
    if on_progress:
        start, done = time.monotonic(), 0
        for _ in as_completed(level):
            done += 1
            on_progress(done, len(files), time.monotonic() - start)
    while len(level) > 1:
        level = [client.submit(reduction.merge, level[at:at + FAN_IN], retries=RETRIES)
                 for at in range(0, len(level), FAN_IN)]
    return level[0].result()
