"""Kernels on other libraries, on a machine with a GPU, through the server as a client sees it:
CUTLASS and CuTe in C++, CuTe DSL, Triton and a module of tvm-ffi in Python, torch.compile and FlashInfer as
baselines.

    framework_checks.py RATCHET OUT [--limit SECONDS] [--only NAME]...      NAME: a part, see PARTS

RATCHET is the program; a table goes to OUT/frameworks.md after every part. Needs nvcc with CUTLASS_PATH for the C++
parts, and torch, Triton, nvidia-cutlass-dsl, apache-tvm-ffi and flashinfer-python for the python3 in
PATH; parts whose library is not installed are reported as missing. A part whose build, or whose turn after
that, takes longer than SECONDS is killed. Changes no setting of the GPU.
"""

import argparse
import concurrent.futures
import datetime
import os
import subprocess
import sys
import tempfile
import threading

from python_checks import Client

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "frameworks")
PATIENCE = 300  # seconds for one call
COLUMNS = ["part", "verdict", "create_run s", "check_correctness s", "profile_kernel s",
           "median µs", "messages"]


def tensor(name, dtype, shape, role="in"):
    return {"name": name, "dtype": dtype, "shape": shape, "role": role}


def torch_reference(expression):
    return {"text": f"import torch\ndef reference({expression.split(':')[0]}, **_):\n"
                    f"    return {expression.split(':')[1]}\n"}


GEMM = {
    "implementation": "cutlass", "dims": {"m": 2048, "n": 1536, "k": 1024},
    "tensors": [tensor("a", "float16", ["m", "k"]), tensor("b", "float16", ["k", "n"]),
                tensor("d", "float16", ["m", "n"], "out")],
    "work": {"bytes": "2*(m*k + k*n + m*n)", "flops": "2*m*n*k", "type": "float16"},
    "reference": torch_reference("a, b: (a.double() @ b.double()).half()"),
}
TRANSPOSE = {
    "implementation": "cutlass", "dims": {"rows": 4096, "columns": 2048},
    "tensors": [tensor("x", "float32", ["rows", "columns"]),
                tensor("y", "float32", ["columns", "rows"], "out")],
    "work": {"bytes": "8*rows*columns", "flops": "0"},
    "reference": torch_reference("x: x.t().contiguous()"),
}
DOUBLE = {
    "implementation": "cute-dsl", "dims": {"n": 1 << 22},
    "tensors": [tensor("x", "float32", ["n"]), tensor("y", "float32", ["n"], "out")],
    "work": {"bytes": "8*n", "flops": "n"},
    "reference": torch_reference("x: 2 * x"),
}
SOFTMAX = {
    "implementation": "cute-dsl", "dims": {"rows": 4096, "cols": 1024},
    "tensors": [tensor("x", "float32", ["rows", "cols"]),
                tensor("y", "float32", ["rows", "cols"], "out")],
    "work": {"bytes": "8*rows*cols", "flops": "5*rows*cols"},
    "reference": torch_reference("x: torch.softmax(x, dim=1)"),
}
RMS_NORM = {
    "implementation": "triton", "dims": {"rows": 4096, "cols": 2048},
    "tensors": [tensor("x", "bfloat16", ["rows", "cols"]), tensor("w", "bfloat16", ["cols"]),
                tensor("y", "bfloat16", ["rows", "cols"], "out")],
    "work": {"bytes": "4*rows*cols", "flops": "4*rows*cols"},
    "reference": {"path": f"{HERE}/rmsnorm_reference.py"},
}

