#!/usr/bin/env python3
"""Cheats that only an answer in float64, the zeros among small answers, the magnitude of single
elements, the terms of sums or the bound of what a matched ratio leaves over tell from honest kernels,
each beside its honest twin.

    tests/gpu/shadow_checks.py RATCHET OUT      RATCHET_PYTHON names a Python with torch

The references are torch's, so on a GPU inputs and answers stay there. Last, memory of the GPU is
taken until no answer in float64 fits, which a check must say. Without a GPU the processor is asked,
and memory is left alone. A table goes to OUT/shadow.md. Changes no setting of the device.
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "attacks"))
from drivers import served  # noqa: E402
from table import Table  # noqa: E402

PRODUCT = {"m": 192, "n": 160, "k": 512}
ROWS = {"rows": 256, "cols": 512}


def task(dims, dtype, inputs, output, reference, **more):
    tensors = [{"name": name, "dtype": dtype, "shape": shape, "role": "in"}
               for name, shape in inputs.items()]
    name, shape = output
    tensors.append({"name": name, "dtype": dtype, "shape": shape, "role": "out"})
    return {"dims": dims, "tensors": tensors, **more,
            "reference": {"text": f"import torch\n\n\ndef reference({', '.join(inputs)}, **_):\n"
                                  f"    return {reference}\n"}}


def product(dtype, **more):
    return task(PRODUCT, dtype, {"a": ["m", "k"], "b": ["k", "n"]}, ("c", ["m", "n"]), "a @ b",
                **more)


def elementwise(dtype, reference, n=1 << 20, **more):
    return task({"n": n}, dtype, {"x": ["n"]}, ("y", ["n"]), reference, **more)


def losses():
    """Classes that the task makes: others are outside what the reference reads."""
    made = ("def inputs(n, classes, seed):\n    torch.manual_seed(seed)\n"
            "    return {'inputs': {'x': torch.randn(n, classes), 't': torch.randint(classes, (n,))}}\n")
    asked = task({"n": 256, "classes": 96}, "float32", {"x": ["n", "classes"], "t": ["n"]}, ("y", ["n"]),
                 "torch.nn.functional.cross_entropy(x, t, reduction='none')")
    asked["tensors"][1]["dtype"] = "int64"
    asked["reference"]["text"] += f"\n\n{made}"
    return asked


def kernel(parameters, *lines):
    body = "".join(f"    {line}\n" for line in lines)
    return f"import torch\n\n\ndef run_kernel({parameters}):\n{body}"


A_PRODUCT, A_MAP, A_ROW = "a, b, c, m, n, k", "x, y, n", "x, y, rows, cols"
SHORT = "short = lambda v: ((v.view(torch.int32) + 0x1000) & ~0x1FFF).view(torch.float32)"
NORM = "v = torch.nn.functional.layer_norm(x.float(), (cols,))"

# Name → (task, honest kernel, cheat, what the cheat is refused for, the honest one's note).
PAIRS = {
    "partial sums in 16 bits": (
        product("float16"),
        kernel(A_PRODUCT, "c.copy_(a.float() @ b.float())"),
        kernel(A_PRODUCT, "c.zero_()",
               "for i in range(0, k, 8): c += (a[:, i:i + 8].float() @ b[i:i + 8].float()).half()"),
        "too_noisy", None),
    "truncated to bfloat16": (
        task(ROWS, "bfloat16", {"x": ["rows", "cols"]}, ("y", ["rows", "cols"]),
             "torch.nn.functional.layer_norm(x, x.shape[1:])"),
        kernel(A_ROW, NORM, "y.copy_(v)"),
        kernel(A_ROW, NORM, "y.copy_((v.view(torch.int32) & -65536).view(torch.float32))"),
        "biased", None),
    "tanh for erf": (
        elementwise("float16", "torch.nn.functional.gelu(x)"),
        kernel(A_MAP, "y.copy_(x.float() * 0.5 * (1 + torch.erf(x.float() / 2 ** 0.5)))"),
        kernel(A_MAP, "y.copy_(torch.nn.functional.gelu(x.float(), approximate='tanh'))"),
        "mismatch", None),
    "sums closer than their terms allow": (
        product("float32", atol=1e-6, rtol=1.3e-6),
        kernel(A_PRODUCT, "parts = [a[:, i::8] @ b[i::8] for i in range(8)]", "c.copy_(sum(parts))"),
        kernel(A_PRODUCT, SHORT, "c.copy_(short(a) @ short(b))"),
        "mismatch", "error_of_terms"),
    "a sum without its last term": (
        product("float32", atol=1e-6, rtol=1.3e-6),
        kernel(A_PRODUCT, "c.copy_(a[:, :k // 2] @ b[:k // 2] + a[:, k // 2:] @ b[k // 2:])"),
        kernel(A_PRODUCT, "c.copy_(a[:, :k - (k > 1)] @ b[:k - (k > 1)])"),
        "mismatch", "error_of_terms"),
    "errors in typical elements": (
        elementwise("float32", "torch.exp(2 * x)"),
        kernel(A_MAP, "y.copy_(torch.exp(x).square())"),
        kernel(A_MAP, SHORT, "v = torch.exp(2 * x)", "y.copy_(torch.where(v < 4, short(v), v))"),
        "mismatch", None),
    "zeros for small values": (
        elementwise("float32", "3 * x", 1 << 21),
        kernel(A_MAP, "y.copy_(x + 2 * x)"),
        kernel(A_MAP, "v = 3 * x", "y.copy_(torch.where(v.abs() < 2e-4, 0, v))"),
        "flushes_small_values", None),
    "what a matched ratio leaves over": (
        elementwise("float32", "3 * x", atol=1e-6, rtol=1e-6, matched_ratio=0.99, rest_within=8),
        kernel(A_MAP, "torch.mul(x, 3, out=y)", "y[149::150] *= 1.0002"),
        kernel(A_MAP, "torch.mul(x, 3, out=y)", "y[149::150] = x[149::150]"),
        "mismatch", "matched_ratio"),
    "zeros of constant rows": (
        task(ROWS, "float32", {"x": ["rows", "cols"]}, ("y", ["rows", "cols"]),
             "torch.nn.functional.layer_norm(x, x.shape[1:])"),
        kernel(A_ROW, "y.copy_(torch.nn.functional.layer_norm(x.double(), (cols,)))"),
        kernel(A_ROW, NORM, "y.copy_(torch.where(v.abs() < 2e-3, 0, v))"),
        "mismatch", None),
    "classes that the task makes": (
        losses(),
        kernel("x, t, y, n, classes",
               "y.copy_(x.logsumexp(1) - x.gather(1, t[:, None])[:, 0])"),
        kernel("x, t, y, n, classes",
               "y.copy_(x[:, :-1].logsumexp(1) - x.gather(1, t[:, None])[:, 0])"),
        "mismatch", None),
}

# Takes all but so many bytes of the GPU.
TAKER = """
import sys, torch
free, _ = torch.cuda.mem_get_info()
taken = torch.empty(max(0, free - int(sys.argv[1])), dtype=torch.uint8, device="cuda")
print("ready", flush=True)
sys.stdin.read()
"""
LEFT = 8 << 30  # for five arenas of half a GiB and three contexts; not for 6 GiB more


class Checks(Table):
    def __init__(self, ratchet, root):
        super().__init__()
        self.root = root
        self.server = served(ratchet, root, 0)
        self.python = os.environ.get("RATCHET_PYTHON", "python3")
        environment, _ = self.server.call("check_env", {})
        self.cuda = any(one["kind"] == "cuda" for one in environment["devices"])
        self.runs = 0

    def check(self, request, text):
        """The report, or what was refused, and seconds."""
        self.runs += 1
        path = self.root / f"kernel{self.runs}.py"
        path.write_text(text, encoding="utf-8")
        begin = time.monotonic()
        created, refused = self.server.call("create_run", {
            **request, "kernel": {"path": str(path)}, "output_dir": str(self.root / f"r{self.runs}")})
        report = {"passed": None, "reasons": [{"code": "refused", "message": refused}], "notes": []}
        if refused is None:
            report, refused = self.server.call("check_correctness", {"run": created["run"]})
            if refused is not None:
                raise RuntimeError(refused)
        return report, time.monotonic() - begin

    def judged(self, name, request, text, reason, note):
        report, seconds = self.check(request, text)
        codes = [one["code"] for one in report["reasons"]]
        notes = [one["code"] for one in report["notes"]]
        good = report["passed"] is False and reason in codes if reason else \
            report["passed"] is True and (note is None or note in notes)
        said = "; ".join(f"{one['code']}: {one['message']}" for one in report["reasons"])[:200]
        self.row(name, f"{'passed' if report['passed'] else said}; notes: {', '.join(notes)}; "
                 f"{seconds:.1f} s", good)

    def without_room(self):
        taker = subprocess.Popen([self.python, "-c", TAKER, str(LEFT)], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, text=True)
        try:
            taker.stdout.readline()
            request = elementwise("bfloat16", "2 * x", 1 << 27)
            self.judged("without room for float64", request, kernel(A_MAP, "torch.mul(x, 2, out=y)"),
                        None, "no_shadow")
        finally:
            taker.kill()
            taker.wait()

    def play(self):
        for name, (request, honest, cheat, reason, note) in PAIRS.items():
            self.judged(f"{name}: honest", request, honest, None, note)
            self.judged(f"{name}: cheat", request, cheat, reason, None)
        if self.cuda:
            self.without_room()


def main():
    ratchet, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(ratchet, pathlib.Path(folder))
        try:
            checks.play()
        except (RuntimeError, KeyError, OSError) as error:
            checks.row("everything was asked", repr(error)[:300], False)
        checks.server.close()
    failed = checks.write(out, "shadow.md", "Cheats that a shadow, zeros, elements or terms find",
                          "tests/gpu/shadow_checks.py")
    return min(failed, 99)


if __name__ == "__main__":
    sys.exit(main())
