"""A relay between a server and a lab that breaks things, and labs on machines that are broken."""

import contextlib
import glob
import os
import signal
import threading
import time

from ground import HERE, Skipped, expect, has, must, state_of, wait_until
from place import GOOD, below
from spread_suite import branch, ready_to_explore


@contextlib.contextmanager
def ground(_ratchet, _folder):
    yield None


def relayed(place, fault, more=""):
    return f"exec python3 {HERE / 'relay.py'} {fault} {place.folder / 'mark'} {place.lab()}{more}"


def happened(place):
    return (place.folder / "mark").exists()


def check_survives(place, fault, *words, more=""):
    """A check that the fault hits is refused in these words and recorded nowhere; the next is recorded
    once, as that of another run is. `more`: arguments of the lab."""
    client = place.serving({"far": relayed(place, fault, more)})
    run = place.create(client, lab="far")
    place.refused(client, "check_correctness", {"run": run}, "lab far", *words)
    expect(happened(place), "the fault has happened")
    has(state_of(client, "far")["error"], "lab far")
    before = place.rows_kept()
    expect(must(client, "check_correctness", {"run": run})["passed"], "asked again, it passes")
    recorded = place.rows_kept() - before
    expect(state_of(client, "far")["starts"] == 2, "by a lab that was started again")
    other = place.create(client, lab="far")
    before = place.rows_kept()
    must(client, "check_correctness", {"run": other})
    expect(place.rows_kept() - before == recorded, "and it is recorded once")
    client.close()
    place.audit()


def a_message_cut_in_the_middle_never_came(_, place):
    check_survives(place, "cut", "in the middle of a message")


def a_garbled_message_never_came(_, place):
    check_survives(place, "garble", "a message of the lab")


def an_answer_to_another_request_is_refused(_, place):
    check_survives(place, "other_id", "answers a request that nobody made")


def a_message_that_is_too_long_is_refused(_, place):
    check_survives(place, "too_long", "134217729 bytes")


def a_print_between_messages_is_shown(_, place):
    check_survives(place, "talk", "Disk quota exceeded", "start-up files")


def a_replayed_answer_counts_once(_, place):
    """The first is the answer; the second ends the connection, and whoever comes next starts another."""
    client = place.serving({"far": relayed(place, "replay")})
    run = place.create(client, lab="far")
    before = place.rows_kept()
    expect(must(client, "check_correctness", {"run": run})["passed"], "the kernel is right")
    recorded = place.rows_kept() - before
    wait_until(lambda: "nobody made" in state_of(client, "far").get("error", ""), 20,
               "list_labs says why the lab ended")
    expect(happened(place), "the answer was replayed")
    other = place.create(client, lab="far")
    before = place.rows_kept()
    must(client, "check_correctness", {"run": other})
    expect(place.rows_kept() - before == recorded, "the replay was recorded nowhere")
    client.close()
    place.audit()


def create_is_refused(place, fault, *words):
    client = place.serving({"far": relayed(place, fault)})
    place.refused(client, "create_run", {
        "problem": "vector_add", "implementation": "host-cpp", "lab": "far", "dims": {"n": 4096},
        "output_dir": str(place.folder / "run")}, *words)
    expect(happened(place), "the fault has happened")
    expect(not (place.folder / "run").exists(), "no folder is left")
    place.create(client, lab="far")
    client.close()
    place.audit()


def a_lab_that_built_another_source_is_not_believed(_, place):
    create_is_refused(place, "other_digest", "it built a source with the digest 0000")


def a_lab_that_names_another_device_is_found_out(_, place):
    create_is_refused(place, "other_device", "Abacus 9000", "create a run for this one")


def a_lab_that_plans_no_cases_is_refused(_, place):
    create_is_refused(place, "no_cases", "lab far: cases", "the task makes it", "cannot be trusted")


def a_lab_that_is_more_lenient_than_the_task_is_refused(_, place):
    create_is_refused(place, "lenient", "lab far: atol", "1000000.0")


