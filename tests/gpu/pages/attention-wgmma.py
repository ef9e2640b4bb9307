"""Attention by torch, whose fastest way for these sizes is a flash kernel."""

import torch


def reference(q, k, v, causal, **_):
    return torch.nn.functional.scaled_dot_product_attention(
        q[None], k[None], v[None], is_causal=bool(causal))[0]
