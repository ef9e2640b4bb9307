#!/usr/bin/env python3
"""sanitize_kernel on a machine with a GPU: kernels with one planted fault each, and an honest one.

    tests/gpu/sanitizer_checks.py RATCHET OUT

Writes OUT/sanitizer.md. The exit status is the number of kernels with an unexpected outcome.
"""

import datetime
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "attacks"))
from client import Server  # noqa: E402

TASK = {"tensors": [{"name": "x", "dtype": "float32", "shape": ["n"], "role": "in"},
                    {"name": "y", "dtype": "float32", "shape": ["n"], "role": "out"}],
        "dims": {"n": 1024}, "implementation": "cuda-cpp",
        "reference": {"text": "extern \"C\" void reference(const float* x, float* y, int n) {\n"
                              "  for (int i = 0; i < n; ++i) y[i] = 2 * x[i];\n}\n"}}

SOLVE = """
extern "C" void solve(const float* x, float* y, int n) {{
{before}  work<<<(n + 255) / 256, 256>>>(x, {third}y, n);
}}
"""


def kernel(body, third="", before="", parameters="const float* x, float* y, int n"):
    return (f"__global__ void work({parameters}) {{\n"
            "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
            f"{body}}}\n" + SOLVE.format(third=third, before=before))


# name → (source, tool, part of the kind); the planted line ends in "// here".
KERNELS = {
    "honest": (kernel("  if (i < n) y[i] = 2 * x[i];\n"), None, ""),
    "out of bounds": (kernel("  if (i <= n)\n    y[i + 1] = 2 * x[i];  // here\n"),
                      "memcheck", "Invalid __global__"),
    "reads behind its input": (kernel("  float v = 0;\n  if (i < n) v = x[i];\n"
                                      "  if (i == 0) v += x[n];  // here\n"
                                      "  if (i < n) y[i] = 2 * v;\n"),
                               "memcheck", "Invalid __global__ read"),
    "race": (kernel("  __shared__ float part[256];\n"
                    "  part[threadIdx.x] = x[i];  // here\n"
                    "  y[i] = 2 * part[255 - threadIdx.x];\n"), "racecheck", "Race"),
    "uninitialized": (kernel("  if (i < n) y[i] = 2 * x[i] + 0 * w[i];  // here\n",
                             third="w, ", parameters="const float* x, const float* w, float* y, int n",
                             before="  static float* w = nullptr;\n"
                                    "  if (!w) cudaMalloc(&w, n * sizeof(float));\n"),
                      "initcheck", "Uninitialized"),
    "reads its output": (kernel("  if (i < n) y[i] = 2 * x[i] + 0 * y[i];  // here\n"),
                         "initcheck", "Uninitialized"),
    "divergent barrier": (kernel("  if (i < n) y[i] = 2 * x[i];\n"
                                 "  if (threadIdx.x < 40) __syncthreads();  // here\n"
                                 "  if (i < n) y[i] += 0.0f;\n"), "synccheck", "Barrier"),
}


def line_of(source):
    for number, line in enumerate(source.splitlines(), 1):
        if line.endswith("// here"):
            return number
    return 0


def main():
    ratchet, out = sys.argv[1], pathlib.Path(sys.argv[2])
    rows, failed = [], 0
    with tempfile.TemporaryDirectory() as folder:
        server = Server([ratchet, "serve", "--state-dir", folder + "/state", "--root", folder,
                         "--no-builtin-kbs"])
        info, _ = server.call("check_env", {})
        for number, (name, (source, tool, kind)) in enumerate(KERNELS.items()):
            created, refused = server.call("create_run", {
                **TASK, "kernel": {"text": source}, "output_dir": f"{folder}/run{number}"})
            begin = time.monotonic()
            told = {}
            if refused is None:
                told, refused = server.call("sanitize_kernel", {
                    "run": created["run"], "wait_s": 200, "tools": [tool] if tool else []})
            seconds = time.monotonic() - begin
            told = told or {}
            found = told.get("findings", [])
            if tool is None:
                good = told.get("clean") is True
            else:
                good = any(f["tool"] == tool and kind in f["kind"] and f["file"] == "kernel.cu"
                           and f["line"] == line_of(source) for f in found)
            failed += not good
            said = refused or "; ".join(f"{f['tool']} {f['kind']} {f['file']}:{f['line']} x{f['count']}"
                                        for f in found[:4]) or "clean"
            remarks = "; ".join(f"{r['tool']}: finished {r['finished']}, {r['errors']} errors, "
                                f"{r['elapsed_ms'] / 1000:.1f} s {r.get('detail', '')[:150]}"
                                for r in told.get("runs", []))
            rows.append([name, "yes" if good else "NO", f"{seconds:.1f}", said, remarks])
            print(" | ".join(rows[-1]), flush=True)
            if number == 0:
                print("sandbox:", told.get("sandbox"), "version:", told.get("version"), flush=True)
        server.close()
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    device = "; ".join(f"{d['name']}, driver {d.get('driver', '')}" for d in (info or {})["devices"])
    lines = ["# sanitize_kernel on a GPU", "",
             f"Command: `tests/gpu/sanitizer_checks.py`. Devices: {device}. Date: {now}.", "",
             "1,024 elements, the honest kernel under all four tools; a planted fault must be found by "
             "its tool, with its line.", "", "| kernel | as it should | s | found | tools |", "|---|---|---|---|---|"]
    lines += ["| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in rows]
    (out / "sanitizer.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return failed


if __name__ == "__main__":
    sys.exit(main())
