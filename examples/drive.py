#!/usr/bin/env python3
"""Drives a whole run from a plan, as an MCP client over stdio. Standard library only.

    examples/drive.py examples/layer_norm/plan.json --ratchet build/bin/ratchet --output /tmp/layer-norm

--resume RUN continues an interrupted run; the server knows where it stopped.

Every measurement, verdict and file comes from the server; the plan holds what an agent would
contribute: kernels, queries and reasons. Prints the time of every step and of every version.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

AXES = ("compute", "memory", "latency")
STAGES = ("open", "built", "correct", "profiled", "evidenced", "hypothesised", "finished")


class Refused(Exception):
    """The server answered with an error where the plan expects none."""


class Client:
    """One server as a child process; answers that name a job are waited for."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.last_id = 0
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                    "clientInfo": {"name": "ratchet-examples", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.last_id += 1
        self.send({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") != self.last_id:
                continue
            if "error" in message:
                raise Refused(f"{method}: {message['error']['message']}")
            return message["result"]
        raise Refused(f"the server ended during {method}")

    def call(self, tool, arguments):
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise Refused(f"{tool}: " + "".join(block.get("text", "") for block in result["content"]))
        answer = result["structuredContent"]
        return self.outcome(tool, answer["job"]) if isinstance(answer.get("job"), str) else answer

    def outcome(self, tool, job):
        """The answer of a call that went on as a job."""
        while True:
            time.sleep(0.5)
            state = self.request("tools/call", {"name": "run_status", "arguments": {"job": job}})
            state = state["structuredContent"]["job"]
            if "error" in state:
                raise Refused(f"{tool}: {state['error']}")
            if state["state"] != "working":
                return state["answer"]

    def close(self):
        self.process.stdin.close()
        return self.process.wait(timeout=60)


class Run:
    """A plan at work."""

    def __init__(self, client, plan, folder, output):
        self.client, self.plan, self.folder, self.output = client, plan, folder, output
        self.run = None
        self.steps = []  # (version, tool, seconds)
        self.version = "-"
        self.unchecked = True  # a champion comes checked, what is submitted does not
        self.kernel = None  # the file of the open version
        self.finding = None  # the profile's first
        self.bound = None    # its class

    def step(self, tool, show=None, **arguments):
        if self.run:
            arguments["run"] = self.run
        start = time.monotonic()
        answer = self.client.call(tool, arguments)
        seconds = time.monotonic() - start
        self.steps.append((self.version, tool, seconds))
        print(f"  {tool:<20}{seconds:8.2f} s" + (f"   {show(answer)}" if show else ""), flush=True)
        return answer

    def path(self, name):
        return str((self.folder / name).resolve())

    def play(self, resume):
        first, stage = self.resumed(resume) if resume else (0, self.create())
        last = len(self.plan["versions"]) - 1
        for number in range(first, last + 1):
            version = self.plan["versions"][number]
            self.version = f"v{number}"
            if stage != "finished":
                print(self.version, flush=True)
                self.play_version(version, STAGES.index(stage), number == last)
            if number < last:
                stage = "open"
        self.finish(gate=stage != "finished")

    def play_version(self, version, stage, is_last):
        """From a stage to the gate."""
        self.unchecked = stage < STAGES.index("correct")
        if stage == STAGES.index("open"):
            self.open_version(version)
        if self.unchecked:
            self.check(version)
        if stage < STAGES.index("profiled"):
            self.profile()
        if stage <= STAGES.index("profiled"):
            self.look(version)
        if stage < STAGES.index("hypothesised"):
            self.decide(version, is_last)
        if not is_last:
            self.gate()

    def resumed(self, run):
        """Number and stage of the open version of a run."""
        self.run = run
        status = self.step("run_status", lambda a: f"{a['run']} goes on with {a['version']}, {a['stage']}")
        return int(status["version"][1:]), status["stage"]

    def create(self):
        arguments = dict(self.plan["create_run"], output_dir=str(self.output))
        for source in ("kernel", "reference"):
            arguments[source] = {"path": self.path(arguments[source])}
        arguments["iterations"] = len(self.plan["versions"]) - 1
        made = self.step("create_run", lambda a: f"{a['run']} on {a['device']}", **arguments)
        self.run = made["run"]
        for warning in made["warnings"]:
            print("    warning:", warning["message"])
        return made["stage"]

    def open_version(self, version):
        if "branches" not in version:
            self.submit(as_list(version["submit"])[0])
            return
        self.propose(version)
        branches = [{"path": self.path(one["path"]), "note": one["note"]} for one in version["branches"]]
        explored = self.step("explore_branches", lambda a: a["decision"], branches=branches)
        for one in explored["branches"]:
            print(f"    {one['name']}: {one['status']}, {microseconds(one.get('median_ns'))}, "
                  f"{one.get('speedup', 0):.3f}x the best so far"
                  + "".join(f"; {reason['message']}" for reason in one["reasons"]))
        self.unchecked = "champion" not in explored
        if self.unchecked:
            self.submit_fastest(version, explored["branches"])
        else:
            names = [one["name"] for one in explored["branches"]]
            self.kernel = version["branches"][names.index(explored["champion"])]["path"]

    def submit(self, name):
        self.kernel = name
        built = self.step("submit_kernel", path=self.path(name))
        if not built["build"]["ok"]:
            raise Refused(f"{name} does not build: {built['build']['errors']}")

    def submit_fastest(self, version, branches):
        """Nothing cleared the noise: the fastest that works is the version's kernel, to be judged as any."""
        working = [(one["speedup"], plan["path"]) for one, plan in zip(branches, version["branches"])
                   if "speedup" in one]
        if not working:
            raise Refused("no branch works")
        self.submit(max(working)[1])

    def propose(self, version):
        """What the plan wants, filled up to the budget of every axis by priority."""
        banned = set()
        for _ in range(10):
            listed = self.step("list_methods", lambda a: f"budget {a.get('budget')}")
            methods = chosen_methods(listed, version["methods"], banned, version["passed_over"])
            answer = self.step("propose_methods", lambda a: ", ".join(m["id"] for m in a["methods"]),
                               methods=methods)
            if answer["accepted"]:
                return
            # Two faces of one change: the plan's own choice stays.
            fillers = [one["id"] for one in methods if one["id"] not in version["methods"]]
            pairs = [r["message"] for r in answer["reasons"] if r["code"] in ("coupled_pair", "conflicting_pair")]
            bad = {name for name in fillers for text in pairs if name in text.split()}
            if not bad:
                raise Refused(f"the methods were refused: {answer['reasons']}")
            banned |= {sorted(bad)[-1]}
        raise Refused("no proposal fits the budget")

    def check(self, version):
        """A wrong kernel costs a retry; the plan may name others to fall back to."""
        others = as_list(version.get("submit", []))[1:]
        while True:
            checked = self.step("check_correctness", lambda a: f"{len(a['cases'])} cases, passed: {a['passed']}")
            if checked["passed"]:
                return
            for reason in checked["reasons"]:
                print(f"    {self.kernel or self.version}: {reason['message']}")
            if not self.submitted_one_of(others):
                raise Refused(f"{self.version} is not correct")

    def submitted_one_of(self, others):
        """Takes the first that the server accepts: a copy of the parent, for example, it does not."""
        while others:
            try:
                self.submit(others.pop(0))
                return True
            except Refused as refusal:
                print(f"    {refusal}")
        return False

    def profile(self):
        profiled = self.step("profile_kernel", lambda a: "{}, {}, bound: {}".format(
            microseconds(a["timing"]["median_ns"]), a["timing"]["verdict"], a["bound"]))
        for one in profiled["findings"][:3]:
            print(f"    {one['id']}: {one['evidence']}; headroom {one['headroom']:.0%}")
        self.finding = profiled["findings"][0] if profiled["findings"] else None
        self.bound = profiled["bound"]

    def look(self, version):
        for tool in version.get("look", []):
            seen = self.step(tool)
            for one in seen.get("methods", []):
                if one["verdict"] == "verified":
                    print(f"    {one['id']}: verified ({', '.join(one['found'])})")
        switches = [one for one in version.get("ablate", []) if self.has_switch(one)]
        if switches:
            ablated = self.step("ablate", methods=switches)
            for one in ablated["attribution"]:
                print(f"    {one['id']}: {one['class']}, saves {microseconds(one.get('delta_ns'))}")

    def has_switch(self, method):
        """Whether the version's kernel can be built without a method. After --resume its file is not known."""
        name = "ABLATE_" + method.replace(".", "_")
        return self.kernel is None or name in (self.folder / self.kernel).read_text()

    def decide(self, version, is_last):
        selected = {}
        for purpose in ("kernel", "bottleneck"):
            query = version["queries"].get(purpose) or self.query_of_finding()
            found = self.step("query_kbs", lambda a: a["results"][0]["id"] if a["results"] else "nothing",
                              query=query, purpose=purpose, limit=5)
            if not found["results"]:
                raise Refused(f"no page was found for: {query}")
            page = found["results"][0]["id"]
            selected.setdefault(page, {"id": page, "query_id": found["query_id"],
                                       "applies_because": version["applies_because"]})
        self.step("write_kbs_evidence", facts=["median_ns", "achieved_flops_per_s"],
                  selected=list(selected.values()), decision_link=version["decision_link"])
        if not is_last:
            self.step("write_hypothesis", evidence=list(selected), **version["hypothesis"])

    def query_of_finding(self):
        """What the profile asks for, where the plan leaves the bottleneck to it; the class, if it has no finding."""
        return self.finding["query"] if self.finding else f"{self.plan['title']}, {self.bound} bound"

    def gate(self, **arguments):
        answer = self.step("check_gate", **arguments)
        if not answer["passed"]:
            raise Refused(f"the gate did not open: {answer['reasons']}")

    def finish(self, gate):
        self.version = "final"
        print("final", flush=True)
        if gate:
            self.gate(final=True)
        if "tune_dispatch" in self.plan:
            tuned = self.step("tune_dispatch", lambda a: a["verdict"], variants=self.plan["tune_dispatch"])
            for route in tuned["routes"]:
                print(f"    {route['dims']} → {route['variant']} ({route['why']})")
        compared = self.step("benchmark", **self.plan.get("benchmark", {}))
        for row in compared["rows"]:
            print(f"    {row['name']:<14} {row['dims']}: {row['status']}, {microseconds(row.get('median_ns'))}")
        if "acceptance" in self.plan:
            self.step("define_acceptance", pairs=self.plan["acceptance"])
            self.step("review", lambda a: f"promotable: {a['promotable']}")
        self.step("write_report", retrospective=self.plan["retrospective"])
        self.summary(self.step("run_status"))

    def summary(self, status):
        print(f"\n{'version':<8}{'median':>14}{'vs v0':>10}{'verdict':>14}{'bound':>12}{'its steps':>12}")
        for one in status["versions"]:
            took = sum(seconds for version, _, seconds in self.steps if version == one["version"])
            print(f"{one['version']:<8}{microseconds(one.get('median_ns')):>14}{one.get('speedup_vs_v0', 1):9.2f}x"
                  f"{one.get('verdict', '-'):>14}{one.get('bound', '-'):>12}{took:10.2f} s")
        whole = sum(seconds for _, _, seconds in self.steps)
        print(f"best: {status.get('best', '-')}; integrity: {status['integrity'] or 'intact'}; "
              f"all steps: {whole:.2f} s")


def chosen_methods(listed, wanted, banned, passed_over):
    """A proposal that fills the budget: what is wanted first, then by priority."""
    proposal = []
    for axis in AXES:
        free = [m for m in listed["methods"]
                if m["id"].startswith(axis + ".") and "excluded" not in m and m["id"] not in banned]
        free.sort(key=lambda m: (m["id"] not in wanted, m["priority"]))
        chosen = free[:listed.get("budget", {}).get(axis, 0)]
        names = {m["id"] for m in chosen}
        for method in chosen:
            higher = [m["id"] for m in listed["methods"]
                      if m["id"].startswith(axis + ".") and "excluded" not in m and m["id"] not in names
                      and m["priority"] < method["priority"] and m.get("strength", 0) > 0]
            proposal.append({"id": method["id"], "skipped_higher": [
                {"id": one, "reason": "skip_condition", "why": passed_over} for one in higher]})
    return proposal


def as_list(value):
    return value if isinstance(value, list) else [value]


def microseconds(nanoseconds):
    return "not timed" if nanoseconds is None else f"{nanoseconds / 1e3:.2f} µs"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plan", type=pathlib.Path)
    parser.add_argument("--ratchet", default="build/bin/ratchet", help="the program")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="an empty or new folder")
    parser.add_argument("--state-dir", type=pathlib.Path, help="the server's own state folder")
    parser.add_argument("--resume", metavar="RUN", help="go on with this run instead of a new one")
    options = parser.parse_args()
    folder = options.plan.resolve().parent
    options.output.resolve().parent.mkdir(parents=True, exist_ok=True)
    repository = pathlib.Path(__file__).resolve().parent.parent  # plans use kernels of the wiki too
    command = [options.ratchet, "serve"]
    for root in (folder, repository, options.output.resolve().parent):
        command += ["--root", str(root)]
    if options.state_dir:
        command += ["--state-dir", str(options.state_dir.resolve())]
    client = Client(command)
    try:
        Run(client, json.loads(options.plan.read_text()), folder, options.output.resolve()).play(options.resume)
    except Refused as refusal:
        print(f"drive.py: {refusal}", file=sys.stderr)
        return 1
    finally:
        client.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
