"""SOL-ExecBench and FlashInfer-Bench: definition.json (axes, inputs, outputs, the reference as text) and
workload.jsonl (one workload a line).

Var axes become dims, workloads cases. Random floating-point inputs are the server's own normal ones;
what the definition makes itself, it makes here, too.
"""

import base64
import collections
import json
import math
import re
import time
import zlib

import torch

from . import adapter, problem, safetensors, sizes
from .problem import Refused

NAME = "flashinfer"
LEAST_RATIO = 0.5  # of elements that match, in a contract
USUAL_RATIO = 0.99  # the suite's, where a workload has tolerances and no ratio
REST_WITHIN = 4  # of the server's own tolerance, for what the usual ratio leaves over
RECORDED = "safetensors"
MOST_RECORDED = 4 << 20  # bytes of recorded inputs, which ref.py holds
MOST_RELATION = 1000  # characters
FOUR_BITS = "float4_e2m1fn_x2"
BLOCKS = (16, 32)  # elements of 4 bits with one scale
TILE = 128  # what a size keeps that a reference cannot be asked about: some take no other
QUICK_S, LOOKS_S = 0.2, 10  # of a look at the reference on the meta device, of all; of the processor
DTYPES = {"float8_e4m3fn": "float8_e4m3", "float8_e5m2": "float8_e5m2"}
KNOWN = {"float16", "float32", "float64", "bfloat16", "float8_e4m3", "float8_e5m2", "int8", "int16",
         "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"}


def recognizes(files):
    return "definition.json" in files and '"axes"' in files["definition.json"]


def workloads_of(files):
    """The lines of all workload files; those of traces have the workload inside."""
    found = []
    for name in sorted(files):
        if name.endswith(".jsonl"):
            for number, line in enumerate(files[name].splitlines(), 1):
                if line.strip():
                    try:
                        one = json.loads(line)
                    except ValueError as error:
                        raise Refused(f"{name}:{number}: not JSON: {error}") from error
                    found.append((f"{name}:{number}", one.get("workload", one)))
    if not found:
        raise Refused("there is no workload.jsonl beside definition.json, so no sizes are known")
    return found


class Definition:
    def __init__(self, files):
        try:
            self.json = json.loads(files["definition.json"])
        except ValueError as error:
            raise Refused(f"definition.json: not JSON: {error}") from error
        self.workloads = workloads_of(files)
        self.taken = set()
        axes = self.json["axes"]
        self.dims = {name: problem.identifier(name, self.taken)
                     for name, axis in axes.items() if axis["type"] == "var"}
        self.constants = {name: axis["value"] for name, axis in axes.items()
                          if axis["type"] == "const"}
        self.expressions = {name: axis["expression"] for name, axis in axes.items()
                            if axis["type"] == "expr"}
        self.names = {name: problem.identifier(name, self.taken)
                      for part in ("inputs", "outputs") for name in self.json[part]}

    def keep_one(self):
        """Leaves the first workload, whose sizes become constants."""
        whole = len(self.workloads)
        self.workloads = self.workloads[:1]
        self.constants.update({name: self.workloads[0][1]["axes"][name] for name in self.dims})
        self.dims = {}
        return [f"only the first of {whole} workloads is left"]

    def axes_at(self, dims):
        """All axes at these dims, by the definition's names."""
        axes = {**self.constants, **{name: dims[dim] for name, dim in self.dims.items()}}
        for name, expression in self.expressions.items():
            axes[name] = int(eval(expression, {"__builtins__": {}}, dict(axes)))
        return axes

    def extent(self, text):
        """An extent as an expression over dims."""
        text = str(text)
        for _ in range(8):  # expressions may name expressions
            def known(word):
                name = word[0]
                if name in self.expressions:
                    return f"({self.expressions[name]})"
                if name in self.constants:
                    return str(self.constants[name])
                return self.dims.get(name, name)
            changed = re.sub(r"[A-Za-z_]\w*", known, text)
            if changed == text:
                break
            text = changed
        left = set(re.findall(r"[A-Za-z_]\w*", text)) - set(self.dims.values()) - {"min", "max"}
        if left:
            raise Refused(f"definition.json: the extent {text!r} names {', '.join(sorted(left))}, "
                          "which is no axis")
        if re.search(r"[^\w\s+\-*/%(),]", text):
            raise Refused(f"definition.json: the extent {text!r} is no expression of + - * / %")
        text = text.replace("//", "/")
        return str(sizes.evaluated(text, {})) if not re.search("[A-Za-z_]", text) else text

    def tensor(self, part, name, spec, types):
        dtype = DTYPES.get(spec["dtype"], spec["dtype"])
        if f"torch.{dtype}" in adapter.OTHER_TYPES:
            types[self.names[name]], dtype = dtype, "uint8"
        if dtype not in KNOWN:
            raise Refused(f"definition.json: {name} has the element type {spec['dtype']}, which no "
                          "kernel can get here yet")
        shape = [self.extent(one) for one in spec["shape"] or []] or ["1"]
        return {"name": self.names[name], "dtype": dtype, "shape": shape,
                "role": "in" if part == "inputs" else "out"}


