"""A small MCP client over stdio: one server process, tools called one after another."""

import json
import os
import subprocess


def waits_for_work(pid):
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            command = file.read()
            return any(word in command for word in ("python/parent.py", "ratchet-nvrtc"))
    except OSError:
        return False


class Server:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.ids = 0
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                    "clientInfo": {"name": "attacks", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.ids += 1
        self.send({"jsonrpc": "2.0", "id": self.ids, "method": method, "params": params})
        for line in self.process.stdout:
            answer = json.loads(line)
            if answer.get("id") == self.ids:
                if "error" in answer:
                    raise RuntimeError(answer["error"].get("message", "error"))
                return answer["result"]
        raise RuntimeError("the server has ended")

    def call(self, tool, arguments):
        """The structured answer, and the text of a refusal instead of it."""
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = "".join(part.get("text", "") for part in result.get("content", []))
        if result.get("isError"):
            return None, text
        return result.get("structuredContent") or json.loads(text), None

    def alive(self):
        return self.process.poll() is None

    def resident_bytes(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def strays(self):
        """Its children but those that wait for work: the Python parent, the next compiler."""
        return [pid for pid in self.children() if not waits_for_work(pid)]

    def descriptors(self):
        try:
            return len(os.listdir(f"/proc/{self.process.pid}/fd"))
        except OSError:  # the server hides itself from others of its user
            return -1

    def children(self):
        """Living processes below the server."""
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
