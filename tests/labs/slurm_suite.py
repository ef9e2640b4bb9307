"""Labs behind Slurm's queue, by the command of docs/scale.md. A "GPU" of these nodes is a stand-in: what
runs there uses the processor."""

import contextlib
import datetime
import fcntl
import subprocess
import threading
import time

import page
from ground import Failed, expect, has, must, state_of, steps, wait_until
from relay import frame, frames
from slurm import NODES, Slurm
from spread_suite import branch, ready_to_explore, sweep_and_ablate

COMMAND = page.labs()["queue"]
LONG = {"dims": {"n": 2_000_000}}  # a check that takes seconds
IDLE_S = 5
HELD_BACK_S = 0.04  # the least by which Linux delays an acknowledgment


def ground(ratchet, folder):
    # One place for the labs of all scenarios: what one has built, the next need not.
    return Slurm(folder / "slurm", ratchet, folder / "labs")


def serving(slurm, place, *labs):
    return place.serving({name: COMMAND for name in labs or ("queue",)}, slurm.environment)


def empty(slurm, seconds=30):
    wait_until(lambda: not slurm.jobs(), seconds, lambda: f"the queue is empty; it has {slurm.jobs()}")


def running(slurm):
    return [job for job, state, _ in slurm.jobs() if state == "RUNNING"]


def an_idle_lab_gives_its_allocation_back_and_its_seconds_are_those_of_the_job(slurm, place):
    """By the file of the page, only less patient."""
    before = set(slurm.completed())
    labs = place.folder / "labs.yaml"
    labs.write_text(page.labs_file().replace("idle_s: 120", f"idle_s: {IDLE_S}"))
    client = place.stdio("--labs", str(labs), environment=slurm.environment)
    place.create(client, lab="queue-1")
    jobs = slurm.jobs()
    expect(len(jobs) == 1 and jobs[0][1] == "RUNNING", f"one allocation serves the run: {jobs}")
    expect(slurm.ask("squeue", "-h", "-o", "%j") == "ratchet-1", "it has the name of the file")
    begin = time.monotonic()
    empty(slurm)
    print(f"    released {time.monotonic() - begin:.0f} s after the last call, idle for {IDLE_S} s")
    wait_until(lambda: state_of(client, "queue-1")["state"] == "off", 10, "the lab is off")
    shown = state_of(client, "queue-1")
    expect("error" not in shown, f"to be idle is no failure: {shown}")
    (job,) = set(slurm.completed()) - before
    record = slurm.completed()[job]
    start, end = (datetime.datetime.fromisoformat(record[name]) for name in ("StartTime", "EndTime"))
    held = (end - start).total_seconds()
    print(f"    lab seconds {shown['seconds']:.1f}, Slurm's {held:.0f}")
    expect(abs(shown["seconds"] - held) < 4, f"held {shown['seconds']} s, as Slurm says: {record}")
    expect(abs(shown["cost"] - shown["seconds"] * 2.5 / 3600) < 1e-9, f"at the file's price: {shown}")
    # The next call gets an allocation of its own.
    run = place.create(client, lab="queue-1")
    expect(must(client, "check_correctness", {"run": run})["passed"], "the kernel is right")
    expect(state_of(client, "queue-1")["starts"] == 2, "it was started again")
    client.close()
    empty(slurm)
    place.audit()


def no_message_waits_for_an_acknowledgment(slurm, place):
    """TCP would hold the end of a long message back. It does not at the start of a connection."""
    client = place.serving({"queue": COMMAND, "near": place.lab()}, slurm.environment)
    least = {lab: min([took(client, "check_env", {"lab": lab}) for _ in range(40)][20:])
             for lab in ("near", "queue")}
    client.close()
    with subprocess.Popen(["/bin/sh", "-c", COMMAND], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, env=slurm.environment) as lab:
        answers, found = frames(lab.stdout), []
        expect(next(answers)[0]["kind"] == "hello", "the lab has started")
        for number in range(40):
            request = frame({"kind": "request", "id": f"{number:032x}", "method": "nothing",
                             "body": {"padding": "x" * 30_000}})
            begin = time.monotonic()
            lab.stdin.write(request)
            lab.stdin.flush()
            while next(answers)[0]["kind"] == "alive":
                pass
            found.append(time.monotonic() - begin)
        lab.stdin.close()
    least["a long request"] = min(found[20:])
    empty(slurm)
    print(f"    {', '.join(f'{name}: {1000 * seconds:.1f} ms' for name, seconds in least.items())}")
    expect(least["a long request"] < HELD_BACK_S, f"a request is not held back: {least}")
    # Much of it is work, and more so on a busy machine.
    expect(least["queue"] < 3 * least["near"] + HELD_BACK_S, f"nor is a long answer: {least}")


def took(client, tool, arguments):
    begin = time.monotonic()
    must(client, tool, arguments)
    return time.monotonic() - begin


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


