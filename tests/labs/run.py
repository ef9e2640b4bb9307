#!/usr/bin/env python3
"""Labs reached by real means, on this machine alone: ssh, Slurm, containers, several labs of one
host, and a relay in between that breaks things.

    tests/labs/run.py RATCHET SUITE[,SUITE...] [NAME...]

SUITE is page, ssh, slurm, hosts, spread, containers or faults; NAME keeps those scenarios. Several suites run side by
side, because they wait more than they work. Listens on the loopback alone and touches no settings of the system. The
exit status is the number of scenarios that failed, or 77 with a reason where no suite can run here.
"""

import argparse
import importlib
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import traceback

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from ground import Failed, LabPlace, Skipped  # noqa: E402
from place import Gone, adopt_orphans, below, described, kill_all, reap  # noqa: E402

SUITES = ("page", "ssh", "slurm", "hosts", "spread", "containers", "faults")
GRACE_S = 10
SKIPPED = 77


def attempt(scenario, ground, place):
    """What failed, or None."""
    try:
        scenario(ground, place)
        return None
    except (Failed, Gone) as error:
        return str(error)
    except Skipped:
        raise
    except Exception:  # a fault of this program, or an answer of unexpected form
        return traceback.format_exc()


def expect_quiet(kept):
    """Ends what a scenario left; names it."""
    end = time.monotonic() + GRACE_S
    while (left := below(os.getpid()) - kept) and time.monotonic() < end:
        reap()
        time.sleep(0.1)
    names = described(left)
    kill_all(left)
    return names


def end_on_signal():
    """A test that is ended tears down what it started."""
    def leave(number, _frame):
        raise SystemExit(128 + number)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, leave)


def side_by_side(ratchet, suites, names):
    """Each in a process of its own; their lines come as they are printed."""
    running = [subprocess.Popen([sys.executable, __file__, str(ratchet), suite, *names]) for suite in suites]
    try:
        ended = [process.wait() for process in running]
    finally:
        for process in running:
            process.terminate()
            process.wait()
    if all(status == SKIPPED for status in ended):
        return SKIPPED
    return sum(abs(status) for status in ended if status != SKIPPED)  # negative: by a signal


def play(ratchet, name, names):
    """One suite; the exit status."""
    suite = importlib.import_module(f"{name}_suite")
    scenarios = [one for one in suite.SCENARIOS if not names or one.__name__ in names]
    adopt_orphans()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ratchet-labs-", ignore_cleanup_errors=True) as made:
        folder = pathlib.Path(made)
        folder.chmod(0o755)  # workers and daemons of other users read below it
        try:
            with suite.ground(ratchet, folder / "ground") as ground:
                kept = below(os.getpid())
                for scenario in scenarios:
                    begin = time.monotonic()
                    place = LabPlace(ratchet, folder / scenario.__name__)
                    try:
                        problem = attempt(scenario, ground, place)
                    except Skipped as reason:
                        print(f"skip {scenario.__name__}: {reason}", flush=True)
                        expect_quiet(kept)
                        continue
                    if problem and hasattr(ground, "clear"):
                        ground.clear()  # the next scenario has all of it
                    left = expect_quiet(kept if not hasattr(ground, "own") else kept | ground.own())
                    if left and not problem:
                        problem = f"these processes were left: {left}"
                    print(f"{'FAIL' if problem else 'ok  '} {scenario.__name__} "
                          f"({time.monotonic() - begin:.0f} s)" + (f": {problem}" if problem else ""),
                          flush=True)
                    failed += problem is not None
        except Skipped as reason:
            print(f"skipped: {reason}")
            return SKIPPED
        finally:
            kill_all(below(os.getpid()))
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("ratchet", type=pathlib.Path)
    parser.add_argument("suites")
    parser.add_argument("names", nargs="*")
    given = parser.parse_args()
    suites = given.suites.split(",")
    if unknown := set(suites) - set(SUITES):
        parser.error(f"no suite {', '.join(sorted(unknown))}; there are {', '.join(SUITES)}")
    end_on_signal()
    ratchet = given.ratchet.resolve()
    return play(ratchet, suites[0], given.names) if len(suites) == 1 else side_by_side(ratchet, suites, given.names)


if __name__ == "__main__":
    sys.exit(main())
