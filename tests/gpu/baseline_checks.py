#!/usr/bin/env python3
"""Baselines at a kernel's precision: eager torch, torch.compile, cuBLAS and cuDNN by torch and by a vendor's
caller, FlashInfer.

    tests/gpu/baseline_checks.py RATCHET OUT [SECONDS]      RATCHET_PYTHON names a Python with torch

Every kernel is the reference's own code: a baseline that computed less precisely than kernels do would be
faster. Three servers of their own state ask at once, because most of a benchmark is the start of processes and
compiling. What is timed at the same time lets both sides of a row wait alike; a row that is off is asked again
alone. Each kind of baseline comes in the first tasks. A table goes to OUT/baselines.md; what SECONDS (default
150) leave no time for is not asked. Without a GPU, small sizes on the processor try the script. Changes no
setting of the device.
"""

import importlib.util
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import time

from served_table import ServedTable  # makes the next one importable
from drivers import in_threads, served

ALIKE = (0.85, 1.18)  # the time of the same code at the same precision
TRIALS = 20
AT_ONCE = 3  # servers
ALONE = 25  # seconds that a benchmark needs alone
KINDS = ("vendor", "pytorch-eager", "torch-compile", "flashinfer")
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
    """By name, in the order in which they are asked: every kind of baseline, then what tells less."""
    size, channels, side = (2048, 64, 56) if gpu else (64, 8, 12)
    square = [["n", "n"]] * 3
    image = [["8", "c", "s", "s"], ["c", "c", "3", "3"], ["8", "c", "s - 2", "s - 2"]]
    rows = [["n", "n"], ["n"], ["n", "n"]]
    conv, product = {"c": channels, "s": side}, {"n": size}
    return {"norm of rows, bfloat16": task("bfloat16", rows, product, NORM, other=BY_FLASHINFER),
            "convolution, float32, whose file turns TF32 on":
                task("float32", image, conv, CONVOLUTION, LESS),
            "product, float32, whose file turns TF32 on": task("float32", square, product, PRODUCT, LESS),
            "product, bfloat16": task("bfloat16", square, product, PRODUCT),
            "convolution, float32": task("float32", image, conv, CONVOLUTION),
            "product, float32": task("float32", square, product, PRODUCT)}


class Measured:
    """One run, which a server of its own benchmarks: medians by row, and what is said of those without."""

    def __init__(self, server, run, baselines):
        self.server, self.run, self.baselines = server, run, baselines
        self.medians, self.absent = {}, {}

    def ask(self):
        report, refused = self.server.call("benchmark", {
            "run": self.run, "num_trials": TRIALS, "baselines": self.baselines})
        if refused is not None:
            raise RuntimeError(refused)
        rows = {row["name"]: row for row in report["rows"]}
        self.medians = {one: row["median_ns"] for one, row in rows.items() if "median_ns" in row}
        self.absent = {one: row.get("detail", "") for one, row in rows.items() if "median_ns" not in row}

    def ratio(self, name):
        own = self.medians.get("candidate")
        return self.medians[name] / own if own and name in self.medians else None


