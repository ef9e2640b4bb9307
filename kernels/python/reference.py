"""The adapter between the server and a Python reference.

Started by the server as a child process with a socket on descriptor 3. Reads messages (a 16-byte
header and JSON, with memory files beside them; see server/core/channel.h), answers each. One process
serves all cases and seeds of a check, so that numpy or torch is imported once.

  load  the reference's source                     -> framework, module tolerances
  run   an arena in, an arena for the answer       -> {}
  time  the same arena, warm-up and sample counts  -> elapsed_ns

A failure of the reference is {"failed": {"message", "line"}}; anything else is a bug of ours.
"""

import array
import importlib.util
import inspect
import json
import mmap
import os
import socket
import struct
import sys
import time
import traceback

HEADER = struct.Struct("<IIQ")
CONTROL_DESCRIPTOR = 3
MOST_DESCRIPTORS = 64

NUMPY_NAMES = {
    "float16": "float16", "float32": "float32", "float64": "float64", "int8": "int8",
    "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8", "uint16": "uint16",
    "uint32": "uint32", "uint64": "uint64", "bool": "bool",
}
TORCH_NAMES = {**NUMPY_NAMES, "bfloat16": "bfloat16", "float8_e4m3": "float8_e4m3fn",
               "float8_e5m2": "float8_e5m2"}
SIZES = {"float64": 8, "int64": 8, "uint64": 8, "float32": 4, "int32": 4, "uint32": 4,
         "float16": 2, "bfloat16": 2, "int16": 2, "uint16": 2}
# Formats that numpy lacks: (exponent bits, mantissa bits, has infinities).
SMALL_FLOATS = {"bfloat16": (8, 7, True), "float8_e4m3": (4, 3, False),
                "float8_e5m2": (5, 2, True)}


class Failed(Exception):
    """The reference's fault; the message goes to its author."""

    def __init__(self, message, line=0):
        super().__init__(message)
        self.line = line


def receive_exactly(channel, count, descriptors):
    data = b""
    while len(data) < count:
        chunk, control, _, _ = channel.recvmsg(
            count - len(data), socket.CMSG_SPACE(MOST_DESCRIPTORS * 4))
        if not chunk:
            sys.exit(0)  # the server is done with us
        for level, kind, payload in control:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                numbers = array.array("i")
                numbers.frombytes(payload[: len(payload) - len(payload) % 4])
                descriptors.extend(numbers)
        data += chunk
    return data


def receive(channel):
    descriptors = []
    length, _, message_id = HEADER.unpack(receive_exactly(channel, HEADER.size, descriptors))
    body = json.loads(receive_exactly(channel, length, descriptors))
    return message_id, body, descriptors


def send(channel, message_id, body):
    text = json.dumps(body).encode()
    channel.sendall(HEADER.pack(len(text), 0, message_id) + text)


def described(error, file_name):
    """An exception as one line that names the reference's own line."""
    line = 0
    for frame in traceback.extract_tb(error.__traceback__):
        if os.path.basename(frame.filename) == file_name:
            line = frame.lineno
    if isinstance(error, SyntaxError) and error.lineno:
        line = error.lineno
    return Failed(f"{type(error).__name__}: {error}", line)


