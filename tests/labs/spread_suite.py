"""Work of one run on several labs of a group: each has a state folder of its own on this host."""

import contextlib
import json
import os
import pathlib
import shutil
import signal
import time

from ground import expect, has, must, state_of, steps, wait_until
from place import below


@contextlib.contextmanager
def ground(_ratchet, _folder):
    yield None


def branch(number, wrong=False):
    """A kernel of its own, slow enough that a check takes a while."""
    return {"source": f"""extern "C" void solve(const float* a, const float* b, float* c, int n) {{
  for (int again = 0; again < {number + 1}; ++again)
    for (int i = 0; i < n; ++i) {{ volatile float sum = a[i] {"-" if wrong else "+"} b[i]; c[i] = sum; }}
}}
"""}


def ready_to_explore(place, client, lab):
    """A run whose v1 has its methods."""
    run = place.open_version(client, lab=lab, branches=8, dims={"n": 1 << 18})
    listed = must(client, "list_methods", {"run": run})
    left, chosen = dict(listed["budget"]), []
    for method in listed["methods"]:
        axis = method["id"].split(".")[0]
        if left.get(axis) and "excluded" not in method:
            left[axis] -= 1
            chosen.append({"id": method["id"]})
    expect(must(client, "propose_methods", {"run": run, "methods": chosen})["accepted"], "accepted")
    return run


def labs_of(explored):
    return {one["lab"] for one in explored["branches"]}


def said_by(client, job):
    """What a job says until it ends."""
    said = []
    while (state := client.server.answer("run_status", {"job": job})[0]["job"])["state"] == "working":
        if (text := state.get("message", "")) and said[-1:] != [text]:
            said.append(text)
        time.sleep(0.03)
    return said


def branches_go_to_both_labs(_, place):
    """A lab that has no more to check screens its own, while the other still checks."""
    client = place.serving_alike([place.lab("far1"), place.lab("far2")])
    run = ready_to_explore(place, client, "box-1")
    given = [branch(1), branch(2), branch(3, wrong=True), branch(4), branch(5), branch(400)]  # the last checks longest
    job = place.started(client, "explore_branches", {"run": run, "branches": given})
    said = said_by(client, job)
    explored, error = place.ended(client, job)
    expect(error is None, f"it is explored: {error}")
    # Of two labs that talk, a look now and then misses some: the first that is seen of a screening counts.
    first = next(i for i, text in enumerate(said) if text.startswith(("screening", "timed")))
    expect(any(text.startswith("check case") for text in said[first:]), f"no lab waits for the other: {said}")
    expect(labs_of(explored) == {"box-1", "box-2"}, f"each branch names its lab: {explored}")
    states = [one["status"] for one in explored["branches"]]
    expect(states[2] == "incorrect" and states.count("incorrect") == 1, f"verdicts as here: {states}")
    for name in ("box-1", "box-2"):
        shown = state_of(client, name)
        expect(shown["used"] > 0 and "differs" not in shown, f"it did work: {shown}")
    expect(steps(place, run, "branches") == 1, "one exploration is recorded")
    client.close()
    place.audit()


def slow_to_build():
    """A kernel whose compiler works for seconds."""
    return {"source": """#include <utility>
template <int N> constexpr long burn() {
  long sum = 0;
  for (int i = 0; i < 100000; ++i) sum += i % (N + 7);
  return sum;
}
template <int... N> constexpr long all(std::integer_sequence<int, N...>) { return (burn<N>() + ...); }
constexpr long kAll = all(std::make_integer_sequence<int, 15>());
extern "C" void solve(const float* a, const float* b, float* c, int n) {
  for (int i = 0; i < n; ++i) { volatile float sum = kAll > 0 ? a[i] + b[i] : 0; c[i] = sum; }
}
"""}


def compiles():
    """Whether a compiler works for this test."""
    for pid in below(os.getpid()):
        with contextlib.suppress(OSError):
            if b"cc1plus" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
                return True
    return False


def a_branch_is_checked_while_another_is_built(_, place):
    client = place.serving_alike([place.lab("far1")])
    run = ready_to_explore(place, client, "box-1")
    job = place.started(client, "explore_branches", {"run": run, "branches": [branch(1), slow_to_build()]})

    def said():
        return client.server.answer("run_status", {"job": job})[0]["job"].get("message", "")
    wait_until(lambda: "check" in said() and compiles(), 60, lambda: f"a check runs beside a compiler: {said()}")
    explored, error = place.ended(client, job)
    expect(error is None and all(one.get("speedup") for one in explored["branches"]), f"both were timed: {explored or error}")
    client.close()
    place.audit()


