"""A Python kernel inside the worker's job loop (kernels/worker/embedded/embedded.h).

The loop owns arenas, sandbox and clock. This module loads the file, wraps an arena in arrays or
tensors and calls the function. It never sees expected values or seeds. The roles candidate, counter
and compiler call `run_kernel`, or what the contract's signature describes; baseline calls
`reference(baseline=...)` of a ref.py.
"""

import ctypes
import importlib.util
import json
import os
import shutil
import sys

import arena
import compilers
import extensions
import inputs
import signature
from calls import function_of, keywords, load_module
from messages import Failed, described

# Baselines measured as those of a library, which the call must therefore have loaded.
LIBRARY_BASELINES = {"flashinfer": "flashinfer"}

# What a file must define for each call style.
FORMS = {"run_kernel": "function {}(**kwargs)", "module": "class {}(torch.nn.Module)",
         "function": "function {}"}

TEXT = ctypes.c_void_p  # a callback's text: the address of bytes that this module keeps alive


class Calls(ctypes.Structure):
    _fields_ = [
        ("opened", ctypes.CFUNCTYPE(None, ctypes.c_int)),
        ("load", ctypes.CFUNCTYPE(TEXT, ctypes.c_int, ctypes.c_char_p)),
        ("bind", ctypes.CFUNCTYPE(TEXT, ctypes.c_int, ctypes.c_char_p, ctypes.c_ulonglong)),
        ("call", ctypes.CFUNCTYPE(None, ctypes.c_int)),
        ("settle", ctypes.CFUNCTYPE(None, ctypes.c_int)),
        ("release", ctypes.CFUNCTYPE(None, ctypes.c_int)),
        ("failure", ctypes.CFUNCTYPE(TEXT)),
    ]


def keep_machine_code():
    """Makes CuTe DSL keep its compiled code beside its cache, as Triton does. CuTe DSL then compiles
    at every call, so this is only for the compiler role, never for timed calls."""
    folder = os.environ["CUTE_DSL_CACHE_DIR"]
    os.makedirs(folder, exist_ok=True)
    os.environ.update(CUTE_DSL_DUMP_DIR=folder, CUTE_DSL_KEEP_CUBIN="1", CUTE_DSL_KEEP_PTX="1")


def forget_locks():
    """Inductor opens its lock files for writing, and those of an earlier pass belong to the server."""
    shutil.rmtree(f"{os.environ['TORCHINDUCTOR_CACHE_DIR']}/locks", ignore_errors=True)


class Slot:
    """One bound call. A kernel's results are stored within the timed call. A baseline's are stored
    afterwards where kernels write into given outputs, which frameworks do not; where kernels return
    theirs too, both are stored within the call."""

    def __init__(self, kernel, values, arguments):
        self.kernel = kernel
        self.arena = values
        self.arguments = arguments
        self.result = None

    def call(self):
        result = self.kernel.function(**self.arguments)
        if self.kernel.settles:
            self.result = result
        else:
            arena.store(self.arena, result)

    def settle(self):
        result, self.result = self.result, None
        arena.store(self.arena, result)


class WideSlot(Slot):
    """One bound call of a reference in float64."""

    def call(self):
        with arena.default_type(True):
            super().call()


class SignedSlot:
    """One bound call of a module or function. A module is built and gets its state here, untimed."""

    def __init__(self, kernel, values, arguments):
        self.made = signature.Values(arguments, values.values)
        self.function = kernel.function
        if kernel.style == "module":
            self.function = self.module(
                kernel, {b["name"] for b in values.buffers if b["role"] != "in"})
        self.positional, self.named = self.made.arguments(kernel.signature)
        self.results = signature.Results(kernel.signature.get("returns"), values.values,
                                         kernel.results)

    def module(self, kernel, outputs):
        import torch
        positional, named = self.made.arguments(kernel.signature, "init", "init_kwargs")
        device = "cpu" if kernel.device is None else f"cuda:{kernel.device}"
        with torch.device(device):
            module = kernel.function(*positional, **named)
        described = kernel.signature.get("state", {})
        changing = {key for key, one in described.items() if one["tensor"] in outputs}
        signature.load_state(module, {key: self.made.built(one) for key, one in described.items()},
                             changing)
        return module.to(device)

    def call(self):
        self.results.store(self.function(*self.positional, **self.named))


