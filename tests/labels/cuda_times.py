"""Builds every kernel of cuda/ with and without its causes and times both in paired rounds on cold
caches. Needs nvcc, numpy and a GPU, not ratchet.
"""

import concurrent.futures
import ctypes
import math
import multiprocessing
import os
import pathlib
import random
import shutil
import subprocess

import numpy as np

ROUNDS = (9, 31)  # at least, at most
SECONDS = 0.25  # of rounds per version
FLUSHED_BYTES = 256 << 20  # several times any L2 of today
GAIN = 0.10  # a cause is confirmed if its removal saves a tenth …
NO_GAIN = 0.05  # … and contradicted if that saves less than a twentieth
PATIENCE = 60  # seconds for one kernel
FLOOR = 0.6  # what remains must be most of the time


NVCC = pathlib.Path(shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc").resolve()
LIBRARIES = NVCC.parent.parent / "lib64"


def build(kernel, cause, folder, arch):
    library = folder / f"{kernel.name}.{cause or 'whole'}.so"
    subprocess.run([str(NVCC), "-O3", "-std=c++20", f"-arch={arch}", "-shared", "-cudart", "shared",
                    "-Xcompiler", "-fPIC", "-Xlinker", f"-rpath={LIBRARIES}",
                    *([f"-DWITHOUT_{cause}"] if cause else []), str(kernel.path), "-o", str(library)],
                   check=True)
    return library


def build_all(kernels, folder, arch):
    """The library of each kernel and cause, "" for the kernel as it is, and what failed, by kernel."""
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        built = {(kernel.name, cause): pool.submit(build, kernel, cause, folder, arch)
                 for kernel in kernels for cause in ["", *(each.name for each in kernel.causes)]}
    failed = {name: f"without {cause or 'nothing'}: {future.exception()}"
              for (name, cause), future in built.items() if future.exception()}
    return {key: future.result() for key, future in built.items() if not future.exception()}, failed


class Device:
    def __init__(self):
        # The one that the kernels' libraries share.
        self.runtime = ctypes.CDLL(str(LIBRARIES / "libcudart.so"), ctypes.RTLD_GLOBAL)
        self.flushed = self.buffer(FLUSHED_BYTES)
        self.events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self.events:
            self.check(self.runtime.cudaEventCreate(ctypes.byref(event)))

    def check(self, status):
        if status:
            self.runtime.cudaGetErrorString.restype = ctypes.c_char_p
            raise RuntimeError(self.runtime.cudaGetErrorString(status).decode())

    def buffer(self, count):
        pointer = ctypes.c_void_p()
        self.check(self.runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(count)))
        return pointer

    def free(self, pointer):
        self.check(self.runtime.cudaFree(pointer))

    def write(self, pointer, array):
        self.check(self.runtime.cudaMemcpy(pointer, array.ctypes.data_as(ctypes.c_void_p),
                                           ctypes.c_size_t(array.nbytes), 1))

    def read(self, pointer, array):
        self.check(self.runtime.cudaMemcpy(array.ctypes.data_as(ctypes.c_void_p), pointer,
                                           ctypes.c_size_t(array.nbytes), 2))
        return array

    def seconds(self, call, cold=True):
        # While the device flushes, the host gets ahead of it, as in a stream of work.
        if cold:
            self.check(self.runtime.cudaMemsetAsync(self.flushed, 0, ctypes.c_size_t(FLUSHED_BYTES), None))
        self.check(self.runtime.cudaEventRecord(self.events[0], None))
        call()
        self.check(self.runtime.cudaEventRecord(self.events[1], None))
        self.check(self.runtime.cudaEventSynchronize(self.events[1]))
        self.check(self.runtime.cudaGetLastError())
        took = ctypes.c_float()
        self.check(self.runtime.cudaEventElapsedTime(ctypes.byref(took), *self.events))
        return took.value / 1e3


def filled(tensor, extents, smallest, rng):
    """As the server fills inputs."""
    count, init = math.prod(extents), tensor.get("init", "normal")
    if init == "permutation":
        return rng.permutation(count).astype(tensor["dtype"])
    if tensor["dtype"] == "uint8":
        return rng.integers(0, 256, count, np.uint8)
    if tensor["dtype"].startswith("int"):
        return rng.integers(0, smallest, count).astype(tensor["dtype"])
    return rng.standard_normal(count, np.float32).astype(tensor["dtype"])