class SmallFloats:
    """All values of an 8- or 16-bit format, for numpy, which has no such type."""

    def __init__(self, numpy, exponent_bits, mantissa_bits, infinities):
        self.numpy = numpy
        self.bits = 1 + exponent_bits + mantissa_bits
        codes = numpy.arange(1 << self.bits, dtype=numpy.int64)
        exponent = (codes >> mantissa_bits) & ((1 << exponent_bits) - 1)
        mantissa = (codes & ((1 << mantissa_bits) - 1)).astype(numpy.float64)
        bias = (1 << (exponent_bits - 1)) - 1
        steps = numpy.where(exponent == 0, mantissa, mantissa + (1 << mantissa_bits))
        values = numpy.ldexp(steps, numpy.maximum(exponent, 1) - bias - mantissa_bits)
        top = exponent == (1 << exponent_bits) - 1
        if infinities:
            values = numpy.where(top, numpy.where(mantissa == 0, numpy.inf, numpy.nan), values)
        else:
            values = numpy.where(top & (mantissa == (1 << mantissa_bits) - 1), numpy.nan, values)
        self.values = numpy.where(codes >> (self.bits - 1), -values, values)
        self.positive = values[: 1 << (self.bits - 1)]
        self.infinities = infinities

    def decode(self, codes):
        return self.values[codes].astype(self.numpy.float32)

    def encode(self, values):
        numpy = self.numpy
        values = numpy.asarray(values, dtype=numpy.float64)
        finite = self.positive[numpy.isfinite(self.positive)]
        magnitude = numpy.abs(values)
        # The edge beyond the largest value rounds to infinity, or stays where there is none.
        edges = (finite[:-1] + finite[1:]) / 2
        code = numpy.searchsorted(edges, magnitude, side="left")
        tie = (code < len(edges)) & (magnitude == edges[numpy.minimum(code, len(edges) - 1)])
        code = numpy.where(tie & (code % 2 == 1), code + 1, code)
        if self.infinities:
            beyond = magnitude >= finite[-1] + (finite[-1] - finite[-2]) / 2
            code = numpy.where(beyond, len(finite), code)
        nan = int(numpy.flatnonzero(numpy.isnan(self.positive))[0])
        code = numpy.where(numpy.isnan(values), nan, code)
        return code + (numpy.signbit(values).astype(numpy.int64) << (self.bits - 1))


class Arena:
    """The buffers of one case as arrays or tensors over one memory file."""

    def __init__(self, reference, plan, memory):
        self.reference = reference
        self.memory = memory
        self.buffers = plan["layout"]["buffers"]
        self.shapes = plan["shapes"]
        self.copies = {}
        self.values = {b["name"]: self.view(b) for b in self.buffers}

    def view(self, buffer):
        shape = self.shapes[buffer["name"]]
        if self.reference.torch:
            torch = self.reference.torch
            flat = torch.frombuffer(self.memory, dtype=getattr(torch, TORCH_NAMES[buffer["dtype"]]),
                                    count=buffer["elements"], offset=buffer["offset"])
            return flat.reshape(shape)
        if buffer["dtype"] in SMALL_FLOATS:
            copy = self.reference.small(buffer["dtype"]).decode(self.codes(buffer)).reshape(shape)
            self.copies[buffer["name"]] = copy
            return copy
        return self.raw(buffer, NUMPY_NAMES[buffer["dtype"]]).reshape(shape)

    def raw(self, buffer, dtype):
        return self.reference.numpy.frombuffer(self.memory, dtype=dtype, count=buffer["elements"],
                                               offset=buffer["offset"])

    def codes(self, buffer):
        return self.raw(buffer, "uint16" if SIZES.get(buffer["dtype"], 1) == 2 else "uint8")

    def outputs(self):
        return [b for b in self.buffers if b["role"] != "in"]

    def store(self, result):
        """Puts what the reference returned where the server looks for it."""
        outputs = self.outputs()
        if isinstance(result, dict):
            given = result
        elif isinstance(result, (tuple, list)):
            if len(result) != len(outputs):
                raise Failed(f"reference returned {len(result)} values for {len(outputs)} outputs")
            given = {b["name"]: value for b, value in zip(outputs, result)}
        elif result is not None:
            if len(outputs) != 1:
                raise Failed("reference returned one value for several outputs; return a dict")
            given = {outputs[0]["name"]: result}
        else:
            given = {}
        names = {b["name"] for b in outputs}
        for name, value in given.items():
            if name not in names:
                raise Failed(f"reference returned {name!r}; the outputs are {sorted(names)}")
            self.assign(name, value)
        for buffer in outputs:
            if buffer["name"] in self.copies:
                encoded = self.reference.small(buffer["dtype"]).encode(self.copies[buffer["name"]])
                codes = self.codes(buffer)
                codes[:] = encoded.reshape(-1).astype(codes.dtype)

    def assign(self, name, value):
        target = self.values[name]
        if value is target:
            return
        if self.reference.torch:
            value = self.reference.torch.as_tensor(value).detach().cpu()
        else:
            value = self.reference.numpy.asarray(value)
        count = value.numel() if self.reference.torch else value.size
        expected = target.numel() if self.reference.torch else target.size
        if count != expected:
            raise Failed(f"reference returned {name} with {count} elements; it has {expected}")
        shaped = value.reshape(tuple(target.shape))
        if self.reference.torch:
            target.copy_(shaped)
        else:
            target[...] = shaped


