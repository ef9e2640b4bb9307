#!/usr/bin/env python3
"""Baselines at a kernel's precision: eager torch, torch.compile, cuBLAS and cuDNN by torch and by a vendor's
caller, FlashInfer.

    tests/gpu/baseline_checks.py RATCHET OUT [SECONDS]      RATCHET_PYTHON names a Python with torch

Every kernel is the reference's own code: a baseline that computed less precisely than kernels do would be
faster. A table goes to OUT/baselines.md; what SECONDS (default 55) leave no time for is not asked. Without a
GPU, small sizes on the processor try the script. Changes no setting of the device.
"""

import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from served_table import ServedTable

ALIKE = (0.85, 1.18)  # the time of the same code at the same precision
TRIALS = 20
LESS = ("torch.set_float32_matmul_precision('high')\ntorch.backends.cudnn.allow_tf32 = True\n"
        "torch.backends.cudnn.benchmark = False\n")
PRODUCT = "    return x @ w\n"
CONVOLUTION = "    return torch.nn.functional.conv2d(x, w)\n"
NORM = "    return (x.float() * (x.float().square().mean(-1, keepdim=True) + 1e-6).rsqrt() * w.float()).to(x.dtype)\n"
BY_FLASHINFER = ("    if baseline == 'flashinfer':\n        import flashinfer\n"
                 "        return flashinfer.norm.rmsnorm(x, w)\n")


def task(kind, shapes, dims, body, before="", other=""):
    """create_run's arguments for a function of x and w; `before`: what the reference's file sets."""
    names = zip("xwy", ("in", "in", "out"))
    return {"call": "function", "entry": "run", "dims": dims,
            "tensors": [{"name": name, "dtype": kind, "shape": shape, "role": role}
                        for (name, role), shape in zip(names, shapes)],
            "signature": {"args": [{"tensor": "x"}, {"tensor": "w"}], "returns": {"tensor": "y"}},
            "kernel": f"import torch\n\n\ndef run(x, w):\n{body}",
            "reference": {"text": f"import torch\n{before}\n\ndef reference(x, w, baseline='', **_):\n"
                                  f"{other}{body}"}}


def tasks(gpu):
    size, channels, side = (4096, 64, 56) if gpu else (64, 8, 12)
    square = [["n", "n"]] * 3
    image = [["8", "c", "s", "s"], ["c", "c", "3", "3"], ["8", "c", "s - 2", "s - 2"]]
    rows = [["n", "n"], ["n"], ["n", "n"]]
    conv, product = {"c": channels, "s": side}, {"n": size}
    return {"product, float32": task("float32", square, product, PRODUCT),
            "product, float32, whose file turns TF32 on": task("float32", square, product, PRODUCT, LESS),
            "convolution, float32": task("float32", image, conv, CONVOLUTION),
            "convolution, float32, whose file turns TF32 on":
                task("float32", image, conv, CONVOLUTION, LESS),
            "norm of rows, bfloat16": task("bfloat16", rows, product, NORM, other=BY_FLASHINFER),
            "product, bfloat16": task("bfloat16", square, product, PRODUCT)}


class Checks(ServedTable):
    def benchmarked(self, name, request, baselines):
        """Medians by row, and what is said of those without."""
        self.runs += 1
        if "kernel" in request:
            path = self.root / f"kernel{self.runs}.py"  # its ending leaves the device open
            path.write_text(request["kernel"], encoding="utf-8")
            request = {**request, "kernel": {"path": str(path)}}
        created, refused = self.server.call("create_run", {
            **request, "output_dir": str(self.root / f"run{self.runs}"), "baselines": baselines})
        if refused is None:
            checked, refused = self.server.call("check_correctness", {"run": created["run"]})
        if refused is None and not checked["passed"]:
            refused = str(checked["reasons"])[:300]
        if refused is None:
            report, refused = self.server.call("benchmark", {
                "run": created["run"], "num_trials": TRIALS, "baselines": baselines})
        if refused is not None:
            self.row(name, refused[:300], False)
            return None, {}
        rows = {row["name"]: row for row in report["rows"]}
        return ({one: row["median_ns"] for one, row in rows.items() if "median_ns" in row},
                {one: row.get("detail", "") for one, row in rows.items() if "median_ns" not in row})

    def framework(self, name, request):
        baselines = ["pytorch-eager", "torch-compile"]
        library = "norm" in name
        medians, absent = self.benchmarked(name, request, baselines + ["flashinfer"] * library)
        if medians is None:
            return
        own = medians["candidate"]
        for one in baselines:
            ratio = medians[one] / own if one in medians else None
            alike = ratio is not None and (one != "pytorch-eager" or "norm" in name or
                                           ALIKE[0] <= ratio <= ALIKE[1] or not self.gpu)
            self.row(f"{name}: {one}", f"{ratio:.3f} of the same code's {own / 1000:.1f} us"
                     if ratio else absent.get(one), alike)
        if library:
            there = has_flashinfer()
            said = f"{medians['flashinfer'] / own:.3f} of the reference's own code" \
                if "flashinfer" in medians else absent.get("flashinfer", "")
            self.row(f"{name}: flashinfer", said, ("flashinfer" in medians) == there or not self.gpu)

    def vendor(self):
        """cuBLAS beside the naive kernel of a shipped problem."""
        if not self.gpu:
            return
        medians, absent = self.benchmarked("cuBLAS", {"problem": "matmul", "implementation": "cuda-cpp"},
                                           ["vendor"])
        if medians is not None:
            self.row("product of float32 by cuBLAS, called from C++", f"{medians['vendor'] / 1000:.1f} us, "
                     f"the naive kernel {medians['candidate'] / 1000:.1f} us"
                     if "vendor" in medians else absent.get("vendor"), "vendor" in medians)

    def all(self):
        self.vendor()
        for name, request in tasks(self.gpu).items():
            if time.monotonic() > self.end:
                self.row(name, "not asked: the time is over", None)
                continue
            begin = time.monotonic()
            self.framework(name, request)
            self.row(f"{name}: seconds", f"{time.monotonic() - begin:.1f}", None)


def has_flashinfer():
    python = os.environ.get("RATCHET_PYTHON", sys.executable)
    if python == sys.executable:
        return importlib.util.find_spec("flashinfer") is not None
    return subprocess.run([python, "-c", "import importlib.util, sys; "
                           "sys.exit(importlib.util.find_spec('flashinfer') is None)"]).returncode == 0


def main():
    ratchet, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(ratchet, pathlib.Path(folder),
                        float(sys.argv[3]) if len(sys.argv) > 3 else 55)
        try:
            checks.all()
        except RuntimeError as error:
            checks.row("everything was asked", error, False)
        failed = checks.write(out, "baselines.md", "Baselines at a kernel's precision",
                              "tests/gpu/baseline_checks.py")
        checks.server.close()
    return failed


if __name__ == "__main__":
    sys.exit(main())
