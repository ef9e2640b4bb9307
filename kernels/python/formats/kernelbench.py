"""KernelBench: one file with `class Model(nn.Module)`, `get_inputs()` and `get_init_inputs()`.

Constants of the module that are extents of inputs become dims. The state of a seeded Model is given to
both sides. Looking at the problem runs it on torch's meta device, which computes and stores nothing.
"""

import ast
import inspect
import symtable
import time

import torch

from . import adapter, problem, sizes, varying
from .kernelbench_times import suite_time  # noqa: F401
from .problem import Refused

NAME = "kernelbench"
MOST_CASES = 64
MOST_EXPRESSION = 256  # characters
SLOW_S = 1.0  # processor time of one look; some tens follow
LARGE_LOOK = 256 << 20  # bytes of inputs, on the processor
ROOM_LOOK = 16 << 20  # the same, of one look of some hundred
SMALL_LOOKS = (sizes.MOST_SMALL, 128)  # most of a constant, where looks are slow or compute with values
NEEDED = ("class Model", "def get_inputs", "def get_init_inputs")


def recognizes(files):
    """The name of the problem's file, or None."""
    python = [name for name, text in files.items()
              if name.endswith(".py") and all(part in text for part in NEEDED)]
    return python[0] if len(python) == 1 else None


def constants_of(text, file_name):
    """Whole numbers of 1 or more that the module assigns once: `n`, or `shape[1]` of a tuple."""
    found, counts = {}, {}
    for node in ast.parse(text, file_name).body:
        for target in node.targets if isinstance(node, ast.Assign) else []:
            pairs = [(target, node.value)]
            if isinstance(target, (ast.Tuple, ast.List)):
                values = getattr(node.value, "elts", [])
                pairs = zip(target.elts, values) if len(values) == len(target.elts) else []
            for one, value in pairs:
                if isinstance(one, ast.Name):
                    counts[one.id] = counts.get(one.id, 0) + 1
                    elements = getattr(value, "elts", None)
                    for key, part in ([(one.id, value)] if elements is None else
                                      [(f"{one.id}[{at}]", e) for at, e in enumerate(elements)]):
                        number = whole(part)
                        if number:
                            found[key] = number
    return {key: value for key, value in found.items() if counts[key.partition("[")[0]] == 1}


def whole(node):
    """The value of an expression of numbers alone, if it is a size."""
    if not adapter.is_number(node):
        return None
    value = eval(compile(ast.Expression(node), "constant", "eval"), {"__builtins__": {}})
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 1 else None


