"""Runs a problem once as small as it gets, on the processor: the reference that an import made must give
finite, repeatable answers of the shapes that problem.json says.
"""

import math
import time
import types

import torch

from . import problem, sizes
from .problem import Refused

ENOUGH_BYTES = 16 << 20
SEED, OTHER_SEEDS = 7, (8, 9, 10, 11)  # all where no size moves, which shows less
CASES_S = 20  # of the processor, for a look at the other cases
STEP = 8  # from sizes that are too small to the next


def repeatable(read):
    """What `read` makes, tried. Where sizes do not follow from the dims as it seemed, the
    problem is read again with all sizes fixed; where an answer is an input that was written to, with one
    tensor for both; where outputs follow the inputs' values, with room for them; where the answer is
    random, as with dropout, with its modules in eval()."""
    made = read()
    if made.get("untested"):
        return finished(unasked(made))
    try:
        reason = tried(made)
    except Exception as error:
        if not problem.needs_gpu(error):
            raise
        return finished(unasked({**made, "untested": str(error).splitlines()[0]}))
    fixed = reason is not None and MISFIT in reason
    if fixed:
        made = read(fixed=True)
        made["changed"].append(f"all sizes are fixed: {reason}")
        reason = tried(made)
    if reason == UPDATED:
        made = read(fixed=fixed, updated=made["updated"])
        reason = tried(made)
    varying = reason is not None and FOLLOWS_VALUES in reason
    if varying:
        made, fixed = read(varying=True), False
        reason = tried(made)
    if reason == RANDOM:
        made = read(quiet=True, fixed=fixed, varying=varying)
        made["changed"].append("its modules are in eval(): in training mode two answers to one input "
                               "differ, so that no kernel could be compared")
        reason = tried(made)
    if reason:
        raise Refused(reason)
    leave_out_refused(made)
    return finished(made)


def leave_out_refused(made):
    """Reduced sizes of another case than the first may be none that the reference takes."""
    cases = made["task"].get("cases", [])
    if not made["scaled"] or len(cases) < 2:
        return
    module = module_of(made)
    begin = time.process_time()

    def runs(dims):
        if buffer_bytes(made["task"], dims) > ENOUGH_BYTES or time.process_time() - begin > CASES_S:
            return True  # not asked
        try:
            given = inputs_at(module, made["task"], dims)
            module.reference(**given, **made["task"].get("scalars", {}), **dims)
        except Exception:
            return False
        return True
    kept = cases[:1] + [one for one in cases[1:] if runs(one["dims"])]
    if len(kept) < len(cases):
        made["changed"].append(f"{len(cases) - len(kept)} of {len(cases)} cases are left out: the "
                               "reference refuses the sizes that they were reduced to")
    made["task"]["cases"] = kept


def unasked(made):
    """A problem whose reference runs on a GPU only: it is there that a check asks it."""
    made["changed"].append(f"the import has not tried its reference, which needs a GPU: "
                           f"{made['untested'][:200]}")
    made["task"]["any_size"] = False
    return made


NOT_FINITE = "has NaN or infinite values"
UPDATED = "it answers in its inputs, which it changes"
FOLLOWS_VALUES = ("has other sizes for other values of the inputs, and sizes of a contract follow its dims "
                  "alone")
MISFIT = "follow from something else than the dims"
RANDOM = ("two answers of the reference to one input differ, also in eval(): nothing could be compared "
          "with it; take out what is random")


def given_dims(task):
    return task["cases"][0]["dims"] if "cases" in task else task["dims"]


def buffer_bytes(task, dims):
    return sum(problem.tensor_bytes(one, lambda text: sizes.evaluated(text, dims))
               for one in task["tensors"])


def module_of(made):
    module = types.ModuleType("ref")
    exec(compile(made["reference"], "ref.py", "exec"), module.__dict__)
    return module


