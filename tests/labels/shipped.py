#!/usr/bin/env python3
"""Profiles every shipped version for the processor with `verify`, and writes what the diagnosis says of it.

    tests/labels/shipped.py RATCHET OUT

Writes OUT/host-shipped.md (the table) and OUT/host-shipped.json (findings, interventions and metrics).
The exit status is the number of versions without a diagnosis.
"""

import datetime
import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from profiles import devices_text, name_of, profile_of, server_in  # noqa: E402

PROBLEMS = HERE.parent.parent / "kernels" / "problems"
# Slowest first, as the demo submits them.
ORDER = ("naive", "better", "best")
MOST_FINDINGS = 3


def shipped():
    return sorted(PROBLEMS.glob("*/host-*/*"),
                  key=lambda path: (path.parts[-3], path.parts[-2], ORDER.index(path.stem)))


def request_of(path, folder):
    return {"problem": path.parts[-3], "implementation": path.parts[-2],
            "kernel": {"text": path.read_text(encoding="utf-8")}, "output_dir": str(folder)}


def rows_of(path, answer):
    """A row for each of the first findings; what the server says of the version stands in the first."""
    timing = answer["timing"]
    flags = f" ({', '.join(timing['flags'])})" if timing.get("flags") else ""
    first = [path.parts[-3], path.stem, f"{timing['median_ns'] / 1000:.4g}{flags}", answer["bound"]]
    findings = [[name_of(one), one.get("outcome") or "not tested", one.get("intervention") or "—"]
                for one in answer["findings"][:MOST_FINDINGS]] or [["none", "—", "—"]]
    return [(first if number == 0 else [""] * len(first)) + finding
            for number, finding in enumerate(findings)]


def load():
    """The share of the processors that programs kept busy in the last minute."""
    return min(1, os.getloadavg()[0] / os.cpu_count())


def kind_of_machine():
    about = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    return "a virtual machine" if " hypervisor" in about else "a machine"


def table_of(about, found):
    rows = [row for path, answer in found for row in rows_of(path, answer)]
    named = {(answer["bound"], *(name_of(one) for one in answer["findings"][:MOST_FINDINGS]))
             for _, answer in found}
    evidence = {answer["bound_evidence"] for _, answer in found}
    return "\n".join([
        "# Diagnosis of the shipped versions for the processor", "", about, "",
        "| problem | version | µs | class | finding | outcome | intervention (95 % interval) |",
        "|---|---|---|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in rows), "",
        f"{len(found)} versions, {len(evidence)} different reasons of the class, {len(named)} different "
        f"combinations of class and first {MOST_FINDINGS} findings; "
        f"{sum(row[5] == 'confirmed' for row in rows)} of {len(rows)} findings are confirmed.", "",
        *(f"- {path.parts[-3]}, {path.stem}: {answer['bound_evidence']}." for path, answer in found), ""])


def main():
    ratchet, out = sys.argv[1], pathlib.Path(sys.argv[2])
    date = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    before, found, refusals = load(), [], 0
    with tempfile.TemporaryDirectory() as temporary:
        server = server_in(ratchet, temporary)
        device = devices_text(server.call("check_env", {})[0], "host")
        for path in shipped():
            name = f"{path.parts[-3]}-{path.stem}"
            answer, refused = profile_of(server, request_of(path, f"{temporary}/{name}"), verify=True)
            if refused is None:
                found.append((path, answer))
                print(*(f"| {' | '.join(row)} |" for row in rows_of(path, answer)), sep="\n", flush=True)
            else:
                refusals += 1
                print(f"FAIL {name}: {refused}", flush=True)
        server.close()
    out.mkdir(parents=True, exist_ok=True)
    about = (f"Command: `tests/labels/shipped.py RATCHET OUT`. Device: {device}: {kind_of_machine()} with "
             f"{os.cpu_count()} processors, {before:.0%} of them busy with other programs in the minute before. "
             f"Where neighbors took processors during a profile, its time says `cores_held`. Date: {date}.")
    (out / "host-shipped.md").write_text(table_of(about, found), encoding="utf-8")
    (out / "host-shipped.json").write_text(json.dumps(
        {"date": date, "device": device,
         "profiles": {f"{path.parts[-3]}/{path.parts[-2]}/{path.stem}": {
             key: answer[key] for key in ("timing", "bound", "bound_evidence", "roofline", "findings",
                                          "kernels", "reasons") if key in answer}
             for path, answer in found}}, ensure_ascii=False) + "\n", encoding="utf-8")
    return refusals


if __name__ == "__main__":
    sys.exit(main())
