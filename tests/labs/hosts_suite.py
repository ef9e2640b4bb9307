"""Several labs of one host: each GPU of a machine is one, and so can be its processor."""

import contextlib
import fcntl
import threading

from ground import Failed, expect, must, state_of, wait_until


@contextlib.contextmanager
def ground(_ratchet, _folder):
    yield None


def side_by_side(place, labs):
    """Two runs on each lab at once."""
    client = place.serving(labs)
    problems, medians = [], {name: [] for name in labs}

    def go(name, number):
        try:
            run = must(client, "create_run", {
                "problem": "vector_add", "implementation": "host-cpp", "dims": {"n": 4096 + number},
                "lab": name, "output_dir": str(place.folder / f"{name}{number}")})["run"]
            expect(must(client, "check_correctness", {"run": run})["passed"], "the kernel is right")
            medians[name].append(must(client, "profile_kernel", {"run": run})["timing"]["median_ns"])
        except Failed as error:
            problems.append(f"{name}: {error}")
    threads = [threading.Thread(target=go, args=(name, number)) for name in labs for number in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    expect(not problems, f"no lab is disturbed by the other: {problems}")
    for name in labs:
        shown = state_of(client, name)
        expect(shown["starts"] == 1 and "error" not in shown, f"each is one process: {shown}")
    client.close()
    place.audit()


def two_labs_of_one_state_folder_take_turns(_, place):
    """They share builds, calibration and the lock of the device."""
    side_by_side(place, {"one": place.lab(), "two": place.lab()})
    locks = list((place.far).rglob("*.lock"))
    expect(locks, "the device has its lock in the state folder")


def two_labs_of_two_state_folders_both_work(_, place):
    side_by_side(place, {"one": place.lab("far1"), "two": place.lab("far2")})


def a_lab_waits_while_another_of_its_state_folder_measures(_, place):
    """The lock is what a second lab, or a server, of that folder waits for."""
    client = place.serving({"one": place.lab()})
    run = place.create(client, lab="one")
    must(client, "check_correctness", {"run": run})
    with next(place.far.rglob("host-*.lock")).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        job = place.started(client, "profile_kernel", {"run": run})

        def shown():
            return str(client.server.answer("run_status", {"job": job}))
        wait_until(lambda: "waiting for device host" in shown(), 20,
                   lambda: f"it waits for the device: {shown()}")
    answer, error = place.ended(client, job)
    expect(error is None and answer["timing"]["median_ns"] > 0, f"then it measures: {error}")
    client.close()


def a_lab_of_one_gpu_is_started_as_documented(_, place):
    """On a machine without GPUs the variable changes nothing for the processor."""
    client = place.serving({"gpu0": f"CUDA_VISIBLE_DEVICES=0 {place.lab('gpu0')}",
                            "gpu1": f"CUDA_VISIBLE_DEVICES=1 {place.lab('gpu1')}"})
    for name in ("gpu0", "gpu1"):
        place.whole_round(client, name)
    client.close()


SCENARIOS = [two_labs_of_one_state_folder_take_turns, two_labs_of_two_state_folders_both_work,
             a_lab_waits_while_another_of_its_state_folder_measures,
             a_lab_of_one_gpu_is_started_as_documented]