def read(files, asked):
    definition = Definition(files)
    text = definition.json["reference"]
    origin = "reference.py"
    files.within.add(origin)
    custom = definition.json.get("custom_inputs_entrypoint")
    left_out = keep_there(definition, asked) + keep_sized(definition) + keep_alike(definition)
    first = definition.workloads[0][1]
    kinds = {name: kind_of(first, name) for name in definition.json["inputs"]}
    if asked["fixed"]:
        left_out += definition.keep_one()
    scalars = scalars_of(definition, text, origin, custom)
    tensors, args, random, types = [], [], {}, {}
    for name, spec in definition.json["inputs"].items():
        if spec["shape"] is None:
            args.append(scalars[name])
            continue
        tensor = definition.tensor("inputs", name, spec, types)
        made = kinds[name] in ("custom", RECORDED)
        given = made or not tensor["dtype"].startswith(("float", "bfloat"))
        if given and not made:
            random[tensor["name"]] = (tensor["dtype"], [str(e).replace("/", "//") for e in
                                                        tensor["shape"]])
        tensors.append({**tensor, "init": "given" if given else "normal"})
        args.append({"tensor": tensor["name"]})
    outputs = [definition.tensor("outputs", name, spec, types)
               for name, spec in definition.json["outputs"].items()]
    answers = [asked["updated"].get(one["name"], one["name"]) for one in outputs]
    for one in tensors:
        if one["name"] in answers:
            one["role"] = "inout"
    outputs = [one for one in outputs if one["name"] in answers]
    tensors += outputs
    leaves = [{"tensor": name} for name in answers]
    recordings = recordings_of(definition, files, asked, tensors) if RECORDED in kinds.values() else []
    if recordings:
        cases, changes, cut = recorded_cases(definition, recordings)
    else:
        looks = Looks(definition, {origin: text}, custom, scalars, tensors, types)
        cases, changes, cut = cases_of(definition, tensors, asked, looks)
    plan = {"file": origin, "entry": "run", "inputs": custom or "", "args": args,
            "axes": {dim: name for name, dim in definition.dims.items()},
            "constants": definition.constants, "expressions": definition.expressions,
            "outputs": answers, "scalars": scalars,
            "names": {name: definition.names[name] for name in definition.json["inputs"]},
            "random": random, "types": types}
    task = {"call": "function", "entry": "run", "tensors": tensors,
            **({"cases": cases} if definition.dims else {"dims": {}}),
            **({"where": relations_of([case["dims"] for case in cases])}
               if recordings and definition.dims else {}),
            "signature": {"args": args, "kwargs": {},
                          "returns": leaves[0] if len(leaves) == 1 else {"tuple": leaves}},
            **tolerances(definition)}
    changed = left_out + cut + differing_tolerances(definition) + problem.bytes_note(types)
    changed += [f"{name} and {output} are one tensor, which holds what it held before: the reference "
                f"answers in {name}" for output, name in asked["updated"].items()]
    v0 = text
    if types:
        v0 = f"{text.rstrip()}\n{problem.typed_kernel(types, args)}" \
            "\n\n_suites_run = run\n\n\ndef run(*arguments):\n" \
            "    return as_bytes(_suites_run(*own_types(arguments)))\n"
    adapters = ["adapter.py", "function_adapter.py"]
    if custom or random or recordings:
        adapters.append("function_inputs.py")
    reference = problem.reference_text(f"definition.json of {definition.json['name'].replace('_', ' ')}",
                                       {origin: text}, ("FUNCTION", plan), *adapters)
    packed = packed_outputs(outputs, types, task)
    if packed:
        changed.append(f"{', '.join(packed['outputs'])}: elements of 4 bits are compared by value, times "
                       "their scales where an output holds them")
        reference += f"\n\nPACKED = {problem.pretty(packed)}\n\n{problem.adapter('packed_check.py')}"
    if recordings:
        lines = ",\n".join(json.dumps(one) for one in recordings)
        reference += f"\n\nRECORDED = [\n{lines}]\n\n\n{problem.adapter('recorded_inputs.py')}"
    title = definition.json["name"].replace("_", " ")
    return {"suite": NAME, "sources": {origin: text}, "task": task, "scaled": changes,
            "changed": changed, "title": title,
            "description": definition.json.get("description") or title, "v0": v0,
            "reference": reference,
            "takes": lambda dims: not recordings, "only": bool(recordings), "updated": {}}


