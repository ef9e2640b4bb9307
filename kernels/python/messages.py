"""Messages between the server and a Python process (see server/core/channel.h): a 16-byte header and
JSON over a socket, with file descriptors as ancillary data."""

import array
import errno
import json
import mmap
import os
import resource
import socket
import struct
import sys
import traceback

HEADER = struct.Struct("<IIQ")
CONTROL_DESCRIPTOR = 3
MOST_DESCRIPTORS = 64
MOST_TEXT = 4000  # characters of an exception: a compiler's may contain whole sources
SPARE = 4 << 20  # bytes that are kept back, for what is said of a process that has no more
NEARLY_ALL = 0.9  # of the memory


class Failed(Exception):
    """An error in a user's file; the message is shown to its author."""

    kind = "exception"

    def __init__(self, message, line=0):
        super().__init__(message)
        self.line = line


class Starved(Failed):
    """The user's code has used up the memory that it may have."""

    kind = "out_of_memory"


class Memory:
    """What this process may take beyond its frameworks, where its address space is limited."""

    def __init__(self):
        self.most = None
        self.spare = None

    def limit(self, most):
        self.most, self.spare = most, bytes(SPARE)

    def used_up(self, error):
        """Whether an exception is one of too little memory: Python's, numpy's, torch's, or any where there
        is not even a little."""
        if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError" or \
                isinstance(error, OSError) and error.errno == errno.ENOMEM or \
                isinstance(error, RuntimeError) and "can't allocate memory" in str(error):
            return True
        if isinstance(error, SystemError) and self.most:  # there was no room for an exception
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 > NEARLY_ALL * self.most
        try:
            mmap.mmap(-1, SPARE // 4).close()
        except OSError:
            return True
        return False

    def give_way(self, error):
        """Makes room to say so: what the failed calls hold, and the spare."""
        traceback.clear_frames(error.__traceback__)
        self.spare = None

    def allowed(self):
        return f"; {self.most} bytes of memory are allowed" if self.most else ""


memory = Memory()


class Channel:
    def __init__(self, descriptor=CONTROL_DESCRIPTOR):
        self.socket = socket.socket(fileno=descriptor)

    def receive(self):
        """The next message and its descriptors. Ends the process when the server closes the channel.
        """
        descriptors = []
        length, _, message_id = HEADER.unpack(self._exactly(HEADER.size, descriptors))
        body = json.loads(self._exactly(length, descriptors))
        return message_id, body, descriptors

    def send(self, message_id, body):
        text = json.dumps(body).encode()
        self.socket.sendall(HEADER.pack(len(text), 0, message_id) + text)

    def _exactly(self, count, descriptors):
        data = b""
        while len(data) < count:
            chunk, control, _, _ = self.socket.recvmsg(
                count - len(data), socket.CMSG_SPACE(MOST_DESCRIPTORS * 4))
            if not chunk:
                os._exit(0)
            for level, kind, payload in control:
                if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                    numbers = array.array("i")
                    numbers.frombytes(payload[: len(payload) - len(payload) % 4])
                    descriptors.extend(numbers)
            data += chunk
        return data


def described(error, file_name):
    """An exception as a Failed, with the innermost line of the user's file in its traceback."""
    starved = memory.used_up(error)
    if starved:
        memory.give_way(error)
    line = 0
    for frame in traceback.extract_tb(error.__traceback__):
        if os.path.basename(frame.filename) == file_name:
            line = frame.lineno
    if isinstance(error, SyntaxError) and error.lineno:
        line = error.lineno
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if starved:
        return Starved(text[:MOST_TEXT] + memory.allowed(), line)
    return Failed(text[:MOST_TEXT], line)


def missing_module(error):
    return Failed(f"{error}; install it for {sys.executable}, or name an interpreter that has it "
                  "with --python")


def serve(state, answers):
    """Answers requests until the server closes the channel; an error in the user's file becomes a
    reply."""
    channel = Channel()
    channel.send(0, {"python": sys.version.split()[0]})
    while True:
        message_id, body, descriptors = channel.receive()
        try:
            reply = answers(state, body, descriptors)
        except Failed as failure:
            kind = "" if failure.kind == Failed.kind else f"{failure.kind}: "
            reply = {"failed": {"message": f"{kind}{failure}", "line": failure.line}}
        except ImportError as error:
            reply = {"failed": {"message": str(missing_module(error)), "line": 0}}
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        channel.send(message_id, reply)
