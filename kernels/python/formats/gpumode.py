"""GPU MODE: a folder with task.yml (tests and benchmarks), reference.py (generate_input, ref_kernel,
check_implementation) and what they import.

Whole numbers that every case gives are dims, benchmarks and tests the cases. A tensor that ref_kernel
answers in, and that the kernel therefore gets, is an output, with its contents where they count. Objects of
the suite's own classes are passed as their attributes.
"""

import ast
import contextlib
import inspect
import re

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from . import adapter, gpumode_parts, problem, sizes
from .kernelbench import Builder, flatten
from .problem import Refused

NAME = "gpumode"
DEFAULTS = (bool, int, float, str, type(None))  # as task.yml can say them
ABSENT = object()  # what a case has where it does not give a field


def recognizes(files):
    return "task.yml" in files and "def generate_input" in files.get("reference.py", "")


def cases_of(text):
    """The cases of `tests` and `benchmarks`, as task.yml has them: one flow mapping a line."""
    found = {"tests": [], "benchmarks": []}
    part = None
    for number, line in enumerate(text.splitlines(), 1):
        if line[:1].strip() and ":" in line:
            part = line.partition(":")[0]
        entry = re.match(r"\s*-\s*(\{.*\})", line)
        if part in found and entry:
            try:
                found[part].append(mapping(entry[1]))
            except (ValueError, SyntaxError) as error:
                raise Refused(f"task.yml:{number}: {error}") from error
    return found["benchmarks"], found["tests"]


def mapping(text):
    for yaml, python in (("true", "True"), ("false", "False"), ("null", "None")):
        text = re.sub(rf"\b{yaml}\b", python, text)
    text = re.sub(r"([{,]\s*)([A-Za-z_]\w*)\s*:", r'\1"\2":', text)
    return ast.literal_eval(text)


class Task:
    def __init__(self, files):
        self.sources = {name.rpartition("/")[2]: text for name, text in files.items()
                        if name.endswith(".py") and name.startswith("../")}
        self.sources.update({name: text for name, text in files.items() if name.endswith(".py")})
        for name in ("submission.py", "eval.py", "template.py"):
            self.sources.pop(name, None)
        benchmarks, tests = cases_of(files["task.yml"])
        self.cases = benchmarks + tests
        if not self.cases:
            raise Refused("task.yml: it has no tests and no benchmarks, so no sizes are known")
        self.main = "reference.py"
        parts = gpumode_parts.joined(files, self.cases)
        self.needed(files)
        if parts:
            self.main = gpumode_parts.NAME
            self.sources[self.main], self.cases = parts
        self.suite = adapter.loaded(self.sources, self.main, {}, "cpu")
        if not hasattr(self.suite, "generate_input"):
            raise Refused("reference.py: it has no generate_input that could be called, and no "
                          "generate_inputs whose results are arguments of every reference_…")
        self.parameters = inspect.signature(self.suite.generate_input).parameters
        self.cases = [self.with_defaults(case) for case in self.cases]
        if "rank" in self.parameters:
            raise Refused("reference.py: generate_input asks for a rank: its work is spread over "
                          "several GPUs, which this judge does not do")

    def with_defaults(self, case):
        """With what generate_input takes for the fields that only other cases give."""
        missing = {name for one in self.cases for name in one if name not in case and name != "seed"}
        return {**case, **{name: one.default for name, one in self.parameters.items()
                           if name in missing and isinstance(one.default, DEFAULTS)}}

    def needed(self, files):
        """Only the files that reference.py imports, itself or through others."""
        kept, open_names = {}, ["reference.py"]
        while open_names:
            name = open_names.pop()
            if name in kept or name not in self.sources:
                continue
            kept[name] = self.sources[name]
            for node in ast.walk(ast.parse(kept[name], name)):
                if isinstance(node, ast.ImportFrom) and node.module:
                    open_names.append(f"{node.module}.py")
                elif isinstance(node, ast.Import):
                    open_names += [f"{one.name}.py" for one in node.names]
        self.sources = kept
        for name in kept:
            files[name if name in files else f"../{name}"]  # it is read

    def made(self, case, seed=1):
        given = {**case, "seed": seed} if "seed" in self.parameters else dict(case)
        return self.suite.generate_input(**given)


