"""What the server must stand. Each scenario takes a place and its size, and returns its figures."""

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

from place import GOOD, HERE, Failed, Gone, Http, Place, below, expect, kill, must

REFERENCE = ("extern \"C\" void reference(const float* a, const float* b, float* c, int n) {\n"
             "  for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];\n}\n")
WORDS = ("bank conflicts", "warp shuffle reduction", "tail effect", "vectorized loads",
         "occupancy", "register spills", "tensor cores", "launch overhead")
MOST_GROWTH = 10 << 20  # of resident memory between the first tenth of a long series and its end


def numbers(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2], ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)]


# ------------------------------------------------------------------------------ connections
def crowd(place, size):
    """Silent and talking connections at once."""
    silent_count, talking_count = size
    server = place.http()
    held = []

    def connect(text=b""):
        one = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        if text:
            one.sendall(text)
        held.append(one)

    # Half say nothing at all, a quarter stop within the head, a quarter within the body.
    head = b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
    begun = (b"", b"", head, head + b"Content-Length: 100\r\n\r\n{")
    for i in range(silent_count):
        connect(begun[i % 4])
    slow = {"healthz": [], "call": []}

    def timed(kind, work):
        begin = time.monotonic()
        work()
        slow[kind].append(time.monotonic() - begin)

    def health():
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/healthz", timeout=10) as answer:
            expect(answer.status == 200, "/healthz answers 200")

    answered, refused, gate = [0], [], threading.Barrier(talking_count + 1)

    def talk():
        client = Http(server.port, 60)
        gate.wait()
        for _ in range(3):
            try:
                must(client, "lookup_spec", {"product": "H100"})
                answered[0] += 1
            except (Gone, Failed) as error:  # closed to make room: the client connects again
                refused.append(str(error))
        client.close()

    threads = [threading.Thread(target=talk) for _ in range(talking_count)]
    for thread in threads:
        thread.start()
    gate.wait()
    for _ in range(5):
        timed("healthz", health)
        timed("call", lambda: must(Http(server.port, 10), "lookup_spec", {"product": "H100"}))
    for thread in threads:
        thread.join()
    client = Http(server.port, 10)
    timed("call", lambda: must(client, "list_runs", {}))
    for one in held:
        one.close()
    server.stop()
    expect(answered[0] > 0, f"clients beside silent ones get answers; refusals: {refused[:3]}")
    return [("connections at once, silent of them", f"{silent_count + talking_count:,}, {silent_count}"),
            ("slowest /healthz, slowest tool call among them",
             f"{max(slow['healthz']):.2f}, {max(slow['call']):.2f} s"),
            ("calls of the talking clients answered; connections closed to make room",
             f"{answered[0]:,}; {len(refused):,}")]


# ------------------------------------------------------------------------------ kills
def run_of(place, kernel, serial):
    """Arguments of create_run for a kernel that adds vectors."""
    place.runs += 1
    return {"kernel": {"text": kernel}, "reference": {"text": REFERENCE}, "dims": {"n": 4096},
            "implementation": "host-cpp",
            "output_dir": str(place.folder / f"run{place.runs}-{serial}")}


