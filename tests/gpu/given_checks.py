#!/usr/bin/env python3
"""Inputs that a suite's own code makes, beside inputs that the server generates: the same module, in
KernelBench's form, imported and judged on this device.

    tests/gpu/given_checks.py RATCHET OUT [ROUNDS|short]    RATCHET_PYTHON names a Python with torch

Asks how long create_run and check_correctness take for both (aim: 1.5 times as long at most), that
kernels of imported problems are judged as they should be, and that inputs which cannot be made twice
or changed do not spoil the verdict on a timed call. `short`: one task without an import, in some 20 s. Without a GPU the processor is asked. Writes
given.md and given.json into OUT. Changes no setting of the device.
"""

import json
import pathlib
import statistics
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "attacks"))
from client import devices_text  # noqa: E402
from drivers import now, served  # noqa: E402

AIM = 1.5
MODULE = '''import torch
import torch.nn as nn


class Model(nn.Module):
    """Scales columns, adds a bias, and keeps what is positive."""

    def __init__(self, features):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x):
        return torch.relu(x * self.weight + self.bias)


batch = 4096
features = 1024


def get_inputs():
    return [INPUT]


def get_init_inputs():
    return [features]
'''
RANDOM = "torch.randn(batch, features)"
# Rows that ascend, which a reference insists on.
SORTED = "torch.randn(batch, features).sort(dim=0).values"
INSISTS = "        assert (x[1:] >= x[:-1]).all(), 'rows ascend'\n"
# An import refuses inputs that differ each time; create_run warns of them.
CLOCK = '''import time

import torch


def inputs(n, seed):
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(time.monotonic_ns())
    return {"inputs": {"x": torch.randn(n, device=device), "y": torch.empty(n, device=device)},
            "outputs": ["y"]}


def reference(x, **_):
    return 2 * x
'''
GIVEN = CLOCK.replace("import time\n\n", "").replace("time.monotonic_ns()", "seed")
TWICE = "import torch\n\n\ndef run_kernel(x, y, n):\n    torch.mul(x, 2, out=y)\n"
ALL_BUT_ONE = "import torch\n\n\ndef run_kernel(x, y, n):\n    y[:-1] = 2 * x[:-1]\n    y[-1] = 0\n"
LAZY = '''

class ModelNew(Model):
    def forward(self, x):
        out = super().forward(x)
        out[-1] = 0
        return out
'''
HALF = '''

class ModelNew(Model):
    def forward(self, x):
        return torch.relu(x.bfloat16() * self.weight.bfloat16() + self.bias.bfloat16()).float()
'''


