"""Suites whose Model gets its sizes from configurations beside it: these become the constants of a small
file in KernelBench's form, which is then read as such.
"""

from . import kernelbench
from .problem import Refused

MAIN = "problem.py"


class Configuration:
    """The keywords of one case, of Model's constructor and of the function that makes inputs."""

    def __init__(self, init, given, weight=1.0):
        self.init = init or {}
        self.given = given or {}
        self.weight = weight

    def constants(self):
        """Sizes by the name of their constant: whole numbers, and those in lists."""
        found = {}
        for name, value in {**self.init, **self.given}.items():
            if whole(value):
                found[name] = value
            elif isinstance(value, list):
                found.update({f"{name}[{at}]": one for at, one in enumerate(value) if whole(one)})
        return found

    def shape(self):
        """Everything that is no size."""
        sizes = self.constants()
        return repr(sorted((name, None if name in sizes else
                            [None if f"{name}[{at}]" in sizes else one
                             for at, one in enumerate(value)] if isinstance(value, list) else value)
                           for name, value in {**self.init, **self.given}.items()))


def whole(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


GRADIENT = """

forward_inputs = get_inputs


def get_inputs():
    return {model}.with_gradient(forward_inputs(), get_init_inputs())
"""


def main_text(model, maker, function, names, gradient):
    """The small file. `names`: of one configuration's keywords, whose values stand above it.
    `gradient`: the inputs have the gradient of the output with them."""
    name = "WithGradients" if gradient else "Model"
    gradient = GRADIENT.format(model=model) if gradient else ""
    constants = "".join(f"{name} = {value!r}\n" for name, value in
                        {**names.init, **names.given}.items())
    init = ", ".join(f"{name!r}: {name}" for name in names.init)
    given = ", ".join(f"{name}={name}" for name in names.given)
    return (f"import inspect\n\nimport {maker}\nfrom {model} import {name} as Model\n\n{constants}\n\n"
            f"def get_inputs():\n    made = {maker}.{function}({given})\n"
            "    if not isinstance(made, dict):\n        return list(made)\n"
            "    names = list(inspect.signature(Model.forward).parameters)[1:]\n"
            "    return [made[name] for name in names if name in made]\n\n\n"
            f"def get_init_inputs():\n    return {{{init}}}\n{gradient}")


def read(sources, model, maker, function, configurations, asked, suite):
    """The problem of a Model in `model`.py whose inputs `maker`.`function` makes. Sizes are looked at in
    the smallest configuration; where they stay as they are, in the one that counts most and fits."""
    smallest = min(configurations, key=lambda one: sum(one.constants().values()))
    for one in sorted(configurations, key=lambda one: -one.weight) if asked["fixed"] else ():
        try:
            return read_from(one, sources, model, maker, function, configurations, asked, suite)
        except Refused:
            continue  # too large
    return read_from(smallest, sources, model, maker, function, configurations, asked, suite)


def read_from(smallest, sources, model, maker, function, configurations, asked, suite):
    alike = [one for one in configurations if one.shape() == smallest.shape()]
    sources = {**sources, MAIN: main_text(model, maker, function, smallest,
                                           "class WithGradients" in sources[f"{model}.py"])}
    module = kernelbench.ModuleFile(sources, MAIN)
    module.training = not asked["quiet"]
    module.v0 = sources[f"{model}.py"]
    module.parent = "WithGradients" if "class WithGradients" in module.v0 else "Model"
    seen = kernelbench.looked_at(module, {} if asked["fixed"] else smallest.constants())
    cases = [(one.constants(), one.weight) for one in alike]
    made = kernelbench.imported(module, smallest.constants(), seen, asked, suite, cases)
    left = len(configurations) - len(alike)
    if left:
        made["changed"].append(f"{left} of {len(configurations)} configurations are left out: they "
                               "differ in more than sizes, and a problem has one form")
    return made

