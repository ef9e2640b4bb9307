"""Tensara: a folder with def.py, a class of problems whose `parameters` are a C signature.

Whole numbers written in generate_test_cases that the inputs' sizes follow become dims, named as the
parameters that have their values. Tensara's own engine, which def.py imports, is not part of a checkout:
ENGINE is what problems use of it.
"""

import ast
import re

import torch

from . import adapter, problem, sizes
from .kernelbench import Builder, flatten, whole
from .problem import Refused

NAME = "tensara"
FILE = "def.py"
SMALL_LOOKS = (32, 31, 128)  # 31: some sizes must be odd
MOST_SCALAR = 1 << 53  # what a number of a contract holds; a larger one is a size that only it may be
ENGINE = '''"""What def.py uses of Tensara's engine. Seeds follow torch's, so that each trial has inputs of its own."""

import hashlib

import torch

TYPES = {"float": torch.float32, "double": torch.float64, "float16": torch.float16,
         "float8": torch.float8_e4m3fn, "int": torch.int32, "int64_t": torch.int64,
         "uint8_t": torch.uint8, "uint32_t": torch.int64, "uint64_t": torch.int64, "size_t": torch.int64}


class Problem:
    parameters = []

    def __init__(self, name):
        self.name = name

    @staticmethod
    def get_seed(text):
        whole = hashlib.sha256(f"{text} {torch.initial_seed()}".encode()).digest()
        return int.from_bytes(whole[:4], "big")

    def param_dtype(self, which):
        names = [one["name"] for one in self.parameters]
        return TYPES[self.parameters[names.index(which) if isinstance(which, str) else which]["type"]]
'''


CLASS = re.compile(r"^class (\w+)\(Problem\)", re.MULTILINE)


def recognizes(files):
    text = files.get(FILE, "")
    return CLASS.search(text) is not None and "def generate_test_cases" in text


def literals_of(text):
    """Whole numbers of 2 or more in generate_test_cases, by line and column; 2**21 is one."""
    found = {}

    def collect(node):
        number = whole(node) if isinstance(node, (ast.Constant, ast.BinOp)) else None
        if number is None:
            for part in ast.iter_child_nodes(node):
                collect(part)
        elif number > 1:
            found[adapter.place_of(node)] = number
    for function in ast.walk(ast.parse(text, FILE)):
        if isinstance(function, ast.FunctionDef) and function.name == "generate_test_cases":
            collect(function)
    return found


class Definition:
    def __init__(self, files):
        self.sources = {"problem.py": ENGINE, FILE: files[FILE]}
        self.literals = literals_of(files[FILE])
        self.base = {}  # what looks have instead of the suite's own numbers
        self.error = None
        self.name = CLASS.search(files[FILE])[1]
        instance = self.instance({})
        self.parameters = instance.parameters
        self.outputs = [one["name"] for one in self.parameters if one["pointer"] and not one["const"]]
        self.others = [one["name"] for one in self.parameters if one["name"] not in self.outputs]
        self.cases = [instance.get_extra_params(case) for case in instance.generate_test_cases()]
        if not self.cases:
            raise Refused(f"{FILE}: generate_test_cases has no cases, so no sizes are known")

    def instance(self, values):
        return getattr(adapter.loaded(self.sources, FILE, values, "cpu"), self.name)()

    def seen(self, values, seed=1):
        """The inputs of the first case, what is passed beside them, and the answer."""
        torch.manual_seed(seed)
        with torch.no_grad():
            instance = self.instance({**self.base, **values})
            case = instance.generate_test_cases()[0]
            given = case["create_inputs"]()
            return given, instance.get_extra_params(case), instance.reference_solution(*given)

    def __call__(self, values):
        """Numbers by place, for sizes.py; None where the problem does not take these sizes."""
        places = {}
        try:
            given, more, answer = self.seen(values)
        except Exception as error:
            self.error = error
            return None
        flatten("args", [*given, *more], places)
        flatten("returns", answer, places)
        return places

    def start(self):
        """Makes all numbers small, where the problem takes that."""
        for most in (*SMALL_LOOKS, None):
            self.base = {} if most is None else {key: min(value, most)
                                                 for key, value in self.literals.items()}
            places = self({})
            if places is not None:
                return places
        raise adapter.located(self.error, self.sources) from self.error

    def value(self, key):
        return self.base.get(key, self.literals[key])

    def sizes(self, places, keys):
        """The numbers that are dims, and an expression for every place, where all else is the
        suite's."""
        is_input = lambda key: key.startswith("args[") and "@" in key
        keys = [key for key in keys if any((one := self({key: self.value(key) + step})) is not None
                                           and one != places for step in (1, self.value(key)))]
        while True:
            left = {key: value for key, value in self.base.items() if key in keys}
            if left != self.base:
                self.base = left
                again = self({})
                if again is None:
                    self.base, again = {}, self({})
                places = again
            names = {symbol(key): key for key in keys}
            found, texts = sizes.find_sizes(
                lambda values: self({names[name]: value for name, value in values.items()}), places,
                {name: self.value(key) for name, key in names.items()}, is_input)
            if len(found) == len(keys):
                return keys, texts
            keys = [names[name] for name in found]