class Reference:
    def __init__(self):
        self.numpy = None
        self.torch = None
        self.module = None
        self.file_name = ""
        self.formats = {}

    def small(self, dtype):
        if dtype not in self.formats:
            self.formats[dtype] = SmallFloats(self.numpy, *SMALL_FLOATS[dtype])
        return self.formats[dtype]

    def load(self, plan):
        self.file_name = os.path.basename(plan["file_name"]) or "ref.py"
        path = os.path.join(os.getcwd(), self.file_name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(plan["text"])
        if plan.get("folder"):
            sys.path.insert(0, plan["folder"])
        spec = importlib.util.spec_from_file_location("ratchet_reference", path)
        self.module = importlib.util.module_from_spec(spec)
        sys.modules["ratchet_reference"] = self.module
        try:
            spec.loader.exec_module(self.module)
        except Exception as error:
            raise described(error, self.file_name) from error
        if not callable(getattr(self.module, "reference", None)):
            raise Failed("the file defines no function reference(**kwargs)")
        self.torch = sys.modules.get("torch")
        if not self.torch:
            import numpy
            self.numpy = numpy
        answer = {"framework": "torch" if self.torch else "numpy"}
        for name in ("atol", "rtol"):
            value = getattr(self.module, name, None)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                answer[name] = float(value)
        return answer

    def arguments(self, plan, arena):
        given = {}
        for parameter in plan["parameters"]:
            if parameter["kind"] == "tensor":
                given[parameter["name"]] = arena.values[parameter["name"]]
            elif parameter["kind"] != "stream":
                given[parameter["name"]] = parameter["value"]
        accepted = inspect.signature(self.module.reference).parameters
        if any(p.kind is p.VAR_KEYWORD for p in accepted.values()):
            return given
        return {name: value for name, value in {**plan["dims"], **given}.items()
                if name in accepted}

    def run(self, plan, descriptors):
        size = plan["layout"]["bytes"]
        with mmap.mmap(descriptors[0], size, prot=mmap.PROT_READ) as sent:
            answer = mmap.mmap(descriptors[1], size)
            answer[:] = sent[:]
        self.call(plan, answer)
        answer.flush()
        return {}

    def call(self, plan, memory):
        arena = Arena(self, plan, memory)
        try:
            result = self.module.reference(**self.arguments(plan, arena))
            arena.store(result)
        except Failed:
            raise
        except Exception as error:
            raise described(error, self.file_name) from error

    def time(self, plan, descriptors):
        """Times reference(**kwargs) itself: tensors are made before, answers stored after."""
        memory = mmap.mmap(-1, plan["layout"]["bytes"])
        with mmap.mmap(descriptors[0], plan["layout"]["bytes"], prot=mmap.PROT_READ) as sent:
            memory[:] = sent[:]
        arena = Arena(self, plan, memory)
        arguments = self.arguments(plan, arena)
        scratch = bytearray(plan["flush_bytes"])
        elapsed = []
        try:
            for index in range(plan["warmup"] + plan["samples"]):
                if scratch:
                    scratch[:] = bytes([index % 256]) * len(scratch)
                start = time.perf_counter_ns()
                self.module.reference(**arguments)
                stop = time.perf_counter_ns()
                if index >= plan["warmup"]:
                    elapsed.append(float(stop - start))
        except Exception as error:
            raise described(error, self.file_name) from error
        return {"elapsed_ns": elapsed}


def answer(reference, body, descriptors):
    if "load" in body:
        return reference.load(body["load"])
    if "run" in body:
        return reference.run(body["run"], descriptors)
    if "time" in body:
        return reference.time(body["time"], descriptors)
    return {"failed": {"message": "unknown request", "line": 0}}


def main():
    channel = socket.socket(fileno=CONTROL_DESCRIPTOR)
    reference = Reference()
    send(channel, 0, {"python": sys.version.split()[0]})
    while True:
        message_id, body, descriptors = receive(channel)
        try:
            reply = answer(reference, body, descriptors)
        except Failed as failure:
            reply = {"failed": {"message": str(failure), "line": failure.line}}
        except ImportError as error:
            reply = {"failed": {"message": f"{error}; install it for {sys.executable}", "line": 0}}
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        send(channel, message_id, reply)


if __name__ == "__main__":
    main()
