"""Draws the coverage table of bench-statistics: plot.py TABLES.md > coverage.svg"""

import sys

rows = []
for line in open(sys.argv[1], encoding="utf-8"):
    cells = [cell.strip() for cell in line.split("|")[1:-1]]
    if len(cells) == 6 and cells[1] == "21":
        rows.append((cells[0], float(cells[2].split()[0]), float(cells[3].split()[0])))

left, width, step = 270, 400, 26
height = step * len(rows) + 60


def x(percent):
    return left + width * percent / 100


out = [
    f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 40} {height}" '
    'font-family="sans-serif" font-size="12">',
    '<rect width="100%" height="100%" fill="#fff"/>',
    f'<text x="{left}" y="16">How often a 95 % interval of one kernel\'s time holds the truth, 21 rounds</text>',
    f'<rect x="{x(93):.0f}" y="26" width="{x(97) - x(93):.0f}" height="{step * len(rows)}" fill="#d8f0d8"/>',
]
for i, (name, before, now) in enumerate(rows):
    y = 26 + step * i + step / 2
    out.append(f'<text x="{left - 8}" y="{y + 4:.0f}" text-anchor="end">{name}</text>')
    out.append(f'<line x1="{x(before):.0f}" x2="{x(now):.0f}" y1="{y}" y2="{y}" stroke="#bbb"/>')
    out.append(f'<circle cx="{x(before):.0f}" cy="{y}" r="5" fill="#c44"/>')
    out.append(f'<circle cx="{x(now):.0f}" cy="{y}" r="5" fill="#274"/>')
bottom = 26 + step * len(rows)
for tick in (0, 25, 50, 75, 95):
    out.append(f'<text x="{x(tick):.0f}" y="{bottom + 14}" text-anchor="middle">{tick} %</text>')
out.append(f'<circle cx="{left}" cy="{bottom + 26}" r="5" fill="#c44"/>')
out.append(f'<text x="{left + 10}" y="{bottom + 30}">calls taken as independent (before)</text>')
out.append(f'<circle cx="{left + 220}" cy="{bottom + 26}" r="5" fill="#274"/>')
out.append(f'<text x="{left + 230}" y="{bottom + 30}">rounds as units (now)</text>')
out.append("</svg>")
print("\n".join(out))
