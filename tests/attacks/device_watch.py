"""What one GPU holds, read through the driver's library (NVML). Changes nothing."""

import ctypes
import os
import time

PATIENCE = 5.0    # seconds until a device that a process has left must be free
SLACK = 16 << 20  # bytes that the driver may need more of after a while


class Memory(ctypes.Structure):
    _fields_ = [("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong),
                ("used", ctypes.c_ulonglong)]


class Process(ctypes.Structure):
    _fields_ = [("pid", ctypes.c_uint), ("memory", ctypes.c_ulonglong),
                ("instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint)]


class DeviceWatch:
    """The first GPU of CUDA_VISIBLE_DEVICES. While it is watched, the driver keeps it awake."""

    def __init__(self):
        self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
        self.expect(self.nvml.nvmlInit_v2(), "nvmlInit")
        name = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0] or "0"
        self.handle = ctypes.c_void_p()
        if name.isdigit():
            found = self.nvml.nvmlDeviceGetHandleByIndex_v2(ctypes.c_uint(int(name)),
                                                            ctypes.byref(self.handle))
        else:
            found = self.nvml.nvmlDeviceGetHandleByUUID(name.encode(), ctypes.byref(self.handle))
        self.expect(found, f"device {name}")
        self.base, self.others = 0, []

    @staticmethod
    def expect(status, what):
        if status != 0:
            raise RuntimeError(f"NVML: {what}: error {status}")

    def used(self):
        memory = Memory()
        self.expect(self.nvml.nvmlDeviceGetMemoryInfo(self.handle, ctypes.byref(memory)), "memory")
        return memory.used

    def processes(self):
        """Numbers of the processes that have a context on the device."""
        count, rows = ctypes.c_uint(256), (Process * 256)()
        self.expect(self.nvml.nvmlDeviceGetComputeRunningProcesses_v3(
            self.handle, ctypes.byref(count), rows), "processes")
        return [rows[i].pid for i in range(count.value)]

    def set_base(self):
        """What is in use now is what a free device has in use, unless others use it too: then its
        memory tells nothing."""
        self.base, self.others = self.used(), self.processes()

    def left(self, own, kept=()):
        """Bytes above the base and processes on the device, once it is free or patience ends. `own`
        gives the processes that count where others use the device too: of these, those that were not
        on it at first. With `kept`, processes that may stay, memory is not compared. What is left
        beyond the slack belongs to the base from then on, so that it counts once."""
        until = time.monotonic() + PATIENCE
        while True:
            used, processes = max(self.used() - self.base, 0), set(self.processes()) - set(kept)
            if self.others or kept:
                used, processes = 0, processes & set(own()) - set(self.others)
            if (used <= SLACK and not processes) or time.monotonic() > until:
                self.base += used if used > SLACK else 0
                return used, sorted(processes)
            time.sleep(0.005)
