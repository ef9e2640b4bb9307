#!/usr/bin/env python3
"""Inputs at the edges of each type, where the judge makes them: a kernel that answers one of them wrong in the first
row alone is refused, and one that answers all of them as the reference does passes.

    tests/gpu/edge_checks.py RATCHET OUT [--processor]

A copy of a tensor, with `edge_values`: kernels that write 0 where the first row has NaN, an infinity or the type's
largest value, each in four types, and the copy itself. A table goes to OUT/edges.md. --processor tries the script
without a GPU, in float32 and float64. Changes no setting of the GPU.
"""

import pathlib
import sys

import labs
from table import Table

# A type's name in C++, and what only its largest values exceed.
GPU = {"float32": ("float", "3e38"), "float16": ("__half", "6e4"), "bfloat16": ("__nv_bfloat16", "3e38"),
       "float64": ("double", "3e150")}
PROCESSOR = {name: GPU[name] for name in ("float32", "float64")}
# What a kernel takes for zero, by the kind of values that tells it from the copy.
WRONG = {"nan": "isnan(value)", "infinite": "isinf(value)", "largest": "!isinf(value) && fabs(value) > {most}"}
ON_GPU = """
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void copy(const {type}* x, {type}* y, int rows, int cols) {{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  const double value = static_cast<{wide}>(x[i]);
  y[i] = i < cols && ({wrong}) ? {type}(0) : x[i];
}}
extern "C" void {name}(const {type}* x, {type}* y, int rows, int cols) {{
  copy<<<(rows * cols + 255) / 256, 256>>>(x, y, rows, cols);
}}
"""
ON_PROCESSOR = """
#include <cmath>
using std::isinf, std::isnan, std::fabs;
extern "C" void {name}(const {type}* x, {type}* y, int rows, int cols) {{
  for (int i = 0; i < rows * cols; ++i) {{
    const double value = x[i];
    y[i] = i < cols && ({wrong}) ? {type}(0) : x[i];
  }}
}}
"""


def checked(client, here, dtype, ending, texts):
    """The reasons of a kernel, which one that passes has none of, and whether it passed. `texts`: of kernel and reference."""
    here.mkdir()
    for role, text in texts.items():
        (here / f"{role}.{ending}").write_text(text, encoding="utf-8")
    tensors = [{"name": tensor, "dtype": dtype, "shape": ["rows", "cols"], "role": role}
               for tensor, role in (("x", "in"), ("y", "out"))]
    run = client.call("create_run", {
        "output_dir": str(here / "run"), "kernel": {"path": str(here / f"solve.{ending}")},
        "reference": {"path": str(here / f"reference.{ending}")}, "dims": {"rows": 1000, "cols": 1001},
        "tensors": tensors, "edge_values": True})["run"]
    answer = client.call("check_correctness", {"run": run, "wait_s": 120})
    return [f"{one['code']}: {one['message']}" for one in answer["reasons"]], answer["passed"]


def main():
    processor = "--processor" in sys.argv
    ratchet, out = (pathlib.Path(one) for one in sys.argv[1:] if one != "--processor")
    out.mkdir(parents=True, exist_ok=True)
    table = Table()
    types, text, ending = (PROCESSOR, ON_PROCESSOR, "cpp") if processor else (GPU, ON_GPU, "cu")
    with labs.asked(table, str(ratchet.resolve())) as (client, place):
        for dtype, (c_type, most) in types.items():
            wide = c_type if c_type == "double" else "float"
            for kind, wrong in {"copy": "false", **WRONG}.items():
                conditions = {"solve": wrong.format(most=most), "reference": "false"}
                texts = {role: text.format(type=c_type, wide=wide, name=role, wrong=condition)
                         for role, condition in conditions.items()}
                reasons, passed = checked(client, place / f"{dtype}-{kind}", dtype, ending, texts)
                if kind == "copy":
                    table.row(f"{dtype}: the copy passes", reasons or "passed", passed)
                else:
                    table.row(f"{dtype}: refused for {kind} in the first row", reasons,
                              not passed and len(reasons) == 1 and f"{kind} inputs" in reasons[0])
    return table.write(str(out), "edges.md", "Inputs at the edges of a type", "tests/gpu/edge_checks.py")


if __name__ == "__main__":
    sys.exit(main())