class Checks:
    def __init__(self, ratchet, root):
        self.root = root
        self.server = served(ratchet, root, 0)
        self.rows, self.times, self.runs = [], [], 0
        self.where = devices_text(self.server.call("check_env", {})[0])

    def ask(self, tool, arguments):
        begin = time.monotonic()
        answer, refused = self.server.call(tool, arguments)
        if refused is not None:
            raise RuntimeError(f"{tool}: {refused}")
        return answer, time.monotonic() - begin

    def imported(self, name, text):
        suite = self.root / name
        suite.mkdir()
        (suite / f"1_{name}.py").write_text(text, encoding="utf-8")
        folder = self.root / f"{name}-problem"
        self.ask("import_problem", {"path": str(suite / f"1_{name}.py"), "output_dir": str(folder)})
        return folder

    def generated_twin(self, folder):
        """The same problem without a function that makes inputs."""
        twin = self.root / f"{folder.name}-generated"
        twin.mkdir()
        problem = json.loads((folder / "problem.json").read_text(encoding="utf-8"))
        for tensor in problem["task"]["tensors"]:
            tensor.pop("init", None)
        (twin / "problem.json").write_text(json.dumps(problem), encoding="utf-8")
        reference = (folder / "ref.py").read_text(encoding="utf-8")
        (twin / "ref.py").write_text(reference.replace("\ndef inputs(", "\ndef unused_inputs("),
                                     encoding="utf-8")
        (twin / "v0.py").write_text((folder / "v0.py").read_text(encoding="utf-8"),
                                    encoding="utf-8")
        return twin

    def run(self, task, kernel=None):
        """`task`: the folder of a problem, or arguments of create_run."""
        self.runs += 1
        request = {**(task if isinstance(task, dict) else {"problem": str(task)}),
                   "output_dir": str(self.root / f"run{self.runs}")}
        if kernel:
            path = self.root / f"kernel{self.runs}.py"
            path.write_text(kernel, encoding="utf-8")
            request["kernel"] = {"path": str(path)}
        created, create_s = self.ask("create_run", request)
        checked, check_s = self.ask("check_correctness", {"run": created["run"]})
        return created, create_s, checked, check_s

    def row(self, name, good, said):
        self.rows.append({"check": name, "good": good, "said": said})
        print(f"{'ok  ' if good else 'FAIL'} {name}: {said}", flush=True)

    def compare_times(self, folder, rounds):
        twin = self.generated_twin(folder)
        series = {"given": [], "generated": []}
        for round_number in range(rounds + 1):
            for name, problem in (("given", folder), ("generated", twin)):
                _, create_s, checked, check_s = self.run(problem)
                if round_number:  # the first one builds the judge and imports torch
                    series[name].append((create_s, check_s, len(checked["cases"])))
        medians = {name: [statistics.median(one[part] for one in times) for part in range(3)]
                   for name, times in series.items()}
        self.times = [{"inputs": name, "create_s": create, "check_s": check, "trials": trials}
                      for name, (create, check, trials) in medians.items()]
        ratio = sum(medians["given"][:2]) / sum(medians["generated"][:2])
        self.row(f"given inputs take at most {AIM} times as long", ratio <= AIM,
                 f"{ratio:.2f} times: " + "; ".join(
                     f"{one['inputs']} {one['create_s']:.2f} + {one['check_s']:.2f} s, "
                     f"{one['trials']:.0f} trials" for one in self.times))

    def judge(self, name, folder, kernel, passes):
        _, _, checked, _ = self.run(folder, kernel)
        codes = [reason["code"] for reason in checked["reasons"]]
        self.row(name, checked["passed"] == passes, ", ".join(codes) or "passed")

    def time(self, name, task, kernel=None):
        created, _, checked, _ = self.run(task, kernel)
        if not checked["passed"]:
            self.row(name, False, str(checked["reasons"])[:200])
            return
        profile, seconds = self.ask("profile_kernel", {"run": created["run"]})
        verdict = profile["timing"]["verdict"]
        self.row(name, verdict not in ("invalid", "incorrect"), f"{verdict}, {seconds:.1f} s")

    def short(self):
        given = {"reference": {"text": GIVEN}, "dims": {"n": 1 << 22}}
        shape = {"dtype": "float32", "shape": ["n"]}
        generated = {**given, "reference": {"text": GIVEN.replace("def inputs(", "def unused(")},
                     "tensors": [{"name": "x", "role": "in", **shape},
                                 {"name": "y", "role": "out", **shape}]}
        self.run(generated, TWICE)  # builds the judge and imports torch
        times = [sum(self.run(task, TWICE)[1::2]) for task in (given, generated)]
        self.row(f"given inputs take at most {AIM} times as long", times[0] <= AIM * times[1],
                 f"given {times[0]:.2f} s, generated {times[1]:.2f} s")
        self.judge("an honest kernel passes", given, TWICE, True)
        self.judge("a kernel without its last element is refused", given, ALL_BUT_ONE, False)

    def all(self, rounds):
        plain = self.imported("given", MODULE.replace("INPUT", RANDOM))
        self.compare_times(plain, rounds)
        v0 = (plain / "v0.py").read_text(encoding="utf-8")
        base = v0[:v0.index("class ModelNew")].rstrip() + "\n"
        self.judge("an honest module passes", plain, None, True)
        self.judge("a module without its last row is refused", plain, base + LAZY, False)
        self.judge("a module in bfloat16 is refused", plain, base + HALF, False)
        self.time("an honest module is timed", plain)
        self.time("inputs that differ each time are timed",
                  {"reference": {"text": CLOCK}, "dims": {"n": 1 << 22}}, TWICE)
        insists = MODULE.replace("        return torch.relu", INSISTS + "        return torch.relu")
        self.time("inputs that must not be changed are timed",
                  self.imported("sorted", insists.replace("INPUT", SORTED)))

    def write(self, out):
        (out / "given.json").write_text(json.dumps(
            {"date": now("%Y-%m-%d %H:%M UTC"), "device": self.where, "times": self.times,
             "rows": self.rows}, indent=1) + "\n", encoding="utf-8")
        lines = ["# Inputs made by a suite", "", f"Command: `tests/gpu/given_checks.py`. Device: "
                 f"{self.where}. Date: {now('%Y-%m-%d %H:%M UTC')}.", "",
                 "| inputs | create_run s | check_correctness s | trials |", "|---|---|---|---|"]
        lines += [f"| {one['inputs']} | {one['create_s']:.2f} | {one['check_s']:.2f} | "
                  f"{one['trials']:.0f} |" for one in self.times]
        lines += ["", "| check | as it should | what was said |", "|---|---|---|"]
        lines += [f"| {row['check']} | {'yes' if row['good'] else 'NO'} | {row['said']} |"
                  for row in self.rows]
        (out / "given.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    ratchet, out = sys.argv[1], pathlib.Path(sys.argv[2])
    asked = sys.argv[3] if len(sys.argv) > 3 else "3"
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        checks = Checks(ratchet, pathlib.Path(folder))
        try:
            checks.short() if asked == "short" else checks.all(int(asked))
        except RuntimeError as error:
            checks.row("everything was asked", False, str(error)[:400])
        checks.write(out)
        checks.server.close()
    return sum(not row["good"] for row in checks.rows)


if __name__ == "__main__":
    sys.exit(main())