def a_race_without_a_line_for_each_kernel_is_refused(_, place):
    client = place.serving({"far": relayed(place, "fewer_lines")})
    run = ready_to_explore(place, client, "far")
    given = {"run": run, "branches": [branch(1), branch(2)]}
    place.refused(client, "explore_branches", given, "lab far", "it answers for 2 kernels of 3")
    expect(happened(place), "the fault has happened")
    expect(len(must(client, "explore_branches", given)["branches"]) == 2, "asked again, it is raced")
    client.close()
    place.audit()


def a_lab_of_another_version_is_refused(_, place):
    create_is_refused(place, "other_version", "0.0.1", "Install the same version on both machines")


def two_answers_at_once_both_count(_, place):
    """The honest twin of the replay."""
    client = place.serving({"far": relayed(place, "together")})
    runs = [place.create(client, lab="far") for _ in range(2)]
    answers = {}

    def check(run):
        answers[run] = client.call("check_correctness", {"run": run})
    threads = [threading.Thread(target=check, args=(run,)) for run in runs]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    expect(happened(place), "both came in one piece")
    for run, (answer, error) in answers.items():
        expect(error is None and answer["passed"], f"{run}: {error}")
    client.close()
    place.audit()


def a_slow_network_is_only_slow(_, place):
    client = place.serving({"far": relayed(place, "slow")})
    begin = time.monotonic()
    place.whole_round(client, "far")
    print(f"    a run over 50 ms and 1 MB/s: {time.monotonic() - begin:.1f} s")
    client.close()
    place.audit()


def canceled(place, client, fault_seen):
    """A check that is canceled while the lab works on it."""
    run = place.create(client, lab="far")
    before = place.rows_kept()
    job = place.started(client, "check_correctness", {"run": run})
    fault_seen()
    client.server.answer("cancel_job", {"job": job})
    _, error = place.ended(client, job)
    expect(error is not None and "cancel" in error, f"it is canceled: {error}")
    return run, before


def an_answer_after_the_cancel_counts_nowhere(_, place):
    client = place.serving({"far": relayed(place, "deaf")})
    run, before = canceled(place, client, lambda: wait_until(lambda: happened(place), 60,
                                                             "the lab has answered"))
    calls = state_of(client, "far")["calls"]
    wait_until(lambda: state_of(client, "far")["calls"] > calls, 20, "the late answer has come")
    expect(place.rows_kept() == before, "and is recorded nowhere")
    expect(must(client, "check_correctness", {"run": run})["passed"], "the same lab is asked again")
    expect(state_of(client, "far")["starts"] == 1, "without another start")
    client.close()
    place.audit()


def an_endless_message_can_be_canceled(_, place):
    client = place.serving({"far": relayed(place, "endless")})
    canceled(place, client, lambda: wait_until(lambda: happened(place), 60, "it has begun"))
    shown = state_of(client, "far")
    expect(shown["state"] == "idle", f"nobody waits for the rest: {shown}")
    client.close()
    place.audit()


def a_text_on_its_way_can_be_canceled(_, place):
    """It shows how far it has come; nothing waits for the rest, and the line serves the next call."""
    client = place.serving({"far": relayed(place, "slow")})
    bytes_of_text = 4_000_000
    given = {"problem": "vector_add", "implementation": "host-cpp", "dims": {"n": 4096}, "lab": "far",
             "kernel": {"text": GOOD.format("-" * bytes_of_text)}, "output_dir": str(place.folder / "large")}
    job = place.started(client, "create_run", given)

    def shown():
        return client.server.answer("run_status", {"job": job})[0]["job"]
    wait_until(lambda: "sending 4.0 MB to lab far" in str(shown()) and shown()["done"] > 500_000, 60,
               lambda: f"its progress is told: {shown()}")
    client.server.answer("cancel_job", {"job": job})
    _, error = place.ended(client, job)
    expect(error is not None and "cancel" in error, f"it is canceled: {error}")
    expect(state_of(client, "far")["sent"] < bytes_of_text, "the rest was not sent")
    expect(not (place.folder / "large").exists(), "no folder is left")
    place.create(client, lab="far")
    expect(state_of(client, "far")["sent"] < bytes_of_text, "nor is it sent now")
    expect(state_of(client, "far")["starts"] == 1, "the same lab serves the next call")
    client.close()
    place.audit()


