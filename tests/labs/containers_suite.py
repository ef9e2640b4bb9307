"""A lab in a container of packaging/Containerfile, started by the words of docs/scale.md behind IMAGE."""

import contextlib
import shlex

import page
from ground import expect, must, state_of
from image import Image

WORDS = shlex.split(page.labs()["box"])


@contextlib.contextmanager
def ground(_ratchet, folder):
    image = Image(folder / "image")
    try:
        yield image
    finally:
        image.close()


def a_run_goes_through_a_container(image, place):
    client = place.serving({"box": image.command(*WORDS[WORDS.index("IMAGE") + 1:])})
    run = place.whole_round(client, "box")
    shown = state_of(client, "box")
    expect(shown["starts"] == 1 and "error" not in shown, f"one container serves a run: {shown}")
    expect(must(client, "run_status", {"run": run})["stage"] == "profiled", "the run goes on here")
    client.close()
    place.audit()


def a_container_that_does_not_start_is_told(image, place):
    client = place.serving({"box": image.command("no-such-command")})
    place.refused(client, "create_run", {
        "problem": "vector_add", "implementation": "host-cpp", "lab": "box",
        "output_dir": str(place.folder / "run")}, "no-such-command", "Try its command alone")
    client.close()


SCENARIOS = [a_run_goes_through_a_container, a_container_that_does_not_start_is_told]