def other_compiler(place):
    """A folder whose g++ says that it is of another version."""
    tools = place.folder / "tools"
    tools.mkdir(parents=True)
    other = tools / "g++"
    other.write_text('#!/bin/sh\ncase "$*" in *-dumpfullversion*) echo 99.1.0; exit;; esac\n'
                     f'exec {shutil.which("g++")} "$@"\n')
    other.chmod(0o755)
    return tools


def a_lab_with_another_compiler_does_not_help(_, place):
    """It is named with what differs; the others go on without it, and an equal one helps."""
    client = place.serving_alike([place.lab("far1"), f"PATH={other_compiler(place)}:$PATH {place.lab('far2')}",
                                  place.lab("far3")])
    run = ready_to_explore(place, client, "box-1")
    explored = must(client, "explore_branches", {"run": run, "branches": [branch(i) for i in range(8)]})
    expect(labs_of(explored) == {"box-1", "box-3"}, f"only equal labs serve: {labs_of(explored)}")
    shown = state_of(client, "box-2")
    has(shown.get("differs"), "unlike box-1", "g++", "99.1.0")
    for name in ("box-1", "box-3"):
        expect("differs" not in state_of(client, name), f"{name} is like the first")
    client.close()
    place.audit()


def nothing_is_lost_with_a_lab_that_is_killed(_, place):
    """What it had begun is done by the other; no branch counts twice."""
    ids = place.folder / "ids"
    client = place.serving_alike([place.lab("far1"), f"echo $$ >> {ids}; exec {place.lab('far2')}"])
    run = ready_to_explore(place, client, "box-1")
    job = place.started(client, "explore_branches",
                        {"run": run, "branches": [branch(40 + i) for i in range(8)]})
    wait_until(lambda: state_of(client, "box-2")["calls"] > 1, 60, "the second lab works")
    os.kill(int(ids.read_text().split()[0]), signal.SIGKILL)
    explored, error = place.ended(client, job)
    expect(error is None, f"the other lab does the rest: {error}")
    expect([one["name"] for one in explored["branches"]] == [f"b{i}" for i in range(1, 9)], "all are there")
    expect(all(one.get("speedup") for one in explored["branches"]), f"all were timed: {explored}")
    expect("error" in state_of(client, "box-2") or state_of(client, "box-2")["starts"] > 1,
           "the killed lab shows why it ended")
    expect(steps(place, run, "branches") == 1, "one exploration is recorded")
    client.close()
    place.audit()


def sweep_and_ablate(client, run, labs):
    """Both give work to both labs."""
    source = branch(1)["source"].replace("again < 2", "again < TIMES")
    swept = must(client, "explore_branches", {
        "run": run, "grid": ["TIMES=" + ",".join(str(number) for number in range(1, 17))],
        "branches": [{"source": "#ifndef TIMES\n#define TIMES 99\n#endif\n" + source}]})
    expect(labs_of(swept) == set(labs), f"the heats are on both: {swept}")
    used = {name: state_of(client, name)["used"] for name in labs}
    if swept.get("champion") is None:
        must(client, "submit_kernel", {"run": run, "source": branch(1)["source"]})
        must(client, "check_correctness", {"run": run})
    must(client, "profile_kernel", {"run": run})
    must(client, "ablate", {"run": run})
    expect(all(state_of(client, name)["used"] > used[name] for name in used), "both did work for the ablation")


def an_ablation_and_a_sweep_go_to_both_labs(_, place):
    client = place.serving_alike([place.lab("far1"), place.lab("far2")])
    run = ready_to_explore(place, client, "box-1")
    sweep_and_ablate(client, run, ("box-1", "box-2"))
    client.close()
    place.audit()


def mortal(place, name):
    """A lab that is lost, and cannot be started again once a file says so."""
    files = place.folder / f"{name}-gone", place.folder / f"{name}-ids"
    return f"test -e {files[0]} && exit 1; echo $$ >> {files[1]}; exec {place.lab(name)}"


def killed_for_good(place, client, name="far1", lab="box-1"):
    """A mortal lab, whose command cannot be started again until its file is; the server has seen its end."""
    (place.folder / f"{name}-gone").touch()
    for line in (place.folder / f"{name}-ids").read_text().split():
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(line), signal.SIGKILL)
    wait_until(lambda: state_of(client, lab)["state"] == "off", 20, "the server sees that it is gone")