def split(cases):
    """Dims, what stays, and the cases that have just this: whole numbers of 1 or more that all cases give,
    and the rest as the first case has it."""
    dims = [name for name in fields_of(cases)
            if all(isinstance(one.get(name), int) and not isinstance(one.get(name), bool)
                   and one[name] >= 1 for one in cases)]
    rest = {name: value for name, value in cases[0].items() if name not in dims and name != "seed"}
    return dims, rest, [one for one in cases if not differing(one, cases, rest, dims)]


def fields_of(cases):
    """All that cases give, but the seed: a trial has its own."""
    return [name for name in dict.fromkeys(name for one in cases for name in one) if name != "seed"]


def differing(case, cases, fixed, dims):
    """The fields in which a case is not as the problem is, of those that are no dims."""
    return [name for name in fields_of(cases)
            if name not in dims and case.get(name, ABSENT) != fixed.get(name, ABSENT)]


def kept_cases(cases, fixed, dims):
    """The cases that have these values, and what is said of the others."""
    kept = [one for one in cases if not differing(one, cases, fixed, dims)]
    names = fields_of([dict.fromkeys(differing(one, cases, fixed, dims)) for one in cases])
    left = len(cases) - len(kept)
    return kept, [f"{left} of {len(cases)} cases are left out: they have other values of "
                  f"{', '.join(names)}, and a problem has one of each"] if left else []


SMALL_LOOKS = (32, 128)


class Look:
    """Looks at a task: the data, the answer and their numbers. Starts at small sizes, where all that is
    computed is quick; `untested`: why the reference cannot answer on a processor, where the sizes of
    its answer are computed without values."""

    def __init__(self, task, given, rest):
        self.task, self.given, self.rest = task, given, rest
        self.untested = None
        for most in SMALL_LOOKS:
            self.base = {name: min(value, most) for name, value in given.items()}
            try:
                self.seen({})
                return
            except Exception:
                self.base = given
        try:
            self.seen({})
        except Exception as error:
            located = adapter.located(error, self.task.sources)
            if not problem.needs_gpu(error):
                raise located from error
            self.untested = str(located).splitlines()[0]
            if self({}) is None:
                raise located from error

    def seen(self, values):
        torch.manual_seed(1)
        with FakeTensorMode(allow_non_fake_inputs=True) if self.untested else contextlib.nullcontext():
            data = self.task.made({**self.rest, **self.base, **values})
            return data, self.task.suite.ref_kernel(data)

    def __call__(self, values):
        """Numbers by place, for sizes.py; None where the task does not take these sizes."""
        places = {}
        try:
            data, answer = self.seen(values)
        except Exception:
            return None
        flatten("data", data, places)
        flatten("returns", answer, places)
        return places

    def sizes(self, found):
        """The dims among `found` and an expression for every place, where all else is the suite's."""
        while True:
            self.base.update({name: value for name, value in self.given.items() if name not in found})
            base = self({})
            if base is None:
                self.base = dict(self.given)
                base = self({})
            before = found
            found, texts = sizes.find_sizes(self, base, {name: self.base[name] for name in found},
                                            lambda key: "@" in key)
            if found == before:
                return found, texts


