#!/usr/bin/env python3
"""Load and faults against real servers, on loopback addresses and in folders of its own.

    tests/load/run.py RATCHET [--short] [--out FILE] [NAME...]

Prints the figures of each scenario as a table, and what failed; the exit status is the number of
scenarios that did. The short form takes about 20 seconds.
"""

import argparse
import datetime
import os
import pathlib
import platform
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from place import Failed, Gone, Place, adopt_orphans, below, described, kill_all  # noqa: E402
from scenarios import SCENARIOS  # noqa: E402


def attempt(scenario, size, ratchet, folder):
    """Figures and None, or what was obtained and the failure."""
    place = Place(ratchet, folder / scenario.__name__)
    try:
        return scenario(place, size), None
    except (Failed, Gone) as error:
        return [], str(error)
    except Exception:  # a fault of this program, or an answer of unexpected form
        return [], traceback.format_exc()
    finally:
        left = below(os.getpid())
        if left:
            print(f"  ended what was left: {described(left)}", file=sys.stderr)
            kill_all(left)
        place.remove()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ratchet", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--out", type=pathlib.Path)
    given = parser.parse_intermixed_args()
    known = {scenario.__name__: scenario for scenario in SCENARIOS}
    for name in given.names:
        if name not in known:
            parser.error(f"no scenario {name}; there are: {', '.join(known)}")
    adopt_orphans()
    failed, lines = 0, []
    now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC")
    print(f"{now}, {platform.machine()}, {os.cpu_count()} cores, {platform.release()}", flush=True)
    with tempfile.TemporaryDirectory(prefix="ratchet-load-") as folder:
        for name, scenario in known.items():
            size = SCENARIOS[scenario][0 if given.short else 1]
            if size is None or (given.names and name not in given.names):
                continue
            begin = time.monotonic()
            rows, problem = attempt(scenario, size, given.ratchet.resolve(), pathlib.Path(folder))
            print(f"{'FAIL' if problem else 'ok  '} {name} ({time.monotonic() - begin:.0f} s)"
                  + (f": {problem}" if problem else ""), flush=True)
            failed += problem is not None
            lines += [f"| {name} | {what} | {figure} |" for what, figure in rows]
    table = "\n".join(["| scenario | what | figure |", "|---|---|---|", *lines])
    print(table)
    if given.out:
        given.out.write_text(table + "\n", encoding="utf-8")
    return failed


if __name__ == "__main__":
    sys.exit(main())