class ModuleFile:
    """One file with a Model, looked at."""

    def __init__(self, sources, file_name):
        self.sources = sources
        self.file_name = file_name
        self.training = True
        self.built_on = "meta"
        self.looks_on = "meta"
        self.v0 = sources[file_name]
        self.parent = "Model"  # of the first version
        self.slow = False
        self.small = {}  # what looks have instead of the suite's own constants
        self.varying = set()  # places whose numbers follow the inputs' values

    def seen(self, values, seed=1):
        """Everything about the problem with these constants: inputs, init, state and answer."""
        device = self.looks_on
        values = {**self.small, **values}
        with torch.device(self.built_on), torch.no_grad():
            suite = adapter.loaded(self.sources, self.file_name, values, device)
            torch.manual_seed(seed)
            init = suite.get_init_inputs()
            model = suite.Model(**init) if isinstance(init, dict) else suite.Model(*init)
            model.train(self.training).to(device)
        with torch.device(device), torch.no_grad():
            given = suite.get_inputs()
            if isinstance(given, torch.Tensor):
                raise Refused(f"{self.file_name}: get_inputs returns one tensor instead of a list")
            state = model.state_dict()
            answer = model(*given)
        return suite, init, list(given), state, answer

    def first_seen(self, constants):
        try:
            return self.seen({})
        except (RuntimeError, NotImplementedError) as error:
            if "meta" not in str(error).lower():
                raise
        self.built_on = "cpu"  # a constructor reads values of its tensors
        try:
            return self.seen({})
        except (RuntimeError, NotImplementedError) as error:
            if "meta" not in str(error).lower():
                raise
        self.looks_on = "cpu"  # so does what makes the inputs, or the module itself
        return self.shrunk(constants) or self.seen({})

    def shrunk(self, constants):
        """What is seen with small constants from now on; None where the problem takes none."""
        for most in SMALL_LOOKS:
            self.small = {name: min(value, most) for name, value in constants.items()}
            try:
                seen = self.seen({})
            except Refused:
                raise
            except Exception:
                self.small = {}
                continue
            for name, value in self.small.items():  # one that needs more is no reason for all others
                if value > SMALL_LOOKS[0] and self.numbers({name: SMALL_LOOKS[0]}) is not None:
                    self.small[name] = SMALL_LOOKS[0]
                    seen = self.seen({})
            return seen
        return None

    def input_bytes(self, values):
        """Of the inputs with these constants; 0 where the meta device is not enough to tell."""
        try:
            with torch.device("meta"):
                suite = adapter.loaded(self.sources, self.file_name, values, "meta")
                return bytes_in(suite.get_inputs())
        except Exception:
            return 0

    def follows(self, constant, given):
        """Whether inputs follow this constant: whatever else it changes, no other is a size."""
        given = self.small.get(constant, given)
        shapes = []
        for value in (given, given + 1, given * 2):
            places = {}
            try:
                with torch.device(self.looks_on):
                    suite = adapter.loaded(self.sources, self.file_name,
                                           {**self.small, constant: value}, self.looks_on)
                    flatten("args", list(suite.get_inputs()), places)
            except Exception:
                return False
            shapes.append(places)
        return shapes[0] != shapes[1] or shapes[0] != shapes[2]

    def numbers(self, values, seed=1):
        """A look for sizes.py; None where the problem does not take these constants."""
        try:
            seen = self.seen(values, seed)
        except Refused:
            raise
        except Exception:
            return None
        return self.places(seen)

    def places(self, seen):
        return {place: 0 if place in self.varying else number
                for place, number in places_of(*seen[1:]).items()}

    def fixed_by_code(self, values, origin):
        """The sizes that the Model takes from its own file: it refuses the inputs of another file."""
        def moved(name):
            return any(one.partition("[")[0] in read_by_code(self.v0) for one in origin[name]) and \
                not self.takes_inputs_of({one: values[name] + 1 for one in origin[name]})
        return [name for name in values if moved(name)]

    def takes_inputs_of(self, others):
        try:
            with torch.device(self.built_on), torch.no_grad():
                ours, theirs = (adapter.loaded(self.sources, self.file_name, {**self.small, **one},
                                               self.looks_on) for one in ({}, others))
                init = theirs.get_init_inputs()
                model = ours.Model(**init) if isinstance(init, dict) else ours.Model(*init)
            with torch.device(self.looks_on), torch.no_grad():
                model.to(self.looks_on)(*theirs.get_inputs())
        except Exception:
            return False
        return True

    def varied(self):
        """Finds the places whose numbers follow the inputs' values: they are no sizes."""
        self.varying = varying.varying_places(lambda seed: self.numbers({}, seed))

    def rooms(self, origin, most):
        """The most of these numbers, by place."""
        def look(dims, seed):
            values = {constant: value for name, value in dims.items() for constant in origin[name]}
            if self.input_bytes({**self.small, **values}) > ROOM_LOOK:
                return None
            try:
                return places_of(*self.seen(values, seed)[1:])
            except Exception:
                return None
        found = varying.rooms(look, most, self.varying)
        if found is None:
            raise Refused("no most is found for outputs whose sizes follow the inputs' values")
        return found


def bytes_in(value):
    if isinstance(value, torch.Tensor):
        return value.nbytes
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return sum(bytes_in(one) for one in parts)


def places_of(init, given, state, answer):
    places = {}
    for root, value in (("init", init), ("args", given), ("state", state), ("returns", answer)):
        flatten(root, value, places)
    return places


