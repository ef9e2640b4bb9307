#!/usr/bin/env python3
"""Kernels in a row against one running server with a job deadline of one second: most fail, each in
its way, the others are right.

    tests/attacks/faults.py RATCHET cuda|host COUNT OUT [--seed N] [--honest PERCENT] [--seconds S]

The kernels are drawn beforehand, and those whose code nobody has built yet are built while the ones
before are checked, as versions of runs that check nothing. One check follows the other.

After each kernel the server must answer, no process of the kernel may be left, and a GPU must be as
free as at first: no process on it, no more of its memory in use. A judge and its reference, which a
server keeps for a next check for three seconds, may stay for so long; every 50 kernels and in the end
they are waited for. Faults must be found, and right
kernels pass. After the first tenth the server's memory must grow by no more than what runs keep of their versions. It says how far it is every 20
kernels, and writes OUT/faults-DEVICE.md then too. With --seconds the row ends early, as it does when
it is terminated, when five kernels in a row leave something behind, or when the server stops answering.
On a machine with several GPUs it uses the first of CUDA_VISIBLE_DEVICES, so one can run beside another.
"""

import argparse
import collections
import concurrent.futures
import datetime
import os
import pathlib
import random
import re
import signal
import statistics
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Server, command_of, devices_text, open_v1  # noqa: E402
from device_watch import SLACK, DeviceWatch  # noqa: E402
from fault_kernels import SLOW, forms  # noqa: E402
from run import task_of  # noqa: E402

MOST_GROWTH = 8 << 20  # of the server's resident memory, and for each kernel, whose record its run keeps:
MOST_RECORD = 48 << 10
SLOW_WEIGHT = 0.25
RETRIES = 3          # of a version, by the server
VERSIONS = 60        # of one run: the records of longer ones take longer to write
QUIET_S = 2          # without a process of the server: it calibrates no more
MOST_QUIET_S = 60    # what waiting for that may take
PATIENCE_S = 6       # for a process of the server to end
WHOLE = 50           # kernels until the device is looked at without kept processes
ANSWER_S = 100       # for an answer of the server
MOST_LEFT = 5        # in a row
AHEAD = 32           # kernels that are built before their turn
COMPILERS = {"ratchet-confine", "ratchet-nvrtc", "nvcc", "cicc", "ptxas", "cudafe++", "fatbinary", "nvlink", "gcc",
             "g++", "cc1plus", "as", "ld", "collect2", "sh", "cuobjdump", "nvdisasm"}
STEP = 20


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

    def build(self, kind, number):
        """In the cache; whether it builds is asked when it is submitted to be checked."""
        self.server.call("submit_kernel", {"run": self.run, "source": self.form.text(kind, number)})

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
        """Gives a version up that has no retry left. Whether there is another run."""
        self.failures += failed
        if self.failures < RETRIES:
            return False
        self.failures, self.versions = 0, self.versions + 1
        if self.versions < VERSIONS:
            self.must("check_gate", run=self.run, abandon=True)
            return False
        self.open()
        return True


class Storm:
    def __init__(self, server, watch, warm):
        self.server, self.watch, self.warm = server, watch, set(warm)
        self.kinds, self.seconds, self.looks = collections.Counter(), [], []
        self.faults, self.honest = 0, 0
        self.missed, self.refused, self.left, self.leaked, self.left_in_a_row = [], [], [], 0, 0
        self.ended = ""  # why, before the last
        self.whole = 0  # looks at a device that nobody was on

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
        self.look(name, may_keep=number % WHOLE != 0)
        if row.go_on(1 if codes else 0):
            self.warm |= set(wait_until_quiet(self.server))

    def strays(self, may_keep=False):
        """Processes of the server that were not there at first, once they had time to end, and those
        that it keeps."""
        until = time.monotonic() + PATIENCE_S
        while True:
            left = [pid for pid in strays_of(self.server) if pid not in self.warm]
            kept = kept_of(left) if may_keep else []
            left = [pid for pid in left if pid not in kept]
            if not left or time.monotonic() > until:
                return left, kept
            time.sleep(0.01)

    def look(self, name, may_keep=True):
        begin, found = time.monotonic(), []
        strays, kept = self.strays(may_keep)
        if strays:
            found.append(f"{name}: processes {[named(pid) for pid in strays]}")
        if self.watch:
            used, processes = self.watch.left(self.server.children, kept)
            self.whole += not kept
            self.leaked = max(self.leaked, used)
            if used > SLACK or processes:
                found.append(f"{name}: {used >> 20} MiB of the device, on it {[named(p) for p in processes]}")
        self.looks.append(time.monotonic() - begin)
        self.left += found
        self.left_in_a_row = self.left_in_a_row + 1 if found else 0

    def good(self):
        return not (self.missed or self.refused or self.left or self.leaked > SLACK)


