"""c = (a * a_scales) (b * b_scales)^T with a scale for 1 x 128 elements of a and 128 x 128 of b."""

import torch


def reference(a, b, a_scales, b_scales, **_):
    kind = torch.float64 if a.dtype == torch.float64 else torch.float32
    n, k = b.shape
    left = a.to(kind) * a_scales.to(kind).repeat_interleave(128, dim=1)[:, :k]
    wide = b_scales.to(kind).repeat_interleave(128, dim=0)[:n].repeat_interleave(128, dim=1)[:, :k]
    product = left @ (b.to(kind) * wide).t()
    return product if kind == torch.float64 else product.to(torch.bfloat16)