def flatten(place, value, places):
    """Numbers by place; everything else that a look must keep is part of a place's name."""
    if isinstance(value, torch.Tensor):
        dtype = str(value.dtype).removeprefix("torch.")
        places[f"{place}:{dtype}:{value.dim()}"] = 0
        for axis, extent in enumerate(value.shape):
            places[f"{place}@{axis}"] = int(extent)
    elif isinstance(value, dict):
        for key, one in value.items():
            flatten(f"{place}.{key}", one, places)
    elif isinstance(value, (list, tuple)):
        places[f"{place}#{len(value)}"] = 0
        for at, one in enumerate(value):
            flatten(f"{place}[{at}]", one, places)
    elif isinstance(value, int) and not isinstance(value, bool):
        places[f"{place}="] = value
    elif attributes := problem.attributes_of(value):
        flatten(place, attributes, places)
    else:
        places[f"{place}={value!r}"] = 0


class Builder:
    """Turns what was seen into skeletons and tensors of the contract."""

    def __init__(self, texts, taken):
        self.texts = texts
        self.taken = taken
        self.tensors = []
        self.types = {}  # own element types of tensors that a contract has as bytes
        self.objects = []  # names of the suite's own classes that were met

    def tensor(self, place, value, name, role):
        short = str(value.dtype).removeprefix("torch.")
        dtype = {"float8_e4m3fn": "float8_e4m3"}.get(short, short)
        if str(value.dtype) in adapter.OTHER_TYPES:
            dtype = "uint8"
        if dtype not in KNOWN:
            raise Refused(f"{name} has the element type {short}, which no kernel can get")
        if value.numel() == 0:
            raise Refused(f"{name} has no elements")
        name = problem.identifier(name, self.taken)
        if str(value.dtype) in adapter.OTHER_TYPES:
            self.types[name] = short
        shape = [self.texts[f"{place}@{axis}"] for axis in range(value.dim())] or ["1"]
        if len(shape) > 8:
            raise Refused(f"{name} has {len(shape)} axes; 8 are the most")
        spec = {"name": name, "dtype": dtype, "shape": shape, "role": role}
        self.tensors.append({**spec, "init": "given"} if role == "in" else spec)
        return {"tensor": name}

    def skeleton(self, place, value, name, role):
        if isinstance(value, torch.Tensor):
            return self.tensor(place, value, name, role)
        if isinstance(value, (list, tuple)):
            parts = [self.skeleton(f"{place}[{at}]", one, f"{name}_{at}", role)
                     for at, one in enumerate(value)]
            return parts if isinstance(value, list) else {"tuple": parts}
        if isinstance(value, dict):
            return {"dict": {key: self.skeleton(f"{place}.{key}", one, f"{name}_{key}", role)
                             for key, one in value.items()}}
        if isinstance(value, int) and not isinstance(value, bool):
            text = self.texts[f"{place}="]
            if text.isidentifier():
                return {"dim": text}
            return int(text) if text.lstrip("-").isdigit() else {"expr": text}
        if value is None or isinstance(value, (bool, float, str)):
            return value
        if attributes := problem.attributes_of(value):
            self.objects.append(type(value).__name__)
            return {"object": {key: self.skeleton(f"{place}.{key}", one, f"{name}_{key}", role)
                               for key, one in attributes.items()}, "class": type(value).__name__}
        raise Refused(f"{name} is a {type(value).__name__}, which cannot be passed on")


KNOWN = {"float16", "float32", "float64", "bfloat16", "float8_e4m3", "float8_e5m2", "int8", "int16",
         "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"}


