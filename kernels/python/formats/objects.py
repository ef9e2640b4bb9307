"""Objects of a suite's own classes: a kernel gets their attributes, the suite's code the object again.
Part of every ref.py of GPU MODE, and of a first version where its data have any.
"""


def own_objects(skeleton, value, classes):
    """The value with an object of its class wherever the skeleton names one."""
    if isinstance(skeleton, list):
        return [own_objects(part, one, classes) for part, one in zip(skeleton, value)]
    if not isinstance(skeleton, dict):
        return value
    if "tuple" in skeleton:
        return tuple(own_objects(skeleton["tuple"], value, classes))
    if "dict" in skeleton:
        return {key: own_objects(part, value[key], classes) for key, part in skeleton["dict"].items()}
    if "object" not in skeleton:
        return value
    parts = {key: own_objects(part, getattr(value, key), classes)
             for key, part in skeleton["object"].items()}
    return rebuilt(classes[skeleton["class"]], parts)


def rebuilt(kind, parts):
    """An object with these attributes, whatever its constructor does."""
    made = kind.__new__(kind)
    if not isinstance(made, torch.nn.Module):
        for name, one in parts.items():
            object.__setattr__(made, name, one)
        return made
    torch.nn.Module.__init__(made)
    for name, one in parts.items():
        if isinstance(one, torch.Tensor):
            made.register_buffer(name, one)
        else:
            setattr(made, name, one)
    return made