def symbol(key):
    return "at_" + key.replace(":", "_")


def read(files, asked):
    try:
        definition = Definition(files)
        places = definition.start()
        keys, texts = definition.sizes(places, [] if asked["fixed"] else list(definition.literals))
        given, more, answer = definition.seen({})
        again, _, _ = definition.seen({}, 2)
    except (Refused, ImportError):
        raise
    except Exception as error:
        raise adapter.located(error, {FILE: files[FILE]}) from error
    passed = [*given, *more]
    if len(passed) != len(definition.others):
        raise Refused(f"{FILE}: its parameters have {len(definition.others)} that are no outputs, and "
                      f"its first case passes {len(passed)}")
    for name, one, two in zip(definition.others, given, again):
        if not isinstance(one, torch.Tensor) and one != two:
            raise Refused(f"{FILE}: the number {name} follows the values of the inputs, and a contract's "
                          "numbers are the same for all of them")
    dims = named_dims(definition, keys, texts)
    texts = {place: renamed(text, dims) for place, text in texts.items()}
    builder = Builder(texts, set(definition.others) | set(definition.outputs))
    names = dict(zip(definition.others, passed))
    args, scalars, tied = [], {}, {}
    for at, (name, value) in enumerate(names.items()):
        if isinstance(value, torch.Tensor):
            args.append(tensor(builder, f"args[{at}]", value, name, "in"))
        elif isinstance(value, int) and not isinstance(value, bool):
            text = texts[f"args[{at}]="]
            constant = text.lstrip("-").isdigit()
            args.append(int(text) if constant else {"dim": name})
            if constant and abs(int(text)) <= MOST_SCALAR:
                scalars[name] = int(text)
            elif constant and int(text) < 0:
                raise Refused(f"{FILE}: {name} is {text}, and a negative number is at least -{MOST_SCALAR}")
            elif text != name:
                tied[name] = text
        elif isinstance(value, float):
            args.append(value)
            scalars[name] = value
        else:
            raise Refused(f"{FILE}: {name} is a {type(value).__name__}, which no kernel can be passed")
    answers = list(answer) if isinstance(answer, (tuple, list)) else [answer]
    if len(answers) != len(definition.outputs):
        raise Refused(f"{FILE}: its parameters have {len(definition.outputs)} outputs, and "
                      f"reference_solution returns {len(answers)}")
    whole = isinstance(answer, (tuple, list))
    for at, (name, value) in enumerate(zip(definition.outputs, answers)):
        place = f"returns[{at}]" if whole else "returns"
        tensor(builder, place, value, name, "out")
    least = sizes.least_sizes(
        lambda now: definition({key: now[name] for key, name in dims.items()}),
        {name: definition.value(key) for key, name in dims.items()})
    where = [f"{name} >= {value}" for name, value in least.items()] + \
        [f"{name} == {text}" for name, text in tied.items()]
    workload, changes, changed = sized(definition, dims, tied, least, names, builder.tensors, asked)
    plan = {"class": definition.name, "args": args, "given": len(given), "dims": {name: key for key, name in dims.items()},
            "outputs": definition.outputs, "types": builder.types}
    title, description = described(files)
    return {"suite": NAME, "sources": definition.sources, "scaled": changes,
            "changed": changed + problem.bytes_note(builder.types), "title": title,
            "description": description,
            "task": {"entry": "solution", "tensors": builder.tensors, "scalars": scalars,
                     **({"cases": workload} if dims else {"dims": {}}),
                     **({"where": where} if where else {}),
                     **tolerances_of(definition)},
            "reference": problem.reference_text(f"{FILE} of Tensara", definition.sources,
                                                ("TENSARA", plan), "adapter.py", "tensara_adapter.py"),
            "v0": None if builder.types else first_version(definition, list(names), len(given)),
            "takes": lambda now: True}


