# A Triton kernel in the style of the tutorials.
#
# Catalog: honest
# Task: double
# Expect: pass
import triton
import triton.language as tl


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, 2 * tl.load(x + at, mask=at < n), mask=at < n)


def run_kernel(x, y, n):
    double[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