class Checks(ServedTable):
    def __init__(self, ratchet, root, seconds):
        super().__init__(ratchet, root, seconds)
        self.begin = time.monotonic()
        self.servers = [self.server] + [served(ratchet, root, at) for at in range(1, AT_ONCE)]
        self.plan, self.off, self.seen = queue.SimpleQueue(), [], set()

    def measured(self, server, name, request, baselines):
        """Creates a run, checks it and benchmarks it."""
        folder = self.root / name.replace(" ", "-").replace(",", "")
        folder.mkdir()
        if "kernel" in request:
            path = folder / "kernel.py"  # its ending leaves the device open
            path.write_text(request["kernel"], encoding="utf-8")
            request = {**request, "kernel": {"path": str(path)}}
        created, refused = server.call("create_run", {
            **request, "any_size": False, "output_dir": str(folder / "run"), "baselines": baselines})
        if refused is not None:
            raise RuntimeError(refused)
        checked, refused = server.call("check_correctness", {"run": created["run"]})
        if refused is not None or not checked["passed"]:
            raise RuntimeError(refused or str(checked["reasons"]))
        measured = Measured(server, created["run"], baselines)
        measured.ask()
        return measured

    def alike(self, name, measured):
        """Whether eager torch, which is the same code, takes as long."""
        ratio = measured.ratio("pytorch-eager")
        return "norm" in name or not self.gpu or (ratio is not None and ALIKE[0] <= ratio <= ALIKE[1])

    def framework(self, server, name, request):
        baselines = ["pytorch-eager", "torch-compile"] + ["flashinfer"] * ("norm" in name)
        measured = self.measured(server, name, request, baselines)
        if self.alike(name, measured):
            self.judge(name, measured)
        else:
            self.off.append((name, measured))

    def judge(self, name, measured):
        for one in measured.baselines:
            ratio = measured.ratio(one)
            self.seen |= {one} & set(measured.medians)
            value = measured.absent.get(one, "") if ratio is None else \
                f"{ratio:.3f} of the same code's {measured.medians['candidate'] / 1000:.1f} us"
            if one == "flashinfer":
                passed = (ratio is not None) == has_flashinfer() or not self.gpu
            else:
                passed = ratio is not None and (one != "pytorch-eager" or self.alike(name, measured))
            self.row(f"{name}: {one}", value, passed)

    def vendor(self, server):
        """cuBLAS beside the naive kernel of a shipped problem."""
        name = "product of float32 by cuBLAS, called from C++"
        request = {"problem": "matmul", "implementation": "cuda-cpp"}
        measured = self.measured(server, name, request, ["vendor"])
        ratio = measured.ratio("vendor")
        self.seen |= {"vendor"} & set(measured.medians)
        self.row(name, measured.absent.get("vendor", "") if ratio is None else
                 f"{ratio:.3f} of the naive kernel's {measured.medians['candidate'] / 1000:.1f} us",
                 ratio is not None)

    def work(self, server):
        while True:
            try:
                name, ask = self.plan.get_nowait()
            except queue.Empty:
                return
            if time.monotonic() > self.end:
                self.row(name, "not asked: the time is over", None)
                continue
            begin = time.monotonic()
            try:
                ask(server)
            except RuntimeError as error:
                self.row(name, str(error)[:300], False)
            now = time.monotonic()
            self.row(f"{name}: seconds", f"{now - begin:.1f}, until {now - self.begin:.1f}", None)

    def again(self):
        """What was off beside others, alone."""
        for name, measured in self.off:
            ratio = measured.ratio("pytorch-eager")
            if time.monotonic() + ALONE < self.end:
                self.row(f"{name}: beside others", f"{ratio} times as long: asked again alone", None)
                measured.ask()
            self.judge(name, measured)

    def all(self):
        if self.gpu:
            self.plan.put(("vendor", self.vendor))
        for name, request in tasks(self.gpu).items():
            self.plan.put((name, lambda server, name=name, request=request:
                           self.framework(server, name, request)))
        in_threads(self.work, [(server,) for server in self.servers])
        self.again()
        for one in KINDS:
            wanted = self.gpu and (one != "flashinfer" or has_flashinfer())
            self.row(f"{one} was seen", one in self.seen, one in self.seen or not wanted)


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
                        float(sys.argv[3]) if len(sys.argv) > 3 else 150)
        try:
            checks.all()
        except RuntimeError as error:
            checks.row("everything was asked", error, False)
        failed = checks.write(out, "baselines.md", "Baselines at a kernel's precision",
                              "tests/gpu/baseline_checks.py")
        for server in checks.servers:
            server.close()
    return failed


if __name__ == "__main__":
    sys.exit(main())