# name → (task, file, replaced text, the reason that the check must find; None: the kernel is right)
PARTS = {
    "cutlass": (GEMM, "gemm_cutlass.cu", None, None),
    "cute": (TRANSPOSE, "transpose_cute.cu", None, None),
    "cute-dsl": (DOUBLE, "double_cute.py", None, None),
    "cute-dsl-softmax": (SOFTMAX, "softmax_cute.py", None, None),
    "cute-dsl-wrong": (DOUBLE, "double_cute.py", ("2 * x[at]", "2 * x[at] + 1"), "mismatch"),
    "triton": (RMS_NORM, "rmsnorm_triton.py", None, None),
    "tvm-ffi": ({**DOUBLE, "implementation": "triton"}, "double_tvm_ffi.py", None, None),
    "tvm-ffi-wrong": ({**DOUBLE, "implementation": "triton"}, "double_tvm_ffi.py",
                      ("2 * x[at]", "2 * x[at] + 1"), "mismatch"),
    "flashinfer": (RMS_NORM, "rmsnorm_triton.py", None, None),
}
# What a part's kernel is compared with
BASELINES = {"triton": ["pytorch-eager", "torch-compile"], "flashinfer": ["flashinfer"]}


def missing(environment, part, task):
    """What this machine lacks for a part."""
    if "refused" in environment:
        return environment["refused"]
    states = {state["name"]: state for state in environment["implementations"]}
    lacks = list(states[task["implementation"]]["missing"])
    tools = {tool["name"]: tool for tool in environment["tools"]}
    library = part.removesuffix("-wrong")
    if library in ("flashinfer", "tvm-ffi") and not tools[library]["found"]:
        lacks.append(library)
    return ", ".join(lacks)


class Part:
    """One kernel with its own server, so that several can be built in parallel. The servers share
    their state, so that the device is calibrated only once."""

    def __init__(self, name, ratchet, state):
        self.name, self.ratchet = name, ratchet
        self.task, self.file, self.replaced, self.wrong = PARTS[name]
        self.folder = tempfile.mkdtemp()
        self.state = state
        self.client, self.created = None, {}
        self.seconds, self.verdict, self.median, self.told = {}, "FAIL", None, []

    def within(self, limit, step, *given):
        """Takes a step; a server that is not done with it after `limit` seconds is killed."""
        def kill():
            self.told.append(f"killed after {limit} s")
            if self.client:
                self.client.process.kill()

        timer = threading.Timer(limit, kill)
        timer.start()
        try:
            step(*given)
        except (RuntimeError, OSError) as error:
            self.verdict = "FAIL"
            self.told.append(str(error))
        finally:
            timer.cancel()

    def call(self, tool, **arguments):
        answer, seconds = self.client.call(tool, **arguments)
        self.seconds[tool] = seconds
        if "refused" in answer:
            self.told.append(f"{tool}: {answer['refused'][:500]}")
        return answer

    def build(self, environment):
        lacks = missing(environment, self.name, self.task)
        if lacks:
            self.verdict, self.told = "missing", [lacks]
            return
        self.client = Client(self.ratchet, self.folder, "--state-dir", self.state)
        with open(os.path.join(HERE, self.file), encoding="utf-8") as file:
            text = file.read()
        if self.replaced:
            assert self.replaced[0] in text
            text = text.replace(*self.replaced)
        self.created = self.call("create_run", wait_s=PATIENCE, kernel={"text": text},
                                 output_dir=f"{self.folder}/run", **self.task)
        self.told += [f"{e.get('file')}:{e.get('line')}: {e.get('message')}"
                      for e in self.created.get("build", {}).get("errors", [])[:3]]

    def run(self):
        if "run" not in self.created:
            return
        run = self.created["run"]
        checked = self.call("check_correctness", wait_s=PATIENCE, run=run)
        reasons = checked.get("reasons", [])
        self.told += [f"{r.get('code', '')}: {r.get('message', r)}" for r in reasons[:2]]
        if self.wrong:
            found = checked.get("passed") is False and any(self.wrong in str(r) for r in reasons)
            self.verdict = "yes" if found else "FAIL"
            return
        if not checked.get("passed"):
            return
        self.told.append(f"{len(checked.get('cases', []))} executions right")
        good = self.profile(run)
        if self.name in BASELINES:
            good = self.compare(run) and good
        self.verdict = "yes" if good else "FAIL"

    def profile(self, run):
        profile = self.call("profile_kernel", wait_s=PATIENCE, run=run)
        timing = profile.get("timing", {})
        self.median = timing.get("median_ns")
        kernels = [(kernel["name"][:60], len(kernel.get("metrics", [])))
                   for kernel in profile.get("kernels") or []]
        self.told.append(f"engine {profile.get('engine')}, degraded {profile.get('degraded')} "
                         f"{profile.get('degraded_reason', '')}, bound {profile.get('bound')}, "
                         f"kernels and metrics {kernels}, verdict {timing.get('verdict')}")
        code = self.call("disassemble", run=run)
        self.told.append(f"machine code {[f['name'][:60] for f in code.get('functions', [])][:3]}")
        return bool(self.median and kernels and code.get("functions")
                    and timing.get("verdict") != "invalid" and profile.get("degraded") is False)

    def compare(self, run):
        report = self.call("benchmark", wait_s=PATIENCE, run=run, baselines=BASELINES[self.name])
        rows = {row["name"]: row for row in report.get("rows", [])}
        self.told += [f"{name}: {row['status']} median {row.get('median_ns')} ns, speedup "
                      f"{row.get('speedup_median')} {str(row.get('detail', ''))[:400]}"
                      for name, row in rows.items()]
        self.told.append(f"benchmark {self.seconds['benchmark']:.1f} s")
        return all(rows.get(name, {}).get("status") == "ok" for name in BASELINES[self.name])

    def row(self):
        seconds = [f"{self.seconds[tool]:.1f}" if tool in self.seconds else ""
                   for tool in ("create_run", "check_correctness", "profile_kernel")]
        told = "; ".join(self.told).replace("|", "/").replace("\n", " ")
        return [self.name, self.verdict, *seconds,
                f"{self.median / 1e3:.1f}" if self.median else "", told]