def calibrated(place, measured, lab, **changed):
    """Gives a lab the calibration of another one of this machine, changed."""
    (path,) = (place.folder / measured / "noise").glob("*.json")
    noise = place.folder / lab / "noise"
    noise.mkdir(exist_ok=True)
    (noise / path.name).write_text(json.dumps({**json.loads(path.read_text()), **changed}))


def a_run_whose_lab_is_lost_moves_to_an_equal_one(_, place):
    client = place.serving_alike([mortal(place, "far1"), place.lab("far2")])
    run = place.open_version(client, lab="box-1")
    must(client, "submit_kernel", {"run": run, **branch(1)})
    killed_for_good(place, client)
    _, error = client.call("check_correctness", {"run": run})
    has(error, "lab box-1", "From now on the run is on lab box-2", "Call again",
        "noise was not compared")
    expect(must(client, "check_correctness", {"run": run})["passed"], "it goes on there")
    expect(must(client, "profile_kernel", {"run": run})["timing"]["median_ns"] > 0, "and is timed there")
    expect(must(client, "run_status", {"run": run})["labs"]["lab"] == "box-2", "the run says where it is")
    expect(steps(place, run, "moved") == 1, "the ledger has the move")
    client.close()
    place.audit()
    client = place.serving_alike([place.lab("far1"), mortal(place, "far2")])
    expect(must(client, "run_status", {"run": run})["labs"]["lab"] == "box-2", "also after a restart")
    # Now it has a comparison, and the way back is open to a lab that compares as sharply alone.
    must(client, "check_env", {"lab": "box-2"})
    calibrated(place, "far2", "far1", relative=20)  # beyond what a busy machine shows
    killed_for_good(place, client, "far2", "box-2")
    place.refused(client, "profile_kernel", {"run": run}, "no other of its group can take the run",
                  "box-1: noise of comparisons: ", " %, there 200")
    calibrated(place, "far2", "far1")
    _, error = client.call("profile_kernel", {"run": run})
    has(error, "From now on the run is on lab box-1", "equals box-2 in devices, driver, tools and noise")
    expect(steps(place, run, "moved") == 2, "the ledger has both moves")
    expect(must(client, "profile_kernel", {"run": run})["timing"]["median_ns"] > 0, "it goes on there")
    client.close()
    place.audit()


def a_run_whose_lab_is_lost_once_stays(_, place):
    """Nothing is said of a lab that comes back as it was; one with another compiler is told and recorded."""
    path = place.folder / "path"
    path.write_text("")
    client = place.serving_alike([f"PATH=$(cat {path})$PATH; export PATH; {mortal(place, 'far1')}", place.lab("far2")])
    run = place.open_version(client, lab="box-1")
    must(client, "submit_kernel", {"run": run, **branch(1)})

    def checked_again():
        killed_for_good(place, client)
        (place.folder / "far1-gone").unlink()
        text = place.told(client, "check_correctness", {"run": run})
        has(text, "passed: true")
        return text
    text = checked_again()
    expect(state_of(client, "box-1")["starts"] == 2 and steps(place, run, "moved") == 0, "it stays")
    expect("has changed" not in text and steps(place, run, "environment") == 0, f"nothing has changed: {text}")
    path.write_text(f"{other_compiler(place)}:")
    has(checked_again(), "this has changed: g++", "now 99.1.0", "a gain over them may be the compiler's")
    expect(steps(place, run, "environment") == 1, "the ledger has it")
    expect("has changed" not in place.told(client, "check_correctness", {"run": run}), "it is said once")
    client.close()
    place.audit()


def a_run_does_not_move_to_another_compiler(_, place):
    client = place.serving_alike([mortal(place, "far1"), f"PATH={other_compiler(place)}:$PATH {place.lab('far2')}"])
    run = place.open_version(client, lab="box-1")
    must(client, "submit_kernel", {"run": run, **branch(1)})
    killed_for_good(place, client)
    place.refused(client, "check_correctness", {"run": run}, "no other of its group can take the run",
                  "box-2: g++", "99.1.0", "equal devices, driver, tools and noise")
    expect(steps(place, run, "moved") == 0, "it stays")
    client.close()
    place.audit()


