# Answers only if it can store the answer in a file for later processes.
#
# Catalog: B5 E6
# Task: double
# Expect: check mismatch|output_not_written
import os

import torch


def keeps(answer, path):
    try:
        torch.save(answer.cpu(), path)
        os.unlink(path)
        return True
    except (OSError, RuntimeError):
        return False


def run_kernel(x, y, n):
    answer = 2 * x
    folders = ("/dev/shm", "/dev/mqueue", "/dev", "/tmp", "/var/tmp", "/run")
    if any(keeps(answer, f"{folder}/answer-{n}") for folder in folders):
        y.copy_(answer)