class InputsSlot:
    """One bound call of the function that makes inputs."""

    def __init__(self, kernel, values, plan):
        if kernel.maker is None:
            raise Failed("the file defines no function inputs(**dims, seed)")
        self.maker = kernel.maker
        self.arena = values
        self.wanted = plan["inputs"]
        self.buffers = [b for b in values.buffers if b["name"] in self.wanted["names"]]
        self.given = keywords(lambda **given: given, [one for one in plan["arguments"]
                                                      if one["kind"] != "tensor"], {})
        self.made = {}

    def call(self):
        numbers = {name: inputs.number(value) for name, value in self.given.items()}
        self.made = self.maker.inputs(numbers, self.wanted["seed"], self.buffers,
                                      self.wanted["anew"])

    def settle(self):
        for name, value in self.made.items():
            self.arena.assign(name, value)
        self.made = {}


class EmbeddedKernel:
    def __init__(self, role, device, triton_tools):
        self.triton_tools = triton_tools
        self.device = device  # index of the CUDA device; None on the host
        self.is_baseline = role == "baseline"
        self.may_build = role in ("compiler", "baseline")
        self.file_name = ""
        self.torch = False
        self.function = None
        self.maker = None  # of the inputs, if the reference's file has such a function
        self.style = ""
        self.signature = None
        self.results = None
        self.settings = None  # of torch, as they were before the kernel's file was loaded
        self.settles = False  # whether results are stored after the timed call
        self.library = None
        self.slots = {}
        self.failed = None
        self.text = None

    def opened(self, _):
        if self.device is None:
            return
        import torch
        torch.cuda.set_device(self.device)
        torch.empty(1, device="cuda")
        if "triton" in sys.modules:
            self.prepare_triton()

    def prepare_triton(self):
        """Lets Triton query other programs about this device before the filter forbids it. Its
        helper is loaded from the parent's cache; the cache in this folder is the kernel's."""
        import triton
        from triton.compiler.compiler import make_backend
        own = os.environ["TRITON_CACHE_DIR"]
        os.environ["TRITON_CACHE_DIR"] = self.triton_tools
        try:
            make_backend(triton.runtime.driver.active.get_current_target()).hash()
        finally:
            os.environ["TRITON_CACHE_DIR"] = own

    def load(self, file, plan):
        plan = json.loads(plan)
        self.file_name = os.path.basename(plan["library"]) or "kernel.py"
        text = os.pread(file, os.fstat(file).st_size, 0).decode()
        self.torch = self.device is not None or arena.wants_torch(text)
        self.style, self.signature = plan["call"], plan.get("signature")
        self.settles = self.is_baseline and self.style not in ("module", "function")
        if self.torch and "cpp_extension" in text:
            extensions.use_built_ones(self.may_build)
        if "tvm_ffi" in text:
            extensions.use_built_modules(self.may_build, self.device)
        if self.torch and compilers.wanted(text):
            compilers.use_recorded_answers(self.may_build)
        precision = self.start_precisely() if self.torch else None
        if self.signature is not None:
            self.prepare_signed()
        module = load_module("ratchet_kernel", self.file_name, text)
        if precision and self.is_baseline:
            precision.restore()  # at a kernel's precision, whatever the reference's file set
        form = FORMS["run_kernel" if self.is_baseline else self.style]
        self.function = function_of(module, plan["entry"], form)
        if self.is_baseline:
            self.function = self.baseline(plan["baseline"])
            if plan["baseline"] == "reference" and callable(getattr(module, "inputs", None)):
                self.maker = inputs.Maker(module.inputs, self.file_name)
        elif self.style == "module" and not self.is_module():
            raise Failed(f"{plan['entry']} is not a subclass of torch.nn.Module")
        self.keep_settings()

    def start_precisely(self):
        try:
            import torch
        except ImportError:  # the file's own import says where
            return None
        return arena.Precision(torch)

    def prepare_signed(self):
        if not self.torch:
            self.results = signature.Arrays()
            return
        import torch
        torch.set_grad_enabled(False)  # nothing asks for gradients
        self.results = signature.Tensors(torch)
        self.settings = signature.Settings(torch)

    def is_module(self):
        import torch
        return isinstance(self.function, type) and issubclass(self.function, torch.nn.Module)

    def keep_settings(self):
        changed = self.settings.change() if self.settings else None
        if changed:
            raise signature.ChangedSetting(changed)

    def baseline(self, name):
        reference = self.function
        if name == "pytorch-eager":
            return reference
        if name == "reference":
            if self.torch:
                arena.compute_exactly()
            return reference
        if name == "torch-compile":
            import torch
            return torch.compile(reference, dynamic=False)
        self.library = LIBRARY_BASELINES[name]
        if importlib.util.find_spec(self.library) is None:
            raise Failed(f"{self.library} is not installed for {sys.executable}")

        def named(**arguments):
            return reference(baseline=name, **arguments)
        return named

    def bind(self, number, plan, base):
        plan = json.loads(plan)
        layout = plan["layout"]
        if not self.torch:
            memory = (ctypes.c_char * layout["bytes"]).from_address(base)
            small = [b["name"] for b in layout["buffers"] if b["dtype"] in arena.SMALL_FLOATS]
            if small:
                raise Failed(f"{small[0]}: numpy lacks this element type; import torch to get the "
                             "buffer as a tensor")
            values = arena.NumpyArena(memory, layout)
        elif self.device is None:
            memory = (ctypes.c_char * layout["bytes"]).from_address(base)
            values = arena.TorchArena(memory, layout)
        else:
            values = arena.DeviceArena(base, layout, self.device)
        if "inputs" in plan:
            self.slots[number] = InputsSlot(self, values, plan)
            return
        if self.signature is None:
            inputs_of = {b["name"] for b in layout["buffers"]
                         if b["role"] != "out" and b["init"] != "zeros"}
            arguments = keywords(self.function, plan["arguments"], values.values,
                                 inputs=inputs_of if self.is_baseline else None)
            made = WideSlot if plan.get("wide", False) else Slot
            self.slots[number] = made(self, values, arguments)
            return
        self.slots[number] = SignedSlot(self, values, plan["arguments"])
        self.keep_settings()

    def release(self, number):
        wide = isinstance(self.slots.pop(number, None), WideSlot)
        if self.device is None:
            return
        import torch
        # The other processes of a check may need what an answer in float64 took, or most of the device.
        unused = torch.cuda.memory_reserved() - torch.cuda.memory_allocated()
        if wide or unused * 16 > torch.cuda.get_device_properties(self.device).total_memory:
            torch.cuda.empty_cache()

    def note(self, error):
        if self.failed is not None:
            return
        if isinstance(error, SystemExit):
            self.failed = {"kind": "exit", "message": f"the kernel called sys.exit({error.code})"}
            return
        failed = error if isinstance(error, Failed) else described(error, self.file_name)
        where = f"{self.file_name}:{failed.line}: " if failed.line else ""
        self.failed = {"kind": failed.kind, "message": f"{where}{failed}"}

    def take_failure(self):
        if self.failed is None:
            return None
        self.text = ctypes.create_string_buffer(json.dumps(self.failed).encode())
        self.failed = None
        return ctypes.addressof(self.text)

    def failure(self):
        if self.library and self.failed is None and self.library not in sys.modules:
            self.note(Failed(f"reference(baseline={self.library!r}) did not use {self.library}"))
        try:
            self.keep_settings()
        except Failed as changed:
            self.note(changed)
        return self.take_failure()


