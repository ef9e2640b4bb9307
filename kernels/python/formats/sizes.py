"""Which constants of a problem are sizes, and how every extent follows from them: found by looking at the
problem with one of them changed, then with all of them.

A look is a dict of whole numbers by place (extents of inputs, state and outputs). A constant becomes a
dim if extents of inputs follow it, wherever it is moved, by an expression the server can evaluate
(kernels/source/expression.h). All others stay as the problem has them.
"""

import math
import random

MOST_STRIDE = 64
JOINT_LOOKS = 4
LARGER = (16, 17, 32, 33, 61)  # what a small constant is moved to, too: a division shows in its steps
SMALL = 24  # a size at which a problem with a step per element is quick to look at
MOST_SMALL = 32  # what larger sizes are looked at as, where looks are slow
STEPS = (1, 2, 3)  # multiples that a constant with a step is looked at with
BEYOND = (65, 128, 129)  # what such a size is moved to, too: chunks of 64 show in them


def moved(value, step=1):
    """Other values of one constant: a kernel must take sizes that are no multiples, too, unless the
    problem takes multiples of `step` alone."""
    if step > 1:
        return [times * step for times in STEPS if times * step != value]
    return sorted({2 * value, value + 1, max(1, value // 2), max(1, value // 4 + 1)} - {value})


def step_of(look, base, name, value):
    """The power of two whose multiples the problem takes as this constant, and no other numbers; None
    where there is none up to the value looked at."""
    def takes(number):
        one = look({name: number})
        return one is not None and one.keys() == base.keys()
    step = 2
    while step <= value:
        if value % step == 0 and all(takes(times * step) for times in STEPS):
            return step
        step *= 2
    return None


class Fit:
    """Expressions over dims for the numbers of a look."""

    def __init__(self, look, base, constants, steps):
        self.look = look  # values of constants -> look, or None where the problem refuses them
        self.constants = constants  # name -> value
        self.steps = steps  # name -> what a constant has to be a multiple of, if that is more than 1
        self.base = base
        self.looks = {}
        self.dims = []

    def usable(self, name, is_input):
        """Looks with this constant moved; False if it is no size."""
        found = []
        step = self.steps.get(name, 1)
        for value in moved(self.constants[name], step):
            one = self.look({name: value})
            if one is None or one.keys() != self.base.keys():
                return False
            found.append((value, one))
        more = () if step > 1 else LARGER if self.constants[name] < LARGER[0] else \
            BEYOND if SMALL <= self.constants[name] <= MOST_SMALL else ()
        for value in more:
            one = self.look({name: value})
            if one is not None and one.keys() == self.base.keys():
                found.append((value, one))
        if not any(one[key] != self.base[key] for _, one in found for key in one if is_input(key)):
            return False
        self.looks[name] = found
        return True

    def expressions(self):
        """An expression for every key, and the constants that none could be found for."""
        texts, unclear = {}, set()
        for key, value in self.base.items():
            names = [name for name in self.dims
                     if any(one[key] != value for _, one in self.looks[name])]
            parts = [self.along(name, key) for name in names]
            text = str(value)
            if len(names) == 1 and parts[0]:
                text = parts[0]
            elif names:
                text = self.product(names, key) or self.total(names, key)
            if names and text is None or names and not all(parts):
                unclear.add(names[-1])
            texts[key] = text
        return texts, unclear

    def along(self, name, key):
        """The extent as an expression over one constant: a line, or a line divided with rest."""
        points = [(self.constants[name], self.base[key]),
                  *((value, one[key]) for value, one in self.looks[name])]
        (x0, y0), (x1, y1) = points[0], points[1]
        if name in self.steps:
            return along_steps(name, self.steps[name], points)
        if (y1 - y0) % (x1 - x0) == 0:
            slope = (y1 - y0) // (x1 - x0)
            if all(y == y0 + slope * (x - x0) for x, y in points):
                return line(name, slope, y0 - slope * x0)
        for stride in range(2, MOST_STRIDE + 1):
            for rest in range(stride):
                shift = y0 * stride + rest - x0
                if all(x + shift >= 0 and (x + shift) // stride == y for x, y in points):
                    return f"({line(name, 1, shift)}) / {stride}"
        return None

    def product(self, names, key):
        rest = self.base[key]
        for name in names:
            value = self.constants[name]
            if rest % value or any(one[key] * value != self.base[key] * moved_to
                                   for moved_to, one in self.looks[name]):
                return None
            rest //= value
        return "*".join(([str(rest)] if rest != 1 else []) + names)

    def total(self, names, key):
        text, left = [], self.base[key]
        for name in names:
            value, one = self.looks[name][0]
            step = value - self.constants[name]
            slope, odd = divmod(one[key] - self.base[key], step)
            if odd or any(seen[key] - self.base[key] != slope * (at - self.constants[name])
                          for at, seen in self.looks[name]):
                return None
            text.append(line(name, slope, 0))
            left -= slope * self.constants[name]
        return " + ".join(text) + (f" + {left}" if left > 0 else f" - {-left}" if left else "")


def along_steps(name, step, points):
    """A line over multiples of the step; None where the points are on none."""
    (x0, y0), (x1, y1) = points[0], points[1]
    slope = (y1 - y0) * step // (x1 - x0)  # for each step
    if any((y - y0) * step != slope * (x - x0) for x, y in points):
        return None
    common = math.gcd(slope, step)
    shift = y0 - slope * x0 // step
    if common == step:
        return line(name, slope // step, shift)
    return line(f"({line(name, slope // common, 0)}) / {step // common}", 1, shift)


def line(name, slope, shift):
    text = name if slope == 1 else f"{slope}*{name}"
    return text if shift == 0 else f"{text} + {shift}" if shift > 0 else f"{text} - {-shift}"


def evaluated(text, values):
    return int(eval(text.replace("/", "//"), {"__builtins__": {}}, dict(values)))


def small(look, base, constants, is_input):
    """Constants as small as the problem takes them, where its whole structure stays."""
    for name, value in sorted(constants.items(), key=lambda pair: -pair[1]):
        if value > SMALL:
            less = {**constants, name: SMALL}
            one = look(less)
            if one is not None and one.keys() == base.keys() and \
                    any(one[key] != base[key] for key in one if is_input(key)):
                constants, base = less, one
    return constants, base


def find_sizes(look, base, constants, is_input, slow=False, steps=None):
    """The dims among the constants, in their order, and an expression for every place of the look.
    `slow`: look at small sizes only, and once at the given ones. `steps`: of constants that have one."""
    given = base, constants
    if slow:
        constants, base = small(look, base, constants, is_input)
        again = look
        look = lambda values: again({**constants, **values})
    fit = Fit(look, base, constants, steps or {})
    fit.dims = [name for name in constants if fit.usable(name, is_input)]
    draw = random.Random(1)
    while True:
        texts, unclear = fit.expressions()
        if not unclear:
            wrong = disagreeing(fit, texts, draw)
            if wrong is None and slow:
                texts = {key: text if text in fit.dims or not text.isdigit() else str(given[0][key])
                         for key, text in texts.items()}
                wrong = next((fit.dims[-1] for key, text in texts.items() if fit.dims and
                              evaluated(text, given[1]) != given[0][key]), None)
            if wrong is None:
                return fit.dims, texts
            unclear = {wrong}
        fit.dims = [name for name in fit.dims if name not in unclear]


def disagreeing(fit, texts, draw):
    """A dim that is no free size beside the others; None if the expressions hold wherever all move."""
    if not fit.dims:
        return None
    for number in range(2 * JOINT_LOOKS):
        beyond = number >= JOINT_LOOKS  # where small constants may show what they had no room for
        values = {name: fit.steps[name] * draw.randint(STEPS[0], STEPS[-1]) if name in fit.steps else
                  draw.randint(1, LARGER[-1]) if beyond and fit.constants[name] < LARGER[0] else
                  draw.randint(max(1, fit.constants[name] // 4), fit.constants[name])
                  for name in fit.dims}
        if beyond and all(value >= LARGER[0] for value in fit.constants.values()):
            return None
        one = fit.look(values)
        if one is None or one.keys() != fit.base.keys():
            if beyond:
                continue
            return fit.dims[-1]
        for key, text in texts.items():
            if evaluated(text, values) != one[key]:
                return culprit(fit, key, text, values)
    return None


def culprit(fit, key, text, values):
    """The dim that an expression is wrong for: one that it lacks, if the rest is right without it."""
    for name in reversed(fit.dims):
        if name not in text:
            stayed = {**values, name: fit.constants[name]}
            one = fit.look(stayed)
            if one is not None and one.get(key) == evaluated(text, stayed):
                return name
    return next((name for name in reversed(fit.dims) if name in text), fit.dims[-1])


def least_sizes(look, dims):
    """The smallest number that the problem takes of each dim, where that is more than 1: as many experts
    as are chosen, as many rows as a window has. `dims`: sizes that it takes."""
    least = {}
    for name, value in dims.items():
        low, high = 0, 1
        if look({**dims, name: high}) is None:
            low, high = 1, value
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if look({**dims, name: middle}) is not None else (middle, high)
        if high > 1:
            least[name] = high
    return least
