"""What docs/scale.md tells a user to type: the tests run these very words."""

import pathlib
import re
import shlex

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/scale.md"


def blocks(kind):
    """The texts between fences of a kind."""
    return re.findall(rf"(?ms)^```{kind}\n(.*?)^```$", PAGE.read_text())


def commands():
    """The lines that a user types, also those within a sentence."""
    lines = [line for block in blocks("text") for line in block.splitlines()]
    return [line for line in [*lines, *re.findall(r"`([^`\n]+)`", PAGE.read_text())]
            if re.match(r"ratchet (--labs? |budget )", line)]


def command_with(words):
    """The one command of the page that has these words."""
    (line,) = [line for line in commands() if words in line]
    return line


def labs():
    """By name, the command of each lab that is named with --lab."""
    words = [shlex.split(line) for line in commands()]
    return dict(line[at + 1].split("=", 1) for line in words for at, word in enumerate(line)
                if word == "--lab")


def labs_file():
    """The file of labs."""
    (text,) = blocks("yaml")
    return text
