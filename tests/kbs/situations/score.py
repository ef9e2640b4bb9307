#!/usr/bin/env python3
"""Asks the knowledge base what an agent would ask, half of it in the words of a profile, and scores what
comes back: 3 when a page that answers it comes first, 2 when second or third, 1 when fourth or fifth, else 0;
times the share of what a good answer must contain that is on the first three results' pages. A page of a
kernel counts with its code.

    tests/kbs/situations/score.py RATCHET [--all]      --all: a line a situation, else those below 2.5

It asks the shipped wiki alone. The last lines are the averages. It judges whether the words are found, not
whether the advice is good.
"""

import json
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "attacks"))
from client import Server  # noqa: E402

SHOWN = 3
POINTS = (3, 2, 2, 1, 1)  # by the place of a page that answers it


def text_of(server, page, read):
    if page not in read:
        answer, why = server.call("get_kbs_page", {"id": page})
        text = "" if why else answer["title"] + "\n" + answer["text"] + json.dumps(answer["front_matter"])
        while answer and answer.get("next_cursor"):
            answer, _ = server.call("get_kbs_page", {"id": page, "cursor": answer["next_cursor"]})
            text += answer["text"] if answer else ""
        read[page] = text
    return read[page]


def main():
    situations = json.loads((HERE / "situations.json").read_text(encoding="utf-8"))
    scores, read, characters = {True: [], False: []}, {}, []
    with tempfile.TemporaryDirectory() as state:
        server = Server([sys.argv[1], "serve", "--state-dir", state])
        for one in situations:
            answer, why = server.call("query_kbs", {"query": one["ask"], "limit": 5})
            found = [] if why else [hit["id"] for hit in answer["results"]]
            place = min((found.index(page) for page in one["pages"] if page in found), default=len(POINTS))
            hits = found[:SHOWN]
            characters.append(len(json.dumps(answer or {})))
            text = ""
            for page in hits:
                text += text_of(server, page, read)
                if page.startswith("kernel-"):
                    text += text_of(server, re.sub("^kernel-", "code-", page), read)
            missing = [part for part in one["must"] if not re.search(part, text, re.I)]
            points = POINTS[place] if place < len(POINTS) else 0
            score = points * (1 - len(missing) / len(one["must"]))
            scores[one.get("profile", False)].append(score)
            if score < 2.5 or "--all" in sys.argv:
                print(f"{score:.1f}  {one['ask']}\n     {', '.join(hits)}; wanted {' or '.join(one['pages'])}; missing: {', '.join(missing) or 'nothing'}")
        server.close()
    for profile, name in ((False, "as a question"), (True, "in the words of a profile")):
        print(f"{name}: {sum(scores[profile]) / len(scores[profile]):.2f} of 3 ({len(scores[profile])} situations)")
    both = scores[True] + scores[False]
    print(f"all: {sum(both) / len(both):.2f} of 3; an answer has {sum(characters) // len(characters):,} characters")


if __name__ == "__main__":
    main()
