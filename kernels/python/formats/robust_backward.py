"""robust-kbench's backward passes: func_backward.py and config_backward.json. A kernel answers with the
output of the forward pass and the gradients of all inputs and parameters that have one: both passes
are one call, judged and timed together.
"""

from . import problem, robust

NAME = "robust-kbench-backward"


def recognizes(files):
    return "config_backward.json" in files and "class Model" in files.get("func_backward.py", "")


def read(files, asked):
    return robust.read_pass(files, asked, "backward", NAME,
                            problem.adapter("gradients.py"))