class Mix:
    """Calls of six tools; remembers what was acknowledged and must be in the ledger."""

    def __init__(self, place, seed):
        self.place, self.draw = place, random.Random(seed)
        self.checked = 0
        self.count, self.busy, self.stopping, self.refused = 0, 0, False, {}
        self.acknowledged = []  # (run, words of its row)
        self.times, self.lock, self.serial = [], threading.Lock(), 0
        self.runs, self.workshop = [], None

    def prepare(self, client, runs=3, submits=True):
        """Profiling a version, so that one is open for kernels, takes seconds."""
        self.workshop = self.place.open_version(client) if submits else None
        self.runs = [self.place.create(client) for _ in range(runs)]

    def next_call(self):
        with self.lock:
            self.serial += 1
            serial, draw = self.serial, self.draw.random()
            run = self.draw.choice(self.runs)
        words = f"{WORDS[serial % len(WORDS)]} {serial}"
        if draw < 0.30:
            return "query_kbs", {"query": words, "limit": 1}, None
        if draw < 0.34:
            return "query_kbs", {"query": words, "run": run, "purpose": "kernel",
                                 "limit": 1}, (run, words)
        if draw < 0.60:
            return "run_status", {"run": run}, None
        if draw < 0.75:
            return "check_gate", {"run": run}, None
        if draw < 0.85:
            return "list_runs", {"limit": 5}, None
        if draw < 0.9985 or self.workshop is None:
            return "lookup_spec", {"product": "H100"}, None
        note = f"attempt {serial}"
        return "submit_kernel", {"run": self.workshop, "source": GOOD.format(serial % 7),
                                 "note": note}, (self.workshop, note)

    def work(self, connect, most):
        """Calls until `most` were answered in all; `connect` gives a client of a living server."""
        client = connect()
        while client is not None and self.count < most and not self.stopping:
            tool, arguments, row = self.next_call()
            begin = time.monotonic()
            try:
                _, refused = client.call(tool, arguments)
            except Gone:
                client = connect()
                continue
            took = time.monotonic() - begin
            with self.lock:
                self.count += 1
                self.times.append(took)
                if refused is not None and tool == "submit_kernel" and refused.startswith("conflict: "):
                    self.busy += 1  # two clients submitted at once: one of them is told so
                elif refused is not None:
                    kind = f"{tool}: {refused[:160]}"
                    self.refused[kind] = self.refused.get(kind, 0) + 1
                elif row is not None:
                    self.acknowledged.append(row)
        if client is not None:
            client.close()

    def toil(self, connect):
        """Runs with new kernels, built and checked one after another."""
        client = connect()
        while client is not None and not self.stopping:
            with self.lock:
                self.serial += 1
                serial = self.serial
            try:
                created, refused = client.call("create_run",
                                               run_of(self.place, GOOD.format(serial), serial))
                if refused is None:
                    row = (created["run"], created["contract_digest"])
                    checked, refused = client.call("check_correctness", {"run": created["run"]})
                    with self.lock:
                        self.acknowledged.append(row)
                        self.checked += refused is None and checked["passed"]
                if refused is not None:
                    self.refused[f"toil: {refused[:200]}"] = 1
            except Gone:
                client = connect()
        if client is not None:
            client.close()

    def expect_recorded(self):
        """Every acknowledged record is in the ledger, once."""
        claimed, found = list(self.acknowledged), {}  # copied first: more is written meanwhile
        for run, _, payload in self.place.rows():
            found.setdefault(run, []).append(payload)
        text = {run: "\n".join(payloads) + "\n" for run, payloads in found.items()}
        lost = [row for row in claimed if f"{row[1]}\"" not in text.get(row[0], "")]
        expect(not lost, f"what was acknowledged is in the ledger; {len(lost)} are not: {lost[:3]}")


class Fleet:
    """One server over HTTP for several clients, and one over stdio for each of some more."""

    def __init__(self, place):
        self.place, self.lock = place, threading.Lock()
        self.server = place.http()
        self.pipes = {}
        self.open = True

    def connect_http(self):
        while self.open:
            with self.lock:
                if self.server.process.poll() is None:
                    return self.server.client()
            time.sleep(0.02)
        return None

    def connect_stdio(self, name):
        if not self.open:
            return None
        client = self.place.stdio()
        self.pipes[name] = client
        return client

    def kill_one(self, draw):
        """Kills a server; one over HTTP comes back here, one over stdio with its client."""
        pipes = [one for one in self.pipes.values() if one.server.alive()]
        if pipes and draw.random() < 0.5:
            kill(draw.choice(pipes).server.process)
            return
        with self.lock:
            kill(self.server.process)
            self.server = self.place.http()

    def close(self):
        self.open = False
        kill(self.server.process)
        for one in self.pipes.values():
            if one.server.alive():
                kill(one.server.process)