def tensor(builder, place, value, name, role):
    """A tensor with the name that its parameter has."""
    builder.taken.discard(name)
    return builder.tensor(place, value, name, role)


def named_dims(definition, keys, texts):
    """A name for each number that is a dim: that of a parameter with its value, else one of its own."""
    names = {}
    for at, parameter in enumerate(definition.others):
        for key in keys:
            if texts.get(f"args[{at}]=") == symbol(key):
                names.setdefault(key, parameter)
    taken = {one["name"] for one in definition.parameters}
    return {key: names.get(key) or problem.identifier("size", taken) for key in keys}


def renamed(text, dims):
    for key, name in dims.items():
        text = re.sub(rf"\b{symbol(key)}\b", name, text)
    return text


def sized(definition, dims, tied, least, names, tensors, asked):
    """The cases with sizes that fit. Those of the others are known where every dim is a parameter."""
    given = len(names) - len(definition.cases[0])
    numbers = list(names)[given:]
    first = {name: definition.literals[key] for key, name in dims.items()}
    cases, changed = [first], []
    if set(dims.values()) <= set(numbers):
        constant = {name: value for name, value in zip(numbers, definition.cases[0])
                    if name not in first and name not in tied}
        rows = [dict(zip(numbers, one)) for one in definition.cases]
        cases = [{name: row[name] for name in first} for row in rows
                 if all(row[name] == value for name, value in constant.items())]
    left = len(definition.cases) - len(cases)
    if left:
        changed.append(f"{left} of {len(definition.cases)} test cases are left out: they differ in more "
                       "than sizes that are parameters")
    workload, changes = [], []
    for case in cases:
        def total(now):
            return sum(problem.tensor_bytes(one, lambda text: sizes.evaluated(text, now))
                       for one in tensors)
        fitting, scaled = problem.scaled(
            case, total, asked["bytes"], asked["scale"],
            lambda now: all(now[name] >= value for name, value in least.items()))
        changes += scaled
        fitting = {**fitting, **{name: sizes.evaluated(text, fitting) for name, text in tied.items()}}
        if all(one["dims"] != fitting for one in workload):
            workload.append({"dims": fitting, "weight": 1})
    kept, cut = problem.most_cases(workload)
    return kept, changes, changed + cut


def tolerances_of(definition):
    """What verify_result compares with: torch.allclose with numbers, or equality."""
    text = definition.sources[FILE].partition("def verify_result")[2].partition("\n    def ")[0]
    call = re.search(r"allclose\((.*?)\)", text, re.DOTALL)
    if not call and re.search(r"^    is_exact = True", definition.sources[FILE], re.MULTILINE):
        return {"atol": 0, "rtol": 0}
    if not call:
        raise Refused(f"{FILE}: verify_result does not compare with torch.allclose, and is_exact is not "
                      "True, so no tolerance is known")
    numbers = re.findall(r"\b([ar]tol)\s*=\s*([-+0-9.eE]+)", call[1])
    return {"rtol": 1e-5, "atol": 1e-8, **{name: float(value) for name, value in numbers}}


def described(files):
    """Title and first paragraph of problem.md, where there is one."""
    text = files["problem.md"] if "problem.md" in files else ""
    title = re.search(r'^title:\s*"?(.*?)"?\s*$', text, re.MULTILINE)
    body = text.split("---", 2)[-1].strip().split("\n\n")[0]
    name = title[1] if title else CLASS.search(files[FILE])[1]
    return name[:80], " ".join(body.split())[:600] or name


def first_version(definition, names, given):
    """The suite's own code as a kernel, which answers in the outputs that it is given."""
    own = re.sub(r"^from problem import .*$", "", definition.sources[FILE], flags=re.MULTILINE)
    return (f"{ENGINE}\n\n{own.strip()}\n\n\nPROBLEM = {definition.name}()\n\n\n"
            f"def run_kernel({', '.join([*names, *definition.outputs])}):\n"
            f"    answer = PROBLEM.reference_solution({', '.join(names[:given])})\n"
            "    answers = answer if isinstance(answer, (tuple, list)) else [answer]\n"
            f"    for output, one in zip([{', '.join(definition.outputs)}], answers):\n"
            "        output.copy_(one.reshape(output.shape))\n")
