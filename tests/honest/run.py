#!/usr/bin/env python3
"""Sends honest kernels, as they are written in public practice, to servers beside torch references
with the tolerances that their authors give, and counts what is refused; beside them shortcuts of the
same kernels, which must all be refused.

    tests/honest/run.py RATCHET cuda|host OUT [--rounds N] [--cheat-rounds N] [--seconds S]
                        [--servers N] [--gpus N] [--cores N] [--after FILE]... [NAME...]

Every round creates a run, hence has a secret of its own, and checks it; nothing is timed. Rounds go
over all kernels, so that a run which --seconds ends has asked about each equally often; --after adds
the rounds of an earlier honest-DEVICE.json (of several, given several times) and goes on from there.
RATCHET_PYTHON names a Python with torch.

The kernels of one server run one after another, so several --servers share a GPU, and with --gpus N
the first N GPUs. They share their builds, so that each kernel is compiled once. On a processor, each
server takes --cores N of its own, and as many threads: `--servers 32 --cores 1` uses 32 cores well,
while servers that each use all of them wait for one another.

Writes OUT/honest-DEVICE.md and .json as it goes. The exit status is the number of kernels that were
not judged as expected, or not at all.
"""

import argparse
import json
import os
import pathlib
import re
import sys
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "attacks"))
sys.path.insert(0, str(HERE))
from client import devices_text  # noqa: E402
from drivers import add_common, exit_status, in_threads, now, served  # noqa: E402
from tasks import TASKS  # noqa: E402

IMPLEMENTATIONS = {".cu": "cuda-cpp", ".cpp": "host-cpp", ".py": "host-python"}
LINE = re.compile(r"^(?://|#) (passes|refused)(, aligned)?: (\w+) (.+)$", re.M)
THREADS = 2  # a server builds one kernel while it checks another


class Kernel:
    """One entry of a file beside one task."""

    def __init__(self, path, text, expected, aligned, entry, task):
        self.path, self.text, self.entry, self.task = path, text, entry, task
        self.honest, self.aligned = expected == "passes", bool(aligned)
        self.rounds, self.refused, self.reasons, self.failure = 0, 0, {}, ""

    @property
    def name(self):
        return f"{self.entry} {self.task}"

    def request(self, device, folder):
        task = TASKS[self.task]
        given = {key: task[key] for key in ("tensors", "atol", "rtol", "where") if key in task}
        if self.path.suffix == ".py":
            given["kernel"] = {"text": f"{self.text}\n\ndef run_kernel(**given):\n"
                                       f"    {self.entry}(**given)\n"}
        else:
            given.update(kernel={"text": self.text}, entry=self.entry)
        return {**given, "reference": {"text": "import torch\n\n\n" + task["reference"]},
                "implementation": IMPLEMENTATIONS[self.path.suffix], "dims": task[device],
                "any_size": not self.aligned, "output_dir": str(folder)}

    def note(self, reasons):
        self.rounds += 1
        self.refused += bool(reasons)
        for code, message in reasons.items():
            self.reasons.setdefault(code, message)

    def row(self):
        return {"kernel": self.entry, "task": self.task, "file": self.path.name,
                "expected": "passes" if self.honest else "refused", "rounds": self.rounds,
                "refused": self.refused, "reasons": self.reasons, "failure": self.failure,
                "as_expected": self.as_expected()}

    def as_expected(self):
        wanted = 0 if self.honest else self.rounds
        return not self.failure and self.rounds > 0 and self.refused == wanted

    def add(self, row):
        self.rounds += row["rounds"]
        self.refused += row["refused"]
        self.reasons = {**row["reasons"], **self.reasons}


def kernels_of(device, names):
    kernels = []
    for path in sorted((HERE / device).iterdir()):
        text = path.read_text(encoding="utf-8")
        for expected, aligned, entry, tasks in LINE.findall(text):
            kernels += [Kernel(path, text, expected, aligned, entry, task) for task in tasks.split()]
    return [k for k in kernels if not names or {k.entry, k.task, k.path.stem} & set(names)]


