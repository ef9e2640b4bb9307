#!/usr/bin/env python3
"""A server in a control group of version 2 that is its own: what its workers and compilers may use,
read from the groups while they run, and that nothing is left of them.

    tests/attacks/groups.py RATCHET cuda|host OUT [DEADLINE]

DEADLINE: of a job, in seconds (default 2; more where a machine is emulated). Needs root, version 2 at /sys/fs/cgroup, and the controllers memory, pids and cpu; else it says what is
missing and ends with 77. Makes one group at the top, and removes it. Writes OUT/groups-DEVICE.md.
"""

import datetime
import os
import pathlib
import platform
import shlex
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Server, devices_text  # noqa: E402
from fault_kernels import forms  # noqa: E402
from run import task_of  # noqa: E402

MOUNT = pathlib.Path("/sys/fs/cgroup")
CONTROLLERS = ("memory", "pids", "cpu")


def skip(why):
    print(f"SKIP: {why}")
    sys.exit(77)


def words(path):
    try:
        return path.read_text(encoding="ascii").split()
    except OSError:  # it has just been removed
        return []


def own_group():
    if os.geteuid() != 0:
        skip("not root")
    if not (MOUNT / "cgroup.controllers").exists():
        skip(f"{MOUNT} is not of version 2")
    offered = words(MOUNT / "cgroup.controllers")
    lacking = [name for name in CONTROLLERS if name not in offered]
    if lacking:
        skip(f"{MOUNT} does not offer {', '.join(lacking)}: they may be in use by version 1")
    (MOUNT / "cgroup.subtree_control").write_text(" ".join(f"+{name}" for name in CONTROLLERS), encoding="ascii")
    group = MOUNT / f"ratchet-attacks-{os.getpid()}"
    group.mkdir()
    return group


class Watch(threading.Thread):
    """Looks at the groups below the server's until it is told to stop."""

    def __init__(self, group):
        super().__init__(daemon=True)
        self.group, self.seen, self.stop = group, {}, threading.Event()

    def run(self):
        while not self.stop.is_set():
            for below in self.group.glob("ratchet-*"):
                held = self.look(below)
                if held["programs"]:  # else it is being made or removed
                    programs = self.seen.get(below.name, held)["programs"]
                    self.seen[below.name] = {**held, "programs": programs | held["programs"]}
            time.sleep(0.01)

    @staticmethod
    def look(below):
        programs = set()
        for pid in words(below / "cgroup.procs"):
            try:
                programs.add(os.path.basename(os.readlink(f"/proc/{pid}/exe")))
            except OSError:
                continue
        first = {name: (words(below / name) or [""])[0]
                 for name in ("memory.max", "memory.swap.max", "pids.max", "cpu.weight")}
        return {"programs": programs, **first}

    def of(self, program):
        """What groups with this program had, the server's own left out."""
        return [held for name, held in self.seen.items()
                if "server" not in name and any(program in one for one in held["programs"])]


class Attempts:
    def __init__(self, server, device, folder):
        self.server, self.device, self.folder, self.runs = server, device, folder, 0

    def check(self, text):
        self.runs += 1
        created, refused = self.server.call("create_run", {
            **task_of("double", self.device), "dims": {"n": 4096}, "kernel": {"text": text},
            "any_size": False, "output_dir": str(self.folder / f"run{self.runs}")})
        if refused is not None:
            return f"refused: {refused[:300]}"
        checked, refused = self.server.call("check_correctness", {"run": created["run"]})
        if refused is not None:
            return f"refused: {refused[:300]}"
        return " ".join(reason["code"] for reason in checked["reasons"]) or "passed"


def number(text):
    return text.isdigit() and 0 < int(text) < 1 << 50


def rows_of(watch, environment, outcomes, left):
    workers, compilers = watch.of("ratchet-worker"), watch.of("cc1plus") + watch.of("cicc")
    sandbox = environment.get("sandbox", "")
    yield "the server says that it has control groups of version 2", sandbox, "control groups 2" in sandbox
    for what, held, weight in (("workers", workers, "100"), ("compilers", compilers, "50")):
        yield f"{what} seen in groups of their own", str(len(held)), bool(held)
        for name, good in (("memory.max", number), ("memory.swap.max", lambda text: text == "0"),
                           ("pids.max", lambda text: text == "1024"),
                           ("cpu.weight", lambda text, weight=weight: text == weight)):
            values = sorted({one[name] for one in held})
            yield f"{what}: {name}", " ".join(values), bool(values) and all(map(good, values))
    for kind, outcome in outcomes.items():
        honest = kind.startswith("right")
        yield kind, outcome, (outcome == "passed") == honest and not outcome.startswith("refused")
    yield "groups left after a check, beside the server's", ", ".join(left) or "none", not left


def main():
    ratchet, device, out = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    deadline = sys.argv[4] if len(sys.argv) > 4 else "2"
    out.mkdir(parents=True, exist_ok=True)
    group = own_group()
    form = forms(device)[0][0]
    hog = next(kind for kind in form.faults if kind in ("memory hog", "host memory hog"))
    outcomes, left = {}, []
    with tempfile.TemporaryDirectory() as folder:
        command = f"echo 0 > {group}/cgroup.procs && exec " + shlex.join(
            [ratchet, "serve", "--state-dir", folder + "/state", "--root", folder, "--job-deadline",
             deadline, "--no-builtin-kbs"])
        server = Server(["/bin/sh", "-c", command])
        environment, _ = server.call("check_env", {})
        watch = Watch(group)
        watch.start()
        attempts = Attempts(server, device, pathlib.Path(folder))
        right = form.text(next(iter(form.honest)), 0)
        hang = "host hang" if device == "cuda" else "hang"
        for kind, text in (("right", right), *((kind, form.text(kind, 0)) for kind in (hog, "fork storm", hang)),
                           ("right again", right)):
            outcomes[kind] = attempts.check(text)
            server.strays(10)
            left += [path.name for path in group.glob("ratchet-*") if "server" not in path.name]
        watch.stop.set()
        watch.join()
        server.close()
    for below in [*group.glob("*/"), group]:
        below.rmdir()
    rows = list(rows_of(watch, environment or {}, outcomes, left))
    good = all(row[2] for row in rows)
    lines = [f"# Control groups of version 2, {device}", "",
             f"Command: `tests/attacks/groups.py … {device} … {deadline}`. Linux {platform.release()}. Devices: "
             f"{devices_text(environment or {}, device)}. "
             f"Date: {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC.", "",
             "| what | seen | as expected |", "|---|---|---|"]
    lines += [f"| {what} | {seen} | {'yes' if fine else 'NO'} |" for what, seen, fine in rows]
    (out / f"groups-{device}.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
