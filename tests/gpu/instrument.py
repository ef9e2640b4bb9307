"""Holds the product's clock against plain CUDA events. Called by instrument.sh.

    instrument.py FOLDER OUT
"""

import datetime
import json
import os
import subprocess
import sys

ENTRIES = ["one_2us", "one_5us", "one_60us", "one_copy", "launches_8", "launches_50", "graph_50",
           "graph_48_in_4_branches"]
REPEATS = 3
SAMPLES = 200


def median(values):
    return sorted(values)[len(values) // 2]


def lines_of(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command[0]}: {(done.stdout + done.stderr)[-400:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def main():
    folder, out = sys.argv[1], sys.argv[2]
    library = os.path.join(folder, "instrument_kernels.so")
    program = os.path.join(folder, "gpu-instrument")
    found = {entry: {"ours": [], "plain": [], "traced": [], "span": [], "kernels": 0, "flags": []}
             for entry in ENTRIES}
    nothing = {"plain": [], "traced": []}
    for _ in range(REPEATS):
        for mode in ("plain", "traced"):
            for line in lines_of(program, library, str(SAMPLES), mode, *ENTRIES):
                one = found[line["entry"]]
                one[mode].append(line["events_ns"])
                nothing[mode].append(line["nothing_ns"])
                if mode == "traced":
                    one["span"].append(line["span_ns"])
                    one["kernels"] = line["kernels"]
        for entry in ENTRIES:
            reply = lines_of(os.path.join(folder, "gpu-driver"), "time", library, entry)[-1]
            reply = reply.get("result", reply)
            found[entry]["ours"].append(reply["median_ns"])
            found[entry]["flags"] = reply["flags"]
    device = subprocess.run(
        ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
        capture_output=True, text=True, check=False).stdout.strip()
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    rows = [
        "# The instrument against plain events", "",
        f"Command: `tests/gpu/instrument.sh`. Device: {device}. Date: {now}. Medians of {REPEATS} "
        f"processes of each kind, {SAMPLES} cold calls each (ours: 100); in brackets least and most."
        " Events: time between two events around the call, less the time between two around nothing "
        f"(plain {median(nothing['plain']):.0f} ns, traced {median(nothing['traced']):.0f} ns). "
        "Ours: the span of the call's kernels by CUPTI's stamps. *Tracing adds*: events with "
        "CUPTI's tracing less events without.", "",
        "| call | kernels | ours, µs | span by another program, µs | events, plain, µs | events, "
        "traced, µs | ours − plain, ns | of it | tracing adds, ns | a kernel, ns |",
        "|---|---|---|---|---|---|---|---|---|---|"]

    def shown(values):
        return f"{median(values) / 1e3:.2f} ({min(values) / 1e3:.2f} … {max(values) / 1e3:.2f})"

    for entry, one in found.items():
        ours, plain, traced = (median(one[key]) for key in ("ours", "plain", "traced"))
        count = max(1, one["kernels"])
        rows.append(
            f"| {' '.join([entry, *one['flags']])} | {one['kernels']} | "
            f"{shown(one['ours'])} | {shown(one['span'])} | {shown(one['plain'])} | "
            f"{shown(one['traced'])} | {ours - plain:+.0f} | {(ours - plain) / plain:+.1%} | "
            f"{traced - plain:+.0f} | {(traced - plain) / count:+.1f} |")
    text = "\n".join(rows) + "\n"
    print(text)
    with open(os.path.join(out, "instrument.md"), "w", encoding="utf-8") as file:
        file.write(text)


main()