def named(pid):
    return f"{pid} {command_of(pid)[:120] or '(ended)'}"


def strays_of(server):
    """The server's processes but for the idle ones and for compilers, which the row keeps busy beside its
    checks. No kernel can start one: its walls forbid programs."""
    return [pid for pid in server.strays(0) if program_of(pid) not in COMPILERS]


def program_of(pid):
    name = os.path.basename(command_of(pid).partition(" ")[0])
    return re.sub(r"-[0-9.]+$", "", name.rpartition("-linux-gnu-")[2])


def kept_of(pids):
    """The judge among these workers and one more, its reference: the kernel's own would be a third."""
    roles = {}
    for pid in pids:
        words = command_of(pid).split()  # program, role
        if len(words) > 1:
            roles[pid] = words[1]
    judges = [pid for pid, role in roles.items() if role == "judge"]
    references = [pid for pid, role in roles.items() if role in ("candidate", "baseline")]
    return judges[:1] + references[:1] if judges else []


def wait_until_quiet(server):
    """After a first version a server calibrates a GPU in spare time. Gives the processes that stay."""
    begin = quiet_since = time.monotonic()
    left = []
    while time.monotonic() - quiet_since < QUIET_S and time.monotonic() - begin < MOST_QUIET_S:
        left = strays_of(server)
        if left:
            quiet_since = time.monotonic()
        time.sleep(0.05)
    return left


