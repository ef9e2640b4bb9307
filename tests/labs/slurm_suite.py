"""Labs behind Slurm's queue: `srun -n1 --time=5 ratchet lab`."""

import contextlib

from ground import expect, wait_until
from slurm import Slurm

COMMAND = "srun -n1 --time=5 ratchet lab"


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


SCENARIOS = [a_server_that_ends_gives_its_allocation_back]
