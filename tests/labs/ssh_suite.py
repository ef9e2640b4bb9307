"""A lab at the end of `ssh HOST ratchet lab`."""

import contextlib
import os
import shutil

import page
from ground import expect, has, must, program, state_of
from sshd import Sshd

# What a login finds on each host: settings of sshd.
HOSTS = {
    "gpu3": [],
    "stranger": [],
    "chatty": ["Banner {state}/motd", "ForceCommand cat {state}/motd; $SSH_ORIGINAL_COMMAND"],
    "guarded": ["PubkeyAuthentication no", "PasswordAuthentication yes"],
    "bare": ["SetEnv XDG_STATE_HOME={state} PATH=/usr/local/bin:/usr/bin:/bin"],
    "uncompiled": ['SetEnv XDG_STATE_HOME={state}/uncompiled "PATH={state}/bin"'],
    "older": ['SetEnv XDG_STATE_HOME={state} "PATH={state}/older:{path}"'],
}
MOTD = """************************
Welcome to far. Authorized use only.
************************
"""


@contextlib.contextmanager
def ground(ratchet, folder):
    program("ssh", "openssh-client")
    program("sshd", "openssh-server")
    sshd = Sshd(folder / "sshd", ratchet.parent, folder / "far", HOSTS)
    sshd.ratchet = ratchet
    (folder / "far/older").mkdir(parents=True)
    (folder / "far/motd").write_text(MOTD)
    # A PATH with the program and a shell, and no compiler.
    (folder / "far/bin").mkdir()
    for name in ("ratchet", "sh", "env"):
        (folder / "far/bin" / name).symlink_to(ratchet if name == "ratchet" else shutil.which(name))
    # ssh with the test's settings, for the command of the page.
    (folder / "bin").mkdir()
    (folder / "bin/ssh").write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {sshd.config} "$@"\n')
    (folder / "bin/ssh").chmod(0o755)
    sshd.path = f"{folder}/bin:{os.environ['PATH']}"
    older = folder / "far/older/ratchet"
    older.write_text('#!/bin/sh\nexec python3 - <<"PY"\n'
                     'import json\nhello = {"kind": "hello", "hello": {"protocol": 0, "version": "0.0.1",'
                     ' "program": "", "host": "far"}}\nbody = json.dumps(hello)\n'
                     'print(f"ratchet-lab {len(body)}\\n{body}", end="", flush=True)\nPY\n')
    older.chmod(0o755)
    try:
        yield sshd
    finally:
        sshd.close()


def command(sshd, host):
    return f"ssh -F {sshd.config} {host} ratchet lab"


def serving(sshd, place, host):
    return place.serving({host: command(sshd, host)})


def a_run_goes_through_ssh(sshd, place):
    """By the command of docs/scale.md."""
    client = place.serving({"gpu3": page.labs()["gpu3"]}, {"PATH": sshd.path})
    place.whole_round(client, "gpu3")
    shown = state_of(client, "gpu3")
    expect(shown["starts"] == 1 and "error" not in shown, f"one login serves a run: {shown}")
    client.close()
    place.audit()


def what_a_login_prints_is_skipped(sshd, place):
    client = serving(sshd, place, "chatty")
    place.whole_round(client, "chatty")
    client.close()


def refusal(sshd, place, host, *parts):
    client = serving(sshd, place, host)
    error = place.refused(client, "create_run", {
        "problem": "vector_add", "implementation": "host-cpp", "dims": {"n": 4096}, "lab": host,
        "output_dir": str(place.folder / "run")}, *parts)
    client.close()
    return error


def a_password_is_not_asked_for(sshd, place):
    refusal(sshd, place, "guarded", "Permission denied", "Try its command alone", command(sshd, "guarded"))


def an_unknown_host_key_is_refused_in_the_words_of_ssh(sshd, place):
    refusal(sshd, place, "stranger", "Host key verification failed", "Try its command alone")


def a_host_without_the_program_says_so(sshd, place):
    refusal(sshd, place, "bare", "ratchet: command not found", "exit code 127")


def a_host_with_another_version_is_refused_with_both(sshd, place):
    refusal(sshd, place, "older", "0.0.1", "Install the same version on both machines")


def a_host_without_a_compiler_says_so(sshd, place):
    refusal(sshd, place, "uncompiled", "g++")


def a_host_that_does_not_answer_is_told(sshd, place):
    client = place.serving({"gone": f"ssh -F {sshd.config} -p 1 gpu3 ratchet lab"})
    place.refused(client, "create_run", {
        "problem": "vector_add", "implementation": "host-cpp", "lab": "gone",
        "output_dir": str(place.folder / "run")}, "Connection refused", "Try its command alone")
    client.close()


SCENARIOS = [a_run_goes_through_ssh, what_a_login_prints_is_skipped, a_password_is_not_asked_for,
             an_unknown_host_key_is_refused_in_the_words_of_ssh, a_host_without_the_program_says_so,
             a_host_with_another_version_is_refused_with_both, a_host_without_a_compiler_says_so,
             a_host_that_does_not_answer_is_told]