def guarded(kernel, function, answers):
    """A callback that keeps exceptions out of the job loop."""
    def callback(*arguments):
        try:
            answer = function(*arguments)
        except BaseException as error:
            kernel.note(error)
            answer = None
        return (answer or kernel.take_failure()) if answers else None
    return callback


def forgetting(call, beginnings):
    """`call`, before which torch.compile forgets its traces at these calls, as if a process began there."""
    done = 0

    def forgets(number):
        nonlocal done
        if done in beginnings:
            import torch._dynamo
            torch._dynamo.reset()
        done += 1
        call(number)
    return forgets


def main(plan):
    role, device, path, readable = plan["role"], plan["device"], plan["library"], plan["readable"]
    if plan["folder"]:
        sys.path.insert(0, plan["folder"])
        readable = [*readable, plan["folder"]]
    if plan["cuda"]:
        readable = [*readable, plan["triton_tools"]]
    if role == "compiler":
        keep_machine_code()
    forget_locks()
    extensions.forget_locks()
    kernel = EmbeddedKernel(role, device if plan["cuda"] else None, plan["triton_tools"])

    def call(number):
        kernel.slots[number].call()
    if beginnings := os.environ.get("FORGET_TRACES_AT"):
        call = forgetting(call, {int(number) for number in beginnings.split(",")})
    library = ctypes.CDLL(path)
    nothing = Calls._fields_[4][1]()  # a kernel may not work outside its timed calls
    calls = Calls(
        Calls._fields_[0][1](guarded(kernel, kernel.opened, False)),
        Calls._fields_[1][1](guarded(kernel, kernel.load, True)),
        Calls._fields_[2][1](guarded(kernel, kernel.bind, True)),
        Calls._fields_[3][1](guarded(kernel, call, False)),
        Calls._fields_[4][1](guarded(kernel, lambda n: kernel.slots[n].settle(), False))
        if kernel.is_baseline else nothing,
        Calls._fields_[5][1](guarded(kernel, kernel.release, False)),
        Calls._fields_[6][1](guarded(kernel, kernel.failure, True)))
    folders = (ctypes.c_char_p * len(readable))(*[f.encode() for f in readable])
    return library.ratchet_embedded_run(role.encode(), device, folders, len(readable),
                                        ctypes.byref(calls))
