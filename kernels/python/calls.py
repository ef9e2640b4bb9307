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


def function_of(module, name, form="function {}(**kwargs)"):
    function = getattr(module, name, None)
    if not callable(function):
        raise Failed(f"the file defines no {form.format(name)}")
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


def by_position(function, given, chosen, inputs, tensors):
    """The chosen arguments; or, where a required parameter has no argument of its name, those that
    one order gives it: all arguments, all without outputs, the tensors, or the inputs among them.
    Parameters that do have such a name must stand where that order puts them."""
    try:
        parameters = [p for p in inspect.signature(function).parameters.values()
                      if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    except (TypeError, ValueError):
        return chosen
    missing = [p.name for p in parameters if p.default is p.empty and p.name not in chosen]
    if not missing:
        return chosen
    names = [p.name for p in parameters]
    orders = {tuple(order) for order in (
        given, [n for n in given if n in inputs or n not in tensors], tensors, inputs)
        if len(order) == len(names)
        and all(ours == name for ours, name in zip(order, names) if name in given)}
    if len(orders) == 1:
        return {name: given[ours] for ours, name in zip(orders.pop(), names)}
    raise Failed(f"{function.__name__}({', '.join(names)}): nothing is called "
                 f"{', '.join(missing)}; it is called by name, with {', '.join(given)}: use these "
                 "names, or take all of them, or all but the outputs, in this order")


def keywords(function, arguments, values, extra=(), inputs=None):
    """The keyword arguments of a call: tensors, sizes and scalars. `inputs`: the names of the
    tensors that are inputs, for functions whose parameters have other names."""
    given = {}
    for argument in arguments:
        if argument["kind"] == "tensor":
            given[argument["name"]] = values[argument["name"]]
        elif argument["kind"] != "stream":
            floating = argument["dtype"].startswith(("float", "bfloat"))
            given[argument["name"]] = argument["real"] if floating else argument["integer"]
    chosen = accepted(function, {**dict(extra), **given},
                      optional=dict(extra).keys() - given.keys())
    if inputs is None:
        return chosen
    tensors = [one["name"] for one in arguments if one["kind"] == "tensor"]
    return by_position(function, given, chosen, [n for n in tensors if n in inputs], tensors)