def packed_outputs(outputs, types, task):
    """How outputs with elements of 4 bits are compared, for packed_check.py; None where there are none.
    The scales of one are the output with one number for each block of its last axis."""
    packed = [one for one in outputs if types.get(one["name"]) == FOUR_BITS]
    if not packed:
        return None

    def scales_of(one):
        for other in outputs:
            if other not in packed and other["shape"][:-1] == one["shape"][:-1] and any(
                    same(f"{size // 2}*({other['shape'][-1]})", one["shape"][-1]) for size in BLOCKS):
                return other["name"]
        return None
    found = {one["name"]: scales_of(one) for one in packed}
    names = {one["name"] for one in outputs}
    return {"outputs": found, "scale_types": {name: kind for name, kind in types.items()
                                              if name in names and kind != FOUR_BITS},
            "atol": task.get("atol", 1e-2), "rtol": task.get("rtol", 1e-2),
            "ratio": task.get("matched_ratio", 1)}


def same(one, other):
    """Whether two expressions over dims are equal, tried at some sizes."""
    names = set(re.findall(r"[A-Za-z_]\w*", one + other)) - {"min", "max"}
    return all(sizes.evaluated(one, dict.fromkeys(names, size)) ==
               sizes.evaluated(other, dict.fromkeys(names, size)) for size in (1024, 4096, 7 * 1024))


def kind_of(one, name):
    """Where an input of a workload is from."""
    return one["inputs"].get(name, {"type": "random"})["type"]


def keep(definition, wanted, why):
    """Leaves these workloads, and says why not the others."""
    whole = len(definition.workloads)
    definition.workloads = [(place, one) for place, one in definition.workloads if wanted(one)]
    left = whole - len(definition.workloads)
    return [f"{left} of {whole} workloads are left out: {why}"] if left else []


def keep_there(definition, asked):
    """Leaves the workloads whose recorded inputs were found."""
    def absent(one):
        paths = [str(entry.get("path")) for entry in one["inputs"].values() if entry.get("type") == RECORDED]
        return next((path for path in paths if path not in asked["recorded"]), None)
    lost = [(place, absent(one)) for place, one in definition.workloads if absent(one)]
    if not lost:
        return []
    place, path = lost[0]
    why = f"{path}: {asked['unread'].get(path, 'it is not there')}"
    said = keep(definition, lambda one: not absent(one), f"their inputs are recorded, as in {why}")
    if not definition.workloads:
        raise Refused(f"{place}: its inputs are recorded in {why}; or give create_run a kernel and a "
                      "reference whose inputs() makes such values")
    return said


