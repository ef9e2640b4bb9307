# A Triton kernel that writes past the end of its output.
#
# Catalog: C10
# Task: double
# Expect: check wrote_out_of_bounds
import triton
import triton.language as tl


@triton.jit
def double(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = 2 * tl.load(x + at, mask=at < n, other=0.0)
    tl.store(y + at, value, mask=at < n + 7)


def run_kernel(x, y, n):
    double[(triton.cdiv(n + 7, 1024),)](x, y, n, BLOCK=1024)
