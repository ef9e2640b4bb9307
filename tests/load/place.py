"""Folders and servers of one scenario, and what must hold when its servers have ended."""

import ctypes
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "attacks"))
from client import Server  # noqa: E402

PR_SET_CHILD_SUBREAPER = 36
HERE = pathlib.Path(__file__).resolve().parent
GOOD = ("extern \"C\" void solve(const float* a, const float* b, float* c, int n) {{\n"
        "  for (int i = 0; i < n; ++i) c[i] = a[i] + b[i];  // {}\n}}\n")


class Failed(Exception):
    """What the server should have done, and what it did."""


class Gone(Exception):
    """The server ended before it answered."""


def expect(good, what):
    if not good:
        raise Failed(what)


def adopt_orphans():
    """Processes of killed servers become children of this program, so that none can hide."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def parents():
    found = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except (OSError, IndexError):
                continue
            if fields[0] not in "ZX":
                found[int(name)] = int(fields[1])
    return found


def below(root):
    """Live descendants of a process."""
    table, found = parents(), {root}
    while more := {pid for pid, parent in table.items() if parent in found} - found:
        found |= more
    return found - {root}


class Http:
    """One connection; `call` as that of the client over stdio."""

    def __init__(self, port, timeout=60):
        self.port, self.timeout, self.ids, self.connection = port, timeout, 0, None

    def call(self, tool, arguments):
        self.ids += 1
        body = json.dumps({"jsonrpc": "2.0", "id": self.ids, "method": "tools/call",
                           "params": {"name": tool, "arguments": arguments}})
        try:
            if self.connection is None:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port,
                                                             timeout=self.timeout)
            self.connection.request("POST", "/mcp", body, {
                "Content-Type": "application/json",
                "Accept": "application/json, text/event-stream",
                "MCP-Protocol-Version": "2025-11-25"})
            response = self.connection.getresponse()
            text = response.read().decode()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            raise Gone(str(error) or type(error).__name__) from None
        return self.answer(response, text)

    def answer(self, response, text):
        if response.getheader("Content-Type", "").startswith("text/event-stream"):
            messages = [json.loads(line[5:]) for line in text.splitlines()
                        if line.startswith("data:") and line[5:].strip()]
        else:
            messages = [json.loads(text)] if text else []
        answer = next((m for m in messages if m.get("id") == self.ids), None)
        if answer is None:
            self.close()
            raise Gone(f"status {response.status}, no answer in {len(text)} bytes")
        if "error" in answer:
            return None, answer["error"].get("message", "error")
        result = answer["result"]
        said = "".join(part.get("text", "") for part in result.get("content", []))
        if result.get("isError"):
            return None, said
        return result.get("structuredContent") or {}, None

    def close(self):
        if self.connection is not None:
            self.connection.close()
        self.connection = None


class Stdio:
    """A server of its own, which this client starts."""

    def __init__(self, command, environment):
        self.server = Server(command, environment)

    def call(self, tool, arguments):
        try:
            return self.server.call(tool, arguments)
        except (RuntimeError, OSError, ValueError) as error:
            if self.server.alive() and "the server has ended" not in str(error):
                return None, str(error)
            raise Gone(str(error)) from None

    def close(self):
        self.server.close()


class HttpServer:
    def __init__(self, command, environment):
        self.process = subprocess.Popen(command + ["--http", "0", "--no-auth"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True, env=environment)
        self.said, self.port = [], None
        listening = threading.Event()
        threading.Thread(target=self.read, args=(listening,), daemon=True).start()
        listening.wait(30)
        if self.port is None:
            self.process.kill()
            self.process.wait()
            raise Gone("it did not listen: " + " ".join(self.said[-3:]))

    def read(self, listening):
        for line in self.process.stderr:
            self.said.append(line.rstrip())
            if found := re.search(r"listens on http://127\.0\.0\.1:(\d+)/mcp", line):
                self.port = int(found.group(1))
                listening.set()
        listening.set()

    def client(self, timeout=60):
        return Http(self.port, timeout)

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def stop(self):
        self.process.terminate()
        self.process.wait(timeout=30)


class Place:
    """A state folder, folders for runs and temporary files, and servers on them."""

    def __init__(self, ratchet, folder, state=None):
        self.ratchet, self.folder = str(ratchet), pathlib.Path(folder)
        self.state = pathlib.Path(state) if state else self.folder / "state"
        self.temporary = self.folder / "tmp"
        self.temporary.mkdir(parents=True)
        self.environment = {**os.environ, "TMPDIR": str(self.temporary)}
        self.runs = 0

    def command(self, *more):
        return [self.ratchet, "serve", "--state-dir", str(self.state), "--root", str(self.folder),
                "--job-deadline", "2", *more]

    def http(self, *more, environment=None):
        return HttpServer(self.command(*more), {**self.environment, **(environment or {})})

    def stdio(self, *more, environment=None):
        return Stdio(self.command(*more), {**self.environment, **(environment or {})})

    def create(self, client, **more):
        """A run of adding vectors on the processor; its id."""
        self.runs += 1
        return must(client, "create_run", {
            "problem": "vector_add", "implementation": "host-cpp", "dims": {"n": 4096},
            "output_dir": str(self.folder / f"run{self.runs}"), **more})["run"]

    def open_version(self, client, **more):
        """A run whose v1 waits for a kernel."""
        run = self.create(client, **more)
        must(client, "check_correctness", {"run": run})
        must(client, "profile_kernel", {"run": run})
        selected = []
        for purpose in ("kernel", "bottleneck"):
            found = must(client, "query_kbs", {"run": run, "purpose": purpose,
                                               "query": "memory bandwidth bound vectorized access"})
            selected.append({"id": found["results"][0]["id"], "query_id": found["query_id"],
                             "applies_because": "streams two inputs and one output"})
        must(client, "write_kbs_evidence", {"run": run, "facts": ["median_ns"],
                                            "selected": selected[:1],
                                            "decision_link": "bandwidth bound → wider accesses"})
        must(client, "write_hypothesis", {
            "run": run, "category": "memory", "change": "load four values at once",
            "rationale": "fewer instructions per byte", "risk": "none for correctness",
            "expected": [{"metric": "median_ns", "direction": "down"}],
            "evidence": [selected[0]["id"]], "accept_if": "faster", "reject_if": "slower"})
        expect(must(client, "check_gate", {"run": run})["passed"], "v0 passes its gate")
        return run

    def ratchet_says(self, *words):
        """Exit status and output of a command on this state folder."""
        ended = subprocess.run([self.ratchet, *words, "--state-dir", str(self.state)],
                               capture_output=True, text=True, env=self.environment, check=False,
                               timeout=300)
        return ended.returncode, ended.stdout + ended.stderr

    def audit(self):
        code, said = self.ratchet_says("audit")
        expect(code == 0, f"`ratchet audit` is content; it said: {said[-1500:]}")

    def rows(self):
        """All rows of the ledger as (run, kind, payload), in the order they were written."""
        base = sqlite3.connect(self.state / "ledger.sqlite", timeout=30)
        try:
            return base.execute("SELECT run, kind, payload FROM rows ORDER BY position").fetchall()
        finally:
            base.close()

    def leftovers(self):
        """Private folders of processes, in all places where servers make them."""
        found = []
        for folder in (self.temporary, self.state / "builds" / "work"):
            found += [str(path) for path in folder.glob("ratchet-*")]
        for folder in self.folder.glob("run*"):
            found += [str(path) for path in folder.rglob(".*.ratchet-*")]  # half-written files of a run
        return found

    def expect_nothing_left(self, grace=5.0):
        """All servers of this place have ended."""
        end = time.monotonic() + grace
        while (orphans := below(os.getpid())) and time.monotonic() < end:
            reap()
            time.sleep(0.02)
        expect(not orphans, f"no process outlives its server; found {described(orphans)}")
        self.round_of_all_runs()
        left = self.leftovers()
        expect(not left, f"a new server removes the folders of those that were killed; left: {left[:5]}")

    def round_of_all_runs(self):
        """A new server reads every run and ends; it tidies up after those that were killed."""
        client = self.stdio()
        cursor = {}
        while cursor is not None:
            page = must(client, "list_runs", {"limit": 50, **cursor})
            for run in page["runs"]:
                status = must(client, "run_status", {"run": run["run"]})
                expect(not status["integrity"], f"every run is whole: {status['integrity'][:2]}")
            cursor = {"cursor": page["next_cursor"]} if page.get("next_cursor") else None
        end = time.monotonic() + 5
        while self.leftovers() and time.monotonic() < end:
            time.sleep(0.05)
        client.close()

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


def described(pids):
    words = []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
                words.append(f"{pid} {file.read().replace(chr(0), ' ')[:80]}")
        except OSError:
            words.append(str(pid))
    return words


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0] > 0:
            pass
    except ChildProcessError:
        pass


def must(client, tool, arguments):
    answer, refused = client.call(tool, arguments)
    expect(refused is None, f"{tool} answers; it said: {refused}")
    return answer


def kill(process):
    process.send_signal(signal.SIGKILL)
    process.wait()


def kill_all(pids):
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    reap()
