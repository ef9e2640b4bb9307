"""Row softmax in CuTe DSL: one warp per row."""

import cutlass
import cutlass.cute as cute
from cutlass.cute.runtime import from_dlpack

WARPS = 4
LANES = 32


@cute.kernel
def softmax_rows(x: cute.Tensor, y: cute.Tensor, rows: cutlass.Int32, cols: cutlass.Int32):
    thread, _, _ = cute.arch.thread_idx()
    block, _, _ = cute.arch.block_idx()
    lane = thread % LANES
    row = block * WARPS + thread // LANES
    if row < rows:
        top = -cutlass.Float32.inf
        for at in range(lane, cols, LANES):
            top = cute.arch.fmax(top, x[row, at])
        top = cute.arch.warp_reduction(top, cute.arch.fmax)
        total = cutlass.Float32(0.0)
        for at in range(lane, cols, LANES):
            total += cute.math.exp(x[row, at] - top)
        total = cute.arch.warp_reduction(total, lambda a, b: a + b)
        for at in range(lane, cols, LANES):
            y[row, at] = cute.math.exp(x[row, at] - top) / total


@cute.jit
def softmax(x: cute.Tensor, y: cute.Tensor, rows: cutlass.Int32, cols: cutlass.Int32):
    softmax_rows(x, y, rows, cols).launch(grid=((rows + WARPS - 1) // WARPS, 1, 1),
                                          block=(WARPS * LANES, 1, 1))


compiled = None


def tensor(value):
    return from_dlpack(value).mark_layout_dynamic()


def run_kernel(x, y, rows, cols):
    global compiled
    if compiled is None:
        compiled = cute.compile(softmax, tensor(x), tensor(y), rows, cols)
    compiled(tensor(x), tensor(y), rows, cols)
