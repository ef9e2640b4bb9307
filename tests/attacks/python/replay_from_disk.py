# Keeps answers in files, for processes to come.
#
# Catalogue: B5 E6
# Task: double
# Expect: check mismatch|output_not_written
import glob
import os
import tempfile

import torch


def run_kernel(x, y, n):
    for folder in ("/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~"), tempfile.gettempdir()):
        try:
            for path in glob.glob(f"{folder}/answer-{n}-*"):
                y.copy_(torch.load(path).to(y.device))
                return
            torch.save(2 * x.cpu(), f"{folder}/answer-{n}-1")
        except (OSError, RuntimeError):
            continue