def read(files, asked):
    try:
        task = Task(files)
    except (Refused, ImportError):
        raise
    except Exception as error:
        raise adapter.located(error, files) from error
    dims, rest, cases = split(task.cases)
    tolerance = tolerances_of(task)
    smallest = cases[0] if asked["fixed"] else \
        min(cases, key=lambda case: sum(case[name] for name in dims))
    look = Look(task, {name: smallest[name] for name in dims}, rest)
    free = [] if asked["fixed"] else dims
    if look.untested:
        free = [name for name in free if len({case[name] for case in cases}) > 1]
    found, texts = look.sizes(free)
    if look.untested and not found:
        smallest = cases[0]
        look.given = {name: smallest[name] for name in dims}
        found, texts = look.sizes([])
    least = sizes.least_sizes(look, {name: look.base[name] for name in found})
    where = [f"{name} >= {value}" for name, value in least.items()]
    data, answer = look.seen({})
    builder = Builder(texts, set(found))
    args = builder.skeleton("data", data, "data", "in")
    returns = returned(builder, data, answer, reads_before(look))
    fixed = {**rest, **{name: smallest[name] for name in dims if name not in found}}
    kept, left_out = kept_cases(task.cases, fixed, found)
    workload, changes, cut = sized(kept, found, least, builder.tensors, asked)
    plan = {"file": task.main, "args": args, "returns": returns, "fixed": fixed, "dims": list(found),
            "seeded": "seed" in task.parameters, "types": builder.types}
    adapters, properties = ["adapter.py", "objects.py", "data_adapter.py"], []
    if builder.objects:
        properties.append(f"a kernel gets objects of {', '.join(builder.objects)} as their "
                          "attributes, without methods")
    if task.main == gpumode_parts.NAME:
        properties.append("its functions are one kernel, custom_kernel, which gets all inputs and returns "
                          "the results of all, in the order of reference.py")
    if tolerance is None:
        adapters.append("data_check.py")
        properties.append("its check_implementation judges the answer, which is not compared with "
                          "ref_kernel's")
    title = described(files["task.yml"]).partition(". ")[0][:80] or "GPU MODE task"
    return {"suite": NAME, "sources": task.sources, "scaled": changes,
            "changed": left_out + cut + problem.bytes_note(builder.types) + properties,
            "untested": look.untested,
            "task": {"call": "function", "entry": "custom_kernel",
                     **({"cases": workload} if found else {"dims": {}}),
                     **({"where": where} if where else {}), "tensors": builder.tensors, **(tolerance or {}),
                     "signature": {"args": [without_classes(args)], "kwargs": {},
                                   "returns": returns}},
            "title": title, "description": described(files["task.yml"]) or title,
            "reference": problem.reference_text("reference.py of GPU MODE", task.sources,
                                                ("TASK", plan), *adapters),
            "v0": first_version(task, builder.types, args),
            "takes": lambda now: True}


def described(text):
    """The first paragraph of the description."""
    body = re.search(r"^description: *[|>]?\n((?:[ \t]+.*\n|\n)+)", text, re.MULTILINE)
    lines = body[1].strip().split("\n\n")[0].split() if body else []
    return " ".join(lines)[:600]


def without_classes(skeleton):
    """As a contract has it."""
    if isinstance(skeleton, list):
        return [without_classes(one) for one in skeleton]
    if not isinstance(skeleton, dict):
        return skeleton
    return {key: {name: without_classes(one) for name, one in inner.items()}
            if key in ("dict", "object") else without_classes(inner)
            for key, inner in skeleton.items() if key != "class"}


def reads_before(look):
    """Whether the answers change with what a tensor of the data that they are in held before."""
    if look.untested:
        return False
    data, answer = look.seen({})
    shared = {problem.place_of(one) for one in tensors_of(answer)}
    other = look.task.made({**look.rest, **look.base})
    for mine, theirs in zip(tensors_of(data), tensors_of(other)):
        if problem.place_of(mine) in shared:
            theirs.copy_(torch.ones_like(theirs))
    torch.manual_seed(1)
    again = tensors_of(look.task.suite.ref_kernel(other))
    return any(one.shape != two.shape or not torch.equal(one.nan_to_num(), two.nan_to_num())
               for one, two in zip(tensors_of(answer), again))


def tensors_of(value):
    """All tensors of a value, in the order in which a Builder names them."""
    if isinstance(value, torch.Tensor):
        return [value]
    parts = problem.attributes_of(value)
    parts = value if parts is None else parts
    if isinstance(parts, dict):
        parts = parts.values()
    return [found for one in parts for found in tensors_of(one)] \
        if not isinstance(parts, (str, bytes)) and hasattr(parts, "__iter__") else []


