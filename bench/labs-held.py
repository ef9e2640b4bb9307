#!/usr/bin/env python3
"""What a server holds for labs that are started: labs in other processes of this machine, each with a
state folder of its own, of which each is asked once what it has. Nothing is measured on them.

    bench/labs-held.py RATCHET [LABS]
"""

import datetime
import os
import pathlib
import platform
import statistics
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/labs"))
from ground import LabPlace, must  # noqa: E402

AT_ONCE, ASKED_AGAIN = 8, 20


def held_by(pid):
    """Resident bytes, threads and open files of a process."""
    status = dict(line.split(":", 1) for line in
                  pathlib.Path(f"/proc/{pid}/status").read_text().splitlines())
    return (int(status["VmRSS"].split()[0]) * 1024, int(status["Threads"]),
            len(os.listdir(f"/proc/{pid}/fd")))


def seconds_of(client, tool, arguments):
    begin = time.monotonic()
    must(client, tool, arguments)
    return time.monotonic() - begin


def start(client, names):
    """Asks each lab once, several at a time."""
    left = list(reversed(names))

    def toil():
        while left:
            must(client, "check_env", {"lab": left.pop()})
    threads = [threading.Thread(target=toil) for _ in range(AT_ONCE)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()


def main():
    ratchet, count = pathlib.Path(sys.argv[1]).resolve(), int((sys.argv[2:] or [200])[0])
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    print(f"{now}, {platform.machine()}, {os.cpu_count()} cores, {AT_ONCE} labs asked at once", flush=True)
    print("| labs started | resident, MB | threads | open files | started and answered within, s "
          "| `list_labs`, ms | `check_env` of one, ms |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="ratchet-labs-") as name:
        place = LabPlace(ratchet, pathlib.Path(name) / "place")
        labs = place.folder / "labs.yaml"
        labs.write_text(f"- name: far\n  command: exec {ratchet} --state-dir {place.folder}/far{{n}} lab\n"
                        f"  count: {count}\n  idle_s: 3600\n")
        client = place.stdio("--labs", str(labs))
        names = [one["name"] for one in must(client, "list_labs", {})["labs"]]
        started = 0
        for target in sorted({0, count // 8, count // 4, count // 2, count}):
            begin = time.monotonic()
            start(client, names[started:target])
            started, took = target, time.monotonic() - begin
            resident, threads, files = held_by(client.server.process.pid)
            listed = statistics.median(seconds_of(client, "list_labs", {}) for _ in range(ASKED_AGAIN))
            asked = statistics.median(seconds_of(client, "check_env", {"lab": names[0]})
                                      for _ in range(ASKED_AGAIN)) if started else None
            print(f"| {started} | {resident / 1e6:.1f} | {threads} | {files} | {took:.0f} | "
                  f"{1000 * listed:.1f} | {'–' if asked is None else f'{1000 * asked:.0f}'} |", flush=True)
        alive = sum(one["state"] == "idle" and "error" not in one
                    for one in must(client, "list_labs", {})["labs"])
        print(f"{alive} of {count} labs are held at the end")
        begin = time.monotonic()
        client.close()
        print(f"the server and its labs ended within {time.monotonic() - begin:.1f} s")


if __name__ == "__main__":
    main()