def who_waits_for_an_allocation_is_told_in_the_words_of_slurm(slurm, place):
    busy = [threading.Thread(
        target=slurm.ask, args=("srun", "-n1", "--time=5", "sleep", "60")) for _ in NODES]
    for one in busy:
        one.start()
    wait_until(lambda: len(running(slurm)) == 2, 30, "both nodes are busy")
    holding = running(slurm)
    client = serving(slurm, place)
    job = place.started(client, "create_run", {
        "problem": "vector_add", "implementation": "host-cpp", "dims": {"n": 4096}, "lab": "queue",
        "output_dir": str(place.folder / "run")})

    def shown():
        return client.server.answer("run_status", {"job": job})[0]["job"]
    wait_until(lambda: "queued and waiting for resources" in str(shown()), 20,
               lambda: f"the progress says what srun says; it is {shown()}")
    has(str(shown()), "waiting for lab queue, which says: srun: job ")
    expect(state_of(client, "queue")["state"] == "starting", "the lab is starting")
    slurm.ask("scancel", *holding)
    answer, error = place.ended(client, job)
    expect(error is None and answer["stage"] == "built", f"it goes on by itself: {error}")
    for one in busy:
        one.join()
    client.close()
    empty(slurm)


def ends_in_the_middle(slurm, place, end, *parts, size=LONG, while_it_works=contextlib.nullcontext):
    """A check that loses its lab by `end` says so, is recorded nowhere, and counts once when it is asked
    again."""
    client = serving(slurm, place)
    run = place.create(client, lab="queue", **size)
    before = place.rows_kept()
    with while_it_works():
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
    expect(steps(place, run, "correctness") == 1, "and it is recorded once")
    client.close()
    empty(slurm)
    place.audit()


def serving_both(slurm, place):
    """A group of two labs by the file of the page, each an allocation when work waits."""
    labs = place.folder / "labs.yaml"
    labs.write_text(page.labs_file().replace("count: 4", "count: 2"))
    return place.stdio("--labs", str(labs), environment=slurm.environment)


def held_by_slurm(slurm, before, name):
    """Seconds and nodes of the jobs of a name that have ended since."""
    jobs = [one for job, one in slurm.completed().items() if job not in before and one["Name"] == name]
    start, end = ([datetime.datetime.fromisoformat(one[when]) for one in jobs] for when in ("StartTime", "EndTime"))
    return sum((b - a).total_seconds() for a, b in zip(start, end)), {one["NodeList"] for one in jobs}


def counted_once(client, run):
    """The run pays for its work on both labs, and for no second twice. What a lab is asked before it may help is
    nobody's."""
    seconds = must(client, "run_status", {"run": run})["labs"]["seconds"]
    used = [state_of(client, name)["used"] for name in ("queue-1", "queue-2")]
    expect(max(used) < seconds <= sum(used) + 0.5, f"the run used {seconds} s, its labs {used}")


def one_run_fans_out_over_both_nodes_and_survives_a_preemption(slurm, place):
    """The branches of a preempted allocation are done again; then the sweep and the ablation are on both nodes.
    Slurm and the server count the same seconds."""
    before = set(slurm.completed())
    client = serving_both(slurm, place)
    run = ready_to_explore(place, client, "queue-1")
    (home,) = running(slurm)  # one allocation, while nothing can be shared out
    job = place.started(client, "explore_branches", {"run": run, "branches": [branch(100 + i) for i in range(8)]})
    wait_until(lambda: state_of(client, "queue-2")["calls"] > 1, 60, "the second lab works")
    (other,) = [one for one in running(slurm) if one != home]
    urgent = threading.Thread(target=slurm.ask, args=(
        "srun", "--partition=urgent", f"--nodelist={node_of(slurm, other)}", "--time=5", "sleep", "60"))
    urgent.start()
    wait_until(lambda: "PREEMPTION" in state_of(client, "queue-2").get("error", ""), 30,
               lambda: f"Slurm says why the lab ended: {state_of(client, 'queue-2')}")
    slurm.ask("scancel", "--partition=urgent", "--user=root")
    urgent.join()
    explored, error = place.ended(client, job)
    expect(error is None and all(one.get("speedup") for one in explored["branches"]), f"all were timed: {error or explored}")
    expect([one["name"] for one in explored["branches"]] == [f"b{i}" for i in range(1, 9)], "each once")
    expect(steps(place, run, "branches") == 1, "one exploration is recorded")
    counted_once(client, run)
    must(client, "check_env", {"lab": "queue-2"})  # in another allocation, so it helps again
    sweep_and_ablate(client, run, ("queue-1", "queue-2"))
    counted_once(client, run)
    shown = {name: state_of(client, name) for name in ("queue-1", "queue-2")}
    client.close()
    empty(slurm)
    nodes = set()
    for number, (name, one) in enumerate(shown.items(), 1):
        seconds, own = held_by_slurm(slurm, before, f"ratchet-{number}")
        print(f"    {name}: held {one['seconds']:.1f} s, Slurm's {seconds:.0f}, used {one['used']:.1f}, on {own}")
        expect(abs(one["seconds"] - seconds) < 4 * one["starts"], f"held for {seconds} s, by Slurm: {one}")
        nodes |= own
    expect([one["starts"] for one in shown.values()] == [1, 2], f"one allocation each, and another: {shown}")
    expect(nodes == set(NODES), f"each node did a share: {nodes}")
    expect(slurm.completed()[other]["JobState"] == "PREEMPTED", f"Slurm says so, too: {slurm.completed()[other]}")
    place.audit()


