#!/usr/bin/env python3
"""CUDA kernels for a problem whose own kernels are classes of torch: the module of docs/problems.md.

    tests/gpu/compiled_checks.py RATCHET OUT

Imports the module, and checks a .cu that is right, one without the module's state and one whose sizes are swapped.
A table goes to OUT/compiled.md. Takes a Python with torch (RATCHET_PYTHON). Changes no setting of the GPU.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import labs
from table import Table

KERNEL = """
#include <cuda_runtime.h>

__global__ void bias_gelu(const float* x, const float* bias, float* out, long elements, int features) {
  const long at = static_cast<long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= elements) return;
  const float v = x[at] + bias[at % features];
  out[at] = 0.5f * v * (1 + erff(v * 0.70710678f));
}

extern "C" void solve(const float* x, const float* bias, float* out, int batch_size, int features) {
  const long elements = static_cast<long>(batch_size) * features;
  bias_gelu<<<static_cast<unsigned>((elements + 255) / 256), 256>>>(x, bias, out, elements, features);
}
"""
KERNELS = (("a right kernel", "", "", True), ("one without the state", "x[at] + bias[at % features]", "x[at]", False),
           ("one with other sizes", "at % features", "at % (features / 2)", False))


def main():
    ratchet, out = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    text = (labs.ROOT / "docs/problems.md").read_text(encoding="utf-8")
    module = re.search(r"```python\n((?:(?!```).)*class Model\(nn\.Module\).*?)```", text, re.S).group(1)
    out.mkdir(parents=True, exist_ok=True)
    table = Table()
    with tempfile.TemporaryDirectory() as place:
        (pathlib.Path(place) / "bias_gelu.py").write_text(module, encoding="utf-8")
        done = subprocess.run([ratchet, "problem", "import", "bias_gelu.py", "--output", "problem", "--state-dir", "state"],
                              cwd=place, capture_output=True, text=True, check=False)
        table.row("import", done.stderr.strip() if done.returncode else "done", done.returncode == 0)
        client = labs.served(ratchet, place)
        for name, old, new, right in KERNELS:
            if old not in KERNEL:
                raise SystemExit(f"the kernel has no {old!r}")
            try:
                run = client.call("create_run", {"problem": os.path.join(place, "problem"), "implementation": "cuda",
                                                 "kernel": {"text": KERNEL.replace(old, new, 1)}, "wait_s": 300,
                                                 "output_dir": os.path.join(place, name.replace(" ", "_"))})
                answer = client.call("check_correctness", {"run": run["run"], "wait_s": 300})
                table.row(name, f"{'passed' if answer['passed'] else answer['reasons']} on {run['device']}",
                          answer["passed"] == right and "NVIDIA" in run["device"])
            except labs.drive.Refused as refused:
                table.row(name, refused, False)
        client.close()
    return table.write(str(out), "compiled.md", "CUDA kernels for a module of torch", "tests/gpu/compiled_checks.py")


if __name__ == "__main__":
    sys.exit(main())
