"""Work of one run on several labs of a group: each has a state folder of its own on this host."""

import contextlib

from ground import expect, must, state_of, steps


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


def branches_go_to_both_labs(_, place):
    client = place.serving_alike([place.lab("far1"), place.lab("far2")])
    run = ready_to_explore(place, client, "box-1")
    given = [branch(1), branch(2), branch(3, wrong=True), branch(4), branch(5), branch(6)]
    explored = must(client, "explore_branches", {"run": run, "branches": given})
    expect(labs_of(explored) == {"box-1", "box-2"}, f"each branch names its lab: {explored}")
    states = [one["status"] for one in explored["branches"]]
    expect(states[2] == "incorrect" and states.count("incorrect") == 1, f"verdicts as here: {states}")
    for name in ("box-1", "box-2"):
        shown = state_of(client, name)
        expect(shown["used"] > 0 and "differs" not in shown, f"it did work: {shown}")
    expect(steps(place, run, "branches") == 1, "one exploration is recorded")
    client.close()
    place.audit()


SCENARIOS = [branches_go_to_both_labs]
