"""The rest of ref.py for Tensara: TENSARA says which numbers of def.py are dims, and where every tensor goes."""


def tensara_problem(dims, device):
    values = {place: dims[name] for name, place in TENSARA["dims"].items() if name in dims}
    return getattr(loaded(SOURCES, "def.py", values, device), TENSARA["class"])()


def inputs(seed, **dims):
    device = here()
    torch.manual_seed(seed)
    try:
        with torch.no_grad():
            suite = tensara_problem(dims, device)
            case = suite.generate_test_cases()[0]
            given = [*case["create_inputs"](), *suite.get_extra_params(case)]
    except Exception as error:
        raise located(error, SOURCES) from error
    return {name: value.to(device).contiguous()
            for name, value in named(TENSARA["args"], given).items()}


def reference(**given):
    dims = {name: value for name, value in given.items() if isinstance(value, int)}
    device = next(str(one.device) for one in given.values() if isinstance(one, torch.Tensor))
    try:
        with torch.no_grad():
            args = filled(TENSARA["args"][:TENSARA["given"]], typed(given, TENSARA["types"]),
                          lambda leaf: dims[leaf["dim"]])
            answer = tensara_problem(dims, device).reference_solution(*args)
    except Exception as error:
        raise located(error, SOURCES) from error
    answers = list(answer) if isinstance(answer, (tuple, list)) else [answer]
    return {name: as_bytes(one) for name, one in zip(TENSARA["outputs"], answers, strict=True)}
