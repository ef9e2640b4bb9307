"""Added to ref.py where outputs have elements of 4 bits: PACKED says how outputs are compared by value, an
element of 4 bits times the scale of its block where another output holds the scales."""

E2M1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def decoded(packed):
    """The values of bytes with two elements each, the lower half first."""
    table = torch.tensor(E2M1 + [-value for value in E2M1], device=packed.device)
    return table[torch.stack([packed & 15, packed >> 4], -1).long()].flatten(-2)


def values_of(name, given):
    own = typed(given, PACKED["scale_types"])
    if name not in PACKED["outputs"]:
        return own[name].float()
    values, scale = decoded(given[name]), PACKED["outputs"][name]
    if scale is None:
        return values
    blocks = own[scale].float().unsqueeze(-1)
    return (values.reshape(*blocks.shape[:-1], -1) * blocks).reshape(values.shape)


def check_outputs(inputs, outputs):
    expected = reference(**inputs)
    for name in outputs:
        wanted, got = values_of(name, expected).double(), values_of(name, outputs).double()
        allowed = PACKED["atol"] + PACKED["rtol"] * wanted.abs()
        right = ((got - wanted).abs() <= allowed) | (got == wanted) | (got.isnan() & wanted.isnan())
        share = right.double().mean().item()
        if share < PACKED["ratio"]:
            return (f"{name}: {100 * share:.4g} % of the values are within the tolerance, "
                    f"{100 * PACKED['ratio']:.4g} % have to be")
    return ""
