# Opens a network connection.
#
# Catalog: E7
# Task: double
# Expect: build fault|forbidden|permitted
import socket

import torch  # for tensors, not arrays


def run_kernel(x, y, n):
    socket.create_connection(("127.0.0.1", 9), timeout=1).close()
    y.copy_(2 * x)