def smallest(made):
    task = made["task"]
    if made.get("only") and "cases" in task:  # these sizes and no others
        return min((case["dims"] for case in task["cases"]), key=lambda one: buffer_bytes(task, one))
    dims = dict(given_dims(task))
    total = lambda now: buffer_bytes(task, now)

    def less(name):
        step = made.get("steps", {}).get(name, 1)
        return {**dims, name: max(step, dims[name] // 2 // step * step)}
    stuck = set()
    while total(dims) > ENOUGH_BYTES:
        choices = [name for name in dims if name not in stuck and total(less(name)) < total(dims)]
        if not choices:
            break
        name = min(choices, key=lambda one: total(less(one)))
        if all(sizes.evaluated(extent, less(name)) > 0
               for t in task["tensors"] for extent in t["shape"]) and made["takes"](less(name)):
            dims = less(name)
        else:
            stuck.add(name)
    return dims


def tried(made):
    """Why the problem cannot be judged; None if it can. The smallest sizes may be none of the
    problem's, or too small for a finite answer; then larger ones are tried, up to the given ones."""
    dims, given = smallest(made), given_dims(made["task"])
    while True:
        try:
            reason = tried_at(made, dims)
            if reason is None or NOT_FINITE not in reason or dims == given:
                return reason
        except Exception:
            if dims == given:
                raise
        dims = {name: min(given[name], STEP * value) for name, value in dims.items()}


def tried_at(made, dims):
    task = made["task"]
    module = module_of(made)
    given = inputs_at(module, task, dims)
    outputs = [t for t in task["tensors"] if t["role"] != "in"]
    specs = {t["name"]: t for t in task["tensors"]}
    for name, value in given.items():
        if name in specs:
            wrong = misfit(specs[name], value, dims)
            if wrong:
                return f"{name} is {wrong}"
    scalars = task.get("scalars", {})
    torch.manual_seed(11)
    first = answered(module.reference(**given, **scalars, **dims), outputs)
    for spec in outputs:
        wrong = spec["name"] in first and misfit(spec, first[spec["name"]], dims)
        if wrong:
            shapes = {answer[spec["name"]].shape
                      for answer in (first, *answers_to_other_values(module, task, dims))}
            return f"{spec['name']} {FOLLOWS_VALUES if len(shapes) > 1 else f'is {wrong}'}"
    objection = objected(module, {**given, **scalars, **dims}, first)
    if objection:
        return f"its own check refuses the reference's answer: {objection}"
    shared = shared_with(given, first)
    given = None  # made anew rather than copied: it may have been written to, and may be large
    given = inputs_at(module, task, dims)
    updated = {output: name for output, name in shared.items()
               if output != name and not bytes_equal(first[output], given[name])}
    if updated and "updated" in made:
        made["updated"] = updated
        return UPDATED
    torch.manual_seed(12)
    second = answered(module.reference(**given, **scalars, **dims), outputs)
    for other in answers_to_other_values(module, task, dims):
        for spec in outputs:
            if spec["name"] in other and misfit(spec, other[spec["name"]], dims):
                return f"{spec['name']} {FOLLOWS_VALUES}"
    for spec in outputs:
        name, one, two = spec["name"], first.get(spec["name"]), second.get(spec["name"])
        if one is None:
            return f"the reference returns no {name}"
        if not bytes_equal(one, two):
            return RANDOM
        if one.is_floating_point() and not comparable(one.float()):
            return (f"the answer {name} {NOT_FINITE} at "
                    f"{', '.join(f'{k}={v}' for k, v in dims.items())}: nothing could be compared there")
    return None


def shared_with(given, answer):
    """The inputs in whose memory answers are, by the names of the outputs."""
    places = {problem.place_of(value): name for name, value in given.items()
              if isinstance(value, torch.Tensor) and value.numel()}
    return {output: places[problem.place_of(value)] for output, value in answer.items()
            if problem.place_of(value) in places}


def answers_to_other_values(module, task, dims):
    """One after the other: of other seeds, at the same sizes."""
    outputs = [t for t in task["tensors"] if t["role"] != "in"]
    for seed in OTHER_SEEDS[:1 if dims else None]:
        given = inputs_at(module, task, dims, seed)
        yield answered(module.reference(**given, **task.get("scalars", {}), **dims), outputs)


def objected(module, given, answer):
    """What the problem's own check says of an answer, where it has one."""
    return module.check_outputs(given, answer) if hasattr(module, "check_outputs") else ""


def inputs_at(module, task, dims, seed=SEED):
    torch.manual_seed(seed)
    given = {tensor["name"]: normal(tensor, dims) for tensor in task["tensors"]
             if tensor["role"] != "out" and tensor.get("init") == "normal"}
    given.update(module.inputs(seed=seed, **dims) if hasattr(module, "inputs") else {})
    return given


def normal(tensor, dims):
    shape = [sizes.evaluated(text, dims) for text in tensor["shape"]]
    name = {"float8_e4m3": "float8_e4m3fn"}.get(tensor["dtype"], tensor["dtype"])
    return torch.randn(shape).to(getattr(torch, name))


def comparable(value):
    """Neither NaN nor infinite, but for -inf, with which answers mask what does not count."""
    masked = torch.isneginf(value)
    return bool((torch.isfinite(value) | masked).all()) and not bool(masked.all())


def answered(result, outputs):
    if isinstance(result, dict):
        return result
    values = result if isinstance(result, (tuple, list)) else [result]
    return {spec["name"]: value for spec, value in zip(outputs, values)}


def bytes_equal(one, two):
    if one.shape != two.shape or one.dtype != two.dtype:
        return False
    return torch.equal(one.contiguous().reshape(-1).view(torch.uint8),
                       two.contiguous().reshape(-1).view(torch.uint8))


def misfit(spec, value, dims):
    short = {"float8_e4m3fn": "float8_e4m3"}.get(str(value.dtype).removeprefix("torch."),
                                                  str(value.dtype).removeprefix("torch."))
    shape = [sizes.evaluated(text, dims) for text in spec["shape"]]
    if short != spec["dtype"] or list(value.shape or [1]) != shape:
        return (f"{short} {list(value.shape)} where {spec['dtype']} {shape} was expected: its sizes "
                f"{MISFIT}")
    return None


def finished(made):
    task = made["task"]
    one = given_dims(task)
    total = sum(problem.ITEM_BYTES.get(t["dtype"], 1) *
                math.prod(sizes.evaluated(e, one) for e in t["shape"]) for t in task["tensors"])
    files = {"ref.py": made["reference"]}
    if made.get("v0"):
        files["v0.py"] = made["v0"]
    return {"format": made["suite"], "bytes": total,
            "problem": {"title": made["title"], "description": made["description"], "task": task,
                        "scaled": made["scaled"], "changed": made["changed"]},
            "files": files}
