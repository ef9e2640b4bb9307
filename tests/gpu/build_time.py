#!/usr/bin/env python3
"""The cost of a build: submit_kernel of changed and unchanged kernels as a client sees it, compared
with the compiler alone.

    tests/gpu/build_time.py RATCHET OUT [REPEATS]

Writes OUT/build-time.md. Measures wall time of submit_kernel, which also writes the ledger and the
artifacts.
"""

import datetime
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "attacks"))
from client import Server, open_v1  # noqa: E402

TASK = {"tensors": [{"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
                    {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}],
        "dims": {"n": 1 << 20}, "implementation": "cuda-cpp",
        "reference": {"text": "extern \"C\" void reference(const float* x, float* y, int n) {\n"
                              "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n"}}

WORK = """__global__ void work(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2 * x[i];
}
"""
FORMS = {
    "host function, nvcc": WORK + "extern \"C\" void solve(const float* x, float* y, int n) {\n"
                                  "  work<<<(n + 255) / 256, 256>>>(x, y, n);\n}\n",
    "device-only, NVRTC": "// launch: grid = ceil_div(n, 256); block = 256\n"
                          "extern \"C\" " + WORK.replace("work(", "solve("),
}


def nvcc_alone(folder, text, arch):
    """Milliseconds of the whole build of a host function, without ratchet."""
    (folder / "kernel.cu").write_text(text, encoding="utf-8")
    number = arch.replace("sm_", "")
    command = ["nvcc", "-std=c++17", "-O3", "-lineinfo", "--expt-relaxed-constexpr",
               "--extended-lambda", "-gencode", f"arch=compute_{number},code=sm_{number}",
               "-Xcompiler", "-fPIC", "-Xptxas", "-v", "-shared", "-cudart", "shared", "-o",
               "library.so", "kernel.cu"]
    begin = time.monotonic()
    subprocess.run(command, cwd=folder, capture_output=True, check=True)
    return (time.monotonic() - begin) * 1000


def spread(times):
    return f"{statistics.median(times):.0f} ({min(times):.0f} .. {max(times):.0f})"


def difference(ours, theirs):
    """The median of the differences within pairs, with its 95 % interval (sign test)."""
    pairs = sorted(a - b for a, b in zip(ours, theirs))
    rank = next(k for k in range(len(pairs))
                if sum(math.comb(len(pairs), i) for i in range(k + 1)) > 0.025 * 2 ** len(pairs))
    low, high = (pairs[rank - 1], pairs[-rank]) if rank else (pairs[0], pairs[-1])
    return f"{statistics.median(pairs):+.0f} ({low:+.0f} .. {high:+.0f})"


def main():
    ratchet, out = sys.argv[1], pathlib.Path(sys.argv[2])
    repeats = int(sys.argv[3]) if len(sys.argv) > 3 else 16
    lines = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server = Server([ratchet, "serve", "--state-dir", name + "/state", "--root", name])
        info, _ = server.call("check_env", {})
        device = next(d for d in info["devices"] if d["kind"] == "cuda")
        for number, (form, text) in enumerate(FORMS.items()):
            created, refused = server.call("create_run", {
                **TASK, "kernel": {"text": text}, "output_dir": f"{name}/run{number}"})
            if refused:
                raise SystemExit(f"{form}: {refused}")
            open_v1(server, created["run"])
            changed, unchanged, compiler, alone, toolchain = [], [], [], [], ""
            for i in range(repeats):
                new = text.replace("2 *", f"{i + 3}.0f * {2 / (i + 3)}f *")
                if number == 0 and i % 2:
                    alone.append(nvcc_alone(folder, new, device["arch"]))
                for times in (changed, unchanged):
                    begin = time.monotonic()
                    answer, refused = server.call("submit_kernel", {"run": created["run"], "source": new})
                    times.append((time.monotonic() - begin) * 1000)
                    if refused or not answer["build"]["ok"]:
                        raise SystemExit(f"{form}: {refused or answer['build']}")
                    if times is changed:
                        compiler.append(answer["build"]["build_ms"])
                        toolchain = answer["build"]["toolchain"]
                if number == 0 and not i % 2:
                    alone.append(nvcc_alone(folder, new, device["arch"]))
            lines.append(f"| {form} | {toolchain} | {spread(changed)} | {spread(compiler)} | "
                         f"{spread(unchanged)} | {spread(alone) if alone else '-'} | "
                         f"{difference(changed, alone) if alone else '-'} |")
            print(lines[-1], flush=True)
        server.close()
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    (out / "build-time.md").write_text("\n".join([
        "# Cost of a build", "",
        f"Command: `tests/gpu/build_time.py`. Device: {device['name']}, driver {device['driver']}, "
        f"{os.cpu_count()} processors. Date: {now}.", "",
        f"Median (minimum .. maximum) of {repeats} submissions, ms; differences within pairs with "
        "their 95 % interval.", "",
        "| form | compiler | changed kernel, whole call | compilers' part | unchanged, whole call | "
        "nvcc alone | whole call - nvcc alone |", "|---|---|---|---|---|---|---|", *lines, ""]),
        encoding="utf-8")


if __name__ == "__main__":
    main()
