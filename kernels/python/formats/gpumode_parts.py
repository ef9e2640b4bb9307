"""Tasks of GPU MODE whose kernel is several functions: reference.py has generate_inputs and a reference_…
for each of them. They become one ref_kernel, so that all are judged, and timed as one call.
"""

import ast

NAME = "parts.py"
MAKER = "generate_inputs"


def joined(files, cases):
    """The source of a file in the usual form, and the cases with what eval.py gives beside them; None
    where reference.py is no such file."""
    functions = {node.name: node for node in ast.parse(files["reference.py"]).body
                 if isinstance(node, ast.FunctionDef)}
    maker = functions.get(MAKER)
    parts = [node for name, node in functions.items() if name.startswith("reference_")]
    names = returned_names(maker) if maker and parts else None
    if not names or any(one not in names for part in parts for one in parameters_of(part)):
        return None
    constants = constants_given(files.get("eval.py", ""), parameters_of(maker))
    given = {**constants, **cases[0]}
    asked = [name for name in parameters_of(maker) if name in given or name == "seed"]
    calls = ", ".join(f"{part.name}({', '.join(parameters_of(part))})" for part in parts)
    imports = ", ".join([MAKER, *(part.name for part in parts)])
    text = (f"from reference import {imports}\n\n\n"
            f"def generate_input({', '.join(asked)}):\n"
            f"    return {MAKER}({', '.join(f'{name}={name}' for name in asked)})\n\n\n"
            f"def ref_kernel(data):\n    {', '.join(names)} = data\n    return {calls}\n")
    return text, [{**constants, **case} for case in cases]


def parameters_of(function):
    return [one.arg for one in function.args.args]


def returned_names(function):
    """What a function's last statement returns, if that is several variables."""
    last = function.body[-1]
    if not isinstance(last, ast.Return) or not isinstance(last.value, ast.Tuple) or \
            not all(isinstance(one, ast.Name) for one in last.value.elts):
        return None
    return [one.id for one in last.value.elts]


def constants_given(text, parameters):
    """Whole numbers by parameter: constants of the file that it calls the maker of inputs with."""
    tree = ast.parse(text)
    constants = {target.id: node.value.value for node in tree.body if isinstance(node, ast.Assign)
                 for target in node.targets
                 if isinstance(target, ast.Name) and isinstance(node.value, ast.Constant)
                 and type(node.value.value) is int}
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == MAKER:
            pairs = [*zip(parameters, node.args), *((one.arg, one.value) for one in node.keywords)]
            found.update({name: constants[value.id] for name, value in pairs
                          if isinstance(value, ast.Name) and value.id in constants})
    return found
