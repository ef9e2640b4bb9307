#!/usr/bin/env python3
"""How long processes take to get a context on a GPU when several start at once, and whether fewer channels
make it shorter.

    tests/gpu/contexts.py OUT [AT_ONCE]      some 15 s; a table goes to OUT/contexts.md

Needs the driver alone. Changes no setting of the device.
"""

import pathlib
import statistics
import subprocess
import sys
import time

CHILD = """
import ctypes, sys, time
cuda, device, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.c_void_p()
times = [time.monotonic()]
assert cuda.cuInit(0) == 0 and cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
times.append(time.monotonic())
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
times.append(time.monotonic())
print(*(after - before for before, after in zip(times, times[1:])), flush=True)
sys.stdin.read()
"""
VARIANTS = {"as it is": {}, "1 connection": {"CUDA_DEVICE_MAX_CONNECTIONS": "1"},
            "1 connection, 1 for copies": {"CUDA_DEVICE_MAX_CONNECTIONS": "1",
                                           "CUDA_DEVICE_MAX_COPY_CONNECTIONS": "1"}}


def asked(at_once, variables):
    """Seconds until all have a context, until all have ended, and medians of their two steps."""
    begin = time.monotonic()
    children = [subprocess.Popen(["env", *(f"{name}={value}" for name, value in variables.items()),
                                  sys.executable, "-c", CHILD], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True) for _ in range(at_once)]
    steps = [[float(one) for one in child.stdout.readline().split()] for child in children]
    ready = time.monotonic()
    for child in children:
        child.stdin.close()
    for child in children:
        child.wait()
    if not all(len(one) == 2 for one in steps):
        raise SystemExit("SKIP: no context of a GPU here")
    return [ready - begin, time.monotonic() - ready, *map(statistics.median, zip(*steps))]


def main():
    out, at_once = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 8
    out.mkdir(parents=True, exist_ok=True)
    lines = ["# Contexts of processes that start at once", "",
             "| processes | variables | all ready s | all ended s | driver's start s | context s |",
             "|---|---|---|---|---|---|"]
    for count in (1, at_once):
        for name, variables in VARIANTS.items():
            row = " | ".join(f"{seconds:.2f}" for seconds in asked(count, variables))
            lines.append(f"| {count} | {name} | {row} |")
            print(lines[-1], flush=True)
    (out / "contexts.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