def kills(place, size):
    """Servers killed amid calls of many clients, again and again, on one state folder."""
    calls, between, submits = size
    fleet, mix, draw = Fleet(place), Mix(place, 1), random.Random(2)
    mix.prepare(fleet.server.client(), submits=submits)
    threads = [threading.Thread(target=mix.work, args=(fleet.connect_http, calls)) for _ in range(3)]
    for name in range(2):
        threads.append(threading.Thread(
            target=mix.work, args=(lambda name=name: fleet.connect_stdio(name), calls)))
    threads.append(threading.Thread(target=mix.toil, args=(fleet.connect_http,)))
    begin, killed, audits = time.monotonic(), 0, 0
    for thread in threads:
        thread.start()
    try:
        while mix.count < calls and any(thread.is_alive() for thread in threads):
            time.sleep(draw.uniform(0.5, 1.5) * between)
            fleet.kill_one(draw)
            killed += 1
            if killed % 5 == 0:
                code, said = place.ratchet_says("gc")  # beside servers at work
                expect(code == 0, f"`ratchet gc` is content; it said: {said[-500:]}")
                place.audit()
                audits += 1
            mix.expect_recorded()
    finally:
        mix.stopping = True
        fleet.close()
    for thread in threads:
        thread.join(30)
    expect(not any(thread.is_alive() for thread in threads), "every call ends when its server does")
    seconds = time.monotonic() - begin
    mix.expect_recorded()
    place.expect_nothing_left()
    place.audit()
    expect(not mix.refused, f"no call is refused; refusals: {dict(list(mix.refused.items())[:3])}")
    middle, late = numbers(mix.times)
    return [("calls answered; answers with a record",
             f"{mix.count:,}; {len(mix.acknowledged):,}"),
            ("kernels built and checked meanwhile", f"{mix.checked}"),
            ("`kill -9` of a server amid them, full audits", f"{killed}, {audits + 1}"),
            ("acknowledged records lost, orphans, folders left", "0, 0, 0"),
            ("a call: median, 99 %", f"{middle * 1000:.1f}, {late * 1000:.1f} ms"),
            ("seconds", f"{seconds:.0f}")]