class Builds:
    """Builds of the kernels whose turn comes, some ahead of the checks."""

    def __init__(self, drawn, benches):
        self.drawn, self.benches = drawn, benches  # by form, a row whose run only builds
        self.pool = concurrent.futures.ThreadPoolExecutor(max(2, (os.cpu_count() or 2) // 4))
        self.begun, self.asked, self.ready = {}, 0, 0

    def wait(self, number):
        """Until this kernel is built; others are begun."""
        for later in range(number, min(number + AHEAD, len(self.drawn) + 1)):
            row, kind = self.drawn[later - 1]
            if later not in self.begun and row.form.name in self.benches:
                self.begun[later] = self.pool.submit(self.benches[row.form.name].build, kind, later)
        build = self.begun.get(number)
        if build:
            self.asked += 1
            self.ready += build.done()
            build.result()

    def end(self):
        self.pool.shutdown(cancel_futures=True)


def draw_of(draw, rows, honest_share):
    row = draw.choices([row for row, _ in rows], [weight for _, weight in rows])[0]
    if draw.random() < honest_share:
        return row, draw.choice(list(row.form.honest)[1:])  # the first is v0, and a copy is refused
    kinds = sorted(row.form.faults)
    return row, draw.choices(kinds, [SLOW_WEIGHT if kind in SLOW else 1 for kind in kinds])[0]


def listed(things):
    return f"{len(things)}: {'; '.join(things[:5])}" if things else "none"


def device_text(storm):
    if not storm.watch:
        return "not a GPU"
    if storm.watch.others:
        return f"others use it too ({len(storm.watch.others)} processes), so its memory was not compared"
    if storm.leaked > SLACK:
        return f"up to {storm.leaked >> 20} MiB more in use after a kernel"
    return (f"no process of a kernel on it after any; looked at {storm.whole} times without the server's kept "
            f"processes: at most {storm.leaked >> 10} KiB more of its memory in use than at first")


def report(given, storm, info, figures):
    """Writes the table; whether all is as it must be."""
    seconds, early, late, alive, left, before, builds = figures
    done = storm.faults + storm.honest
    most = MOST_GROWTH + MOST_RECORD * done
    good = storm.good() and alive and not left and late - early < most
    lines = [f"# {done} kernels in a row on {given.device}", "",
             f"Command: `tests/attacks/faults.py … {given.device} {given.count} …`, seed {given.seed}, job "
             f"deadline 1 s. Devices: {devices_text(info, given.device)}. "
             f"Date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC.", "",
             f"- {storm.faults} faults, {storm.honest} right kernels"
             + ("" if done == given.count else f"; {given.count} were asked for; {storm.ended or 'going on'}"),
             f"- {seconds:.0f} s, {seconds / max(done, 1):.2f} s each with all that is written down and what is waited "
             f"for, and {before:.0f} s before to start",
             f"- submission and check, one after the other: median {statistics.median(storm.seconds):.2f} s, slowest "
             f"{max(storm.seconds):.1f} s; {statistics.median(storm.looks):.3f} s to look after each",
             f"- builds: {builds.asked} kernels had code of their own, built beside the checks before; {builds.ready} "
             f"were ready when their turn came, {builds.asked - builds.ready} were waited for",
             f"- undetected faults: {listed(storm.missed)}",
             f"- right kernels that were refused: {listed(storm.refused)}",
             f"- the device: {device_text(storm)}",
             f"- left after single kernels: {listed(storm.left)}; in the end: {left or 'nothing'}",
             f"- processes of the server that were there at first: {len(storm.warm) or 'none'}",
             f"- server up: {alive}",
             f"- resident memory of the server: {early >> 10} KiB after a tenth, {late >> 10} KiB in the end",
             f"- verdict: {'as expected' if good else 'NOT as expected'}", "",
             "| form: kind: reason | times |", "|---|---|"]
    lines += [f"| {name} | {times} |" for name, times in sorted(storm.kinds.items())]
    (given.out / f"faults-{given.device}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return good


class Play:
    """One row from start to end."""

    def __init__(self, given, folder):
        self.given, self.begin, self.early = given, time.monotonic(), 0
        self.watch = DeviceWatch() if given.device == "cuda" else None
        self.server = Server([given.ratchet, "serve", "--state-dir", folder + "/state", "--root", folder,
                              "--job-deadline", "1"], patience_s=ANSWER_S)
        self.info, _ = self.server.call("check_env", {})
        self.rows = [(Row(self.server, given.device, pathlib.Path(folder), form), weight)
                     for form, weight in forms(given.device)]
        draw = random.Random(given.seed)
        self.drawn = [draw_of(draw, self.rows, given.honest / 100) for _ in range(given.count)]
        self.benches = {row.form.name: Row(self.server, given.device, pathlib.Path(folder) / "builds", row.form)
                        for row, _ in self.rows if not row.form.of_one_text}
        self.builds = Builds(self.drawn, self.benches)
        self.storm, self.started = None, 0.0

    def say(self, text):
        print(f"{time.monotonic() - self.begin:6.1f} s: {text}", flush=True)

    def prepare(self):
        opened = [row for row, _ in self.rows] + list(self.benches.values())
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(Row.open, opened))  # compilers side by side; the device takes turns
            self.say(f"{len(opened)} v0 have passed their gates")
            for row, _ in self.rows:
                row.build_ahead(pool)
        self.say("built ahead")
        warm = wait_until_quiet(self.server)
        self.say(f"quiet; stays: {[named(pid) for pid in warm]}")
        if self.watch:
            self.watch.set_base()
            self.say(f"the device has {self.watch.base >> 20} MiB in use, others on it: {self.watch.others}")
        self.storm, self.started = Storm(self.server, self.watch, warm), time.monotonic()

    def written(self, left):
        seconds, alive = time.monotonic() - self.started, self.server.alive()
        late = self.server.resident_bytes() if alive else 0
        return report(self.given, self.storm, self.info or {},
                      (seconds, self.early, late, alive, left, self.started - self.begin, self.builds))

    def one(self, number):
        """Why the row ends after this kernel, or nothing."""
        try:
            self.builds.wait(number)
            self.storm.one(*self.drawn[number - 1], number)
        except RuntimeError as error:
            self.storm.left.append(f"kernel {number}: {error}")
            return str(error)
        if not self.server.alive():
            self.storm.left.append(f"kernel {number}: the server has ended")
            return "the server has ended"
        if number == self.given.count // 10 or not self.early:
            self.early = self.server.resident_bytes()
        if self.storm.left_in_a_row >= MOST_LEFT:
            return f"{MOST_LEFT} kernels in a row left something"
        if self.given.seconds and time.monotonic() - self.begin > self.given.seconds:
            return "the time was up"
        return ""

    def run(self):
        self.prepare()
        for number in range(1, self.given.count + 1):
            ended = self.one(number)
            if ended and number < self.given.count:
                self.storm.ended = ended
                self.say(f"ended after {number} kernels: {ended}")
                break
            if number % STEP == 0:
                self.written([])
                self.say(f"{number} kernels; missed {len(self.storm.missed)}, refused "
                         f"{len(self.storm.refused)}, left {len(self.storm.left)}")
        self.builds.end()
        if self.server.alive():
            self.storm.look("the last", may_keep=False)
        good = self.written([named(pid) for pid in self.storm.strays()[0]])
        if self.server.alive():
            self.server.close()
        return good


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
    # So that a caller's time limit ends it as --seconds does, after the kernel at hand.
    signal.signal(signal.SIGTERM, lambda *_: setattr(given, "seconds", 1e-9))
    with tempfile.TemporaryDirectory() as folder:
        good = Play(given, folder).run()
    print((given.out / f"faults-{given.device}.md").read_text(encoding="utf-8"), flush=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
