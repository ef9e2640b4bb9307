#!/usr/bin/env python3
"""Establishes what limits each kernel of kernels.py, or of FILE, a module with such KERNELS: removes one
suspected reason at a time and times both. Needs g++ and numpy, not ratchet.

    OMP_NUM_THREADS=2 chrt -f 1 tests/labels/intervene.py LABELS.json [--kernels FILE] [NAME...]

With `chrt`, neighbors do not hold the cores for the few milliseconds of each call.

Writes the gain of each twin. A twin that is None gains nothing by construction: what the finding blames
is not in the kernel (it has all threads already, its loops are packed). A finding is right if its twin
gains a tenth or more, and contradicts the kernel if that is below a twentieth.
"""

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from kernels import kernels_of, source_of  # noqa: E402

FLAGS = ["-O3", "-march=native", "-fPIC", "-ffunction-sections", "-fdata-sections", "-fopenmp", "-shared",
         "-std=c++20"]
ROUNDS = 9
FLUSH = np.zeros(48 << 20, np.uint8)
# Threads that spin at a barrier would wait for a neighbor's time slice to end.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


def inputs_of(task, dims):
    rng = np.random.default_rng(1)
    arrays = []
    for name, dtype, shape, role, *init in task["tensors"]:
        size = [int(eval(part, {}, dims)) for part in shape.split(",")]
        count = int(np.prod(size))
        if init and init[0] == "permutation":
            # One cycle, so that a chase visits everything.
            order = rng.permutation(count).astype(np.int32)
            array = np.empty(count, np.int32)
            array[order] = np.roll(order, 1)
        elif init and init[0].startswith("indices("):
            most = eval(init[0].removeprefix("indices"), {}, dims)
            array = rng.integers(0, most, count).astype(np.int32)
        else:
            array = rng.standard_normal(count).astype(dtype)
        arrays.append(array.reshape(size))
    return arrays


def callable_of(kernel, task, dims, folder, number):
    arrays = inputs_of(task, dims)
    if isinstance(kernel, str):
        scope = {}
        exec(source_of(kernel, task), scope)
        return lambda: scope["run_kernel"](*arrays)
    source = folder / f"k{number}.cpp"
    source.write_text(source_of(kernel, task))
    subprocess.run(["g++", *FLAGS, str(source), "-o", str(source.with_suffix(".so"))], check=True)
    function = ctypes.CDLL(str(source.with_suffix(".so"))).solve
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]
    scalars = [ctypes.c_int(value) for value in dims.values()]

    def call(keep=arrays):
        function(*pointers, *scalars)
    return call


def seconds(call):
    """One call on cold caches, as a profile times it."""
    FLUSH[:] += 1
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def gain(plain, other, elements, other_elements):
    """Best of interleaved rounds, plain ÷ other, per element: neighbors only ever add time."""
    plain(), other()
    best = [1e9, 1e9]
    for _ in range(ROUNDS):
        best = [min(best[0], seconds(plain) / elements), min(best[1], seconds(other) / other_elements)]
    return best[0] / best[1]


def label_of(entry, folder):
    task, gains = entry["task"], {}
    dims = task["dims"]
    plain = callable_of(entry["kernel"], task, dims, folder, 0)
    count = eval(task["element"], {}, dims)
    for number, (finding, twin) in enumerate(entry["twins"].items(), 1):
        if twin is None:
            gains[finding] = 1.0
            continue
        other = {**dims, **twin["dims"]} if isinstance(twin, dict) and "dims" in twin else dims
        kernel = entry["kernel"] if isinstance(twin, dict) and "dims" in twin else twin
        call = callable_of(kernel, task, other, folder, f"{os.getpid()}_{id(entry)}_{number}")
        gains[finding] = round(gain(plain, call, count, eval(task["element"], {}, other)), 2)
    right = {name: value for name, value in gains.items() if value >= 1.1}
    return {"bound": entry["bound"], "right": sorted(right, key=right.get, reverse=True),
            "wrong": sorted(name for name, value in gains.items() if value < 1.05), "gains": gains}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("labels", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--kernels", type=pathlib.Path, default=HERE / "kernels.py")
    given = parser.parse_intermixed_args()
    path = given.labels
    labels = json.loads(path.read_text()) if path.exists() else {}
    for name, entry in kernels_of(given.kernels).items():
        if given.names and name not in given.names:
            continue
        with tempfile.TemporaryDirectory() as folder:
            labels[name] = label_of(entry, pathlib.Path(folder))
        print(name, labels[name]["gains"], flush=True)
    text = ",\n".join(f" {json.dumps(name)}: {json.dumps(label)}" for name, label in labels.items())
    path.write_text("{\n" + text + "\n}\n")


if __name__ == "__main__":
    main()