def returned(builder, data, answer, read):
    """The answer's skeleton; what it shares with the data is one buffer, an output, which has its contents
    before where they are read."""
    places = {problem.place_of(one): spec for one, spec in zip(tensors_of(data), builder.tensors)}

    def skeleton(place, value, name):
        if isinstance(value, torch.Tensor) and problem.place_of(value) in places and value.numel():
            spec = places[problem.place_of(value)]
            spec["role"] = "inout" if read else "out"
            if not read:
                spec.pop("init", None)
            return {"tensor": spec["name"]}
        if isinstance(value, tuple):
            return {"tuple": [skeleton(f"{place}[{at}]", one, f"{name}_{at}")
                              for at, one in enumerate(value)]}
        return builder.skeleton(place, value, name, "out")
    return skeleton("returns", answer, "out")


def sized(cases, found, least, tensors, asked):
    workload, changes = [], []
    for case in cases:
        dims = {name: case[name] for name in found}

        def total(now):
            return sum(problem.tensor_bytes(tensor, lambda text: sizes.evaluated(text, now))
                       for tensor in tensors)
        fitting, changed = problem.scaled(
            dims, total, asked["bytes"], asked["scale"],
            lambda now: all(now[name] >= value for name, value in least.items()))
        changes += changed
        if all(one["dims"] != fitting for one in workload):
            workload.append({"dims": fitting, "weight": 1})
    kept, cut = problem.most_cases(workload)
    return kept, changes, cut


def check_of(task):
    """The function check_implementation, and its text; without it that of the call that makes it."""
    text = task.sources["reference.py"]
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name == "check_implementation":
            return node, ast.get_source_segment(text, node)
    made = re.search(r"check_implementation\s*=\s*make_match_reference\((.*?)\)",
                     "\n".join(task.sources.values()), re.DOTALL)
    return None, made[1] if made else ""


CONSTANT = r"^{}\s*=\s*([-+0-9.eE]+)"
COMPARISON = re.compile(r"allclose|allequal|match_reference")  # of torch, and of the suite's utils.py


def compares(function, task):
    """Whether a check compares the answer with what the reference answers. One that calls allclose without
    that compares with something else, such as the data."""
    names = {getattr(node, "id", getattr(node, "attr", "")) for node in ast.walk(function)
             if isinstance(node, (ast.Name, ast.Attribute))}
    parts = task.main == gpumode_parts.NAME
    return any(COMPARISON.search(name) for name in names) and any(
        name == "ref_kernel" or "match_reference" in name or parts and name.startswith("reference_")
        for name in names)


def tolerances_of(task):
    """What check_implementation compares the answer with ref_kernel's by; None where it tests properties
    of the answer instead, as there may be other right ones."""
    function, text = check_of(task)
    if function and not compares(function, task):
        return None
    found = {}
    for name in ("atol", "rtol"):
        number = re.search(rf"\b{name}\s*=\s*([-+0-9.eE]+)", text) if text else re.search(
            CONSTANT.format(name.upper()), task.sources["reference.py"], re.MULTILINE)
        if number:
            found[name] = float(number[1])
    return found


def first_version(task, types, args):
    """The reference's own code as a kernel; what it imports of the suite stands above it."""
    parts = []
    last = ["reference.py"] if task.main == "reference.py" else ["reference.py", task.main]
    for name in [*(one for one in task.sources if one not in last), *last]:
        text = task.sources[name]
        for other in task.sources:
            module = other.removesuffix(".py")
            text = re.sub(rf"^(\s*)from {module} import .*$", r"\1pass", text, flags=re.MULTILINE)
        parts.append(text.strip())
    text = "\n\n\n".join(parts)
    given, answer = "data", "ref_kernel({})"
    if types:
        text += f"\n{problem.typed_kernel(types, args).rstrip()}"
        given, answer = "own_types(data)", "as_bytes(ref_kernel({}))"
    if args != without_classes(args):
        text += f"\n\n\nDATA = {problem.pretty(args)}\n\n\n{problem.adapter('objects.py').rstrip()}"
        given = f"own_objects(DATA, {given}, globals())"
    return f"{text}\n\n\ndef custom_kernel(data):\n    return {answer.format(given)}\n"
