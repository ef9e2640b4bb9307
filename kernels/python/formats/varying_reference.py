"""Added to ref.py behind varying_adapter.py: the reference answers with room."""

unfilled = reference


def reference(**given):
    answer, extents = filled_up(unfilled(**given), given)
    return {**answer, VARYING["extents"]: extents}
