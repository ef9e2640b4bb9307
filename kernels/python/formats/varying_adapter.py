"""Added where extents of outputs follow the inputs' values: VARYING has the room of each, a line over the
elements of an input or over one of its extents.
"""


def filled_up(answer, given):
    """The answer with zeros up to its room, and the extents that it has without."""
    extents = []
    for one in VARYING["outputs"]:
        answer = changed(answer, one["path"], lambda value: with_room(value, one["room"], given, extents))
    device = next(value.device for value in (given.values() if isinstance(given, dict) else given)
                  if isinstance(value, torch.Tensor))
    return answer, torch.tensor(extents, dtype=torch.int64, device=device)


def changed(value, path, change):
    """The value with another one at the path."""
    if not path:
        return change(value)
    key, *rest = path
    if isinstance(value, dict):
        return {**value, key: changed(value[key], rest, change)}
    return [changed(one, rest, change) if at == key else one for at, one in enumerate(value)]


def with_room(value, room, given, extents):
    shape = list(value.shape)
    for axis, argument, of, times, divisor, more in room:
        base = given[argument].numel() if of is None else given[argument].shape[of]
        most = base * times // divisor + more
        if shape[axis] > most:
            raise ValueError(f"an output has {shape[axis]} elements along its axis {axis}, and the problem "
                             f"has room for {most}")
        extents.append(shape[axis])
        shape[axis] = most
    whole = value.new_zeros(shape)
    whole[tuple(slice(extent) for extent in value.shape)] = value
    return whole
