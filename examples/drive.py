#!/usr/bin/env python3
"""Drives a whole run as an agent's client would: every step a tool call over stdio.

    examples/drive.py FOLDER OUTPUT [--ratchet PROGRAM] [--quick]

FOLDER holds `plan.json` (what is thought and chosen: sizes, queries, hypotheses, branches) and the
sources. The server does and measures the rest. `--quick` takes the plan's `quick` sizes and host
sources where it has them, to rehearse without a GPU. Prints each call with its time.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time


class Server:
    def __init__(self, program, root):
        self.process = subprocess.Popen(
            [program, "serve", "--root", str(root), "--root", "/"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.next_id = 0
        self.seconds = 0.0
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                    "clientInfo": {"name": "examples", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def request(self, method, params):
        self.next_id += 1
        self.send({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params})
        for line in self.process.stdout:
            message = json.loads(line)
            if message.get("id") == self.next_id and "method" not in message:
                return message
        sys.exit("the server ended")

    def call(self, tool, arguments, may_fail=False):
        start = time.monotonic()
        answer = self.request("tools/call", {"name": tool, "arguments": arguments})
        took = time.monotonic() - start
        self.seconds += took
        result = answer.get("result", {})
        failed = "error" in answer or result.get("isError")
        print(f"  {tool:20s} {took:7.2f} s{'  refused' if failed else ''}", flush=True)
        if failed and not may_fail:
            sys.exit(json.dumps(answer.get("error") or result["content"], indent=1)[:3000])
        if failed:
            print("    " + json.dumps(answer.get("error") or result["content"][0]["text"])[:600])
            return None
        return result.get("structuredContent", {})


def microseconds(nanoseconds):
    return f"{nanoseconds / 1000:.2f} µs"


class Run:
    def __init__(self, server, folder, plan, output):
        self.server, self.folder, self.plan = server, folder, plan
        arguments = dict(plan["run"], output_dir=str(output), wait_s=600)
        for name in ("kernel", "reference"):
            arguments[name] = {"path": str(folder / arguments[name])}
        self.run = server.call("create_run", arguments)["run"]

    def call(self, tool, may_fail=False, **arguments):
        return self.server.call(tool, {"run": self.run, **arguments}, may_fail)

    def text_of(self, branch):
        lines = [f"#define {name} {value}" for name, value in branch.get("define", {}).items()]
        return "\n".join(lines + [(self.folder / branch["file"]).read_text()])

    def enter(self, version):
        """Brings the open version to `correct`: by branches, or by one kernel."""
        if "branches" in version:
            if version.get("methods"):
                self.call("propose_methods", may_fail=True,
                          methods=[{"id": one} for one in version["methods"]])
            branches = [{"source": self.text_of(branch), "note": branch["note"]}
                        for branch in version["branches"]]
            found = self.call("explore_branches", branches=branches, wait_s=600)
            for row in found["branches"]:
                median = row.get("median_ns")
                print(f"    {row['name']}: {row['status']}"
                      + (f", {microseconds(median)}" if median else ""))
            print(f"    champion: {found.get('champion')}")
            if found.get("champion"):
                return
        if version:
            fallback = version.get("branches", [version])[0]
            self.call("submit_kernel", source=self.text_of(fallback), wait_s=600)
        self.call("check_correctness", wait_s=600)

    def measure(self, version):
        profile = self.call("profile_kernel", wait_s=600)
        timing = profile["timing"]
        print(f"    {microseconds(timing['median_ns'])} "
              f"[{microseconds(timing['ci_low_ns'])} .. {microseconds(timing['ci_high_ns'])}], "
              f"{timing.get('verdict')}, bound: {profile.get('bound')}")
        self.call("roofline", may_fail=True)
        if version.get("methods"):
            self.call("check_sass", may_fail=True)
        if version.get("ablate"):
            found = self.call("ablate", may_fail=True, wait_s=600) or {}
            for row in found.get("attribution", []):
                print("    " + json.dumps(row)[:220])

    def explain(self, version):
        thought = version["thought"]
        found = [(purpose, self.call("query_kbs", query=thought[purpose], purpose=purpose))
                 for purpose in ("kernel", "bottleneck")]
        selected = [{"id": answer["results"][0]["id"], "query_id": answer["query_id"],
                     "applies_because": thought["applies_because"]} for _, answer in found]
        selected = list({one["id"]: one for one in selected}.values())
        self.call("write_kbs_evidence", facts=["median_ns", "achieved_bytes_per_s"],
                  selected=selected, decision_link=thought["decision_link"])
        if "hypothesis" in thought:
            self.call("write_hypothesis", evidence=[one["id"] for one in selected],
                      **thought["hypothesis"])


def drive(server, folder, plan, output):
    begin = time.monotonic()
    run = Run(server, folder, plan, output)
    versions = [dict(plan["v0"])] + plan["versions"]
    for number, version in enumerate(versions):
        print(f"v{number}")
        start = time.monotonic()
        run.enter(version if number else {})
        run.measure(version)
        run.explain(version)
        run.call("check_gate", final=number + 1 == len(versions))
        print(f"    iteration: {time.monotonic() - start:.1f} s")
    for pair in [plan["acceptance"]] if "acceptance" in plan else []:
        run.call("define_acceptance", may_fail=True, pairs=pair)
    run.call("benchmark", wait_s=600)
    run.call("review", may_fail=True)
    report = run.call("write_report")
    status = run.call("run_status")
    print(json.dumps(report)[:400])
    print(f"{status.get('next', '')}\nThe whole run took {time.monotonic() - begin:.1f} s.")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--ratchet", default="build/bin/ratchet")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    plan = json.loads((options.folder / "plan.json").read_text())
    if options.quick:
        plan["run"].update(plan["quick"])
    folder = options.folder.resolve()
    drive(Server(options.ratchet, folder), folder, plan, options.output.resolve())


if __name__ == "__main__":
    main()