def a_lab_that_is_stopped_is_given_up_after_a_minute(_, place):
    client = place.serving({"far": "exec " + place.lab()})
    run = place.create(client, lab="far")
    lab = next(pid for pid in below(client.server.process.pid)
               if b"\0lab\0" in open(f"/proc/{pid}/cmdline", "rb").read())
    os.kill(lab, signal.SIGSTOP)
    place.refused(client, "check_correctness", {"run": run}, "said nothing for 60 s")
    expect(must(client, "check_correctness", {"run": run})["passed"], "another lab is started")
    client.close()
    place.audit()


def a_lab_whose_server_falls_silent_ends(_, place):
    """As one whose server's network is gone, where nothing ends the line."""
    check_survives(place, "mute", "its server has said nothing for 10 s", more=" --silence 10")


def a_lab_stays_for_a_server_that_asks_nothing(_, place):
    """The honest twin: what a server says by itself is enough."""
    client = place.serving({"far": f"exec {place.lab()} --silence 10"})
    run = place.create(client, lab="far")
    time.sleep(15)
    expect(state_of(client, "far")["state"] == "idle", f"it is still there: {state_of(client, 'far')}")
    expect(must(client, "check_correctness", {"run": run})["passed"], "and answers")
    expect(state_of(client, "far")["starts"] == 1, "without another start")
    client.close()
    place.audit()


def a_lab_with_a_wrong_clock_measures_all_the_same(_, place):
    found = glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")
    if not found:
        raise Skipped("there is no libfaketime: apt-get install libfaketime")
    client = place.serving({"far": f"LD_PRELOAD={found[0]} FAKETIME=-400d FAKETIME_DONT_FAKE_MONOTONIC=1 "
                                   f"exec {place.lab()}"})
    place.whole_round(client, "far")
    client.close()
    place.audit()  # times of the ledger are the server's


def a_full_scratch_disk_is_told(_, place):
    if os.getuid() != 0:
        raise Skipped("only root can mount a small disk")
    disk, full = place.folder / "disk", place.folder / "full"
    disk.mkdir()
    full.touch()
    # A mount of the lab's alone, which goes with it. Without the file it has room.
    client = place.serving({"far": f"exec unshare -m sh -c 'size=64m; [ ! -e {full} ] || size=40k; "
                                   f"mount -t tmpfs -o size=$size,mode=1777 none {disk} && "
                                   f"TMPDIR={disk} exec {place.ratchet} --state-dir {disk}/far lab'"})
    place.refused(client, "create_run", {
        "problem": "vector_add", "implementation": "host-cpp", "lab": "far", "dims": {"n": 4096},
        "output_dir": str(place.folder / "run")}, "No space left on device")
    client.close()
    full.unlink()
    client = place.serving({"far": f"exec unshare -m sh -c 'mount -t tmpfs -o size=64m,mode=1777 none "
                                   f"{disk} && TMPDIR={disk} exec {place.ratchet} --state-dir {disk}/far lab'"})
    place.whole_round(client, "far")
    client.close()
    place.audit()


SCENARIOS = [a_message_cut_in_the_middle_never_came, a_garbled_message_never_came,
             an_answer_to_another_request_is_refused, a_message_that_is_too_long_is_refused,
             a_print_between_messages_is_shown, a_replayed_answer_counts_once,
             a_lab_that_built_another_source_is_not_believed,
             a_lab_that_names_another_device_is_found_out, a_lab_that_plans_no_cases_is_refused,
             a_lab_that_is_more_lenient_than_the_task_is_refused,
             a_race_without_a_line_for_each_kernel_is_refused, a_lab_of_another_version_is_refused,
             two_answers_at_once_both_count, a_slow_network_is_only_slow,
             an_answer_after_the_cancel_counts_nowhere, an_endless_message_can_be_canceled, a_text_on_its_way_can_be_canceled,
             a_lab_whose_server_falls_silent_ends, a_lab_stays_for_a_server_that_asks_nothing,
             a_lab_with_a_wrong_clock_measures_all_the_same, a_full_scratch_disk_is_told,
             a_lab_that_is_stopped_is_given_up_after_a_minute]