def parameters_of(model, count):
    """Names for the arguments of forward."""
    names = [p.name for p in inspect.signature(model.forward).parameters.values()
             if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return (names + [f"x{at}" for at in range(len(names), count)])[:count]


def read(files, asked):
    file_name = recognizes(files)
    sources = {file_name: files[file_name]}
    module = ModuleFile(sources, file_name)
    module.training = not asked["quiet"]
    constants = constants_of(files[file_name], file_name)
    seen = looked_at(module, {} if asked["fixed"] else constants)
    return imported(module, constants, seen, asked, NAME)


def looked_at(module, constants):
    """The first look: at the suite's sizes, or at small ones where these are slow to look at, or the
    meta device is not enough."""
    try:
        module.first_seen(constants)  # also loads the parts of torch that a look needs
        began = time.process_time()
        seen = module.seen({})
        module.slow = time.process_time() - began > SLOW_S
        if module.slow and not module.small:
            seen = module.shrunk(constants) or seen
    except (Refused, ImportError):
        raise
    except Exception as error:
        raise adapter.located(error, module.sources) from error
    module.slow = module.slow or bool(module.small)
    return seen


def imported(module, constants, seen, asked, suite_name, cases=None):
    """The problem, as formats/__init__.py says. `cases`: constants and weight of each, where there are
    several."""
    suite, init, given, state, answer = seen
    if asked["varying"]:
        module.varied()
    origin = origins(module, {} if asked["fixed"] else
                     {constant: value for constant, value in constants.items()
                      if module.follows(constant, value)})

    def look(now):
        return module.numbers({constant: value for name, value in now.items()
                               for constant in origin[name]})

    def found_among(names, places):
        looked = {**constants, **module.small}
        return sizes.find_sizes(look, places, {name: looked[origin[name][0]] for name in names},
                                lambda key: key.startswith("args[") and "@" in key,
                                module.slow and not module.small, steps)

    steps = {}
    dims, texts = found_among(origin, module.places(seen))
    free = {one for name in dims for one in origin[name]}
    if module.small and module.input_bytes({name: module.small[name] for name in free}) > LARGE_LOOK:
        # The suite's values of the others are too large to look at: multiples of something may be free.
        base = module.places(seen)
        stepped = {constant: sizes.step_of(module.numbers, base, constant, module.small[constant])
                   for constant, value in constants.items() if constant not in free}
        stepped = {constant: step for constant, step in stepped.items()
                   if step and constants[constant] % step == 0}
        origin = {**{name: origin[name] for name in dims},
                  **dict(zip(names_of(stepped, set(dims)), ([one] for one in stepped)))}
        steps = {name: stepped[origin[name][0]] for name in origin if name not in dims}
        dims, texts = found_among(origin, base)
        steps = {name: step for name, step in steps.items() if name in dims}
    while set(module.small) != (free := {one for name in dims for one in origin[name]} & set(module.small)):
        module.small = {name: module.small[name] for name in free}  # all others are the suite's
        places = module.numbers({})
        if places is None:
            module.small = {}
            places = module.places(looked_at(module, {}))
        dims, texts = found_among(dims, places)
    given_sizes = {name: [one[origin[name][0]] for one, _ in cases or [(constants, 1)]] for name in dims}
    rooms = module.rooms(origin, {name: max(values) for name, values in given_sizes.items()}) \
        if module.varying else {}
    texts.update({place: room.text(texts) for place, room in rooms.items()})
    builder = Builder(texts, set(dims))
    names = parameters_of(suite.Model, len(given) + 1)[1:]
    args = [builder.skeleton(f"args[{at}]", one, name, "in")
            for at, (one, name) in enumerate(zip(given, names))]
    init_skeleton = builder.skeleton("init", init, "init", "in")
    weights = {key: builder.tensor(f"state.{key}", value, key, "in")
               for key, value in state.items()}
    returns = builder.skeleton("returns", answer, "out", "out")
    if builder.objects:
        raise Refused(f"it passes a {builder.objects[0]}, and only tensors, numbers and containers of "
                      "them can be passed to a module")
    by_name, by_place = varying.outputs_with_room(answer, returns, args, rooms)
    extents = problem.identifier("extents", builder.taken) if rooms else ""
    if rooms:
        builder.tensors.append({"name": extents, "dtype": "int64", "shape": [str(len(rooms))], "role": "out"})
    values = {name: constants[origin[name][0]] for name in dims}

    least = {} if module.slow and not module.small else sizes.least_sizes(
        look, {name: module.small.get(origin[name][0], value) for name, value in values.items()
               if name not in steps})
    least = {name: value for name, value in least.items() if value <= min(given_sizes[name])}
    where = [*(f"{name} >= {value}" for name, value in least.items()),
             *(f"{name} % {step} == 0" for name, step in steps.items())]

    fixed = [] if cases else module.fixed_by_code(values, origin)

    def total(now):
        return sum(problem.tensor_bytes(tensor, lambda text: sizes.evaluated(text, now))
                   for tensor in builder.tensors)

    def works(now):
        return all(now[name] >= value for name, value in least.items()) and \
            all(now[name] % step == 0 for name, step in steps.items()) and \
            (module.small or look(now) is not None)

    def fit(case):
        return problem.scaled(case, total, asked["bytes"], asked["scale"], works, steps)

    fitting, changes = fit(values)
    changed = problem.bytes_note(builder.types)
    if fixed:
        where += [f"{name} == {fitting[name]}" for name in fixed]
        changed.append(f"{', '.join(fixed)}: no other size than the case's, because the module keeps a "
                       "state of the size that stands in its file")
        module.v0 = with_constants(module.v0, {constant: fitting[name] for name in fixed
                                               for constant in origin[name]
                                               if constants[constant] != fitting[name]})
    if cases is not None:
        workload, changes, left = fitted(cases, constants, {name: origin[name] for name in dims}, fit)
        fitting = workload[0]["dims"]
        if left:
            changed.append(f"{left} of {len(cases)} configurations are left out: they change "
                           "constants that are no free sizes here")
    plan = {"file": module.file_name, "fixed": {}, "eval": not module.training,
            "dims": {name: origin[name] for name in dims},
            "args": args, "state": {key: leaf["tensor"] for key, leaf in weights.items()},
            "returns": returns, "types": builder.types}
    task = {"call": "module", "entry": "ModelNew", **({"where": where} if where else {}),
            **({"dims": fitting} if cases is None else {"cases": workload}), "tensors": builder.tensors,
            "signature": {"init": init_skeleton if isinstance(init_skeleton, list) else [],
                          "init_kwargs": init_skeleton["dict"] if isinstance(init, dict) else {},
                          "state": weights, "args": args, "kwargs": {},
                          "returns": {"tuple": [returns, {"tensor": extents}]} if rooms else returns},
            "work": {"bytes": bytes_text(builder.tensors),
                     "flops": flops_text(module, origin, fitting)}}
    reference = problem.reference_text(f"{module.file_name} of {suite_name}", module.sources,
                                       ("MODULE", plan), "adapter.py", "module_adapter.py")
    v0 = first_version(module, builder.types, args)
    if rooms:
        reference += varying.reference_code(by_name, extents)
        v0 += varying.kernel_code(by_place)
        changed.append(varying.changed_text(by_name, extents))
    doc = inspect.cleandoc(suite.Model.__doc__ or "")
    own_name = module.file_name.removesuffix(".py").replace("_", " ").strip()
    title = own_name if cases is None else " ".join(doc.split())[:80] or f"{suite_name} problem"
    return {"suite": suite_name, "sources": module.sources, "task": task, "scaled": changes,
            "changed": changed, "title": title,
            "description": " ".join(doc.split("\n\n")[0].split()) or title,
            "reference": reference, "v0": v0,
            "takes": works, "steps": steps}


def fitted(cases, constants, origin, fit):
    """The cases that differ in dims alone, each once and made to fit; how sizes changed; how many are
    left out."""
    workload, changes, left = [], [], 0
    free = {constant for group in origin.values() for constant in group}
    for values, weight in cases:
        one_number = all(len({values[constant] for constant in group}) == 1
                         for group in origin.values())
        if not one_number or any(values[name] != value for name, value in constants.items()
                                 if name not in free):
            left += 1
            continue
        dims, changed = fit({name: values[group[0]] for name, group in origin.items()})
        changes += changed
        same = next((case for case in workload if case["dims"] == dims), None)
        if same:
            same["weight"] += weight
        else:
            workload.append({"dims": dims, "weight": weight})
    workload.sort(key=lambda case: -case["weight"])
    return workload[:MOST_CASES], changes, left + max(0, len(workload) - MOST_CASES)


def origins(module, constants):
    """Names of possible dims with their constants: more than one where those are one number to the
    problem, which refuses another value of each alone."""
    groups = []

    def one_more(names):
        return module.numbers({name: module.small.get(name, constants[name]) + 1 for name in names})

    alone = {constant: module.slow or one_more([constant]) is not None for constant in constants}
    for constant, value in constants.items():
        tied = [other for other, same in constants.items() if same == value and not alone[other]]
        if alone[constant] or len(tied) < 2 or one_more(tied) is None:
            groups.append([constant])
        elif constant == tied[0]:
            groups.append(tied)
    return dict(zip(names_of([group[0] for group in groups], set()), groups))


def names_of(constants, taken):
    """What dims of these constants are called."""
    return [problem.identifier(one.rstrip("]").replace("[", "_"), taken) for one in constants]


def bytes_text(tensors):
    """Bytes of all tensors as an expression; the smallest terms are left out of one that gets long."""
    terms = {}
    for tensor in tensors:
        size = problem.ITEM_BYTES.get(tensor["dtype"], 1)
        moving = sorted(extent for extent in tensor["shape"] if not extent.isdigit())
        for extent in tensor["shape"]:
            size *= int(extent) if extent.isdigit() else 1
        terms[tuple(moving)] = terms.get(tuple(moving), 0) + size
    texts = ["*".join([str(size), *(f"({e})" if " " in e else e for e in moving)])
             for moving, size in terms.items()]
    while len(" + ".join(texts)) > MOST_EXPRESSION:
        texts.pop()
    return " + ".join(texts)


def flops_text(module, origin, dims):
    """Operations of products and convolutions, as an expression where they are a product of dims;
    else 0, which bounds nothing."""
    from torch.utils.flop_counter import FlopCounterMode

    def count(values):
        with FlopCounterMode(display=False) as counter:
            module.seen({constant: value for name, value in values.items()
                         for constant in origin[name]})
        return counter.get_total_flops()

    if module.slow or module.small:
        return "0"
    whole_work = count(dims)
    rest, names = whole_work, []
    for dim, value in dims.items() if whole_work else ():
        more = count({**dims, dim: value + 1})
        if more != whole_work:
            if rest % value or more != whole_work // value * (value + 1):
                return "0"
            rest //= value
            names.append(dim)
    return "*".join([str(rest), *names])


def read_by_code(text):
    """Names of the module that its classes and functions read; not those that make the inputs."""
    found = set()

    def look(table, makers):
        for part in table.get_children():
            if part.get_name() not in makers:
                found.update(one.get_name() for one in part.get_symbols()
                             if one.is_global() and one.is_referenced())
                look(part, ())
    look(symtable.symtable(text, "kernel", "exec"), ("get_inputs", "get_init_inputs"))
    return found


def with_constants(text, values):
    """The text with these values of its constants, each behind the suite's own."""
    lines = text.splitlines(True)
    changes = adapter.Changes(values, "cuda")
    for node in reversed(ast.parse(text).body):
        _, *after = changes.statement(node)
        lines[node.end_lineno:node.end_lineno] = [f"{ast.unparse(one)}\n" for one in after]
    return "".join(lines)


def first_version(module, types, args):
    text = module.v0.rstrip()
    body = "    pass\n" if module.training else \
        "    def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)\n" \
        "        self.eval()\n"
    if types:
        text += problem.typed_kernel(types, args).rstrip()
        body = body.replace("    pass\n", "") + "\n" * (not module.training) + \
            "    def forward(self, *arguments):\n" \
            "        return as_bytes(super().forward(*own_types(arguments)))\n"
    return f"{text}\n\n\nclass ModelNew({module.parent}):\n{body}"
