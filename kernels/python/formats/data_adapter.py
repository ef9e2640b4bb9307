"""The rest of ref.py for suites whose kernels get one value, `data`: TASK says what it is made of."""


def data_suite(device):
    return loaded(SOURCES, "reference.py", {}, device)


def inputs(seed, **dims):
    device = here()
    case = {**TASK["fixed"], **{name: dims[name] for name in TASK["dims"]}}
    torch.manual_seed(seed)
    try:
        with torch.no_grad():
            data = data_suite(device).generate_input(
                **case, **({"seed": seed} if TASK["seeded"] else {}))
    except Exception as error:
        raise located(error, SOURCES) from error
    made = named([TASK["args"]], [data])
    return {name: value.to(device).contiguous() for name, value in made.items()}


def reference(**given):
    device = next(str(one.device) for one in given.values() if isinstance(one, torch.Tensor))
    try:
        with torch.no_grad():
            given = typed(given, TASK["types"])
            data = filled(TASK["args"], given, lambda leaf: given[leaf["dim"]])
            answer = data_suite(device).ref_kernel(data)
    except Exception as error:
        raise located(error, SOURCES) from error
    return named([TASK["returns"]], [answer])
