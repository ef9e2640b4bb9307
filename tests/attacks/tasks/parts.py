import torch  # for tensors, not arrays


def reference(x, **_):
    return {"twice": 2 * x, "positive": x > 0, "even": x[::2]}
