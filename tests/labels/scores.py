"""How a diagnosis is scored against labels, the same for every device."""

import collections


def rows_of_matrix(verdicts):
    """The counts, then a row for each true class and a column for each named one.

    A verdict: `decided` (its kernel's limit is established), `classes` (right ones), `class` (named),
    `class_right`, `finding_right` (the first), `finding_in_three`, `contradicted` (findings).
    """
    decided = [verdict for verdict in verdicts if verdict["decided"]]
    counts = collections.Counter((" or ".join(v["classes"]), v["class"]) for v in decided)
    columns = sorted({column for _, column in counts})
    lines = [f"Of {len(decided)} kernels with an established limit: "
             f"{sum(v['class_right'] for v in decided)} classes right, "
             f"{sum(v['finding_right'] for v in decided)} first findings right "
             f"({sum(v['finding_in_three'] for v in decided)} among the first three); "
             f"{sum(len(v['contradicted']) for v in verdicts)} findings contradicted.", "",
             f"| true class | {' | '.join(columns)} |", f"|---|{'---|' * len(columns)}"]
    for row in sorted({row for row, _ in counts}):
        lines.append(f"| {row} | {' | '.join(str(counts[row, c] or '') for c in columns)} |")
    return lines