def recordings_of(definition, files, asked, tensors):
    """The recorded inputs of the workloads, as many as a problem gets: sizes, and each tensor's element type,
    shape and bytes. Leaves these workloads."""
    specs = {one["name"]: one for one in tensors}
    opened, kept, left = {}, [], {}
    seen, room = [], MOST_RECORDED
    for place, one in definition.workloads:
        dims = {dim: int(one["axes"][name]) for name, dim in definition.dims.items()}
        total = sum(problem.tensor_bytes(tensor, lambda text: sizes.evaluated(text, dims))
                    for tensor in tensors)
        found, size = {}, 0
        for name, entry in one["inputs"].items():
            if entry["type"] != RECORDED:
                continue
            path = entry["path"]
            if path not in opened:
                files.used[path] = asked["recorded"][path]
                opened[path] = safetensors.tensors_in(base64.b64decode(files.used[path]), path)
            found[definition.names[name]] = recorded_tensor(
                opened[path], path, entry.get("tensor_key", name), specs[definition.names[name]], dims)
            size += len(found[definition.names[name]][2])
        longer = seen if dims in seen else [*seen, dims]
        why = f"its buffers need {total} bytes, and {asked['bytes']} are the most" \
            if total > asked["bytes"] else \
            f"recorded inputs of a problem are {MOST_RECORDED} bytes at most" if size > room else \
            "a problem gets as many sizes as one relation can name" \
            if max(map(len, relations_of(longer)), default=0) > MOST_RELATION else ""
        if why:
            left[why] = left.get(why, 0) + 1
            continue
        seen, room = longer, room - size
        kept.append(((place, one), {"dims": dims, "tensors": {
            name: [kind, shape, base64.b64encode(zlib.compress(content)).decode()]
            for name, (kind, shape, content) in found.items()}}))
    definition.cut = [f"{count} of {len(definition.workloads)} workloads are left out: {why}"
                      for why, count in left.items()]
    drawn = [name for name, spec in definition.json["inputs"].items()
             if spec["shape"] is not None and kind_of(definition.workloads[0][1], name) != RECORDED]
    if not drawn:
        raise Refused(f"{definition.workloads[0][0]}: all its inputs are recorded, as in {path}, so a kernel "
                      "that knows the answers would pass: give create_run a kernel and a reference whose "
                      "inputs() makes such values anew")
    if not kept:
        raise Refused(f"{definition.workloads[0][0]}: {'; '.join(left)}, and recorded inputs have the sizes "
                      "that they have: import it for a larger device, or give create_run a kernel and a "
                      "reference whose inputs() makes smaller ones")
    definition.workloads = [workload for workload, _ in kept]
    return [recording for _, recording in kept]


def recorded_tensor(there, path, key, spec, dims):
    """A tensor of an opened file, which has to be what the definition says."""
    if key not in there:
        raise Refused(f"{path}: it has no tensor {key!r}; it has {', '.join(sorted(there)[:8]) or 'none'}")
    kind, shape, content = there[key]
    wanted = [sizes.evaluated(text, dims) for text in spec["shape"]]
    if kind != spec["dtype"] or (shape or [1]) != wanted:
        raise Refused(f"{path}: {key} is {kind} {shape}, where the workload has {spec['dtype']} {wanted}")
    return {"float8_e4m3": "float8_e4m3fn"}.get(kind, kind), wanted, content


def recorded_cases(definition, recordings):
    """A case for each size, as it was recorded."""
    weights = collections.Counter(tuple(one["dims"].items()) for one in recordings)
    return [{"dims": dict(dims), "weight": weight} for dims, weight in weights.items()], [], [
        *definition.cut, "inputs are recorded, so it has no other sizes than its cases'; recordings of one "
        "size take turns"]


def relations_of(cases):
    """That the dims are those of one of the cases: what all have in common, and that of the largest
    differences from each case the least is 0."""
    common = {name: size for name, size in cases[0].items() if all(one[name] == size for one in cases)}
    differences = ["max(" + ",".join(f"{name}-{size},{size}-{name}" for name, size in one.items()
                                     if name not in common) + ")" for one in cases]
    return [*(f"{name} == {size}" for name, size in common.items()),
            *([f"min({','.join(differences)}) == 0"] if len(cases) > 1 else [])]


