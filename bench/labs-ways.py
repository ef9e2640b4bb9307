#!/usr/bin/env python3
"""What it costs to reach a lab: the same steps on this machine, in another process, through ssh on the
loopback and through Slurm.

    bench/labs-ways.py RATCHET [ROUNDS]

Of each way: an iteration, which compiles, checks and profiles a kernel of the processor for the first time
(the least of the rounds, because other work only adds to it), and the round trip of a request that asks
nothing, past the server: what the line takes (the median of 50). A way whose programs are missing is left out.

Then what a measuring step costs more: `check_correctness` of one small kernel, again and again, on this machine
and in another process in turn, each by the same server; and of each call what is left of it without the steps that
its answer has in `spent`, which were timed where they were done. Two checks differ by far more than a line takes; what
is left does not.
"""

import contextlib
import datetime
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/labs"))
from ground import LabPlace, Skipped, must  # noqa: E402
from relay import frame, frames  # noqa: E402
from slurm import Slurm  # noqa: E402
from sshd import Sshd  # noqa: E402

SMALL_STEPS, REQUEST_BYTES = 50, 30_000
CHECKS = 40
KERNEL = ('extern "C" void solve(const float* a, const float* b, float* c, int n) {{\n'
          "  for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];  // {}\n}}\n")


def task(place, lab, text):
    place.runs += 1
    return {"problem": "vector_add", "implementation": "host-cpp", "dims": {"n": 4096},
            "kernel": {"text": text}, "output_dir": str(place.folder / f"run{place.runs}"),
            **({"lab": lab} if lab else {})}


def iteration(place, client, lab, text):
    begin = time.monotonic()
    run = must(client, "create_run", task(place, lab, text))["run"]
    must(client, "check_correctness", {"run": run})
    must(client, "profile_kernel", {"run": run})
    return time.monotonic() - begin


def round_trip(command, environment):
    """Median time, in ms, from a request as large as that of a check to its answer, which costs the lab
    nothing."""
    with subprocess.Popen(["/bin/sh", "-c", command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=environment) as lab:
        answers, found = frames(lab.stdout), []
        assert next(answers)[0]["kind"] == "hello"
        for number in range(SMALL_STEPS):
            request = frame({"kind": "request", "id": f"{number:032x}", "method": "nothing",
                             "body": {"padding": "x" * REQUEST_BYTES}})
            begin = time.monotonic()
            lab.stdin.write(request)
            lab.stdin.flush()
            while next(answers)[0]["kind"] == "alive":
                pass
            found.append(time.monotonic() - begin)
        lab.stdin.close()
    return 1000 * statistics.median(found)


def way(place, name, lab, command, environment, rounds):
    """(cold iteration, warm iteration, round trip): cold ones start their lab."""
    def served():
        return place.serving({lab: command} if lab else {}, environment)
    cold, warm, trips = [], [], []
    for number in range(rounds):
        client = served()
        cold.append(iteration(place, client, lab, KERNEL.format(f"{name} cold {number}")))
        warm.append(iteration(place, client, lab, KERNEL.format(f"{name} warm {number}")))
        client.close()
        if command:
            trips.append(round_trip(command, environment))
    return min(cold), min(warm), min(trips, default=None)


def quartiles(values):
    low, middle, high = statistics.quantiles([1000 * value for value in values], n=4)
    return f"{middle:.1f} ({low:.1f} to {high:.1f})"


def checks(place):
    """Rows of a check on this machine and in another process: medians and quartiles, in ms, of the call and of what
    its steps leave. Who is first takes turns, so that what else the machine does falls on both; the first check of
    each is left out."""
    client = place.serving({"process": place.lab()})
    runs = {lab: must(client, "create_run", task(place, lab, KERNEL.format("a check")))["run"]
            for lab in (None, "process")}
    found = {lab: [] for lab in runs}
    for number in range(CHECKS + 1):
        for lab in sorted(runs, key=str, reverse=number % 2 == 1):
            begin = time.monotonic()
            spent = must(client, "check_correctness", {"run": runs[lab]})["spent"]
            call = time.monotonic() - begin
            found[lab].append((call, call - sum(one["ms"] for one in spent if "within" not in one) / 1000))
    client.close()
    here, there = zip(*found[None][1:]), zip(*found["process"][1:])
    rows = []
    for what, a, b in zip(("", ", without its steps"), here, there):
        rows += [(f"this machine{what}", quartiles(a)), (f"another process{what}", quartiles(b)),
                 (f"of each pair, the second less the first{what}", quartiles([y - x for x, y in zip(a, b)]))]
    return rows


def main():
    ratchet, rounds = pathlib.Path(sys.argv[1]).resolve(), int((sys.argv[2:] or [3])[0])
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    print(f"{now}, {platform.machine()}, {os.cpu_count()} cores, least of {rounds}", flush=True)
    print("| way | iteration, lab not started, s | iteration, started, s | round trip, ms |")
    print("|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="ratchet-labs-") as name, contextlib.ExitStack() as ended:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        place = LabPlace(ratchet, folder / "place")
        ways = [("this machine", None, None, None),
                ("another process", "process", place.lab(), None)]
        with contextlib.suppress(Skipped):
            sshd = Sshd(folder / "sshd", ratchet.parent, place.far, {"here": []})
            ended.callback(sshd.close)
            ways.append(("ssh, loopback", "ssh", f"ssh -F {sshd.config} here ratchet lab", None))
        with contextlib.suppress(Skipped):
            slurm = ended.enter_context(Slurm(folder / "slurm", ratchet, place.far))
            ways.append(("Slurm", "slurm", "srun -n1 --time=5 ratchet lab", slurm.environment))
        for name, lab, command, environment in ways:
            cold, warm, trip = way(place, name, lab, command, environment, rounds)
            print(f"| {name} | {cold:.2f} | {warm:.2f} | {'–' if trip is None else f'{trip:.1f}'} |",
                  flush=True)
        print(f"\n| a check, median of {CHECKS} (quartiles) | ms |\n|---|---|")
        for name, figures in checks(place):
            print(f"| {name} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
