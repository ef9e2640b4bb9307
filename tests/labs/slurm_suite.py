"""Labs behind Slurm's queue: `srun -n1 --time=5 ratchet lab`."""

import contextlib
import time

from ground import expect, has, must, state_of, wait_until
from slurm import Slurm

COMMAND = "srun -n1 --time=5 ratchet lab"
LONG = {"dims": {"n": 4_000_000}}  # a check that takes seconds


@contextlib.contextmanager
def ground(ratchet, folder):
    slurm = Slurm(folder / "slurm", ratchet.parent)
    try:
        yield slurm
    finally:
        slurm.close()


def serving(slurm, place, *labs):
    environment = {**slurm.environment, "XDG_STATE_HOME": str(place.far)}
    return place.serving({name: COMMAND for name in labs or ("queue",)}, environment)


def empty(slurm, seconds=30):
    wait_until(lambda: not slurm.jobs(), seconds, lambda: f"the queue is empty; it has {slurm.jobs()}")


def running(slurm):
    return [job for job, state, _ in slurm.jobs() if state == "RUNNING"]


def a_server_that_ends_gives_its_allocation_back(slurm, place):
    client = serving(slurm, place)
    place.create(client, lab="queue")
    expect(len(slurm.jobs()) == 1, "the allocation is held")
    client.close()
    empty(slurm)
    # Killed, it can close nothing.
    client = serving(slurm, place)
    place.create(client, lab="queue")
    expect(len(slurm.jobs()) == 1, "the allocation is held")
    client.server.process.kill()
    client.server.process.wait()
    empty(slurm)


def ends_in_the_middle(slurm, place, end, *parts):
    """A check that loses its lab by `end` says so, is recorded nowhere, and can be asked again."""
    client = serving(slurm, place)
    run = place.create(client, lab="queue", **LONG)
    before = place.rows_kept()
    job = place.started(client, "check_correctness", {"run": run})
    time.sleep(0.7)
    (held,) = running(slurm)
    end(held)
    answer, error = place.ended(client, job)
    expect(error is not None, f"the call fails: {answer}")
    has(error, "lab queue", *parts)
    expect(place.rows_kept() == before, "nothing is recorded")
    expect("error" in state_of(client, "queue"), "list_labs says why")
    expect(must(client, "check_correctness", {"run": run})["passed"], "asked again, it passes")
    expect(state_of(client, "queue")["starts"] == 2, "in another allocation")
    client.close()
    empty(slurm)
    place.audit()


def scancel_in_the_middle_loses_nothing(slurm, place):
    ends_in_the_middle(slurm, place, lambda job: slurm.ask("scancel", job), "CANCELLED")


SCENARIOS = [a_server_that_ends_gives_its_allocation_back, scancel_in_the_middle_loses_nothing]
