"""Draws the plots of docs/measuring.md from its own tables: plot.py docs/measuring.md

Each image of the page that is named here shows the next table. The tables are those that
bench-statistics prints.
"""

import pathlib
import re
import sys

RED, GREEN, BLUE, GRAY = "#c44", "#274", "#36c", "#999"
BEFORE_NOW = (("before", RED), ("now", GREEN))


class Plot:
    """`labels`: columns that name a row. `values`: columns, with legend and color. `span`: of the
    axis. `band`: what is aimed at. `only`: (column, value) of the rows that are shown."""

    def __init__(self, title, values, labels=(0,), span=(0, 100), band=None, only=None, unit=" %"):
        self.title, self.values, self.labels = title, values, labels
        self.span, self.band, self.only, self.unit = span, band, only, unit


def pair(before, now, legend=BEFORE_NOW):
    return [(before, *legend[0]), (now, *legend[1])]


PLOTS = {
    "coverage": Plot("How often a 95 % interval of one kernel's time holds the truth, 21 rounds",
                     pair(2, 3, (("calls taken as independent (before)", RED),
                                 ("rounds as units (now)", GREEN))), band=(93, 97), only=(1, "21")),
    "equal": Plot("A kernel against itself is the same", pair(3, 8), band=(99, 100)),
    "gains": Plot("A small gain is called faster", pair(1, 6)),
    "minorities": Plot("Slow minorities: called faster", pair(1, 6)),
    "throttled": Plot("A lower clock in a part of the blocks: called faster",
                      pair(2, 4, (("samples dropped", RED), ("and means of all samples", GREEN)))),
    "floors": Plot("5.4 µs: 2 % seen within a second, by calibration", [(3, "seen", GREEN),
                                                                       (4, "itself told", RED)]),
    "distant": Plot("The interval beside a distant kernel holds the truth",
                    pair(2, 4, (("two calls a round", GRAY), ("one call a round", GREEN))),
                    labels=(0, 1), span=(90, 100), band=(93, 97)),
    "ablations": Plot("The interval of what a method contributes alone holds the truth",
                      pair(2, 6, (("from the builds' intervals (before)", RED),
                                  ("within rounds (now)", GREEN))), labels=(0, 1), span=(90, 100),
                      band=(93, 97)),
    "sweeps": Plot("Sweeps: what becomes of the best point", [(3, "among the last two", BLUE),
                                                             (4, "champion", GREEN),
                                                             (5, "false champion", RED)],
                   labels=(0, 1, 2)),
    "winners": Plot("The figure reported for the best of equal versions (truly 1.10)",
                    pair(1, 2), span=(1.09, 1.11), band=(1.0995, 1.1005), unit=""),
    "promotions": Plot("A benchmark promotes", pair(2, 3), labels=(0, 1)),
    "own": Plot("Processes of a kernel differ: told from itself, and a gain of 5 % seen",
                [(2, "itself told (before)", RED), (3, "itself told (now)", GREEN),
                 (5, "5 % seen (now)", BLUE)]),
    "values": Plot("The verdict over five distributions", [(3, "faster", GREEN), (4, "slower", RED),
                                                          (6, "undecided", GRAY)], labels=(0, 1)),
}

WIDTH, STEP, LETTER = 360, 22, 6.6


def cells_of(line):
    return [cell.strip() for cell in line.split("|")[1:-1]]


def tables(page):
    """The table that follows each image, by the image's name."""
    found, wanted, rows = {}, None, []
    for line in [*page.splitlines(), ""]:
        image = re.match(r"!\[.*\]\(images/(\w+)\.svg\)", line)
        if image:
            wanted, rows = image[1], []
        elif line.startswith("|"):
            rows.append(cells_of(line))
        elif rows:
            if wanted:
                found[wanted] = rows[2:]  # without head and rule
            wanted, rows = None, []
    return found


def drawn(plot, rows):
    rows = [row for row in rows if not plot.only or row[plot.only[0]] == plot.only[1]]
    names = [", ".join(row[column] for column in plot.labels) for row in rows]
    left = max(150, 20 + LETTER * max(map(len, names)))
    low, high = plot.span
    height = STEP * len(rows) + 62
    bottom = 26 + STEP * len(rows)

    def x(value):
        return left + WIDTH * (min(max(value, low), high) - low) / (high - low)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + WIDTH + 40:.0f} {height}" '
           'font-family="sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="#fff"/>',
           f'<text x="10" y="16" font-weight="bold">{plot.title}</text>']
    if plot.band:
        begin, end = map(x, plot.band)
        out.append(f'<rect x="{begin:.0f}" y="26" width="{end - begin:.0f}" '
                   f'height="{STEP * len(rows)}" fill="#d8f0d8"/>')
    for i, row in enumerate(rows):
        y = 26 + STEP * i + STEP // 2
        out.append(f'<text x="{left - 8:.0f}" y="{y + 4}" text-anchor="end">{names[i]}</text>')
        points = [(float(row[column].split()[0]), color) for column, _, color in plot.values
                  if row[column][:1].isdigit()]
        if len(points) > 1:
            ends = sorted(x(value) for value, _ in points)
            out.append(f'<line x1="{ends[0]:.0f}" x2="{ends[-1]:.0f}" y1="{y}" y2="{y}" '
                       'stroke="#ddd"/>')
        out += [f'<circle cx="{x(value):.0f}" cy="{y}" r="4.5" fill="{color}" fill-opacity=".85"/>'
                for value, color in points]
    for i in range(5):
        value = low + (high - low) * i / 4
        out.append(f'<text x="{x(value):.0f}" y="{bottom + 14}" text-anchor="middle" fill="#555">'
                   f'{value:g}{plot.unit}</text>')
    at = 10
    for _, legend, color in plot.values:
        out.append(f'<circle cx="{at + 5}" cy="{bottom + 26}" r="4.5" fill="{color}"/>')
        out.append(f'<text x="{at + 14}" y="{bottom + 30}">{legend}</text>')
        at += 34 + 7 * len(legend)
    return "\n".join([*out, "</svg>", ""])


def main():
    page = pathlib.Path(sys.argv[1])
    found = tables(page.read_text(encoding="utf-8"))
    for name, plot in PLOTS.items():
        (page.parent / "images" / f"{name}.svg").write_text(drawn(plot, found[name]),
                                                            encoding="utf-8")


main()
