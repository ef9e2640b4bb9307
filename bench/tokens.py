#!/usr/bin/env python3
"""What a model reads: the words of three whole runs on the processor, by tool.

    bench/tokens.py RATCHET [TASK...]

Starts the server over stdio and plays each task of bench/tokens as an agent would: top8 (C++,
values and indices), convolution (C++, numpy reference), layer_norm (numpy). Each has v0 and three
versions. Prints bytes of text and of structured content for each tool and version; tokens are
bytes of text / 4. The definitions are names, descriptions and input schemas. SHOW=1 in the
environment prints every text.
"""

import collections
import datetime
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent / "tokens"

SHAPE = ["rows", "cols"]


def tensor(name, role, shape, dtype="float32"):
    return {"name": name, "dtype": dtype, "shape": shape, "role": role}


TASKS = {
    "top8": {
        "create": {
            "implementation": "host-cpp",
            "dims": {"rows": 2048, "cols": 1024},
            "tensors": [tensor("x", "in", SHAPE), tensor("values", "out", ["rows", "8"]),
                        tensor("places", "out", ["rows", "8"], "int32")],
            "work": {"bytes": "4 * rows * cols + 64 * rows", "flops": "rows * cols",
                     "type": "float32"},
        },
        "suffix": "cpp", "reference": "ref.cpp",
        "queries": [("top-k selection per row on a CPU", "branch misprediction scalar loop"),
                    ("OpenMP rows among cores", "one core busy the others idle"),
                    ("SIMD compare with threshold", "scalar loop not vectorized"),
                    ("CPU selection small k", "memory bandwidth bound on the processor")],
        "changes": [("compute", "Keep the eight best instead of sorting the row."),
                    ("latency", "Share the rows among the cores with OpenMP."),
                    ("compute", "Compare sixteen values at once with the smallest of the eight.")],
    },
    "convolution": {
        "create": {
            "implementation": "host-cpp",
            "dims": {"h": 1024, "w": 1024},
            "tensors": [tensor("x", "in", ["h", "w"]), tensor("f", "in", ["3", "3"]),
                        tensor("y", "out", ["h", "w"])],
            "work": {"bytes": "8 * h * w", "flops": "18 * h * w", "type": "float32"},
        },
        "suffix": "cpp", "reference": "ref.py",
        "queries": [("3x3 convolution stencil CPU", "branches in the inner loop"),
                    ("SIMD loop over a row", "scalar loop not vectorized"),
                    ("OpenMP parallel rows", "one core busy the others idle"),
                    ("stencil cache blocking", "memory bandwidth bound on the processor")],
        "changes": [("compute", "Ask for neighbors only at the edges."),
                    ("compute", "Compute the inside of a row in vectors."),
                    ("latency", "Share the rows among the cores with OpenMP.")],
    },
    "layer_norm": {
        "create": {
            "implementation": "host-python",
            "dims": {"rows": 1024, "cols": 1024},
            "tensors": [tensor("x", "in", SHAPE), tensor("gamma", "in", ["cols"]),
                        tensor("beta", "in", ["cols"]), tensor("y", "out", SHAPE)],
            "work": {"bytes": "8 * rows * cols + 8 * cols", "flops": "8 * rows * cols",
                     "type": "float32"},
            "atol": 1e-3, "rtol": 1e-3,
        },
        "suffix": "py", "reference": "ref.py",
        "queries": [("numpy layer norm", "interpreter overhead per row"),
                    ("numpy temporaries in place", "page faults of temporaries"),
                    ("cache blocking rows", "memory bandwidth bound on the processor"),
                    ("layer norm on a CPU", "memory bound row reduction")],
        "changes": [("latency", "Compute all rows at once."),
                    ("memory", "Single precision, in place, without temporaries."),
                    ("memory", "Blocks of rows that stay in the cache.")],
    },
}


class Refused(Exception):
    """The server answered with an error where the task expects none."""


