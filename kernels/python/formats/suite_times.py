"""Times of the suite's own baselines, as its checkout has them: quoted with hardware and source. Nothing here
depends on them: what is no time is left out, with a line that says so.
"""

import json
import math
import re

MOST = 8  # of one problem
MOST_LINES = 8
MOST_MS = 1e9
PLAIN = re.compile(r"[\w .,:()/+@-]{1,120}", re.ASCII)


def read(form, place, figures):
    """The times that files of the checkout have of the problem at `place`, and a line for each that is
    left out. `figures`: texts by path."""
    kept, left_out = [], []
    for source, text in sorted(figures.items()) if hasattr(form, "suite_time") else ():
        try:
            figure = form.suite_time(place, source, json.loads(text))
            if figure is not None:
                kept.append({**checked(figure), "source": plain("path", source)})
        except Wrong as wrong:
            left_out.append(f"{shown(source)}: its time is left out: {wrong}")
        except Exception as error:
            left_out.append(f"{shown(source)}: its time is left out: the file is not of the form that the "
                            f"suite's are ({type(error).__name__})")
    if len(kept) > MOST:
        left_out.append(f"{len(kept) - MOST} more times of the suite's own are left out: {MOST} are the most")
    if len(left_out) > MOST_LINES:
        left_out[MOST_LINES:] = [f"{len(left_out) - MOST_LINES} more lines like these"]
    return kept[:MOST], left_out


class Wrong(Exception):
    """Why something is no time."""


def checked(figure):
    ms = figure["ms"]
    if isinstance(ms, bool) or not isinstance(ms, (int, float)):
        raise Wrong(f"it is a {type(ms).__name__} instead of a number")
    if not (math.isfinite(ms) and 0 < ms < MOST_MS):
        raise Wrong(f"it is not above 0 and below {MOST_MS:g} ms")
    return {"name": plain("name", figure["name"]), "hardware": plain("hardware", figure["hardware"]),
            "ms": float(ms)}


def plain(what, text):
    if not PLAIN.fullmatch(text):
        raise Wrong(f"its {what} is longer than 120 letters, or has signs that names do not have")
    return text


def shown(source):
    return source if PLAIN.fullmatch(source) else "a file of the suite's own times"
