"""c = (a a_scales) (b b_scales)^T, with scales for 1 x 128 of a and 128 x 128 of b."""

import torch


def reference(a, b, a_scales, b_scales, **_):
    kind = torch.float64 if a.dtype == torch.float64 else torch.float32
    left = a.to(kind) * a_scales.to(kind).repeat_interleave(128, 1)
    scales = b_scales.to(kind).repeat_interleave(128, 0)[:b.shape[0]].repeat_interleave(128, 1)
    c = left @ (b.to(kind) * scales).t()
    return c if kind == torch.float64 else c.to(torch.bfloat16)


LIBRARY = {
    "kernel": """
import torch

one = None

def run_kernel(a, b, c, **_):
    global one
    if one is None:
        one = torch.ones((), device=a.device)
    torch._scaled_mm(a, b.t(), scale_a=one, scale_b=one, out_dtype=torch.bfloat16, out=c)
""",
    "reference": """
import torch

def reference(a, b, **_):
    return (a.float() @ b.float().t()).to(torch.bfloat16)
""",
    "tensors": [{"name": "a", "dtype": "float8_e4m3", "shape": ["m", "k"], "role": "in"},
                {"name": "b", "dtype": "float8_e4m3", "shape": ["n", "k"], "role": "in"},
                {"name": "c", "dtype": "bfloat16", "shape": ["m", "n"], "role": "out"}],
    "work": {"bytes": "m * k + n * k + 2 * m * n", "flops": "2 * m * n * k", "type": "float8_e4m3"},
}
