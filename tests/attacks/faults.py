#!/usr/bin/env python3
"""Kernels in a row against one running server with a job deadline of one second: most fail, each in
its way, the others are right.

    tests/attacks/faults.py RATCHET cuda|host COUNT OUT [--seed N] [--honest PERCENT] [--seconds S]

After each kernel the server must answer, no process of the kernel may be left, and a GPU must be as
free as at first: no process on it, no more of its memory in use. Faults must be found, and right
kernels pass. The server's memory must not grow after the first tenth. With --seconds the row ends
early, and says so. On a machine with several GPUs it uses the first of CUDA_VISIBLE_DEVICES, so one
can run beside another. Writes OUT/faults-DEVICE.md.
"""

import argparse
import collections
import concurrent.futures
import datetime
import os
import pathlib
import random
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Server, devices_text, open_v1  # noqa: E402
from device_watch import DeviceWatch  # noqa: E402
from fault_kernels import SLOW, forms  # noqa: E402
from run import task_of  # noqa: E402

MOST_GROWTH = 16 << 20  # of the server's resident memory
SLOW_WEIGHT = 0.25
RETRIES = 3          # of a version, by the server
VERSIONS = 60        # of one run: the records of longer ones take longer to write
QUIET_S = 3          # without a process of the server: it calibrates no more


class Row:
    """Runs whose versions are the kernels: after three failures a version is given up."""

    def __init__(self, server, device, folder, form):
        self.server, self.device, self.folder, self.form = server, device, folder, form
        self.run, self.failures, self.versions, self.runs = None, 0, 0, 0

    def must(self, tool, **arguments):
        answer, refused = self.server.call(tool, arguments)
        if refused is not None:
            raise RuntimeError(f"{tool}: {refused}")
        return answer

    def open(self):
        """A run with a right v0, whose v1 waits for a kernel."""
        self.runs += 1
        first = next(iter(self.form.honest))
        self.run = self.must("create_run", **task_of("double", self.device) | {"dims": {"n": 4096}},
                             kernel={"text": self.form.text(first, 0)}, any_size=False,
                             iterations=VERSIONS + 1,
                             output_dir=str(self.folder / f"{self.form.name}{self.runs}"))["run"]
        open_v1(self.server, self.run)
        self.failures, self.versions = 0, 0

    def build_ahead(self, pool):
        """Fills the build cache; whose submission counts does not matter."""
        kinds = list(self.form.faults) + list(self.form.honest)[1:]
        texts = [self.form.text(kind, 1) for kind in kinds]
        list(pool.map(lambda text: self.server.call("submit_kernel", {"run": self.run, "source": text}),
                      texts if self.form.of_one_text else []))

    def check(self, kind, number):
        """The reasons of a kernel's check."""
        submitted = self.must("submit_kernel", run=self.run, source=self.form.text(kind, number))
        if not submitted["build"]["ok"]:
            return ["does not build: " + str(submitted["build"].get("errors"))[:300]]
        checked = self.must("check_correctness", run=self.run)
        codes = [reason["code"] for reason in checked["reasons"]]
        if checked["passed"] != (not codes):
            raise RuntimeError(f"{kind}: passed is {checked['passed']}, reasons {codes}")
        return codes

    def go_on(self, failed):
        """Gives a version up that has no retry left."""
        self.failures += failed
        if self.failures < RETRIES:
            return
        self.failures, self.versions = 0, self.versions + 1
        if self.versions < VERSIONS:
            self.must("check_gate", run=self.run, abandon=True)
        else:
            self.open()


class Storm:
    def __init__(self, server, watch, rows):
        self.server, self.watch, self.rows = server, watch, rows
        self.kinds, self.seconds = collections.Counter(), []
        self.faults, self.honest = 0, 0
        self.missed, self.refused, self.left, self.leaked = [], [], [], 0

    def one(self, row, kind, number):
        begin = time.monotonic()
        try:
            codes = row.check(kind, number)
        except RuntimeError as error:
            codes = [f"refused: {error}"]
        self.seconds.append(time.monotonic() - begin)
        name = f"{row.form.name}: {kind}"
        if kind in row.form.honest:
            self.honest += 1
            if codes:
                self.refused.append(f"{name}: {codes}")
        else:
            self.faults += 1
            if not codes or any(code.startswith(("refused", "does not build")) for code in codes):
                self.missed.append(f"{name}: {codes or 'passed'}")
        for code in codes or ["passed"]:
            self.kinds[f"{name}: {code[:80]}"] += 1
        self.look(name)
        row.go_on(1 if codes else 0)

    def look(self, name):
        strays = self.server.strays(10)
        if strays:
            self.left.append(f"{name}: processes {strays}")
        if self.watch is None:
            return
        used, processes = self.watch.left()
        self.leaked = max(self.leaked, used)
        if used or processes:
            self.left.append(f"{name}: {used >> 20} MiB of the device, processes {processes} on it")

    def good(self):
        return not (self.missed or self.refused or self.left or self.leaked)


