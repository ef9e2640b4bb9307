#!/usr/bin/env python3
"""Writes down what knowledge bases answer to the situations, without their names, and adds up a judge's scores.

    tests/kbs/situations/answers.py ask RATCHET FOLDER [--seed N] NAME[=PAGES]...
    tests/kbs/situations/answers.py add FOLDER NAME...

`ask`: NAME alone is the shipped wiki; NAME=PAGES is a folder that is indexed by the same server instead of it.
FOLDER/answers.txt has, for each situation, what a good answer must contain and one answer a knowledge base, under
letters that are shuffled anew for each situation; the letters' meaning is in FOLDER/key.json, which a judge
does not open before the scores are in FOLDER/scores.txt: a line a situation, number, a score from 0 to 3 a
letter in order, and the reason. An answer is the titles of the five results and the first page, up to CHARACTERS.
`add` prints the averages and the table: a column for each NAME in its order.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "attacks"))
from client import Server  # noqa: E402

CHARACTERS = 5000
KINDS = "kernel|code|method|technique|pattern|pitfall|profiling|hw|lang|wiki|pr|doc|blog|contest|migration|hardware"


def situations():
    return json.loads((HERE / "situations.json").read_text(encoding="utf-8"))


def nameless(text):
    text = re.sub(r"\]\([^)]*\)", "]", text)
    text = re.sub(rf"`?\b(?:{KINDS})-[a-z0-9]+(?:-[a-z0-9]+)+\b`?", "(page)", text)
    return re.sub(r"\n{3,}", "\n\n", re.sub("ratchet|kernel-pilot|KernelWiki", "(name)", text, flags=re.I))


def answer(server, ask):
    found, why = server.call("query_kbs", {"query": ask, "limit": 5})
    if why or not found["results"]:
        return "nothing found"
    first, _ = server.call("get_kbs_page", {"id": found["results"][0]["id"]})
    titles = "; ".join(hit["title"] for hit in found["results"])
    text = first["title"] + "\n" + first["text"]
    file = re.sub("^kernel-", "code-", found["results"][0]["id"])
    if file != found["results"][0]["id"] and server.call("get_kbs_page", {"id": file})[1] is None:
        text = "[a complete source file comes with this page]\n" + text
    return nameless(f"RESULTS: {titles}\nFIRST: {text}"[:CHARACTERS])


def answers_of(ratchet, pages):
    with tempfile.TemporaryDirectory() as state:
        command = [ratchet, "serve", "--state-dir", state]
        if pages:
            subprocess.run([ratchet, "kbs", "add", pages, "--name", "pages", "--state-dir", state], check=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            command.append("--no-builtin-kbs")
        server = Server(command)
        found = [answer(server, one["ask"]) for one in situations()]
        server.close()
    return found


def ask(options):
    names, given = [], []
    for one in options.names:
        name, _, pages = one.partition("=")
        names.append(name)
        given.append(answers_of(options.ratchet, pages))
    shuffle, key, parts = random.Random(options.seed), [], []
    for number, one in enumerate(situations()):
        order = list(range(len(names)))
        shuffle.shuffle(order)
        key.append([names[place] for place in order])
        parts.append(f"======== {number + 1}. {one['ask']}\nGOOD: {one['good']}\n" + "\n".join(
            f"---- {chr(65 + letter)}\n{given[place][number]}" for letter, place in enumerate(order)))
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "answers.txt").write_text("\n".join(parts) + "\n", encoding="utf-8")
    (folder / "key.json").write_text(json.dumps(key) + "\n", encoding="utf-8")


def add(options):
    folder = pathlib.Path(options.folder)
    key = json.loads((folder / "key.json").read_text(encoding="utf-8"))
    sums = {name: [] for name in options.names}
    print("| # | situation | " + " | ".join(options.names) + " | why |\n|---|---|" + "---|" * (len(options.names) + 1))
    for line in (folder / "scores.txt").read_text(encoding="utf-8").splitlines():
        number, *rest = line.split(" ", len(key[0]) + 1)
        index, reason = int(number) - 1, rest[-1]
        scores = dict(zip(key[index], map(float, rest[:-1])))
        for letter, name in enumerate(key[index]):
            reason = re.sub(rf"\b{chr(65 + letter)}:", f"{name}:", reason)
        for name in options.names:
            sums[name].append(scores[name])
        cells = " | ".join(f"{scores[name]:g}" for name in options.names)
        print(f"| {number} | {situations()[index]['ask']} | {cells} | {reason} |")
    for name, scores in sums.items():
        print(f"{name}: {sum(scores) / len(scores):.2f} of 3 ({len(scores)} situations), "
              f"{scores.count(3)} with 3, {sum(one < 2 for one in scores)} below 2")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    orders = parser.add_subparsers(required=True)
    asking = orders.add_parser("ask")
    asking.add_argument("ratchet")
    asking.add_argument("--seed", type=int, default=1)
    asking.set_defaults(run=ask)
    adding = orders.add_parser("add")
    adding.set_defaults(run=add)
    for one in (asking, adding):
        one.add_argument("folder")
        one.add_argument("names", nargs="+")
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