class Suite:
    def __init__(self, given, root):
        self.given, self.root = given, root
        self.kernels = kernels_of(given.device, given.names)
        self.begin, self.steps, self.dates, self.where = time.monotonic(), [], [], ""
        self.lock = threading.Lock()
        for file in given.after:
            earlier = json.loads(file.read_text(encoding="utf-8"))
            self.dates += earlier["dates"]
            rows = {(row["kernel"], row["task"]): row for row in earlier["rows"]}
            for kernel in self.kernels:
                if (kernel.entry, kernel.task) in rows:
                    kernel.add(rows[kernel.entry, kernel.task])
        self.dates.append(now("%Y-%m-%d %H:%M UTC"))

    def elapsed(self):
        return time.monotonic() - self.begin

    def play(self, server, kernel, folder):
        """One round of a kernel."""
        start = time.monotonic()
        created, failure = server.call("create_run", kernel.request(self.given.device, folder))
        middle, checked = time.monotonic(), None
        if failure is None:
            checked, failure = server.call("check_correctness", {"run": created["run"]})
        end = time.monotonic()
        with self.lock:
            if failure is None:
                kernel.note({r["code"]: r["message"] for r in checked["reasons"]})
            else:
                kernel.failure = failure
            self.steps.append((end - start, middle - start, end - middle, kernel.name))
            fine = failure is None and checked["passed"] == kernel.honest
            print(f"{'ok  ' if fine else 'FAIL'} {kernel.name}: "
                  f"{failure or ', '.join(kernel.reasons) or 'passed'} {end - start:.1f} s", flush=True)
            self.write()

    def work(self, server, plan):
        """Takes rounds from the plan until it is empty or the time is over."""
        while True:
            with self.lock:
                usual = max((step[0] for step in self.steps[-4 * self.given.servers:]), default=0)
                if not plan or self.elapsed() + usual > self.given.seconds:
                    return
                kernel, round_number = plan.pop(0)
            self.play(server, kernel,
                      self.root / f"{kernel.entry}-{kernel.task}-{round_number}")

    def plan(self):
        """The first rounds of all kernels come first, so that each kernel is built once."""
        rounds = [(round_number, index, kernel) for index, kernel in enumerate(self.kernels)
                  for round_number in range(kernel.rounds, self.given.rounds if kernel.honest
                                            else self.given.cheat_rounds)]
        return [(kernel, number) for number, _, kernel in sorted(rounds, key=lambda part: part[:2])]

    def serve(self, number):
        cores, many = [], self.given.cores
        if many:
            usable = sorted(os.sched_getaffinity(0))
            cores = [usable[(number * many + i) % len(usable)] for i in range(many)]
        gpu = {"CUDA_VISIBLE_DEVICES": str(number % self.given.gpus)} if self.given.gpus else {}
        return served(self.given.ratchet, self.root, number, cores=cores, environment=gpu)

    def run(self):
        servers = [self.serve(number) for number in range(self.given.servers)]
        self.where = devices_text(servers[0].call("check_env", {})[0], self.given.device)
        if self.given.gpus > 1:
            self.where = f"{self.given.gpus} × {self.where}"
        plan = self.plan()
        in_threads(self.work, [(server, plan) for server in servers for _ in range(THREADS)])
        for server in servers:
            server.close()
        self.write()
        self.report()
        return sum(not kernel.as_expected() for kernel in self.kernels)

    def report(self):
        print(f"{len(self.steps)} rounds in {self.elapsed():.0f} s; create_run "
              f"{sum(step[1] for step in self.steps):.0f} s, check_correctness "
              f"{sum(step[2] for step in self.steps):.0f} s; the slowest:")
        for whole, created, checked, name in sorted(self.steps, reverse=True)[:10]:
            print(f"  {whole:.1f} s ({created:.1f} + {checked:.1f}) {name}")
        print(self.summary())

    def summary(self):
        def count(kernels, noun, verb):
            rounds = sum(kernel.rounds for kernel in kernels)
            refused = sum(kernel.refused for kernel in kernels)
            return f"{len(kernels)} {noun}, {rounds} rounds: {verb(rounds, refused)}"

        honest = [kernel for kernel in self.kernels if kernel.honest]
        cheats = [kernel for kernel in self.kernels if not kernel.honest]
        return (count(honest, "honest kernels", lambda _, refused: f"{refused} refused") + "; " +
                count(cheats, "shortcuts", lambda rounds, refused: f"{rounds - refused} passed") + ".")

    def write(self):
        device = self.given.device
        command = f"tests/honest/run.py … {device} --rounds {self.given.rounds}"
        rows = [kernel.row() for kernel in self.kernels]
        (self.given.out / f"honest-{device}.json").write_text(json.dumps(
            {"command": command, "dates": self.dates, "device": self.where, "rows": rows}, indent=1,
            ensure_ascii=False) + "\n", encoding="utf-8")
        lines = [f"# Honest kernels on {device}", "",
                 f"Command: `{command}`. Device: {self.where}. Date: {', '.join(self.dates)}.", "",
                 self.summary(), "",
                 "| kernel | task | tolerances | expected | rounds | refused | reasons |",
                 "|---|---|---|---|---|---|---|"]
        for row in rows:
            task = TASKS[row["task"]]
            tolerances = f"{task['atol']:g}, {task['rtol']:g}" if "atol" in task else "the server's"
            reasons = row["failure"][:200].replace("\n", " ") or ", ".join(row["reasons"])
            lines.append(f"| {row['kernel']} | {row['task']} | {tolerances} | {row['expected']} | "
                         f"{row['rounds']} | {row['refused']}"
                         f"{'' if row['as_expected'] else ' **not as expected**'} | {reasons} |")
        (self.given.out / f"honest-{device}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ratchet")
    parser.add_argument("device", choices=["cuda", "host"])
    add_common(parser)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--cheat-rounds", type=int, default=1)
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("--cores", type=int, default=0)
    parser.add_argument("--after", type=pathlib.Path, action="append", default=[])
    return exit_status(Suite, parser.parse_intermixed_args())


if __name__ == "__main__":
    sys.exit(main())
