"""A server's profile of one kernel, for the scripts of this folder."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "attacks"))
from client import Server, devices_text  # noqa: E402, F401


def server_in(ratchet, folder):
    """A server whose runs and state lie in a folder."""
    return Server([str(ratchet), "serve", "--state-dir", f"{folder}/state", "--root", str(folder),
                   "--no-builtin-kbs"])


def profile_of(server, request, **options):
    """The answer of profile_kernel about a new run's v0 and None, or None and why there is none."""
    created, refused = server.call("create_run", {**request, "wait_s": 120})
    for tool, more in (("check_correctness", {}), ("profile_kernel", options)):
        if refused is None:
            answer, refused = server.call(tool, {"run": created["run"], "wait_s": 600, **more})
        if refused is None and tool == "check_correctness" and not answer["passed"]:
            refused = f"not correct: {answer['reasons'][:1]}"
    return (answer, None) if refused is None else (None, refused)


def name_of(finding):
    return finding["id"].removeprefix("pattern-")
