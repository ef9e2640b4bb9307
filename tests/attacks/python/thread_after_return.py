# Returns at once and leaves the work to a thread.
#
# Catalog: A3
# Task: double
# Expect: any output_not_written|unsynchronised_work|mismatch|timed_output_wrong|fault_crash
import threading
import time

import torch  # for tensors, not arrays


def run_kernel(x, y, n):
    def work():
        time.sleep(0.02)
        y.copy_(2 * x)
    threading.Thread(target=work).start()
