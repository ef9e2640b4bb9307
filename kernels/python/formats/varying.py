"""Outputs whose extents follow the inputs' values: which they are, and how large they get.

Such an extent gets room: a line over the elements of an input, or over one of its extents, that is above all
that was seen, at sizes up to the suite's and for several values at each. Nothing proves it: the reference
fails where an answer needs more, so that no kernel is judged there.
"""

import math
import random
import re
import time

from . import problem

TENSOR_AXIS = re.compile(r"args\[(\d+)\]@(\d+)")  # of an argument that is a tensor
SEEDS = (1, 2, 3, 4)
MANY_SEEDS = range(1, 17)
MARGIN = 4  # times the spread over the seeds, above the most that was seen
DRAWS, FEWEST_DRAWS = 48, 8
LOOKS_S = 12  # of the processor
LINES = ((0, 1), *((1, 1 << power) for power in range(16, 0, -1)),
         *((1 << power, 1) for power in range(17)))  # by their slope
TOLERATED = 1.25  # how much more a line may be exceeded among large sizes than among small ones


class Room:
    """A line over the elements of an argument, or over one of its extents."""

    def __init__(self, argument, axis, times, divisor, more):
        self.argument, self.axis = argument, axis
        self.times, self.divisor, self.more = times, divisor, more

    def at(self, places):
        return base_of(places, self.argument, self.axis) * self.times // self.divisor + self.more

    def text(self, texts):
        """An expression over dims. `texts`: of every extent."""
        if not self.times:
            return str(self.more)
        prefix = f"args[{self.argument}]@" + ("" if self.axis is None else str(self.axis))
        parts = [text for place, text in texts.items() if place.startswith(prefix)]
        text = "*".join(f"({part})" if " " in part else part for part in parts)
        text = f"{self.times}*{text}" if self.times > 1 else text
        text = f"({text}) / {self.divisor}" if self.divisor > 1 else text
        return f"{text} + {self.more}" if self.more else text


def base_of(places, argument, axis):
    extents = {int(key.partition("@")[2]): value for key, value in places.items()
               if key.startswith(f"args[{argument}]@")}
    return math.prod(extents.values()) if axis is None else extents[axis]


def varying_places(look):
    """The places of outputs that differ from one seed to another."""
    seen = [one for one in map(look, MANY_SEEDS) if one is not None]
    return {place for place in seen[0] if place.startswith("returns") and "@" in place and
            any(one.get(place) != seen[0][place] for one in seen)} if seen else set()


def rooms(look, most, keys):
    """The room for every place; None where none is found. `most`: the largest sizes, by dim."""
    drawn = looks_at(look, most, keys)
    found = {key: room_for(key, drawn) if len(drawn) >= FEWEST_DRAWS else None for key in keys}
    return None if None in found.values() else found


def looks_at(look, most, keys):
    """Pairs of sizes and looks at them, one for each seed."""
    draw, begin, found = random.Random(1), time.process_time(), []
    for number in range(DRAWS):
        dims = {name: value if number == 0 else round(value ** draw.random())
                for name, value in most.items()}
        if time.process_time() - begin > LOOKS_S:
            break
        seen = [one for one in (look(dims, seed) for seed in SEEDS) if one is not None]
        if seen and all(keys <= one.keys() for one in seen):
            found.append((dims, seen))
    return found


def room_for(key, drawn):
    best = None
    for argument, axis in bases(drawn[0][1][0]):
        room = line_above(key, drawn, argument, axis)
        # What follows all elements holds for more sizes than what follows one extent of them.
        if room and (best is None or 2 * room[0] < best[0]):
            best = room
    return best and best[1]


def bases(places):
    """Inputs by number, whole, then each of their axes."""
    axes = [(int(found[1]), int(found[2])) for found in map(TENSOR_AXIS.fullmatch, places) if found]
    yield from ((argument, None) for argument in dict.fromkeys(argument for argument, _ in axes))
    yield from axes


def line_above(key, drawn, argument, axis):
    """The least steep line that the extent stays below wherever sizes grow, with the room that it gives
    in the largest look."""
    for times, divisor in LINES:
        above = []
        for dims, seen in drawn:
            extents = [one[key] for one in seen]
            most = max(extents) + MARGIN * (max(extents) - min(extents))
            above.append((dims, most - Room(argument, axis, times, divisor, 0).at(seen[0])))
        if all(level(above, name) for name in drawn[0][0]):
            room = Room(argument, axis, times, divisor, max(0, *(more for _, more in above)))
            return max(room.at(seen[0]) for _, seen in drawn), room
    return None


def level(above, name):
    """Whether a line is exceeded no more where this dim is large than where it is small."""
    ordered = [more for _, more in sorted(above, key=lambda one: one[0][name])]
    half = (len(ordered) + 1) // 2
    return max(0, *ordered[half:]) <= TOLERATED * max(0, *ordered[:half])


def outputs_with_room(answer, returns, args, rooms):
    """What varying_adapter.py has to know of each output: for the reference, which has names, and for a
    kernel, which has places."""
    by_name, by_place = [], []

    def visit(value, skeleton, place, path):
        if isinstance(skeleton, dict) and "tensor" in skeleton:
            lines = [(axis, rooms[f"{place}@{axis}"]) for axis in range(value.dim())
                     if f"{place}@{axis}" in rooms]
            for plan, own_path, named in ((by_name, [skeleton["tensor"]], True), (by_place, path, False)):
                room = [[axis, args[one.argument]["tensor"] if named else one.argument, one.axis,
                         one.times, one.divisor, one.more] for axis, one in lines]
                if room:
                    plan.append({"path": own_path, "room": room})
        elif isinstance(value, dict):
            for key, one in value.items():
                visit(one, skeleton["dict"][key], f"{place}.{key}", [*path, key])
        elif isinstance(value, (list, tuple)):
            parts = skeleton if isinstance(skeleton, list) else skeleton["tuple"]
            for at, one in enumerate(value):
                visit(one, parts[at], f"{place}[{at}]", [*path, at])
    visit(answer, returns, "returns", [])
    return by_name, by_place


def reference_code(by_name, extents):
    plan = problem.pretty({"outputs": by_name, "extents": extents})
    return f"\n\nVARYING = {plan}\n\n\n{problem.adapter('varying_adapter.py', 'varying_reference.py')}"


def kernel_code(by_place):
    plan = {"outputs": by_place}
    return (f"\n\nVARYING = {plan!r}\n\n\n{problem.adapter('varying_adapter.py')}\n\n"
            "class ModelNew(ModelNew):\n    def forward(self, *arguments):\n"
            "        return filled_up(super().forward(*arguments), arguments)\n")


def changed_text(by_name, extents):
    """For people: what a kernel returns."""
    listed = ", ".join(f"{one['path'][0]} along {', '.join(str(line[0]) for line in one['room'])}"
                       for one in by_name)
    return (f"how far outputs reach follows the inputs' values ({listed}, axes counted from 0): a kernel "
            "returns a pair, the suite's answer with each of these filled up with zeros to its extent here, "
            f"and {extents}, the int64 extents without the zeros, in this order. That room is above all that "
            "the import saw, which proves nothing: the reference fails where an answer needs more")