def keep_sized(definition):
    """Leaves the workloads that have something to do."""
    empty = [name for name in definition.dims
             if any(int(one["axes"][name]) < 1 for _, one in definition.workloads)]
    said = keep(definition, lambda one: all(int(one["axes"][name]) >= 1 for name in empty),
                f"they have axes below 1 ({', '.join(empty)})")
    if not definition.workloads:
        raise Refused("no workload has sizes of 1 or more")
    return said


def keep_alike(definition):
    """Leaves the workloads with the numbers that most of them have, and with inputs from where most of them
    have theirs: a problem has one of each."""
    def numbers(one):
        return tuple(sorted((name, repr(value)) for name, value in numbers_of(definition, one).items()))

    def custom(one):
        return tuple((name, kind_of(one, name)) for name in definition.json["inputs"]
                     if kind_of(one, name) in ("custom", RECORDED))

    def most(key):
        counts = collections.Counter(key(one) for _, one in definition.workloads)
        return max(counts, key=counts.get)
    made = most(custom)
    said = keep(definition, lambda one: custom(one) == made,
                "the definition makes, or has recorded, other inputs of theirs than of most")
    common = most(numbers)
    names = dict.fromkeys(name for _, one in definition.workloads for name, _ in numbers(one))
    return said + keep(definition, lambda one: numbers(one) == common,
                       f"they have other values of {', '.join(names)}")


def numbers_of(definition, one):
    """The numbers of a workload that are inputs; some are among its axes."""
    found = {name: entry["value"] for name, entry in one["inputs"].items()
             if entry["type"] == "scalar"}
    return {**{name: value for name, value in one["axes"].items()
               if name in definition.json["inputs"]}, **found}


def scalars_of(definition, text, origin, custom):
    """Numbers that are inputs, of the first workload; all others have the same."""
    names = [name for name, spec in definition.json["inputs"].items() if spec["shape"] is None]
    place, one = definition.workloads[0]
    found = {name: value for name, value in numbers_of(definition, one).items() if name in names}
    missing = [name for name in names if name not in found]
    if missing and custom:
        found.update(made_scalars(definition, text, origin, custom, missing, found))
    elif missing:
        raise Refused(f"definition.json: the number {missing[0]} has no value in the workloads")
    for name, value in found.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise Refused(f"{place}: the number {name} is {value}, which no kernel can be passed")
    return found


def made_scalars(definition, text, origin, custom, names, known):
    """Numbers that the definition's own function makes, looked at on the meta device."""
    sources = {origin: text}
    suite = adapter.loaded(sources, origin, {}, "cpu")
    axes = definition.axes_at({dim: min(one["axes"][name] for _, one in definition.workloads)
                               for name, dim in definition.dims.items()})
    axes.update(known)
    try:
        made = getattr(suite, custom)(axes, torch.device("meta"))
    except Exception:
        try:
            made = getattr(suite, custom)(axes, torch.device("cpu"))
        except Exception as error:
            raise adapter.located(error, sources) from error
    bad = [name for name in names if not isinstance(made.get(name), (int, float, bool))]
    if bad:
        raise Refused(f"{origin}: {custom} makes no number {bad[0]}")
    return {name: made[name] for name in names}


