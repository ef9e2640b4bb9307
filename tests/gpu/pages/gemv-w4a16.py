"""y = ((w - 8) * scale) x with eight 4-bit weights a word."""

import numpy as np
import torch


def inputs(N, K, seed):
    random = np.random.default_rng(seed)
    return {"inputs": {"w": random.integers(0, 1 << 32, (N, K // 8), dtype=np.uint32)}}


def reference(w, scales, x, **_):
    words = w.view(torch.int32).reshape(w.shape[0], -1, 1)
    shifts = 4 * torch.arange(8, dtype=torch.int32, device=w.device)
    # Nibbles p and p + 4 hold the elements 2p and 2p + 1.
    nibbles = ((words >> shifts) & 15).reshape(*words.shape[:2], 2, 4).transpose(2, 3)
    weights = nibbles.reshape(w.shape[0], -1, 128).to(torch.float64) - 8
    weights = (weights * scales.to(torch.float64)[:, :, None]).reshape(w.shape[0], -1)
    return (weights @ x.to(torch.float64)).to(x.dtype)


LIBRARY = {
    "kernel": """
import torch

def run_kernel(w, x, y, **_):
    torch.mv(w, x, out=y)
""",
    "reference": """
import torch

def reference(w, x, **_):
    return torch.mv(w, x)
""",
    "tensors": [{"name": "w", "dtype": "float16", "shape": ["N", "K"], "role": "in"},
                {"name": "x", "dtype": "float16", "shape": ["K"], "role": "in"},
                {"name": "y", "dtype": "float16", "shape": ["N"], "role": "out"}],
    "work": {"bytes": "2 * N * K + 2 * K + 2 * N", "flops": "2 * N * K", "type": "float16"},
}
