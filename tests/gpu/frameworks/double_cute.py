"""y = 2 x in CuTe DSL: one element per thread."""

import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import from_dlpack

THREADS = 256


@cute.kernel
def double_elements(x: cute.Tensor, y: cute.Tensor, n: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    at = block * THREADS + thread
    if at < n:
        y[at] = 2 * x[at]


@cute.jit
def double(x: cute.Tensor, y: cute.Tensor, n: cutlass.Int32):
    double_elements(x, y, n).launch(grid=((n + THREADS - 1) // THREADS, 1, 1),
                                    block=(THREADS, 1, 1))


compiled = None


def tensor(value):
    return from_dlpack(value).mark_layout_dynamic()


def run_kernel(x, y, n):
    global compiled
    if compiled is None:
        compiled = cute.compile(double, tensor(x), tensor(y), n)
    compiled(tensor(x), tensor(y), n)
