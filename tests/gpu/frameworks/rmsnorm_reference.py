"""RMS norm of rows by torch, or by the library when it is the requested baseline."""

import torch


def reference(x, w, baseline=None, **_):
    if baseline == "flashinfer":
        import flashinfer
        return flashinfer.norm.rmsnorm(x, w, eps=1e-6)
    value = x.float()
    scale = torch.rsqrt(value.square().mean(dim=1, keepdim=True) + 1e-6)
    return (value * scale * w.float()).to(x.dtype)
