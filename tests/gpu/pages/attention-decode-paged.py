"""One query a sequence against its pages of keys and values."""

import numpy as np
import torch


def inputs(batch, pages, seed):
    random = np.random.default_rng(seed)
    tables = random.permutation(batch * pages).astype(np.int32).reshape(batch, pages)
    # Short caches of any length; long ones full but for the last page, so that the bytes are known.
    fewest = 1 if pages < 64 else 16 * pages - 15
    lengths = random.integers(fewest, 16 * pages + 1, batch).astype(np.int32)
    return {"inputs": {"tables": tables, "lengths": lengths}}


def reference(q, k, v, tables, lengths, **_):
    batch, kv_heads = q.shape[0], k.shape[2]
    group = q.shape[1] // kv_heads
    kind = torch.float64 if q.dtype == torch.float64 else torch.float32
    out = torch.empty_like(q)
    for b in range(batch):
        pages = tables[b].long()
        keys = k[pages].reshape(-1, kv_heads, 128)[:int(lengths[b])].to(kind)
        values = v[pages].reshape(-1, kv_heads, 128)[:int(lengths[b])].to(kind)
        queries = q[b].reshape(kv_heads, group, 128).to(kind)
        scores = torch.einsum("hgd,thd->hgt", queries, keys) / 128 ** 0.5
        out[b] = torch.einsum("hgt,thd->hgd", torch.softmax(scores, -1), values).reshape(-1, 128).to(q.dtype)
    return out


LIBRARY = {
    "kernel": """
import torch

def run_kernel(q, k, v, o, **_):
    o.copy_(torch.nn.functional.scaled_dot_product_attention(
        q[:, :, None], k, v, enable_gqa=True)[:, :, 0])
""",
    "reference": """
import torch

def reference(q, k, v, **_):
    return torch.nn.functional.scaled_dot_product_attention(
        q[:, :, None], k, v, enable_gqa=True)[:, :, 0].contiguous()
""",
    "tensors": [
        {"name": "q", "dtype": "bfloat16", "shape": ["batch", "kv_heads * group", "128"], "role": "in"},
        {"name": "k", "dtype": "bfloat16", "shape": ["batch", "kv_heads", "16 * pages", "128"], "role": "in"},
        {"name": "v", "dtype": "bfloat16", "shape": ["batch", "kv_heads", "16 * pages", "128"], "role": "in"},
        {"name": "o", "dtype": "bfloat16", "shape": ["batch", "kv_heads * group", "128"], "role": "out"}],
    "work": {"bytes": "8192 * batch * kv_heads * pages",
             "flops": "8192 * batch * kv_heads * group * pages", "type": "bfloat16"},
}
