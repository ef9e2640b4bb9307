"""atrex-bench: a folder with reference.py (class Model), input.py (_make_inputs), shapes.json (keywords of
both, a case each) and metadata.json (how much time production spent in each shape).
"""

import json

from . import configured
from .problem import Refused

NAME = "atrex"


def recognizes(files):
    return "shapes.json" in files and "class Model" in files.get("reference.py", "") and \
        "input.py" in files


def read(files, asked):
    shapes = loaded_json(files, "shapes.json")
    times = loaded_json(files, "metadata.json").get("shapes", {}) if "metadata.json" in files else {}
    total = sum(one.get("total_duration_us") or 0 for one in times.values())
    configurations = []
    for key, one in shapes.items():
        spent = times.get(key, {}).get("total_duration_us") or 0
        configurations.append(configured.Configuration(
            one.get("init_kwargs"), one.get("input_kwargs"),
            round(spent / total, 6) if total and spent else 1.0 / max(1, len(shapes))))
    if not configurations:
        raise Refused("shapes.json: it has no shapes")
    function = "_make_inputs" if "def _make_inputs" in files["input.py"] else "get_inputs"
    sources = {name: files[name] for name in ("reference.py", "input.py")}
    return configured.read(sources, "reference", "input", function, configurations, asked, NAME)


def loaded_json(files, name):
    try:
        return json.loads(files[name])
    except ValueError as error:
        raise Refused(f"{name}: not JSON: {error}") from error
