"""A small MCP client over stdio: one server process, tools called by any number of threads."""

import json
import os
import queue
import subprocess
import threading
import time

MOST_PAUSE = 2.0  # seconds between two questions for a job


def command_of(pid):
    """Its command line; empty if it has ended."""
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            return file.read().replace("\0", " ").strip()
    except OSError:
        return ""


def waits_for_work(pid):
    return any(word in command_of(pid) for word in ("python/fork_server.py", "ratchet-nvrtc"))


def devices_text(environment, kind=""):
    """The devices of check_env's answer, or those of one kind."""
    return "; ".join(f"{d['kind']}: {d['name']} {d.get('arch', '')}, driver {d.get('driver', '')}"
                     for d in environment.get("devices", []) if kind in ("", d["kind"]))


class Server:
    """`patience_s`: how long an answer and a job may take before that is an error; None: for ever."""

    def __init__(self, command, environment=None, patience_s=None):
        self.patience_s = patience_s
        # A session of its own: a signal to this program's group must not end it. It ends with its input.
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=environment,
                                        start_new_session=True)
        self.lock, self.ids, self.waiting, self.ended = threading.Lock(), 0, {}, False
        threading.Thread(target=self.read, daemon=True).start()
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                    "clientInfo": {"name": "attacks", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def read(self):
        for line in self.process.stdout:
            try:
                answer = json.loads(line)
            except ValueError:  # a killed server's last line
                break
            waiting = self.waiting.pop(answer.get("id"), None)
            if waiting:
                waiting.put(answer)
        with self.lock:
            self.ended = True
            for waiting in self.waiting.values():
                waiting.put(None)

    def send(self, message):
        with self.lock:
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def request(self, method, params):
        waiting = queue.SimpleQueue()
        with self.lock:
            if self.ended:
                raise RuntimeError("the server has ended")
            self.ids += 1
            number = self.ids
            self.waiting[number] = waiting
        self.send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        try:
            answer = waiting.get(timeout=self.patience_s)
        except queue.Empty:
            raise RuntimeError(f"{method}: no answer within {self.patience_s} s") from None
        if answer is None:
            raise RuntimeError("the server has ended")
        if "error" in answer:
            raise RuntimeError(answer["error"].get("message", "error"))
        return answer["result"]

    def call(self, tool, arguments):
        """The structured answer and None, or None and the text of the error. Work that outlasts its
        call goes on as a job, and is waited for."""
        answer, refused = self.answer(tool, arguments)
        if answer and isinstance(answer.get("job"), str):
            return self.answer_of_job(answer["job"])
        return answer, refused

    def answer(self, tool, arguments):
        """As `call`; work that goes on is answered with its ticket."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = "".join(part.get("text", "") for part in result.get("content", []))
        if result.get("isError"):
            return None, text
        return result.get("structuredContent") or json.loads(text), None

    def answer_of_job(self, job):
        pause, begin = 0.05, time.monotonic()
        while self.patience_s is None or time.monotonic() - begin < self.patience_s:
            status, refused = self.answer("run_status", {"job": job})
            if refused is not None:
                return None, refused
            found = status["job"]
            if found["state"] != "working":
                return found.get("answer"), found.get("error") or (
                    None if "answer" in found else f"{found['tool']}: job {found['state']}")
            time.sleep(pause)
            pause = min(2 * pause, MOST_PAUSE)
        return None, f"job {job}: not ended within {self.patience_s} s"

    def alive(self):
        return self.process.poll() is None

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def strays(self, patience_s=60):
        """The server's children except the idle ones: the Python fork server and a warm compiler. On
        a GPU a server calibrates between calls, so others get some time to end."""
        until = time.monotonic() + patience_s
        while True:
            left = [pid for pid in self.children() if not waits_for_work(pid)]
            if not left or time.monotonic() > until:
                return left
            time.sleep(0.02)

    def descriptors(self):
        try:
            return len(os.listdir(f"/proc/{self.process.pid}/fd"))
        except OSError:  # the server is not readable by other processes of its user
            return -1

    def children(self):
        """Live descendants of the server."""
        parents = {}
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                    parents[int(name)] = int(file.read().rsplit(")", 1)[1].split()[1])
            except (OSError, IndexError, ValueError):
                continue
        found = {self.process.pid}
        while True:
            more = {pid for pid, parent in parents.items() if parent in found} - found
            if not more:
                return sorted(found - {self.process.pid})
            found |= more

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def open_v1(server, run):
    """Takes v0 through the steps that must precede submit_kernel."""
    def must(tool, **arguments):
        answer, refused = server.call(tool, {"run": run, **arguments})
        if refused:
            raise RuntimeError(f"{tool}: {refused}")
        return answer
    checked = must("check_correctness")
    assert checked["passed"], checked["reasons"]
    must("profile_kernel", metrics="lean")
    cited = []
    for purpose in ("kernel", "bottleneck"):
        answer = must("query_kbs", purpose=purpose, query="memory bandwidth bound vectorized access")
        cited.append({"id": answer["results"][0]["id"], "query_id": answer["query_id"],
                      "applies_because": "streams one input and one output"})
    must("write_kbs_evidence", facts=["median_ns"], selected=cited[:1],
         decision_link="bandwidth bound, wider accesses")
    must("write_hypothesis", category="memory", change="wider accesses",
         rationale="fewer instructions per byte", risk="none", evidence=[cited[0]["id"]],
         expected=[{"metric": "median_ns", "direction": "down"}], accept_if="faster",
         reject_if="slower")
    gate = must("check_gate")
    assert gate["passed"], gate["reasons"]
