"""The rest of ref.py for suites whose problems are functions: FUNCTION says which file and function, and
where every tensor goes."""


def suite_of_function(device):
    return loaded(SOURCES, FUNCTION["file"], {}, device)


def axes_of(dims):
    """The axes of the definition: given, constant, and computed from those."""
    values = {**FUNCTION["constants"], **{FUNCTION["axes"].get(k, k): v for k, v in dims.items()}}
    for name, text in FUNCTION["expressions"].items():
        values[name] = int(eval(text, {"__builtins__": {}}, dict(values)))
    return values


def reference(**given):
    dims = {name: value for name, value in given.items() if isinstance(value, int)}
    device = next((str(one.device) for one in given.values() if isinstance(one, torch.Tensor)), here())
    axes = axes_of(dims)
    try:
        with torch.no_grad():
            suite = suite_of_function(device)
            args = filled(FUNCTION["args"], typed(given, FUNCTION["types"]),
                          lambda leaf: axes[leaf["dim"]])
            answer = getattr(suite, FUNCTION["entry"])(*args)
    except Exception as error:
        raise located(error, SOURCES) from error
    return outputs_of(answer)


def outputs_of(answer):
    """Tensors by the names of the outputs: a function may return a dict, or a number."""
    names = FUNCTION["outputs"]
    if isinstance(answer, dict):
        return {name: as_bytes(answer[name]) for name in names}
    values = answer if isinstance(answer, (tuple, list)) else [answer]
    return {name: as_bytes(torch.as_tensor(value)) for name, value in zip(names, values, strict=True)}
