"""The rest of ref.py for suites whose kernels get one value, `data`: TASK says what it is made of."""


def data_suite(device):
    return loaded(SOURCES, TASK["file"], {}, device)


def data_of(given, suite):
    """The value that the suite's functions get."""
    data = filled(TASK["args"], given, lambda leaf: given[leaf["dim"]] if "dim" in leaf else
                  evaluated_number(leaf["expr"], given))
    return own_objects(TASK["args"], data, vars(suite))


def evaluated_number(text, names):
    return int(eval(text.replace("/", "//"), {"__builtins__": {}}, dict(names)))


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
            suite = data_suite(device)
            answer = suite.ref_kernel(data_of(given, suite))
    except Exception as error:
        raise located(error, SOURCES) from error
    return named([TASK["returns"]], [answer])
