# An autotuned Triton kernel.
#
# Catalog: honest
# Task: double
# Device: cuda
# Expect: pass
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (512, 2048)
                          for w in (4, 8)], key=["n"])
@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


def run_kernel(x, y, n):
    double[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, n)