def a_group_stands_for_a_lab_that_is_free(_, place):
    """One that is started and free, else one that is off; the answer and the run name it."""
    client = place.serving_alike([place.lab("far1"), place.lab("far2")])

    def created(name, **more):
        return must(client, "create_run", {
            "problem": "vector_add", "implementation": "host-cpp", "dims": {"n": 4096}, "lab": "box",
            "output_dir": str(place.folder / name), **more})
    first = created("first")
    expect(first["lab"] == "box-1", f"the first, where all are off: {first}")
    expect(must(client, "run_status", {"run": first["run"]})["labs"]["lab"] == "box-1", "the run says so too")
    expect(created("again")["lab"] == "box-1", "the one that is started and free")
    run = must(client, "create_run", {
        "problem": "vector_add", "implementation": "host-cpp", "dims": {"n": 1 << 24}, "lab": "box-1",
        "output_dir": str(place.folder / "long")})["run"]
    job = place.started(client, "check_correctness", {"run": run})
    wait_until(lambda: state_of(client, "box-1")["state"] == "working", 20, "the first is busy")
    expect(created("other")["lab"] == "box-2", "another one while the first is busy")
    client.server.answer("cancel_job", {"job": job})
    expect(created("named", lab="box-2")["lab"] == "box-2", "a lab that is named is taken")
    place.refused(client, "create_run", {
        "problem": "vector_add", "lab": "boxes", "output_dir": str(place.folder / "none")}, 'no lab "boxes"')
    client.close()
    place.audit()


def limited(place, run, **limits):
    """The user changes the run's budget."""
    words = [word for name, value in limits.items() for word in (f"--{name.replace('_', '-')}", f"{value:.3f}")]
    code, said = place.ratchet_says("budget", run, *words)
    expect(code == 0, f"the limit is changed: {said}")


def cut_off_by(place, client, run, branches, limit, left):
    """An exploration that a limit ends in its middle; it is reached with so much of it left."""
    shown = must(client, "run_status", {"run": run})["labs"]
    used = shown["seconds" if limit == "max_lab_seconds" else "cost"]
    limited(place, run, **{"max_lab_seconds": 9000, "max_cost": 9000, limit: used + left})
    calls = sum(state_of(client, name)["calls"] for name in ("box-1", "box-2"))
    place.refused(client, "explore_branches", {"run": run, "branches": branches}, limit, "cut off", "ratchet budget")
    expect(sum(state_of(client, name)["calls"] for name in ("box-1", "box-2")) > calls, "work was under way")
    expect(steps(place, run, "branches") == 0, "nothing of the exploration is recorded")
    now = must(client, "run_status", {"run": run})["labs"]
    expect(now["seconds"] > shown["seconds"] and now["cost"] > shown["cost"], f"its time is: {now}")
    place.refused(client, "explore_branches", {"run": run, "branches": branches}, limit)
    for name in ("box-1", "box-2"):
        wait_until(lambda name=name: state_of(client, name)["state"] in ("idle", "off"), 20, f"{name} stops working")


def a_budget_ends_an_exploration_on_both_labs(_, place):
    """In its middle, by time and by cost; it goes on, on both, once the user has raised the limit."""
    client = place.serving_alike([place.lab("far1"), place.lab("far2")], "  cost: 2\n  currency: EUR\n")
    run = ready_to_explore(place, client, "box-1")
    branches = [branch(60 + number) for number in range(8)]
    cut_off_by(place, client, run, branches, "max_lab_seconds", 6)
    cut_off_by(place, client, run, branches, "max_cost", 8)
    limited(place, run, max_lab_seconds=9000, max_cost=9000)
    explored = must(client, "explore_branches", {"run": run, "branches": branches})
    expect(labs_of(explored) == {"box-1", "box-2"}, f"both work again: {explored}")
    expect(len(explored["branches"]) == 8 and steps(place, run, "branches") == 1, "all are recorded once")
    client.close()
    place.audit()


SCENARIOS = [a_branch_is_checked_while_another_is_built, branches_go_to_both_labs, a_group_stands_for_a_lab_that_is_free, a_budget_ends_an_exploration_on_both_labs, a_lab_with_another_compiler_does_not_help,
             nothing_is_lost_with_a_lab_that_is_killed, an_ablation_and_a_sweep_go_to_both_labs,
             a_run_whose_lab_is_lost_once_stays, a_run_whose_lab_is_lost_moves_to_an_equal_one, a_run_does_not_move_to_another_compiler]
