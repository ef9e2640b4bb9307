"""Runs a suite's own source with other sizes, on this device. The import uses it to look at a problem,
and every imported ref.py ends with a copy, so that it needs nothing else.
"""

import ast
import linecache
import sys
import types

import torch

OTHER_TYPES = {"torch.float4_e2m1fn_x2", "torch.float8_e4m3fnuz", "torch.float8_e5m2fnuz",
               "torch.float8_e8m0fnu"}


class Changes(ast.NodeTransformer):
    """Other values for constants of the module ("n", or "shape[1]" for one element of a tuple) and for
    numbers by their place ("12:8"), and this device where the suite names "cuda"."""

    def __init__(self, values, device):
        self.values = values
        self.device = device
        self.on_cuda = device.startswith("cuda")  # whichever is the current one

    def visit_Module(self, node):
        node.body = [one for statement in node.body for one in self.statement(statement)]
        return node

    def statement(self, node):
        node = self.visit(node)
        if not isinstance(node, ast.Assign):
            return [node]
        after = []
        for target in node.targets:
            for name, place in self.places(target):
                if name in self.values:
                    after.append(ast.parse(f"{place} = {self.values[name]!r}").body[0])
                changed = {key: value for key, value in self.values.items()
                           if key.startswith(f"{name}[")}
                if changed:
                    indexes = {int(key[len(name) + 1:-1]): value for key, value in changed.items()}
                    after.append(ast.parse(f"{place} = type({place})({indexes!r}.get(at, was) "
                                           f"for at, was in enumerate({place}))").body[0])
        return [node, *(ast.copy_location(one, node) for one in after)]

    def places(self, target):
        if isinstance(target, ast.Name):
            yield target.id, target.id
        elif isinstance(target, (ast.Tuple, ast.List)):
            for one in target.elts:
                yield from self.places(one)

    def visit_Constant(self, node):
        if self.values and place_of(node) in self.values:
            return ast.copy_location(ast.Constant(self.values[place_of(node)]), node)
        if isinstance(node.value, str):
            if node.value == "cuda" and not self.on_cuda or node.value.startswith("cuda:"):
                return ast.copy_location(ast.Constant(self.device), node)
        return node

    def visit_BinOp(self, node):
        if self.values and place_of(node) in self.values and is_number(node):
            return ast.copy_location(ast.Constant(self.values[place_of(node)]), node)
        return self.generic_visit(node)

    def visit_Call(self, node):
        self.generic_visit(node)
        method = node.func
        if not self.on_cuda and isinstance(method, ast.Attribute) and method.attr == "cuda":
            method.attr, node.args, node.keywords = "to", [ast.Constant(self.device)], []
        return node


def is_number(node):
    """Whether an expression is made of constants alone."""
    return all(isinstance(part, (ast.Constant, ast.BinOp, ast.operator)) for part in ast.walk(node))


def place_of(node):
    """Line and column of a number in its file."""
    return f"{node.lineno}:{node.col_offset}"


def loaded(sources, file_name, values, device):
    """The suite's file as a module of its own. `sources`: its text and those it imports, by name."""
    for name, text in sources.items():
        linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    for name in sources:
        sys.modules.pop(name.rpartition("/")[2].removesuffix(".py"), None)
    finder = Sources(sources, device)
    sys.meta_path.insert(0, finder)
    try:
        return finder.run(file_name, "suite", values)
    finally:
        sys.meta_path.remove(finder)


class Sources:
    """Imports among the files of a problem, which are nowhere on disk."""

    def __init__(self, sources, device):
        self.sources = sources
        self.device = device
        self.by_module = {name.rpartition("/")[2].removesuffix(".py"): name for name in sources}

    def find_spec(self, name, path=None, target=None):
        if name not in self.by_module:
            return None
        import importlib.machinery
        return importlib.machinery.ModuleSpec(name, self)

    def create_module(self, spec):
        return types.ModuleType(spec.name)

    def exec_module(self, module):
        self.fill(module, self.by_module[module.__name__], {})

    def run(self, file_name, name, values):
        module = types.ModuleType(name)
        sys.modules[name] = module  # where dataclasses and inspect look it up
        self.fill(module, file_name, values)
        return module

    def fill(self, module, file_name, values):
        module.__file__ = file_name
        tree = Changes(values, self.device).visit(ast.parse(self.sources[file_name], file_name))
        exec(compile(ast.fix_missing_locations(tree), file_name, "exec"), module.__dict__)


def located(error, sources):
    """The exception with the line of the suite's file in its message."""
    import traceback
    if str(error).startswith(tuple(f"{name}:" for name in sources)):
        return error
    where = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename in sources:
            where = f"{frame.filename}:{frame.lineno}: "
    if isinstance(error, SyntaxError) and error.filename in sources:
        where = f"{error.filename}:{error.lineno}: "
    return RuntimeError(f"{where}{type(error).__name__}: {error}")


def leaves(skeleton, value, visit):
    """Calls `visit(leaf, value)` for each leaf of a skeleton beside its part of the value."""
    if isinstance(skeleton, dict) and "tuple" in skeleton:
        skeleton = skeleton["tuple"]
    if isinstance(skeleton, dict) and ("dict" in skeleton or "object" in skeleton):
        fields = skeleton.get("dict", skeleton.get("object"))
        for key, part in fields.items():
            leaves(part, value[key] if "dict" in skeleton else getattr(value, key), visit)
    elif isinstance(skeleton, list):
        for part, one in zip(skeleton, value):
            leaves(part, one, visit)
    elif isinstance(skeleton, dict):
        visit(skeleton, value)


def filled(skeleton, values, number):
    """The value that a skeleton describes: `values` are the tensors, `number` evaluates the rest."""
    if isinstance(skeleton, list):
        return [filled(part, values, number) for part in skeleton]
    if not isinstance(skeleton, dict):
        return skeleton
    if "tensor" in skeleton:
        return values[skeleton["tensor"]]
    if "tuple" in skeleton:
        return tuple(filled(skeleton["tuple"], values, number))
    if "dict" in skeleton:
        return {key: filled(part, values, number) for key, part in skeleton["dict"].items()}
    if "object" in skeleton:
        parts = {key: filled(part, values, number) for key, part in skeleton["object"].items()}
        return types.SimpleNamespace(**parts)
    return number(skeleton)


def typed(given, types):
    """The tensors of a call, with their own element types where a contract has bytes."""
    return {name: value.view(getattr(torch, types[name])) if name in types else value
            for name, value in given.items()}


def named(skeleton, value):
    """The tensors of a value by the names that its skeleton gives them."""
    found = {}

    def keep(leaf, part):
        if "tensor" in leaf:
            found[leaf["tensor"]] = as_bytes(part)
    leaves(skeleton, value, keep)
    return found


def as_bytes(value):
    """Element types that a contract lacks, as those of 4 bits, are its bytes."""
    return value.view(torch.uint8) if str(value.dtype) in OTHER_TYPES else value


def here():
    return "cuda" if torch.cuda.is_available() else "cpu"
