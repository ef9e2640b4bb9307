#!/usr/bin/env python3
"""What a kernel left in the memory that its process shares with the judge is gone for the kernels after it.

    tests/gpu/memory_checks.py RATCHET OUT

Branches of examples/gemm_bf16 at 1024 x 1024 x 1024, one after the other on one GPU. Some leave a mark in their memory,
behind the last tensor's guard, where nothing is judged; the others look for it before they work, and answer wrong if they
find it. All of them are right unless a mark outlives its kernel, so all have to pass. One that looks for its own mark
has to fail, since each call but its first finds it. A table goes to OUT/memory.md. Changes no setting of the GPU.
"""

import pathlib
import sys

import labs
from reference_checks import CHANGED, FOLDER, explored
from table import Table

# The rest of the memory's last 2 MiB is the judge's room for shifted arenas.
PLACE = "(reinterpret_cast<unsigned long long>(c + static_cast<long long>(m) * n) | ((2ull << 20) - 1)) - 7"
MARK = """
#include <cuda_bf16.h>
__device__ int found;
__global__ void look(const unsigned long long* place) { found = *place == 0x6d61726b6c656674ull; }
__global__ void leave(unsigned long long* place) { *place = 0x6d61726b6c656674ull; }
__global__ void spoil(__nv_bfloat16* c) { if (found) c[0] = __float2bfloat16(__bfloat162float(c[0]) + 1000); }
"""


def marked(text, looks, leaves):
    """The kernel, which first looks for the mark, or leaves it at last."""
    calls = (["look<<<1, 1>>>(place);"] * looks, ["spoil<<<1, 1>>>(c);"] * looks + ["leave<<<1, 1>>>(place);"] * leaves)
    name = "void solve("
    if text.count(name) != 1:
        raise SystemExit(f"the kernel has no one {name}")
    return (MARK + text.replace(f'extern "C" {name}', "static void work(") + f"""
extern "C" void solve(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {{
  auto* const place = reinterpret_cast<unsigned long long*>({PLACE});
  {' '.join(calls[0])}
  work(a, b, c, m, n, k);
  {' '.join(calls[1])}
}}
""")


def main():
    ratchet, out = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2])
    reference = (FOLDER / "ref.cu").read_text(encoding="utf-8")
    out.mkdir(parents=True, exist_ok=True)
    table = Table()

    def sources(looks_and_leaves):
        # Different programs, since one that is known is not asked again.
        return [{"source": marked(labs.variant(FOLDER, *one), looks, leaves),
                 "note": "looks" * looks + "leaves" * leaves}
                for one, (looks, leaves) in zip(CHANGED, looks_and_leaves)]

    with labs.asked(table, ratchet, FOLDER) as (client, place):
        states, _ = explored(client, place / "others", reference, sources([(False, True)] * 3 + [(True, False)] * 3))
        table.row("three leave marks, three look for them: all pass", states,
                  all(len(state) == 1 for state in states.values()))
        states, _ = explored(client, place / "own", reference, sources([(False, False), (True, True)]))
        table.row("one that looks for its own mark fails, an ordinary one passes", states,
                  len(states["b1"]) == 1 and len(states["b2"]) > 1)
    return table.write(str(out), "memory.md", "What kernels leave in their memory", "tests/gpu/memory_checks.py")


if __name__ == "__main__":
    sys.exit(main())