class Looks:
    """Looks at the reference on the meta device, which computes nothing."""

    def __init__(self, definition, sources, entry, scalars, tensors, types):
        self.definition, self.entry, self.scalars = definition, entry, scalars
        self.specs = {tensor["name"]: tensor for tensor in tensors}
        self.types = types
        self.suite = adapter.loaded(sources, *sources, {}, "cpu")
        self.begin = time.process_time()

    def empty(self, name, dims):
        spec = self.specs[self.definition.names[name]]
        dtype = self.types.get(spec["name"], {"float8_e4m3": "float8_e4m3fn"}.get(
            spec["dtype"], spec["dtype"]))
        return torch.empty([sizes.evaluated(extent, dims) for extent in spec["shape"]],
                           dtype=getattr(torch, dtype), device="meta")

    def runs(self, dims):
        """Whether it takes these sizes. One that cannot be looked at so takes none."""
        axes = self.definition.axes_at(dims)
        try:
            made = getattr(self.suite, self.entry)({**axes, **self.scalars}, torch.device("meta")) \
                if self.entry else {}
            made = {**self.scalars, **made}
            self.suite.run(*(made[name] if name in made else self.empty(name, dims)
                             for name in self.definition.json["inputs"]))
        except Exception:
            return False
        return True

    def quick(self, dims):
        """Whether it can be asked about many sizes. A first look may be slow: it imports parts of torch."""
        for _ in range(2 if time.process_time() - self.begin < LOOKS_S else 0):
            begin = time.process_time()
            if not self.runs(dims):
                return False
            if time.process_time() - begin < QUICK_S:
                return True
        return False


def cases_of(definition, tensors, asked, looks):
    cases, changes = [], []
    for place, one in definition.workloads:
        dims = {dim: int(one["axes"][name]) for name, dim in definition.dims.items()}

        def total(now):
            return sum(problem.tensor_bytes(tensor, lambda text: sizes.evaluated(text, now))
                       for tensor in tensors)

        looked_at = total(dims) > asked["bytes"] and looks.quick(dims)

        def works(now):
            return all(sizes.evaluated(extent, now) > 0
                       for tensor in tensors for extent in tensor["shape"]) and (
                           looks.runs(now) if looked_at else
                           all(now[name] % TILE == 0 for name in now if dims[name] % TILE == 0))
        fitting, changed = problem.scaled(dims, total, asked["bytes"], asked["scale"], works)
        changes += [{**change, "rule": f"{place}: {change['rule']}"} for change in changed]
        same = next((case for case in cases if case["dims"] == fitting), None)
        if same:
            same["weight"] += 1
        else:
            cases.append({"dims": fitting, "weight": 1})
    kept, cut = problem.most_cases(cases)
    return kept, changes, cut


def tolerance_of(one):
    given = one.get("tolerance") or {}
    usual = USUAL_RATIO if {"max_atol", "max_rtol"} & given.keys() else None
    return given.get("max_atol"), given.get("max_rtol"), given_ratio(one, usual)


def given_ratio(one, otherwise=None):
    given = one.get("tolerance") or {}
    return given.get("required_matched_ratio", given.get("required_match_ratio", otherwise))


def has_usual_ratio(definition):
    """Whether a workload leaves the ratio to the suite, and none asks for as little."""
    ratios = [(given_ratio(one), tolerance_of(one)[2]) for _, one in definition.workloads]
    return any(used == USUAL_RATIO for _, used in ratios) and \
        all(given is None or given > USUAL_RATIO for given, _ in ratios)


def tolerances(definition):
    """The loosest of the workloads: a contract has one for all cases."""
    atol, rtol, ratio = zip(*(tolerance_of(one) for _, one in definition.workloads))
    found = {}
    for name, values, pick in (("atol", atol, max), ("rtol", rtol, max),
                               ("matched_ratio", ratio, min)):
        given = [value for value in values if value is not None]
        if given:
            found[name] = max(LEAST_RATIO, pick(given)) if name == "matched_ratio" else pick(given)
    if has_usual_ratio(definition):
        found["rest_within"] = REST_WITHIN
    return found


def differing_tolerances(definition):
    different = {tolerance_of(one) for _, one in definition.workloads}
    said = [f"its workloads have {len(different)} tolerances; the loosest holds for all cases"] \
        if len(different) > 1 else []
    least = min((ratio for *_, ratio in different if ratio is not None), default=LEAST_RATIO)
    if has_usual_ratio(definition):
        said.append(f"where its workloads name no ratio, the suite asks {USUAL_RATIO} of the elements to match "
                    f"and nothing of the others; here those are within {REST_WITHIN} times the server's own "
                    "tolerance, and integers all match")
    return said + ([f"{LEAST_RATIO} of the elements have to match instead of {least}: a contract asks for "
                    "that much at least"] if least < LEAST_RATIO else [])
