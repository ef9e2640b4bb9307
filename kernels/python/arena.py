"""The buffers of one case, laid out in one block of memory, as arrays or tensors."""

import ast
import contextlib
import math

from messages import Failed

NUMPY_NAMES = {
    "float16": "float16", "float32": "float32", "float64": "float64", "int8": "int8",
    "int16": "int16", "int32": "int32", "int64": "int64", "uint8": "uint8", "uint16": "uint16",
    "uint32": "uint32", "uint64": "uint64", "bool": "bool",
}
TORCH_NAMES = {**NUMPY_NAMES, "bfloat16": "bfloat16", "float8_e4m3": "float8_e4m3fn",
               "float8_e5m2": "float8_e5m2"}
OUR_NAMES = {theirs: ours for ours, theirs in TORCH_NAMES.items()}
SIZES = {"float64": 8, "int64": 8, "uint64": 8, "float32": 4, "int32": 4, "uint32": 4,
         "float16": 2, "bfloat16": 2, "int16": 2, "uint16": 2}
# Formats that numpy lacks: (exponent bits, mantissa bits, has infinities).
SMALL_FLOATS = {"bfloat16": (8, 7, True), "float8_e4m3": (4, 3, False),
                "float8_e5m2": (5, 2, True)}
TORCH_FAMILY = {"torch", "triton", "cutlass", "flashinfer"}
SUMS_IN_16_BITS = ("allow_fp16_reduced_precision_reduction",
                   "allow_bf16_reduced_precision_reduction", "allow_fp16_accumulation")


def imported_modules(text):
    """Top-level names of the modules that a source imports anywhere; empty on a syntax error."""
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return set()
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


def compute_exactly():
    """Turns off what torch does for speed in sums of products: TF32, and partial sums in the operands'
    16 bits, which are off by more than honest kernels. For references alone, after their file was
    loaded, which may have set something else."""
    import torch
    torch.set_float32_matmul_precision("highest")
    cudnn, matmul = torch.backends.cudnn, torch.backends.cuda.matmul
    cudnn.allow_tf32 = False
    for part in (cudnn, getattr(cudnn, "conv", None), getattr(cudnn, "rnn", None)):
        if hasattr(part, "fp32_precision"):
            part.fp32_precision = "ieee"
    for setting in SUMS_IN_16_BITS:
        if hasattr(matmul, setting):
            setattr(matmul, setting, False)


class Precision:
    """The settings with which kernels and baselines start: torch's own, but without the TF32 that it
    lets cuDNN use, which is not the float32 of a task. `restore` undoes what a file has set."""

    def __init__(self, torch):
        self.torch = torch
        self.matmul = torch.backends.cuda.matmul
        torch.backends.cudnn.allow_tf32 = False
        self.of_products = torch.get_float32_matmul_precision()
        self.sums = {name: getattr(self.matmul, name) for name in SUMS_IN_16_BITS
                     if hasattr(self.matmul, name)}

    def restore(self):
        self.torch.set_float32_matmul_precision(self.of_products)
        self.torch.backends.cudnn.allow_tf32 = False
        for name, value in self.sums.items():
            setattr(self.matmul, name, value)


@contextlib.contextmanager
def default_type(wide):
    """What torch creates without a type of its own is float64, if `wide`."""
    if not wide:
        yield
        return
    import torch
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        yield
    finally:
        torch.set_default_dtype(before)


def wants_torch(text):
    return bool(imported_modules(text) & TORCH_FAMILY)


class SmallFloats:
    """All values of an 8- or 16-bit format that numpy lacks."""

    def __init__(self, numpy, dtype):
        exponent_bits, mantissa_bits, infinities = SMALL_FLOATS[dtype]
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
        # Values beyond the last edge round to infinity, or to the largest value without infinities.
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


def oversized_array(numpy):
    """Arrays that are larger than what is asked of them: what is reshaped to fewer elements, or
    assigned as a whole from fewer, is their beginning."""
    class Oversized(numpy.ndarray):
        def reshape(self, *shape, **options):
            given = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
            wanted = math.prod(given)
            flat = numpy.asarray(self)
            if 0 < wanted < self.size and flat.flags.c_contiguous:
                return numpy.ndarray.reshape(flat, -1)[:wanted].reshape(given, **options)
            return numpy.ndarray.reshape(self, *shape, **options)

        def __setitem__(self, key, value):
            whole = key is Ellipsis or key == slice(None) if not hasattr(key, "shape") else False
            if whole and self.ndim == 1 and 1 < numpy.size(value) < self.size:
                numpy.asarray(self)[:numpy.size(value)] = numpy.reshape(value, -1)
            else:
                numpy.ndarray.__setitem__(self, key, value)

    return Oversized


