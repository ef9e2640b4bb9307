#!/usr/bin/env python3
"""Stands between a server and a lab, and breaks what passes.

    relay.py FAULT MARK COMMAND...

Starts COMMAND, a lab, and passes frames on in both directions. The fault happens once, when the file MARK
does not exist yet, and writes it: the next connection is whole. FAULT `none` only passes on.
"""

import json
import os
import subprocess
import sys
import threading
import time

DELAY_S, BYTES_A_SECOND = 0.05, 1_000_000  # of a slow network
LATE_S = 8.0  # longer than a server waits for the answer to a request that was canceled


def frame(message):
    body = json.dumps(message, ensure_ascii=False).encode()
    return b"ratchet-lab %d\n" % len(body) + body


def frames(stream):
    """(message, its bytes) one after the other; what is no frame is passed over."""
    while head := stream.readline():
        if not head.startswith(b"ratchet-lab "):
            continue
        body = stream.read(int(head.split()[1]))
        yield json.loads(body), head + body


class Relay:
    def __init__(self, fault, mark, command):
        self.fault = fault if not os.path.exists(mark) else "none"
        self.mark, self.held, self.writing = mark, [], threading.Lock()
        self.lab = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.methods, self.muted = {}, False

    def once(self):
        """Whether the fault happens now."""
        if self.fault == "none" or os.path.exists(self.mark):
            return False
        with open(self.mark, "w", encoding="utf-8") as file:
            file.write(self.fault)
        return True

    def write(self, data):
        with self.writing:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()

    def slowly(self, write, data):
        for begin in range(0, len(data), 50_000):
            part = data[begin:begin + 50_000]
            time.sleep(len(part) / BYTES_A_SECOND)
            write(part)

    def to_lab(self):
        for message, data in frames(sys.stdin.buffer):
            if message["kind"] == "request":
                self.methods[message["id"]] = message["method"]
                self.muted = self.muted or (self.fault == "mute" and message["method"] == "check" and self.once())
            if self.muted:
                continue
            if self.fault == "slow":
                time.sleep(DELAY_S)
                self.slowly(self.pass_on, data)
            elif not (self.fault == "deaf" and message["kind"] == "cancel"):
                self.pass_on(data)
        self.lab.stdin.close()

    def pass_on(self, data):
        self.lab.stdin.write(data)
        self.lab.stdin.flush()

    def from_lab(self):
        for message, data in frames(self.lab.stdout):
            getattr(self, self.fault, self.none)(message, data)

    def is_answer(self, message, method="check"):
        return message["kind"] == "answer" and self.methods.get(message["id"]) == method

    def none(self, _message, data):
        self.write(data)

    def mute(self, _message, data):
        """The server's side falls silent at a check, and its line never ends; `to_lab` does that."""
        self.write(data)

    def slow(self, _message, data):
        time.sleep(DELAY_S)
        self.slowly(self.write, data)

    def cut(self, message, data):
        if self.is_answer(message) and self.once():
            self.write(data[:len(data) // 2])
            self.lab.kill()
            os._exit(1)
        self.write(data)

    def replay(self, message, data):
        self.write(data)
        if self.is_answer(message) and self.once():
            self.write(data)

    def garble(self, message, data):
        """A quotation mark of the middle becomes another byte."""
        if self.is_answer(message) and self.once():
            place = data.index(b'"', len(data) // 2)
            data = data[:place] + b"\x07" + data[place + 1:]
        self.write(data)

    def changed(self, message, data, method, change):
        if self.is_answer(message, method) and self.once():
            change(message["body"]["value"])
            data = frame(message)
        self.write(data)

    def other_digest(self, message, data):
        self.changed(message, data, "prepare",
                     lambda value: value["kernel"]["build"].update(source_digest="0" * 64))

    def other_id(self, message, data):
        if self.is_answer(message) and self.once():
            data = frame({**message, "id": "0" * 32})
        self.write(data)

    def other_device(self, message, data):
        """The plan names a device that is not there, as a lab does whose device was changed since."""
        self.changed(message, data, "plan", lambda value: value.update(device_name="Abacus 9000"))

    def no_cases(self, message, data):
        self.changed(message, data, "plan", lambda value: value.update(cases=[]))

    def lenient(self, message, data):
        self.changed(message, data, "plan", lambda value: value.update(atol=1e6))

    def fewer_lines(self, message, data):
        """The last kernel of a race has no line."""
        self.changed(message, data, "race", lambda value: value.pop())

    def other_version(self, message, data):
        if message["kind"] == "hello" and self.once():
            message["hello"]["version"] = "0.0.1"
            data = frame(message)
        self.write(data)

    def endless(self, message, data):
        """Announces the most that is allowed, and sends it byte by byte, for ever."""
        if self.is_answer(message) and self.once():
            self.write(b"ratchet-lab %d\n" % (128 << 20))
            while True:
                self.write(b" ")
                time.sleep(0.2)
        self.write(data)

    def too_long(self, message, data):
        if self.is_answer(message) and self.once():
            data = b"ratchet-lab %d\n{" % ((128 << 20) + 1)
        self.write(data)

    def talk(self, message, data):
        """Something prints between the frames."""
        if self.is_answer(message) and self.once():
            data = b"Disk quota exceeded\n" + data
        self.write(data)

    def together(self, message, data):
        """Two answers in one piece."""
        if message["kind"] != "answer" or self.methods.get(message["id"]) != "check":
            return self.write(data)
        self.held.append(data)
        if len(self.held) == 2:
            self.once()
            self.write(b"".join(self.held))
        return None

    def deaf(self, message, data):
        """Hears no cancel, and answers when nobody waits any more."""
        if self.is_answer(message) and self.once():
            threading.Timer(LATE_S, self.write, [data]).start()
        else:
            self.write(data)

    def run(self):
        threading.Thread(target=self.to_lab, daemon=True).start()
        self.from_lab()
        return self.lab.wait()


if __name__ == "__main__":
    sys.exit(Relay(sys.argv[1], sys.argv[2], sys.argv[3:]).run())
