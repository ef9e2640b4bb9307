"""Times that a checkout of KernelBench has of its problems in torch."""


def suite_time(place, source, times):
    """What one of results/timing/HARDWARE/baseline_time_NAME.json says of the problem at `place`, or
    None."""
    level, name = place.split("/")[-2:]
    entry = times.get(level, {}).get(name)
    if entry is None:
        return None
    folder, file_name = source.split("/")[-2:]
    what = file_name.removesuffix(".json").removeprefix("baseline_time_")
    what = "torch eager" if what == "torch" else \
        what.replace("torch_compile", "torch.compile", 1).replace("_", " ")
    return {"name": what, "hardware": f"{entry.get('hardware', '')} ({folder})".strip(),
            "ms": entry["mean"]}