class Versions:
    """A kernel and its versions on one set of inputs."""

    def __init__(self, device, kernel, libraries):
        self.device, self.kernel, self.buffers, self.outputs = device, kernel, [], []
        rng = np.random.default_rng(1)
        for tensor in kernel.tensors:
            array = np.zeros(math.prod(kernel.extents(tensor)), tensor["dtype"])
            if tensor["role"] == "in":
                array = filled(tensor, kernel.extents(tensor), min(kernel.dims.values()), rng)
            self.buffers.append(device.buffer(array.nbytes))
            device.write(self.buffers[-1], array)
            if tensor["role"] != "in":
                self.outputs.append((self.buffers[-1], array))
        sizes = [ctypes.c_int(value) for value in kernel.dims.values()]
        self.calls = {cause: (lambda f=ctypes.CDLL(str(libraries[kernel.name, cause])).solve:
                              f(*self.buffers, *sizes))
                      for cause in ["", *(each.name for each in kernel.causes)]}

    def answers(self, cause):
        for pointer, array in self.outputs:
            self.device.write(pointer, np.zeros_like(array))
        self.calls[cause]()
        return [self.device.read(pointer, np.empty_like(array)) for pointer, array in self.outputs]

    def close(self):
        for pointer in self.buffers:
            self.device.free(pointer)


def interval(values):
    """Median and its 95 % interval by ranks."""
    values = sorted(values)
    low = max(0, math.floor(len(values) / 2 - 0.98 * math.sqrt(len(values))))
    middle = (values[(len(values) - 1) // 2] + values[len(values) // 2]) / 2
    return [round(value, 4) for value in (middle, values[low], values[-1 - low])]


def label_of(device, kernel, libraries):
    versions = Versions(device, kernel, libraries)
    whole, wrong = versions.answers(""), []
    for cause in kernel.causes:
        found = versions.answers(cause.name)
        if cause.same and not all(np.allclose(a, b, 1e-3, 1e-3) for a, b in zip(whole, found)):
            wrong.append(cause.name)
    order = ["", *(cause.name for cause in kernel.causes)]
    slowest = max(device.seconds(versions.calls[name]) for name in order)
    rounds = max(ROUNDS[0], min(ROUNDS[1], int(SECONDS / slowest)))
    times, warm = {name: [] for name in order}, []
    for _ in range(rounds):
        random.shuffle(order)
        for name in order:
            times[name].append(device.seconds(versions.calls[name]))
        versions.calls[""]()
        warm.append(device.seconds(versions.calls[""], cold=False))
    versions.close()
    causes = {}
    for cause in kernel.causes:
        saved = interval([1 - other / plain for plain, other in zip(times[""], times[cause.name])])
        confirmed = 1 - saved[0] >= FLOOR if cause.floor else saved[1] >= GAIN
        contradicted = 1 - saved[0] < FLOOR / 2 if cause.floor else saved[2] < NO_GAIN
        verdict = "confirmed" if confirmed else "contradicted" if contradicted else "undecided"
        causes[cause.name] = {"saved": saved, "how": cause.how, "floor": cause.floor, "verdict": verdict}
    return {"half": kernel.half, "seconds": interval([1e6 * t for t in times[""]]), "unit": "µs",
            "rounds": rounds, "warm_saves": interval([1 - b / a for a, b in zip(times[""], warm)]),
            "causes": causes, "other_answers_found": wrong}


def labeled_alone(kernel, libraries):
    """`label_of` in a process of its own, as a fault takes the whole context."""
    context = multiprocessing.get_context("fork")
    mine, its = context.Pipe(duplex=False)

    def label():
        try:
            its.send(label_of(Device(), kernel, libraries))
        except RuntimeError as failed:
            its.send(str(failed))

    process = context.Process(target=label)
    process.start()
    its.close()
    try:
        found = mine.recv() if mine.poll(PATIENCE) else f"not within {PATIENCE} s"
    except EOFError:
        found = "its process ended"
    process.kill()
    process.join()
    if isinstance(found, str):
        raise RuntimeError(found)
    return found
