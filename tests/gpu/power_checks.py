#!/usr/bin/env python3
"""What is said of clocks that power or heat limit: a large matrix product by torch, timed and benchmarked, beside a
copy, which draws less.

    tests/gpu/power_checks.py RATCHET OUT     RATCHET_PYTHON names a Python with torch

A table goes to OUT/power.md. Whether a card comes to its limit is the card's matter; that the flag, the clocks
and the notes agree is checked. Without a GPU, small sizes on the processor try the script. Changes no setting of
the device.
"""

import pathlib
import sys
import tempfile

from served_table import ServedTable

LIMITED = 0.9  # kPowerLimitedShare of kernels/timing/statistics.h
BODIES = {"product": "torch.matmul(a, b)", "copy": "a + b"}
REFERENCE = """import torch


def reference(a, b, **_):
    return {body}
"""
KERNEL = """import torch


def {name}(a, b):
    return {body}
"""


class Power(ServedTable):
    def asked(self, name):
        body, folder = BODIES[name], self.root
        (folder / f"{name}.py").write_text(KERNEL.format(name=name, body=body), encoding="utf-8")
        (folder / f"ref_{name}.py").write_text(REFERENCE.format(body=body), encoding="utf-8")
        kind = "bfloat16" if self.gpu else "float32"
        tensors = [{"name": one, "dtype": kind, "shape": ["n", "n"], "role": "out" if one == "c" else "in"} for one in "abc"]
        answer = self.told("create_run", {
            "kernel": {"path": str(folder / f"{name}.py")}, "reference": {"path": str(folder / f"ref_{name}.py")},
            "call": "function", "entry": name,
            "signature": {"args": [{"tensor": "a"}, {"tensor": "b"}], "returns": {"tensor": "c"}},
            "dims": {"n": 8192 if self.gpu else 128}, "tensors": tensors, "atol": 2.0, "rtol": 0.02,
            "work": {"flops": "2*n*n*n" if name == "product" else "n*n", "bytes": "6*n*n"},
            "output_dir": str(folder / f"run_{name}")})
        run = {"run": answer["run"]}
        self.told("check_correctness", run)
        self.say_profile(name, self.told("profile_kernel", run))
        benchmark = self.told("benchmark", {**run, "num_trials": 300, "baselines": ["none"], "wait_s": 120})
        for note in benchmark.get("notes", []):
            self.row(f"{name}: benchmark", note, None)

    def told(self, tool, arguments):
        answer, refused = self.server.call(tool, arguments)
        if refused is not None or not answer.get("passed", True) or answer.get("reasons"):
            raise RuntimeError(f"{tool}: {refused or answer['reasons']}")
        return answer

    def say_profile(self, name, profile):
        timing = profile.get("timing", profile)
        clock, highest = timing.get("clock_mhz"), timing.get("device_clock_mhz")
        flagged = "power_limited" in timing.get("flags", [])
        self.row(f"{name}: profile", f"{timing.get('median_ns', 0) / 1e3:.1f} us, clock {clock} of {highest} MHz, "
                 f"flags {timing.get('flags')}, caveats {profile.get('caveats')}",
                 not flagged if clock is None or highest is None else flagged == (clock < LIMITED * highest))


def main():
    ratchet, out = sys.argv[1], pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        power = Power(ratchet, pathlib.Path(folder), 60)
        for name in BODIES:
            try:
                power.asked(name)
            except RuntimeError as error:
                power.row(f"{name}: everything was asked", str(error)[:300], False)
        failed = power.write(out, "power.md", "Clocks under load", "tests/gpu/power_checks.py")
        power.server.close()
    return failed


if __name__ == "__main__":
    sys.exit(main())
