#!/usr/bin/env python3
"""The cost of a first answer as a client sees it: create_run, check_correctness and profile_kernel of
the shipped softmax kernel on 4096 x 4096 floats, against a reference in torch, if it is installed, and
one in CUDA (with `host`: C++, and smaller). Each reference gets a fresh state folder with a fresh
server, a second run on that server, and a fresh server on the state folder that was used. Then the first
and the last again, as an agent calls that does what the server's instructions say: check_env first, and
create_run after a pause, in which an agent reads the answer and writes its call.

    tests/attacks/check_time.py RATCHET DATA_DIR OUT [REPEATS [cuda|host]]
"""

import datetime
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Server, devices_text  # noqa: E402
from run import task_of  # noqa: E402

TOOLS = ("create_run", "check_correctness", "profile_kernel")
PAUSE_S = 4
DIMS = {"cuda": {"rows": 4096, "cols": 4096}, "host": {"rows": 512, "cols": 2048}}
KERNELS = {"cuda": "cuda-cpp/best.cu", "host": "host-cpp/best.cpp"}
# Finds the package without importing it, which would bring its files into the page cache.
FIND_TORCH = "import importlib.util, sys; sys.exit(importlib.util.find_spec('torch') is None)"


def spent_text(spent):
    def one(step):
        parts = [one(part) for part in spent if part.get("within") == step["step"]]
        return f"{step['step']} {step['ms'] / 1000:.2f}" + (f" ({', '.join(parts)})" if parts else "")
    return ", ".join(one(step) for step in spent if "within" not in step)


class Bench:
    def __init__(self, ratchet, data, device):
        problem = data / "problems" / "softmax"
        self.ratchet, self.device = ratchet, device
        self.task = task_of("softmax", device)
        self.kernel = (problem / KERNELS[device]).read_text(encoding="utf-8")
        self.references = {"CUDA" if device == "cuda" else "C++": self.task["reference"]}
        python = os.environ.get("RATCHET_PYTHON", "python3")
        if subprocess.run([python, "-c", FIND_TORCH], check=False).returncode == 0:
            torch = (problem / "ref_torch.py").read_text(encoding="utf-8")
            # First, while its files may not be in the page cache yet.
            self.references = {"torch": {"text": torch}, **self.references}

    def server(self, folder):
        return Server([self.ratchet, "serve", "--state-dir", f"{folder}/state", "--root", folder,
                       "--no-builtin-kbs"])

    def run(self, server, reference, output):
        """Seconds and `spent` by tool, and the number of executions checked."""
        seen, executions = {}, 0
        arguments = {**self.task, "reference": reference, "dims": DIMS[self.device],
                     "kernel": {"text": self.kernel}, "output_dir": output}
        for tool in TOOLS:
            begin = time.monotonic()
            answer, refused = server.call(tool, arguments)
            seen[tool] = (time.monotonic() - begin, answer and answer.get("spent", []))
            if refused is not None:
                raise SystemExit(f"{tool}: {refused}")
            if tool == "check_correctness":
                assert answer["passed"], answer["reasons"]
                executions = len(answer["cases"])
            arguments = {"run": answer["run"]}
        return seen, executions

    def asked(self, server):
        """Seconds of check_env; then an agent's pause."""
        begin = time.monotonic()
        server.call("check_env", {})
        took = time.monotonic() - begin
        time.sleep(PAUSE_S)
        return took

    def series(self, name):
        """(what the run found, its times, executions, seconds of check_env before) of five runs, and the
        devices."""
        rows = []
        for asks in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                for runs in (("nothing", "the server"), ("the state folder",)):
                    server = self.server(folder)
                    took = self.asked(server) if asks else None
                    for found in runs[:1] if asks else runs:
                        rows.append((found, *self.run(server, self.references[name], f"{folder}/{len(rows)}"), took))
                    devices = devices_text(server.call("check_env", {})[0])
                    server.close()
        return rows, devices


def main():
    ratchet, data, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    repeats = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    device = sys.argv[5] if len(sys.argv) > 5 else "cuda"
    out.mkdir(parents=True, exist_ok=True)
    bench, table, details, devices = Bench(ratchet, data, device), [], [], ""
    for _ in range(repeats):
        for name in bench.references:
            rows, devices = bench.series(name)
            for found, seen, executions, asked in rows:
                seconds = [seen[tool][0] for tool in TOOLS]
                table.append(f"| {name} | {found} | {executions} | {'—' if asked is None else f'{asked:.2f}'} | "
                             + " | ".join(f"{one:.2f}" for one in (*seconds, sum(seconds))) + " |")
                details.append(f"**{name}, which found {found}"
                               f"{'' if asked is None else ', after check_env'}**")
                details += [f"- {tool}: {spent_text(seen[tool][1])}" for tool in TOOLS]
                details.append("")
                print(table[-1], *details[-5:], sep="\n", flush=True)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    size = " x ".join(str(one) for one in DIMS[device].values())
    lines = ["# Cost of a first answer", "",
             f"Command: `tests/attacks/check_time.py`. Devices: {devices}. Date: {now}.", "",
             f"Softmax of {size} floats, one given and two hidden sizes, 3 seeds, 4 distributions; "
             "seconds at the client. A run finds nothing (fresh state folder, fresh server), the server "
             "of the run before, or its state folder with a fresh server. Where check_env has a time, it was "
             f"asked before, and create_run {PAUSE_S} s after its answer, as an agent takes at least; `together` is "
             "without both.", "",
             "| reference | found | executions checked | check_env | create_run | check_correctness | "
             "profile_kernel | together |", "|---|---|---|---|---|---|---|---|", *table, "",
             "## Where the time went", "",
             "By `spent` of each answer, seconds; in parentheses what went on side by side.", "",
             *details]
    (out / "check-time.md").write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