def a_call_takes_no_longer_than_its_work(slurm, place):
    """Slurm passes on whole lines, so the last line of an answer must not wait for the next message."""
    client = serving(slurm, place)
    place.create(client, lab="queue")
    times = []
    for _ in range(5):
        begin = time.monotonic()
        must(client, "check_env", {"lab": "queue"})
        times.append(time.monotonic() - begin)
    print(f"    asking what it has: {min(times):.2f} to {max(times):.2f} s")
    expect(min(times) < 0.5, f"an answer comes at once: {times}")
    client.close()
    empty(slurm)


def scancel_in_the_middle_loses_nothing(slurm, place):
    ends_in_the_middle(slurm, place, lambda job: slurm.ask("scancel", job), "CANCELLED")


def the_time_limit_in_the_middle_loses_nothing(slurm, place):
    """Slurm looks at its limits each half a minute; so long the check waits for the device."""
    @contextlib.contextmanager
    def device_is_taken():
        with next(slurm.labs.rglob("host-*.lock")).open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
    ends_in_the_middle(slurm, place, lambda job: slurm.ask("scontrol", "update", f"jobid={job}", "endtime=now"),
                       "DUE TO TIME LIMIT", size={}, while_it_works=device_is_taken)


def a_requeue_leaves_the_lab_alone(slurm, place):
    """Slurm queues only batch jobs again, and an allocation of srun is none."""
    client = serving(slurm, place)
    run = place.create(client, lab="queue")
    (held,) = running(slurm)
    slurm.ask("scontrol", "requeue", held)
    expect(must(client, "check_correctness", {"run": run})["passed"], "the work goes on")
    expect(running(slurm) == [held], "in the same allocation")
    client.close()
    empty(slurm)


def node_of(slurm, job):
    return next(node for one, _, node in slurm.jobs() if one == job)


def a_node_that_loses_power_in_the_middle_loses_nothing(slurm, place):
    lost = []

    def lose(job):
        lost.append(node_of(slurm, job))
        slurm.kill_node(lost[0])
    try:
        ends_in_the_middle(slurm, place, lose)
    finally:
        for node in lost:
            slurm.start_node(node)
            until_idle(slurm, node)


def a_node_that_is_taken_down_in_the_middle_loses_nothing(slurm, place):
    lost = []

    def take_down(job):
        lost.append(node_of(slurm, job))
        slurm.ask("scontrol", "update", f"nodename={lost[0]}", "state=down", "reason=test")
    try:
        ends_in_the_middle(slurm, place, take_down)
    finally:
        for node in lost:
            slurm.ask("scontrol", "update", f"nodename={node}", "state=resume")
            until_idle(slurm, node)


def until_idle(slurm, node):
    wait_until(lambda: slurm.nodes().get(node) == "idle", 60, lambda: f"the node is back: {slurm.nodes()}")


def runs_go_side_by_side_on_two_nodes(slurm, place):
    client = serving(slurm, place, "one", "two")
    problems, runs = [], {}

    def go(number):
        lab = ("one", "two")[number % 2]
        try:
            run = must(client, "create_run", {
                "problem": "vector_add", "implementation": "host-cpp", "dims": {"n": 4096},
                "lab": lab, "output_dir": str(place.folder / f"side{number}")})["run"]
            runs[run] = lab
            expect(must(client, "check_correctness", {"run": run})["passed"], "the kernel is right")
            expect(must(client, "profile_kernel", {"run": run})["timing"]["median_ns"] > 0, "timed")
        except Failed as error:
            problems.append(str(error))
    threads = [threading.Thread(target=go, args=(number,)) for number in range(4)]
    for one in threads:
        one.start()
    wait_until(lambda: {node for _, state, node in slurm.jobs() if state == "RUNNING"} == set(NODES), 60,
               lambda: f"both nodes work: {slurm.jobs()} {problems}")
    for one in threads:
        one.join()
    expect(not problems and len(runs) == 4, f"all runs go through: {problems}")
    for name in ("one", "two"):
        shown = state_of(client, name)
        expect(shown["starts"] == 1, f"one allocation for two runs: {shown}")
    client.close()
    empty(slurm)
    place.audit()


SCENARIOS = [an_idle_lab_gives_its_allocation_back_and_its_seconds_are_those_of_the_job,
             no_message_waits_for_an_acknowledgment, a_server_that_ends_gives_its_allocation_back,
             who_waits_for_an_allocation_is_told_in_the_words_of_slurm,
             a_call_takes_no_longer_than_its_work, scancel_in_the_middle_loses_nothing,
             the_time_limit_in_the_middle_loses_nothing,
             a_requeue_leaves_the_lab_alone,
             a_node_that_loses_power_in_the_middle_loses_nothing,
             a_node_that_is_taken_down_in_the_middle_loses_nothing,
             runs_go_side_by_side_on_two_nodes, one_run_fans_out_over_both_nodes_and_survives_a_preemption]
