"""robust-kbench: a folder with func_forward.py (class Model, get_inputs with keywords) and
config_forward.json (keywords of both).
"""

import inspect
import itertools
import json

from . import adapter, configured
from .problem import Refused

NAME = "robust-kbench"


def recognizes(files):
    return "config_forward.json" in files and "class Model" in files.get("func_forward.py", "")


def read(files, asked):
    return read_pass(files, asked, "forward", NAME)


def read_pass(files, asked, which, suite_name, more=""):
    """The problem of func_`which`.py. `more`: code behind it that makes another Model of its own."""
    file_name, config_name = f"func_{which}.py", f"config_{which}.json"
    sources = {file_name: files[file_name] + (f"\n\n\n{more}" if more else "")}
    try:
        config = json.loads(files[config_name])
    except ValueError as error:
        raise Refused(f"{config_name}: not JSON: {error}") from error
    try:
        suite = adapter.loaded(sources, file_name, {}, "meta")
    except ImportError:
        raise
    except Exception as error:
        raise adapter.located(error, sources) from error
    accepted = {"init": parameters(suite.Model.__init__), "inputs": parameters(suite.get_inputs)}
    configurations = []
    for kind in ("single", "multi"):
        parts = [config.get(f"{kind}_{name}_configs") or [{}] for name in ("shared", "init", "input")]
        for shared, init, given in itertools.product(*parts):
            # What a configuration leaves out has the default of the function.
            configurations.append(configured.Configuration(
                with_defaults(accepted["init"], {**shared, **init}),
                with_defaults(accepted["inputs"], {**shared, **given})))
    return configured.read(sources, file_name[:-3], file_name[:-3], "get_inputs", configurations,
                           asked, suite_name)


def parameters(function):
    """The defaults of a function's keywords; a keyword without one has the value None."""
    given = inspect.signature(function).parameters.values()
    return {one.name: None if one.default is one.empty else one.default for one in given
            if one.name not in ("self", "fn") and one.kind is one.POSITIONAL_OR_KEYWORD}


def with_defaults(defaults, given):
    """What the function takes of a configuration."""
    values = {name: given.get(name, value) for name, value in defaults.items()}
    return {name: value for name, value in values.items() if value is not None}