class NumpyArena:
    """Arrays over `memory`. Formats that numpy lacks become float32 copies, which `finish` writes
    back."""

    def __init__(self, memory, layout, oversized=False):
        import numpy
        self.numpy = numpy
        self.oversized = oversized
        self.memory = memory
        self.buffers = layout["buffers"]
        self.copies = {}
        self.values = {b["name"]: self._view(b) for b in self.buffers}
        if oversized:
            kind = oversized_array(numpy)
            self.values = {name: value.view(kind) for name, value in self.values.items()}

    def _view(self, buffer):
        if buffer["dtype"] not in SMALL_FLOATS:
            return self._raw(buffer, NUMPY_NAMES[buffer["dtype"]]).reshape(buffer["shape"])
        small = SmallFloats(self.numpy, buffer["dtype"])
        copy = small.decode(self._codes(buffer)).reshape(buffer["shape"])
        self.copies[buffer["name"]] = (small, copy)
        return copy

    def _raw(self, buffer, dtype):
        return self.numpy.frombuffer(self.memory, dtype=dtype, count=buffer["elements"],
                                     offset=buffer["offset"])

    def _codes(self, buffer):
        return self._raw(buffer, "uint16" if SIZES.get(buffer["dtype"], 1) == 2 else "uint8")

    def assign(self, name, value):
        target = self.values[name]
        value = self.numpy.asarray(value)
        if self.oversized and value.size < target.size:
            target = target.reshape(-1)[:value.size]
        if value.size != target.size:
            raise Failed(f"{name} was returned with {value.size} elements; it has {target.size}")
        target[...] = value.reshape(target.shape)

    def finish(self, roles):
        for buffer in self.buffers:
            if buffer["role"] not in roles or buffer["name"] not in self.copies:
                continue
            small, copy = self.copies[buffer["name"]]
            codes = self._codes(buffer)
            codes[:] = small.encode(copy).reshape(-1).astype(codes.dtype)


class TorchArena:
    """Tensors over `memory`, or copies of them on a CUDA device, which `finish` writes back."""

    def __init__(self, memory, layout, device="cpu", oversized=False):
        import torch
        self.torch = torch
        self.oversized = oversized
        self.buffers = layout["buffers"]
        self.host = {}
        for buffer in self.buffers:
            flat = torch.frombuffer(memory, dtype=torch_dtype(torch, buffer["dtype"]),
                                    count=buffer["elements"], offset=buffer["offset"])
            self.host[buffer["name"]] = flat.reshape(buffer["shape"])
        self.values = {name: tensor.to(device) for name, tensor in self.host.items()}

    def assign(self, name, value):
        target = self.values[name]
        if self.oversized and self.torch.as_tensor(value).numel() < target.numel():
            target = target.reshape(-1)[:self.torch.as_tensor(value).numel()]
        assign_tensor(self.torch, name, target, value)

    def finish(self, roles):
        for buffer in self.buffers:
            name = buffer["name"]
            if buffer["role"] in roles and self.values[name] is not self.host[name]:
                self.host[name].copy_(self.values[name])


class DeviceMemory:
    """CUDA memory as a `__cuda_array_interface__`, which frameworks accept."""

    def __init__(self, address, size):
        self.__cuda_array_interface__ = {"shape": (size,), "typestr": "|u1",
                                         "data": (address, False), "version": 3}


class DeviceArena:
    """Tensors over CUDA memory at `base`."""

    def __init__(self, base, layout, device):
        import torch
        self.torch = torch
        self.buffers = layout["buffers"]
        self.values = {}
        for buffer in self.buffers:
            dtype = torch_dtype(torch, buffer["dtype"])
            size = buffer["elements"] * SIZES.get(buffer["dtype"], 1)
            raw = torch.as_tensor(DeviceMemory(base + buffer["offset"], size),
                                  device=f"cuda:{device}")
            self.values[buffer["name"]] = raw.view(dtype).reshape(buffer["shape"])

    def assign(self, name, value):
        assign_tensor(self.torch, name, self.values[name], value)


def torch_dtype(torch, name):
    return getattr(torch, TORCH_NAMES[name])


def assign_tensor(torch, name, target, value):
    value = torch.as_tensor(value).detach()
    if value.numel() != target.numel():
        raise Failed(
            f"{name} was returned with {value.numel()} elements; it has {target.numel()}")
    target.copy_(value.reshape(target.shape))


def store(arena, result):
    """Stores a function's returned values in the outputs; values written in place need nothing."""
    if result is None:
        return
    outputs = [b["name"] for b in arena.buffers if b["role"] != "in"]
    if isinstance(result, dict):
        given = result
    elif isinstance(result, (tuple, list)):
        if len(result) != len(outputs):
            raise Failed(f"{len(result)} values were returned for {len(outputs)} outputs")
        given = dict(zip(outputs, result))
    elif len(outputs) == 1:
        given = {outputs[0]: result}
    else:
        raise Failed("one value was returned for several outputs; return a dict")
    for name, value in given.items():
        if name not in outputs:
            raise Failed(f"{name!r} was returned; the outputs are {sorted(outputs)}")
        if value is not arena.values[name]:
            arena.assign(name, value)