# ------------------------------------------------------------------------------ memory
def memory(place, size):
    """Resident memory of one server over a long series of calls."""
    calls = size
    server, mix = place.http(), Mix(place, 3)
    mix.prepare(server.client())
    mix.times = []
    seen = {}
    begin = time.monotonic()
    for limit in (calls // 10, calls // 2, calls):
        threads = [threading.Thread(target=mix.work, args=(server.client, limit)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seen[limit] = server.resident_bytes()
    seconds = time.monotonic() - begin
    server.stop()
    mix.expect_recorded()
    place.audit()
    expect(not mix.refused, f"no call is refused; refusals: {dict(list(mix.refused.items())[:3])}")
    growth = seen[calls] - seen[calls // 10]
    text = ", ".join(f"{size / (1 << 20):.1f} MB at {limit:,}" for limit, size in seen.items())
    expect(growth <= MOST_GROWTH, f"the server's memory grows by at most 10 MB; it had {text}")
    return [("resident memory of the server", text), ("seconds", f"{seconds:.0f}")]


# ------------------------------------------------------------------------------ disks
def mounted(folder, size):
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", folder],
                          capture_output=True, text=True, check=False)
    return done.returncode == 0, done.stderr.strip()


def full_disk(place, size):
    """A file system that is full while the server works, and has space again."""
    rounds = size
    disk = place.folder / "disk"
    ok, why = mounted(disk, "24m")
    if not ok:
        return [("skipped: no tmpfs could be mounted", why)]
    try:
        small = Place(place.ratchet, disk / "place")
        return fill(small, disk, rounds)
    finally:
        subprocess.run(["umount", "-l", disk], check=False)


def fill(place, disk, rounds):
    server = place.http()
    client = server.client()
    mix = Mix(place, 4)
    mix.prepare(client, 1, submits=False)
    refusals, serial = {}, 0
    for _ in range(rounds):
        ballast = disk / "ballast"
        with open(ballast, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError:
                pass
            try:
                while True:
                    file.write(bytes(1))
            except OSError:
                pass
        for _ in range(3):
            serial += 1
            words = f"bank conflicts {serial}"
            _, refused = client.call("query_kbs", {"run": mix.runs[0], "purpose": "kernel",
                                                   "query": words})
            if refused is None:
                mix.acknowledged.append((mix.runs[0], words))
            else:
                refusals.setdefault("query_kbs", refused)
            for what, kernel in (("create_run", GOOD.format(1)),
                                 ("create_run that builds", GOOD.format(serial))):
                created, refused = client.call("create_run", run_of(place, kernel, serial))
                if refused is None:
                    mix.acknowledged.append((created["run"], created["contract_digest"]))
                else:
                    refusals.setdefault(what, refused)
        expect(server.process.poll() is None, "the server stays up on a full disk")
        must(client, "list_runs", {})
        must(client, "run_status", {"run": mix.runs[0]})
        ballast.unlink()
        created = must(client, "create_run", run_of(place, GOOD.format(f"after {serial}"), serial))
        mix.acknowledged.append((created["run"], created["contract_digest"]))
        for run in (created["run"], mix.runs[0]):
            status = must(client, "run_status", {"run": run})
            expect(not status["integrity"], f"nothing is damaged: {status['integrity'][:2]}")
    for tool, text in refusals.items():
        expect(("No space left" in text or "disk is full" in text) and "ratchet gc" in text,
               f"{tool} on a full disk says that it is full and what to do; it said: {text}")
    kill(server.process)
    mix.expect_recorded()
    place.audit()
    place.expect_nothing_left()
    return [("rounds of a full disk and space again; tools that then said so",
             f"{rounds}; {', '.join(sorted(refusals))}"),
            ("acknowledged records lost", "0")]


# ------------------------------------------------------------------------------ shim
def shim(place):
    """The library of shim.cpp, or nothing and why."""
    library = place.folder / "shim.so"
    built = subprocess.run(["g++", "-std=c++20", "-O1", "-shared", "-fPIC", "-o", library,
                            HERE / "shim.cpp", "-ldl"], capture_output=True, text=True, check=False)
    expect(built.returncode == 0, f"the shim builds: {built.stderr[-500:]}")
    return library


def slow_disk(place, size):
    """Every sync takes a while."""
    milliseconds, seconds = size
    server = place.http(environment={"LD_PRELOAD": str(shim(place)),
                                     "RATCHET_LOAD_SYNC_MS": str(milliseconds)})
    client, mix = server.client(), Mix(place, 5)
    mix.prepare(client, 2, submits=seconds > 5)
    threads = [threading.Thread(target=mix.work, args=(server.client, 1 << 30)) for _ in range(4)]
    for thread in threads:
        thread.start()
    worst, end = 0.0, time.monotonic() + seconds
    while time.monotonic() < end:
        begin = time.monotonic()
        with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/healthz", timeout=30):
            pass
        worst = max(worst, time.monotonic() - begin)
        time.sleep(0.05)
    mix.stopping = True
    for thread in threads:
        thread.join(60)
    kill(server.process)
    mix.expect_recorded()
    place.expect_nothing_left()
    place.audit()
    expect(not mix.refused, f"no call is refused; refusals: {dict(list(mix.refused.items())[:3])}")
    _, late = numbers(mix.times)
    return [(f"every sync {milliseconds} ms slower: calls, 99 % of them within",
             f"{mix.count:,}, {late * 1000:.0f} ms"),
            ("slowest /healthz meanwhile", f"{worst * 1000:.0f} ms")]


def clock_jumps(place, size):
    """The clock of the day jumps by hours, both ways, while kernels are built and checked."""
    seconds = size
    offset = place.folder / "offset"
    offset.write_bytes((0).to_bytes(8, sys.byteorder, signed=True))
    server = place.http(environment={"LD_PRELOAD": str(shim(place)),
                                     "RATCHET_LOAD_CLOCK": str(offset)})
    client, mix, draw = server.client(), Mix(place, 6), random.Random(7)
    mix.prepare(client, 2, submits=seconds > 5)
    stop, jumps, steps, slowest = threading.Event(), [0], [0], [0.0]

    def jump():
        with open(offset, "r+b", buffering=0) as file:
            while not stop.wait(draw.uniform(0.05, 0.4)):
                hours = draw.choice((-30, -5, -1, 1, 5, 30))
                file.seek(0)
                file.write((hours * 3600).to_bytes(8, sys.byteorder, signed=True))
                jumps[0] += 1

    jumper = threading.Thread(target=jump)
    jumper.start()
    worker = threading.Thread(target=mix.work, args=(server.client, 1 << 30))
    worker.start()
    end = time.monotonic() + seconds
    try:
        while time.monotonic() < end:
            begin = time.monotonic()
            run = place.create(client)
            checked = must(client, "check_correctness", {"run": run})
            expect(checked["passed"], f"a good kernel passes: {checked['reasons']}")
            slowest[0] = max(slowest[0], time.monotonic() - begin)
            steps[0] += 1
    finally:
        stop.set()
        mix.stopping = True
        jumper.join()
        worker.join(60)
    expect(not worker.is_alive(), "no call hangs when the clock jumps")
    kill(server.process)
    mix.expect_recorded()
    place.expect_nothing_left()
    place.audit()
    expect(not mix.refused, f"no call is refused; refusals: {dict(list(mix.refused.items())[:3])}")
    return [("jumps of the clock by 1 to 30 hours, both ways", f"{jumps[0]}"),
            ("runs created and checked meanwhile, the slowest; other calls",
             f"{steps[0]}, {slowest[0]:.1f} s; {mix.count:,}")]


# ------------------------------------------------------------------------------ workers
def stopped_workers(place, size):
    """SIGSTOP of workers amid checks: the deadline ends them, and the run goes on."""
    rounds = size
    server = place.http()
    client = server.client(120)
    draw, ended, stopped = random.Random(8), [], 0
    for _ in range(rounds):
        run = place.create(client)  # a check that failed has used a retry of its run
        thread = threading.Thread(target=lambda run=run: Http(server.port, 120).call(
            "check_correctness", {"run": run}))
        begin = time.monotonic()
        thread.start()
        time.sleep(draw.uniform(0.0, 0.3))
        caught = False
        while thread.is_alive() and not caught:
            for pid in below(server.process.pid):
                try:
                    with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                        if "ratchet-worker" not in file.read():
                            continue
                    os.kill(pid, signal.SIGSTOP)
                    caught = True
                except OSError:
                    continue
        stopped += caught
        thread.join(60)
        expect(not thread.is_alive(), "a check whose worker was stopped ends at its deadline")
        ended.append(time.monotonic() - begin)
        expect(server.process.poll() is None, "the server stays up")
    run = place.create(client)
    checked = must(client, "check_correctness", {"run": run})
    expect(checked["passed"], f"an honest kernel passes afterwards: {checked['reasons']}")
    left = [pid for pid in below(server.process.pid)]
    expect(not left, f"no worker is left: {left}")
    kill(server.process)
    place.expect_nothing_left()
    place.audit()
    return [("checks with a stopped worker; ended after, median and slowest (deadline of a call 2 s, "
             "of a worker's start 30 s)",
             f"{stopped}; {numbers(ended)[0]:.1f}, {max(ended):.1f} s")]


def two_servers(place, size):
    """Two servers on one state folder, both recording in the same runs."""
    calls = size
    servers, mix = [place.http(), place.http()], Mix(place, 9)
    mix.prepare(servers[0].client(), submits=calls > 1000)
    threads = [threading.Thread(target=mix.work, args=(server.client, calls))
               for server in servers for _ in range(2)]
    threads.append(threading.Thread(target=mix.work, args=(place.stdio, calls)))
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - begin
    created = [place.create(server.client()) for server in servers]
    for server, run in zip(reversed(servers), created):
        status = must(server.client(), "run_status", {"run": run})
        expect(not status["integrity"], f"one server reads the other's run: {status['integrity']}")
    for server in servers:
        server.stop()
    mix.expect_recorded()
    place.audit()
    expect(not mix.refused, f"no call is refused; refusals: {dict(list(mix.refused.items())[:3])}")
    return [("calls to three servers on one state folder, recorded",
             f"{mix.count:,}, {len(mix.acknowledged):,}"), ("seconds", f"{seconds:.0f}")]


def faults(place, size):
    """Kernels that crash, hang and lie, in a row: tests/attacks/faults.py."""
    out = place.folder / "out"
    ended = subprocess.run([sys.executable, HERE.parent / "attacks" / "faults.py", place.ratchet,
                            "host", str(size), out, "--seed", "1"], capture_output=True, text=True,
                           env=place.environment, check=False)
    lines = [line[2:] for line in ended.stdout.splitlines() if line.startswith("- ")]
    expect(ended.returncode == 0, f"faults end as expected: {ended.stdout[-1500:]}{ended.stderr[-500:]}")
    left = place.leftovers()
    expect(not left, f"no folder is left: {left[:5]}")
    return [(f"{size} host kernels in a row, most of them faulty", "; ".join(lines[:2])),
            ("resident memory", next(line for line in lines if line.startswith("resident")))]


# Size of each in the short and in the long form.
SCENARIOS = {crowd: ((512, 100), (512, 488)),
             kills: ((1500, 0.7, False), (100_000, 2.0, True)),
             full_disk: (1, 5),
             slow_disk: ((20, 2), (50, 20)),
             clock_jumps: (2, 30),
             stopped_workers: (1, 8),
             two_servers: (400, 20_000),
             memory: (None, 100_000),
             faults: (None, 200)}
