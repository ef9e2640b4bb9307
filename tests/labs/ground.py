"""What the tests of labs share: a server with labs, its runs, and what a failed call must leave."""

import json
import os
import pathlib
import shutil
import socket
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "load"))
from place import Failed, Place, Stdio, expect, must  # noqa: E402, F401


class Skipped(Exception):
    """What this machine lacks."""


def program(name, package=None):
    """Where a program is, also among those of the administrator."""
    found = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    if not found:
        raise Skipped(f"there is no {name}: apt-get install {package or name}")
    return found


def free_ports(count):
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def wait_until(true, seconds, what):
    end = time.monotonic() + seconds
    while not (found := true()):
        if time.monotonic() > end:
            raise Failed("in vain was waited until " + (what() if callable(what) else what))
        time.sleep(0.1)
    return found


def has(text, *parts):
    for part in parts:
        expect(text is not None and part in text, f"{part!r} is said; it was: {text}")
    return text


class LabPlace(Place):
    """A server's state in `state`, and that of its labs in `far`. The server does not know where labs
    keep theirs."""

    def __init__(self, ratchet, folder):
        super().__init__(ratchet, folder)
        self.far = self.folder / "far"

    def command(self, *more):
        return [self.ratchet, "serve", "--state-dir", str(self.state), "--root", str(self.folder),
                *more]

    def lab(self, state="far"):
        """The command of a lab in another process of this machine."""
        return f"{self.ratchet} --state-dir {self.folder / state} lab"

    def serving(self, labs, environment=None):
        """A server with labs, by name."""
        words = [word for name, command in labs.items() for word in ("--lab", f"{name}={command}")]
        return self.stdio(*words, environment=environment)

    def serving_alike(self, commands, more=""):
        """A server with labs of one group: box-1, box-2 and so on. `more`: lines of their entry."""
        self.folder.mkdir(parents=True, exist_ok=True)
        starts = "".join(f"  {number}) {command};;\n" for number, command in enumerate(commands, 1))
        script = self.folder / "box.sh"
        script.write_text(f"case $1 in\n{starts}esac\n")
        file = self.folder / "labs.yaml"
        file.write_text(f"- name: box\n  command: sh {script} {{n}}\n  count: {len(commands)}\n{more}")
        return self.stdio("--labs", str(file))

    def rows_kept(self):
        """Of the ledger, without the time that labs were held: a call that fails takes it too."""
        rows = self.rows() if (self.state / "ledger.sqlite").exists() else []
        return sum(kind != "lab_time" for _, kind, _ in rows)

    def refused(self, client, tool, arguments, *parts):
        """The error of a call, which must say all parts and leave the ledger as it was."""
        before = self.rows_kept()
        answer, error = client.call(tool, arguments)
        expect(error is not None, f"{tool} is refused; it answered: {json.dumps(answer)[:500]}")
        has(error, *parts)
        expect(self.rows_kept() == before, f"nothing is recorded of a call that failed: {error}")
        return error

    def told(self, client, tool, arguments):
        """The text of an answer, which a model reads."""
        result = client.server.request("tools/call", {"name": tool, "arguments": {**arguments, "wait_s": 300}})
        text = "".join(part.get("text", "") for part in result.get("content", []))
        expect(not result.get("isError"), f"{tool} is answered: {text}")
        return text

    def whole_round(self, client, lab, **more):
        """A run that is compiled, checked and profiled on a lab; its id."""
        run = self.create(client, lab=lab, **more)
        expect(must(client, "check_correctness", {"run": run})["passed"], "the kernel is right")
        profiled = must(client, "profile_kernel", {"run": run})
        expect(profiled["timing"]["median_ns"] > 0, "it was timed")
        return run

    def started(self, client, tool, arguments):
        """Begins a call that goes on as a job; its ticket."""
        answer, error = client.server.answer(tool, {**arguments, "wait_s": 0})
        expect(error is None and "job" in (answer or {}), f"{tool} goes on as a job: {answer or error}")
        return answer["job"]

    def ended(self, client, job):
        return client.server.answer_of_job(job)


def state_of(client, lab):
    """What list_labs says of a lab."""
    return next(one for one in must(client, "list_labs", {})["labs"] if one["name"] == lab)


def steps(place, run, kind):
    """How often something was recorded of a run."""
    return sum(1 for owner, what, _ in place.rows() if owner == run and what == kind)