def table(environment, parts):
    device = [d["name"] + ", driver " + d["driver"] for d in environment.get("devices", [])
              if d["kind"] == "cuda"]
    versions = [f"{t['name']} {t['version']}" for t in environment.get("tools", [])
                if t["found"] and t["version"]]
    lines = ["# Kernels on other libraries", "",
             f"Command: `tests/gpu/framework_checks.py`, {datetime.date.today()}, "
             f"{', '.join(device) or 'no GPU'}; {', '.join(versions)}", "",
             f"Walls: {environment.get('sandbox', '')}", "",
             "Kernels: `tests/gpu/frameworks/`. Times of create_run include builds running in "
             "parallel.", "",
             "| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    return "\n".join(lines + ["| " + " | ".join(part.row()) + " |" for part in parts]) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ratchet")
    parser.add_argument("out")
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--only", action="append", choices=list(PARTS))
    given = parser.parse_args()
    first = tempfile.mkdtemp()
    environment, _ = Client(given.ratchet, first).call("check_env", wait_s=PATIENCE)
    parts = [Part(name, given.ratchet, f"{first}/ratchet")
             for name in PARTS if name in (given.only or PARTS)]
    with concurrent.futures.ThreadPoolExecutor(len(parts)) as pool:
        building = [pool.submit(part.within, given.limit, part.build, environment)
                    for part in parts]
        # Python kernels are ready first; the compilers of the others continue meanwhile.
        order = sorted(range(len(parts)), key=lambda i: parts[i].file.endswith(".cu"))
        done = []
        for at in order:
            building[at].result()
            parts[at].within(given.limit, parts[at].run)
            print(parts[at].row(), flush=True)
            done.append(parts[at])
            with open(os.path.join(given.out, "frameworks.md"), "w", encoding="utf-8") as file:
                file.write(table(environment, done))
    print(table(environment, parts))
    for part in parts:
        log = os.path.join(part.folder, "server.log")
        if part.verdict == "FAIL" and os.path.exists(log):
            tail = subprocess.run(["tail", "-n", "12", log], capture_output=True, text=True,
                                  check=False).stdout
            print(f"Last lines of the server of {part.name}:\n{tail}")
    sys.exit(1 if any(part.verdict == "FAIL" for part in parts) else 0)


if __name__ == "__main__":
    main()
