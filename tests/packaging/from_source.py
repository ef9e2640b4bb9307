#!/usr/bin/env python3
"""Builds from source in a bare Debian root, as README says, and tells how long each part takes.

from_source.py FOLDER [SUITE]: the root (trixie, or SUITE) is made in FOLDER with debootstrap, which
needs root rights and the network, as does ./dev there. It has what git has of this tree at HEAD.
Exit status: 0 built, without a warning, and both kernels were measured; 1 not.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import time

import run

TREE = pathlib.Path(__file__).resolve().parents[2]
SILENCE_S = 20  # while CMake configures


def bare_root(folder, suite):
    root = folder / f"source-{suite}"
    shutil.rmtree(root, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    run.run(["debootstrap", "--variant=minbase", suite, root, run.mirror()], timeout=1800)
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    (root / "opt/ratchet").mkdir()
    packed = subprocess.Popen(["git", "-C", TREE, "archive", "HEAD"], stdout=subprocess.PIPE)
    subprocess.run(["tar", "-x", "-C", root / "opt/ratchet"], stdin=packed.stdout, check=True)
    assert packed.wait() == 0
    return root


def within(root, command):
    """With the network of this machine, and processes of its own."""
    return ["unshare", "--pid", "--fork", "--mount", "--mount-proc=" + str(root / "proc"), "chroot",
            root, "env", "-i", "HOME=/root", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8",
            "bash", "-c", "cd /opt/ratchet && " + command]


def built(root):
    """Runs ./dev build; returns its lines, each with the second at which it came."""
    begin = time.monotonic()
    lines = []
    with subprocess.Popen([str(word) for word in within(root, "./dev build")], text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT) as build:
        for line in build.stdout:
            lines.append((time.monotonic() - begin, line.rstrip()))
    assert build.returncode == 0, "\n".join(line for _, line in lines[-40:])
    lines.append((time.monotonic() - begin, "built"))
    return lines


def first(lines, text):
    return next(at for at, line in lines if text in line)


def main():
    root = bare_root(pathlib.Path(sys.argv[1]).resolve(), *(sys.argv[2:3] or ["trixie"]))
    lines = built(root)
    warned = [line for _, line in lines if "warning:" in line.lower() or "CMake Warning" in line]
    assert not warned, "\n".join(warned[:20])
    configuring = [at for at, line in lines if line.startswith("-- ")]
    silence = max(after - at for at, after in zip(configuring, configuring[1:]))
    assert silence < SILENCE_S, f"CMake said nothing for {silence:.0f} s"
    end = lines[-1][0]
    entered = first(lines, "ninja: Entering")
    run.say(f"packages {configuring[0]:.0f} s, configuring {entered - configuring[0]:.0f} s "
            f"(longest silence {silence:.1f} s), compiling {end - entered:.0f} s, no warning")
    # The superuser's kernels run only behind all walls, which a container may lack.
    start = [*within(root, 'exec build/bin/ratchet --no-require-sandbox "$@"'), "ratchet"]
    now = time.monotonic()
    assert json.loads(run.run([*start, *run.QUERY]))["results"]
    run.say(f"first tool answer after {end + time.monotonic() - now:.0f} s")
    now = time.monotonic()
    run.own_kernel(start)
    run.say(f"own kernel checked and timed after {end + time.monotonic() - now:.0f} s")
    now = time.monotonic()
    assert json.loads(run.run([*start, *run.DEMO]))["best"]
    run.say(f"finished host demo after {end + time.monotonic() - now:.0f} s")


main()
