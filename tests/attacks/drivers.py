"""What the drivers that ask servers about many kernels have in common."""

import datetime
import os
import pathlib
import tempfile
import threading

from client import Server


def served(ratchet, root, number, *options, arguments=(), cores=(), environment=None):
    """A server with a state folder of its own below `root`, but builds that all of them share.
    `options` are of serve, `arguments` of ratchet. `cores`: the only ones that it and its workers
    use; as many threads do their work. `environment`: what differs in it."""
    state = pathlib.Path(root) / f"state{number}"
    state.mkdir(exist_ok=True)
    (pathlib.Path(root) / "builds").mkdir(exist_ok=True)
    if not (state / "builds").exists():
        (state / "builds").symlink_to("../builds")
    only = ["taskset", "-c", ",".join(map(str, cores))] if cores else []
    return Server([*only, ratchet, *arguments, "serve", "--state-dir", str(state), "--root",
                   str(root), "--no-builtin-kbs", *options], {**os.environ, **(environment or {})})


def in_threads(work, rows):
    """Calls `work` with each row of arguments, all at once, and waits for them."""
    threads = [threading.Thread(target=work, args=row) for row in rows]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def now(form):
    return datetime.datetime.now(datetime.timezone.utc).strftime(form)


def add_common(parser):
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=float, default=float("inf"))


def exit_status(suite, given):
    """Runs `suite(given, root)` in a folder of its own; its result as an exit status."""
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        return min(suite(given, pathlib.Path(temporary)).run(), 99)