class Server:
    """One server as a child; counts what its answers say."""

    def __init__(self, ratchet, state):
        self.process = subprocess.Popen(
            [ratchet, "serve", "--root", str(HERE), "--root", state, "--state-dir",
             state + "/state"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        self.last = 0
        self.calls = []  # (part, tool, bytes of text, bytes of structure)
        self.part = "-"
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                    "clientInfo": {"name": "bench-tokens", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.last:
                if "error" in message:
                    raise Refused(f"{method}: {message['error']['message']}")
                return message["result"]
        raise Refused(f"the server ended during {method}")

    def call(self, tool, **arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        text = "".join(block.get("text", "") for block in result["content"])
        if os.environ.get("SHOW"):
            print(f"=== {self.part} {tool} ({len(text.encode())} bytes)\n{text}")
        if result.get("isError"):
            raise Refused(f"{tool}: {text}")
        structure = result["structuredContent"]
        self.calls.append((self.part, tool, len(text.encode()), len(compact(structure))))
        if isinstance(structure.get("job"), str):
            return self.outcome(tool, structure["job"])
        return structure

    def outcome(self, tool, job):
        """The answer of a call that went on as a job; only the last look at it is counted."""
        while True:
            time.sleep(0.5)
            before = len(self.calls)
            state = self.call("run_status", job=job)["job"]
            if state["state"] == "working":
                del self.calls[before:]
            elif "error" in state:
                raise Refused(f"{tool}: {state['error']}")
            else:
                return state["answer"]

    def definitions(self):
        tools, cursor = [], {}
        while True:
            page = self.request("tools/list", cursor)
            tools += page["tools"]
            if "nextCursor" not in page:
                break
            cursor = {"cursor": page["nextCursor"]}
        seen = [{key: tool[key] for key in ("name", "description", "inputSchema")}
                for tool in tools]
        return len(compact(tools)), sum(len(compact(one)) for one in seen)

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=60)


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def play(server, name, output):
    task = TASKS[name]
    folder = HERE / name
    file = lambda n: str(folder / f"v{n}.{task['suffix']}")
    server.part = "create"
    made = server.call("create_run", kernel={"path": file(0)}, output_dir=output, iterations=3,
                       reference={"path": str(folder / task["reference"])}, **task["create"])
    run = made["run"]
    for number in range(4):
        server.part = f"v{number}"
        if number:
            server.call("submit_kernel", run=run, path=file(number))
        checked = server.call("check_correctness", run=run)
        if not checked["passed"]:
            raise Refused(f"v{number} is wrong: {checked['reasons']}")
        server.call("profile_kernel", run=run)
        decide(server, run, task, number)
        if number < 3:
            gate = server.call("check_gate", run=run)
            if not gate["passed"]:
                raise Refused(f"the gate did not open: {gate['reasons']}")
    server.part = "end"
    server.call("check_gate", run=run, final=True)
    server.call("benchmark", run=run)
    server.call("write_report", run=run)
    server.call("run_status", run=run)


def decide(server, run, task, number):
    """From the profile to the next change: two queries, a look at the run, evidence, hypothesis."""
    selected = {}
    for purpose, query in zip(("kernel", "bottleneck"), task["queries"][number]):
        found = server.call("query_kbs", run=run, purpose=purpose, query=query)
        page = found["results"][0]["id"]
        selected.setdefault(page, {"id": page, "query_id": found["query_id"],
                                   "applies_because": "It names what the profile shows."})
    server.call("run_status", run=run)
    server.call("write_kbs_evidence", run=run, facts=["median_ns", "achieved_flops_per_s"],
                selected=list(selected.values()), decision_link="Profile, page, next change.")
    if number < 3:
        category, change = task["changes"][number]
        server.call("write_hypothesis", run=run, category=category, change=change,
                    rationale="The profile shows it.", evidence=list(selected), risk="None known.",
                    expected=[{"metric": "median_ns", "direction": "down"}],
                    accept_if="speedup >= 1.2", reject_if="speedup < 1.05")


def totals(calls):
    by_tool = collections.OrderedDict()
    for _, tool, text, structure in calls:
        by_tool.setdefault(tool, []).append((text, structure))
    return by_tool


def main():
    ratchet, names = sys.argv[1], sys.argv[2:] or list(TASKS)
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    print(f"{now}, {platform.machine()}, {os.cpu_count()} cores")
    everything, runs = [], []
    for name in names:
        with tempfile.TemporaryDirectory(prefix="ratchet-tokens-") as state:
            server = Server(ratchet, state)
            whole, definitions = server.definitions()
            try:
                play(server, name, state + "/out")
            finally:
                server.close()
            everything += server.calls
            runs.append((name, server.calls))
    print("| tool | calls | mean text, bytes | max | mean structure |\n|---|---|---|---|---|")
    for tool, sizes in sorted(totals(everything).items(), key=lambda t: -sum(s[0] for s in t[1])):
        texts = [text for text, _ in sizes]
        print(f"| `{tool}` | {len(sizes)} | {sum(texts) / len(texts):,.0f} | {max(texts):,} | "
              f"{sum(s for _, s in sizes) / len(sizes):,.0f} |")
    print("\n| run | create | v0 | v1 | v2 | v3 | end | tokens of text | of structure |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, calls in runs:
        parts = [sum(text for part, _, text, _ in calls if part == wanted) / 4
                 for wanted in ("create", "v0", "v1", "v2", "v3", "end")]
        print(f"| {name} | " + " | ".join(f"{part:,.0f}" for part in parts)
              + f" | {sum(parts):,.0f} | {sum(s for *_, s in calls) / 4:,.0f} |")
    print(f"\ntools/list: {whole:,} bytes; names, descriptions and input schemas {definitions:,} "
          f"bytes, {definitions / 4:,.0f} tokens")


if __name__ == "__main__":
    sys.exit(main())
