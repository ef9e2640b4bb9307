"""The commands of docs/scale.md as a user types them. Those of one lab alone are run by the suites ssh,
slurm and containers."""

import contextlib
import os
import shlex

import page
from ground import Stdio, expect, must, state_of


@contextlib.contextmanager
def ground(_ratchet, _folder):
    yield None


def typed(place, line):
    """The server that a line starts, for a user whose home is the scenario's folder."""
    place.state = place.folder / "state/ratchet"
    return Stdio(["/bin/sh", "-c", f"cd {shlex.quote(str(place.folder))} && exec {line}"], {
        **place.environment, "HOME": str(place.folder), "XDG_STATE_HOME": str(place.folder / "state"),
        "PATH": f"{os.path.dirname(place.ratchet)}:{os.environ['PATH']}"})


def every_command_has_its_test(_, __):
    """Who adds one to the page is sent here."""
    expect(set(page.labs()) == {"gpu3", "queue", "box", "gpu0", "gpu1"},
           f"each lab of the page is started by a suite: {page.labs()}")
    others = [line.split()[1] for line in page.commands() if " --lab " not in line]
    demos = [line for line in page.commands() if line.endswith(" demo")]
    expect(len(demos) == 1, f"tests/server/browser_test.cpp has one of a lab: {demos}")
    expect(sorted(others) == ["--labs", "budget"], f"these have a scenario below: {others}")


def each_line_starts_a_server_with_its_labs(_, place):
    """A lab is started by the first call that needs it, so this asks for no GPU, ssh or Slurm."""
    for line in page.commands():
        if " --lab " not in line or line.endswith(" demo"):
            continue
        client = typed(place, line)
        named = [one["name"] for one in must(client, "list_labs", {})["labs"]]
        expect(named and all(f"{name}=" in line for name in named), f"{line} names {named}")
        client.close()


def two_gpus_of_one_host_are_two_labs(_, place):
    """On a machine without GPUs the variable changes nothing for the processor."""
    client = typed(place, page.command_with("gpu1="))
    for name in ("gpu0", "gpu1"):
        place.whole_round(client, name)
        expect(state_of(client, name)["starts"] == 1, "and is one process")
    client.close()
    place.audit()


def the_file_of_labs_is_read(_, place):
    (place.folder / "labs.yaml").write_text(page.labs_file())
    client = typed(place, page.command_with("--labs"))
    labs = must(client, "list_labs", {})["labs"]
    expect([one["name"] for one in labs] == ["gpu3", "queue-1", "queue-2", "queue-3", "queue-4", "gpu-1", "gpu-2"],
           f"all labs are there: {labs}")
    expect(labs[0]["tags"] == ["h200", "office"] and labs[4]["group"] == "queue" and
           labs[4]["cost_per_hour"] == 2.5 and "ratchet-4 " in labs[4]["command"], f"as written: {labs}")
    place.whole_round(client, "gpu-2")
    client.close()


def a_budget_is_raised_by_the_command_that_the_page_names(_, place):
    client = typed(place, f"ratchet --lab here={shlex.quote(place.lab())} serve")
    run = place.create(client, lab="here", max_lab_seconds=600)
    line = page.command_with("budget").split()
    code, said = place.ratchet_says(*[run if word == "RUN" else word for word in line[1:]])
    expect(code == 0, f"the limit is raised: {said}")
    shown = must(client, "run_status", {"run": run})["labs"]
    expect(shown["max_lab_seconds"] == 7200 and shown["max_cost"] == 20, f"both are known: {shown}")
    expect(must(client, "check_correctness", {"run": run})["passed"], "the run goes on")
    client.close()
    place.audit()


SCENARIOS = [every_command_has_its_test, each_line_starts_a_server_with_its_labs,
             two_gpus_of_one_host_are_two_labs, the_file_of_labs_is_read,
             a_budget_is_raised_by_the_command_that_the_page_names]
