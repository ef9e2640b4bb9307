"""Each group of rows times its own matrix."""

import torch


def reference(A, B, offsets, N, **_):
    ends = offsets.tolist()
    out = torch.empty((A.shape[0], N), dtype=A.dtype, device=A.device)
    for group in range(B.shape[0]):
        rows = slice(ends[group], ends[group + 1])
        out[rows] = torch.matmul(A[rows], B[group].t())
    return out


LIBRARY = {
    "kernel": """
import torch

def run_kernel(A, B, offsets, C, **_):
    C.copy_(torch._grouped_mm(A, B.transpose(1, 2), offs=offsets[1:]))
""",
    "reference": """
import torch

def reference(A, B, offsets, N, **_):
    ends = offsets.tolist()
    out = torch.empty((A.shape[0], N), dtype=A.dtype, device=A.device)
    for group in range(B.shape[0]):
        rows = slice(ends[group], ends[group + 1])
        out[rows] = torch.matmul(A[rows], B[group].t())
    return out
""",
    "tensors": [{"name": "A", "dtype": "bfloat16", "shape": ["rows", "K"], "role": "in"},
                {"name": "B", "dtype": "bfloat16", "shape": ["groups", "N", "K"], "role": "in"},
                {"name": "offsets", "dtype": "int32", "shape": ["groups + 1"], "role": "in", "init": "offsets(rows)"},
                {"name": "C", "dtype": "bfloat16", "shape": ["rows", "N"], "role": "out"}],
    "work": {"bytes": "2 * (rows * K + groups * N * K + rows * N)", "flops": "2 * rows * N * K",
             "type": "bfloat16"},
}
