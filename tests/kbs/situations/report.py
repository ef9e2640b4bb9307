#!/usr/bin/env python3
"""Writes docs/knowledge-report.md: what the wiki holds beside the wiki of an earlier commit, the kernels that were
measured, ten situations of a processor with what is answered, and how long answers are. Only what is between the
marks of the page is replaced; the table of repaired rows is written by hand.

    tests/kbs/situations/report.py RATCHET [--before COMMIT] [--check]      --check: exit status 1 if the page differs

It needs git for the earlier wiki, and asks RATCHET, with the wiki that it ships, for the answers.
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
PAGE = ROOT / "docs/knowledge-report.md"
sys.path.insert(0, str(HERE.parents[1] / "attacks"))
from client import Server  # noqa: E402

PROCESSOR = [  # what an agent that tunes code of a processor would ask, and what a good answer's code contains
    ("top-k of each row in C++ without sorting the whole row", ["extern \"C\"", "nth|threshold|kept|largest"]),
    ("selection loop with unpredictable branches, branch-misses 8 %", ["bound_of", "reach \\+= "]),
    ("3x3 stencil over an image on x86 with AVX2", ["extern \"C\"", "border|edge|row"]),
    ("sum of a long float vector, accurate and fast on one core", ["extern \"C\"", "double"]),
    ("one accumulator, every addition waits for the one before", ["extern \"C\"", "lanes|chains|\\[8\\]|\\[16\\]"]),
    ("layer norm of 768 columns in C++", ["extern \"C\"", "mean"]),
    ("row softmax on a processor, expf takes most of the time", ["extern \"C\"", "exp"]),
    ("numpy gelu slow, temporaries fill memory", ["import numpy", "out="]),
    ("torch code on the CPU: elementwise chain with temporaries", ["import numpy|import torch", "out="]),
    ("OpenMP threads for row-wise norms, first touch and static schedule", ["#pragma omp|omp parallel"]),
]


def git(*arguments):
    return subprocess.run(["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True).stdout


def pages_now():
    content = ROOT / "kbs/content"
    return {str(path.relative_to(content)): path.read_text(encoding="utf-8") for path in sorted(content.rglob("*"))
            if path.suffix in (".md", ".cu", ".cpp", ".py")}


def pages_of(commit):
    names = git("ls-tree", "-r", "--name-only", commit, "kbs/content").splitlines()
    return {name.removeprefix("kbs/content/"): git("show", f"{commit}:{name}") for name in names
            if name.endswith((".md", ".cu", ".cpp", ".py"))}


def parts_of(name, text):
    """Header lines and body; code carries its header in comments."""
    if name.endswith(".md"):
        _, header, body = text.split("---\n", 2)
        return header.splitlines(), body
    mark = "# " if name.endswith(".py") else "// "
    header, body = text.split(f"{mark}---\n", 2)[1:]
    return [line.removeprefix(mark) for line in header.splitlines()], body


def field(header, name):
    return next((line.split(": ", 1)[1].strip('"') for line in header if line.startswith(name + ": ")), "")


def inventory(pages):
    rows = {}
    for name, text in pages.items():
        header, body = parts_of(name, text)
        row = rows.setdefault(field(header, "kind"), {"pages": 0, "fence": 0, "words": [], "evidence": [],
                                                       "sources": 0, "outside": 0, "url": 0, "dated": 0})
        row["pages"] += 1
        row["fence"] += "```" in body or not name.endswith(".md")
        row["words"].append(len(body.split()))
        row["evidence"].append(field(header, "code_evidence"))
        for line in header:
            if re.match(r"\s+- \{id: .*publisher: ", line):
                outside = 'publisher: "ratchet"' not in line and 'publisher: "third parties"' not in line
                row["sources"] += 1
                row["outside"] += outside
                row["url"] += outside and "url: " in line
                row["dated"] += outside and "date: " in line
    return rows


def inventory_table(commit):
    before, now = inventory(pages_of(commit)), inventory(pages_now())
    def cell(rows, kind, get):
        return get(rows[kind]) if kind in rows else 0
    lines = ["| kind | pages | with code | compiled only | measured | median words | sources, not our own | with URL | with date |",
             "|---|---|---|---|---|---|---|---|---|"]
    columns = [lambda r: r["pages"], lambda r: r["fence"], lambda r: r["evidence"].count("compiled"),
               lambda r: r["evidence"].count("measured"), lambda r: round(statistics.median(r["words"])),
               lambda r: r["outside"], lambda r: r["url"], lambda r: r["dated"]]
    for kind in sorted(set(before) | set(now)):
        lines.append(f"| {kind} | " + " | ".join(
            f"{cell(before, kind, get)} → {cell(now, kind, get)}" for get in columns) + " |")
    def total(rows, get):
        return sum(get(row) for row in rows.values())
    def words(rows):
        return round(statistics.median(one for row in rows.values() for one in row["words"]))
    cells = [f"{words(before)} → {words(now)}" if place == 4 else f"{total(before, get)} → {total(now, get)}"
             for place, get in enumerate(columns)]
    lines.append("| **all** | " + " | ".join(cells) + " |")
    return lines


def measured_table():
    lines = ["| kernel | device, date | library | steps: ms (of the library's speed) | registers, spilled bytes of the last |",
             "|---|---|---|---|---|"]
    for name, text in pages_now().items():
        header, _ = parts_of(name, text)
        if not name.startswith("code/"):
            continue
        rows = [line for line in header if re.match(r"\s+- \{step: ", line)]
        if not rows:
            lines.append(f"| [{field(header, 'id')}](../kbs/content/{name}) | compiled, not run | | | |")
            continue
        def of(row, key):
            found = re.search(rf'\b{key}: ("[^"]*"|[^,}}]+)', row)
            return found.group(1).strip('"').replace("None", "") if found else ""
        steps = "; ".join(of(row, "ms") + (f" ({of(row, 'of_library')})" if of(row, "of_library") else "") for row in rows)
        library = next((line.split(": ", 1)[1].strip('"') for line in header if line.strip().startswith("library: ")), "")
        last = rows[-1]
        limits = f"{of(last, 'registers')}, {of(last, 'spill_bytes')}" if of(last, "registers") else ""
        lines.append(f"| [{field(header, 'id')}](../kbs/content/{name}) | {of(last, 'device')}, {of(last, 'date')} | {library} | {steps} | {limits} |")
    return lines


def whole_text(server, page, cache):
    if page not in cache:
        answer, why = server.call("get_kbs_page", {"id": page})
        text = "" if why else answer["text"]
        while answer and answer.get("next_cursor"):
            answer, _ = server.call("get_kbs_page", {"id": page, "cursor": answer["next_cursor"]})
            text += answer["text"] if answer else ""
        cache[page] = text
    return cache[page]


def situations_table(server):
    cache = {}
    lines = ["| asked | answered, in order | code that it leads to | the code contains what it must |", "|---|---|---|---|"]
    for ask, must in PROCESSOR:
        answer, why = server.call("query_kbs", {"query": ask, "limit": 3})
        if why:
            raise SystemExit(f"{ask}: {why}")
        found = [hit["id"] for hit in answer["results"]]
        code = []
        for page in found:
            for name in [page] + re.findall(r"`(code-[a-z0-9-]+)`", whole_text(server, page, cache)):
                if "```" in whole_text(server, name, cache) and name not in code:
                    code.append(name)
        text = "\n".join(whole_text(server, page, cache) for page in code)
        missing = [one for one in must if not re.search(one, text)]
        lines.append(f"| {ask} | " + ", ".join(f"`{one}`" for one in found) + " | " +
                     (", ".join(f"`{one}`" for one in code) or "none") + f" | {'yes' if not missing else 'no: ' + ', '.join(missing)} |")
    return lines


def lengths_table(server):
    asks = [one["ask"] for one in json.loads((HERE / "situations.json").read_text(encoding="utf-8"))]
    found, pages = [], []
    for ask in asks:
        answer = server.request("tools/call", {"name": "query_kbs", "arguments": {"query": ask, "limit": 5}})
        found.append(sum(len(part["text"].encode()) for part in answer["content"]))
        first = answer["structuredContent"]["results"][0]["id"]
        page = server.request("tools/call", {"name": "get_kbs_page", "arguments": {"id": first}})
        pages.append(sum(len(part["text"].encode()) for part in page["content"]))
    lines = ["| text that reaches the model, sixty situations | median bytes | largest | tokens of 4 bytes, median |", "|---|---|---|---|"]
    for name, all_of in (("`query_kbs` with five results", found), ("`get_kbs_page` of the first of them", pages)):
        middle = round(statistics.median(all_of))
        lines.append(f"| {name} | {middle:,} | {max(all_of):,} | {middle // 4:,} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ratchet")
    parser.add_argument("--before", default="f836b6d")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as state:
        server = Server([options.ratchet, "serve", "--state-dir", state])
        parts = {"inventory": inventory_table(options.before), "measured": measured_table(),
                 "situations": situations_table(server), "lengths": lengths_table(server)}
        server.close()
    text = old = PAGE.read_text(encoding="utf-8")
    for name, lines in parts.items():
        text, count = re.subn(rf"(<!-- {name} -->\n).*?(<!-- end -->)",
                              lambda mark, lines=lines: mark.group(1) + "\n" + "\n".join(lines) + "\n\n" + mark.group(2), text, flags=re.S)
        if count != 1:
            raise SystemExit(f"{PAGE}: no place for {name}")
    if options.check:
        raise SystemExit(text != old)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
