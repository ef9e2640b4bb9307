"""Loading a user's file and calling its functions by keyword."""

import importlib.util
import inspect
import os
import sys

from messages import Failed, described, missing_module


def load_module(name, file_name, text, folder=""):
    """Runs the source as a module from a file in the working folder, so that tracebacks, inspect
    and just-in-time compilers find its lines."""
    path = os.path.join(os.getcwd(), file_name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    if folder:
        sys.path.insert(0, folder)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except ImportError as error:
        raise missing_module(error) from error
    except Exception as error:
        raise described(error, file_name) from error
    return module


def function_of(module, name):
    function = getattr(module, name, None)
    if not callable(function):
        raise Failed(f"the file defines no function {name}(**kwargs)")
    return function


def accepted(function, given, optional=()):
    """The given arguments that the function accepts. A function with **kwargs gets all but those
    named in `optional`, which may repeat others."""
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return given
    if any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return {name: value for name, value in given.items() if name not in optional}
    return {name: value for name, value in given.items() if name in parameters}


def keywords(function, arguments, values, extra=()):
    """The keyword arguments of a call: tensors, sizes and scalars."""
    given = {}
    for argument in arguments:
        if argument["kind"] == "tensor":
            given[argument["name"]] = values[argument["name"]]
        elif argument["kind"] != "stream":
            floating = argument["dtype"].startswith(("float", "bfloat"))
            given[argument["name"]] = argument["real"] if floating else argument["integer"]
    return accepted(function, {**dict(extra), **given}, optional=dict(extra).keys() - given.keys())