def wait_until_quiet(server):
    """After a first version a server calibrates a GPU in spare time."""
    quiet_since = time.monotonic()
    while time.monotonic() - quiet_since < QUIET_S:
        if server.strays(0):
            quiet_since = time.monotonic()
        time.sleep(0.05)


def draw_of(draw, rows, honest_share):
    row = draw.choices([row for row, _ in rows], [weight for _, weight in rows])[0]
    if draw.random() < honest_share:
        return row, draw.choice(list(row.form.honest)[1:])  # the first is v0, and a copy is refused
    kinds = sorted(row.form.faults)
    return row, draw.choices(kinds, [SLOW_WEIGHT if kind in SLOW else 1 for kind in kinds])[0]


def listed(things):
    return f"{len(things)}: {'; '.join(things[:5])}" if things else "none"


def report(given, storm, info, figures):
    seconds, early, late, alive, left, before = figures
    done = storm.faults + storm.honest
    device = ("no more of its memory in use than at first after any kernel" if storm.watch and not storm.leaked
              else f"up to {storm.leaked >> 20} MiB more in use after a kernel" if storm.watch else "not a GPU")
    good = (storm.good() and alive and not left and late - early < MOST_GROWTH
            and (done == given.count or given.seconds))
    lines = [f"# {done} kernels in a row on {given.device}", "",
             f"Command: `tests/attacks/faults.py … {given.device} {given.count} …`, seed {given.seed}, job "
             f"deadline 1 s. Devices: {devices_text(info, given.device)}. "
             f"Date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC.", "",
             f"- {storm.faults} faults, {storm.honest} right kernels"
             + ("" if done == given.count else f"; {given.count} were asked for, the time was up"),
             f"- {seconds:.0f} s, {seconds / max(done, 1):.2f} s each with build and records, "
             f"median {statistics.median(storm.seconds):.2f} s, slowest {max(storm.seconds):.1f} s; "
             f"{before:.0f} s before to start and to build ahead",
             f"- undetected faults: {listed(storm.missed)}",
             f"- right kernels that were refused: {listed(storm.refused)}",
             f"- the device: {device}",
             f"- left after single kernels: {listed(storm.left)}; in the end: {left or 'nothing'}",
             f"- server up: {alive}; resident memory {early >> 10} KiB after a tenth, {late >> 10} KiB in the end",
             f"- verdict: {'as expected' if good else 'NOT as expected'}", "",
             "| form: kind: reason | times |", "|---|---|"]
    lines += [f"| {name} | {times} |" for name, times in sorted(storm.kinds.items())]
    (given.out / f"faults-{given.device}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines), flush=True)
    return good


def play(given, folder):
    begin = time.monotonic()
    watch = DeviceWatch() if given.device == "cuda" else None
    server = Server([given.ratchet, "serve", "--state-dir", folder + "/state", "--root", folder,
                     "--job-deadline", "1"])
    info, _ = server.call("check_env", {})
    rows = [(Row(server, given.device, pathlib.Path(folder), form), weight)
            for form, weight in forms(given.device)]
    for row, _ in rows:
        row.open()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for row, _ in rows:
            row.build_ahead(pool)
    wait_until_quiet(server)
    if watch:
        watch.set_base()
    storm = Storm(server, watch, rows)
    draw = random.Random(given.seed)
    started, early = time.monotonic(), 0
    for number in range(1, given.count + 1):
        if given.seconds and time.monotonic() - begin > given.seconds:
            break
        storm.one(*draw_of(draw, rows, given.honest / 100), number)
        if number == given.count // 10 or not early:
            early = server.resident_bytes()
    seconds = time.monotonic() - started
    late, alive, left = server.resident_bytes(), server.alive(), server.strays()
    server.close()
    return report(given, storm, info or {}, (seconds, early, late, alive, left, started - begin))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("ratchet")
    parser.add_argument("device", choices=["cuda", "host"])
    parser.add_argument("count", type=int)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    parser.add_argument("--honest", type=float, default=35)
    parser.add_argument("--seconds", type=float, default=0)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        return 0 if play(given, folder) else 1


if __name__ == "__main__":
    sys.exit(main())
