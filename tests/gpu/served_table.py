"""The table of a check that asks one server until its time is over, on a GPU or, to try it, on a processor."""

import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "attacks"))
from client import devices_text  # noqa: E402
from drivers import served  # noqa: E402
from table import Table  # noqa: E402


class ServedTable(Table):
    """`root`: a folder for runs and state; `end`: when the time is over; `gpu`: whether there is one."""

    def __init__(self, ratchet, root, seconds):
        super().__init__()
        self.root, self.end, self.runs = root, time.monotonic() + seconds, 0
        self.server = served(ratchet, root, 0)
        devices = self.server.call("check_env", {})[0]["devices"]
        self.gpu = any(device["kind"] == "cuda" for device in devices)
        self.row("device", devices_text({"devices": devices}), None)
