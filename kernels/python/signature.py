"""Modules and functions, called as the signature of their contract says (docs/tasks.md).

A signature's values are skeletons, which `Values` builds: lists, {"tuple": [...]}, {"dict": {...}}
and {"object": {...}} of {"tensor": NAME}, {"dim": NAME}, {"expr": TEXT}, {"scalar": NAME} and
literals. What a call returns is stored in the outputs that `returns` names.
"""

import ast
import types

from messages import Failed

MOST_SHOWN = 5  # keys in a message


def truncated(a, b):
    """a / b as kernels/source/expression.h computes it: rounded towards zero."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


OPERATIONS = {ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b,
              ast.Mult: lambda a, b: a * b, ast.Div: truncated,
              ast.Mod: lambda a, b: a - b * truncated(a, b)}
FUNCTIONS = {"min": min, "max": max, "ceil_div": lambda a, b: -(-a // b)}


def evaluated(text, names):
    """An expression over dims and whole scalars, whose syntax the server has checked."""
    def value(node):
        if isinstance(node, ast.Constant):
            return int(node.value)
        if isinstance(node, ast.Name):
            return names[node.id]
        if isinstance(node, ast.UnaryOp):
            return -value(node.operand)
        if isinstance(node, ast.Call):
            return FUNCTIONS[node.func.id](*map(value, node.args))
        return OPERATIONS[type(node.op)](value(node.left), value(node.right))
    return value(ast.parse(text.strip(), mode="eval").body)


class Values:
    """Builds what skeletons describe, for one case."""

    def __init__(self, arguments, tensors):
        self.tensors = tensors
        self.numbers = {}
        for argument in arguments:
            if argument["kind"] in ("dim", "scalar"):
                floating = argument["dtype"].startswith(("float", "bfloat"))
                self.numbers[argument["name"]] = argument["real" if floating else "integer"]

    def built(self, skeleton):
        if isinstance(skeleton, list):
            return [self.built(one) for one in skeleton]
        if not isinstance(skeleton, dict):
            return skeleton
        (kind, inner), = skeleton.items()
        if kind == "tensor":
            return self.tensors[inner]
        if kind in ("dim", "scalar"):
            return self.numbers[inner]
        if kind == "expr":
            return evaluated(inner, self.numbers)
        if kind == "tuple":
            return tuple(self.built(one) for one in inner)
        made = {name: self.built(one) for name, one in inner.items()}
        return types.SimpleNamespace(**made) if kind == "object" else made

    def arguments(self, signature, positional="args", named="kwargs"):
        return ([self.built(one) for one in signature.get(positional, [])],
                {name: self.built(one) for name, one in signature.get(named, {}).items()})


def kind_of(value):
    return f"a {type(value).__name__}"


class WrongResult(Failed):
    kind = "wrong_result"


class Arrays:
    """How results are copied into a numpy arena."""

    def check(self, target, name, value, place):
        if not type(value).__module__.startswith("numpy") or not hasattr(value, "shape"):
            raise WrongResult(f"{place} is {kind_of(value)}; an array was expected, the output "
                              f"{name}")

    def copy(self, target, value):
        target[...] = value


class Tensors:
    """The same for torch. Made before the kernel's file is loaded, which may replace what is used
    here."""

    def __init__(self, torch):
        self.any = torch.Tensor
        self.plain = (torch.Tensor, torch.nn.Parameter)
        self.copy = torch.Tensor.copy_
        self.strided = torch.strided

    def check(self, target, name, value, place):
        if type(value) not in self.plain:
            if isinstance(value, self.any):
                raise WrongResult(f"{place} is {kind_of(value)}, a subclass of torch.Tensor, which "
                                  "may compute when it is read: return a plain tensor")
            raise WrongResult(f"{place} is {kind_of(value)}; a tensor was expected, the output "
                              f"{name}")
        if value.layout is not self.strided or value.device != target.device:
            raise WrongResult(f"{place} is a {value.layout} tensor on {value.device}; the output "
                              f"{name} is a {self.strided} one on {target.device}")


class Results:
    """Stores what calls return in the outputs of an arena. Whatever may put work off, or is not
    what the contract says, is refused: a tensor must be a plain one, on the device, of the output's
    type and shape. Views and any strides are taken, because the elements are copied here."""

    def __init__(self, skeleton, values, kind):
        self.skeleton = skeleton
        self.values = values
        self.kind = kind

    def store(self, result):
        self.take(self.skeleton, result, "the result")

    def take(self, skeleton, value, place):
        if skeleton is None:
            return
        if isinstance(skeleton, list):
            return self.take_each(skeleton, value, place)
        (kind, inner), = skeleton.items()
        if kind == "tuple":
            self.take_each(inner, value, place)
        elif kind == "tensor":
            self.take_output(inner, value, place)
        elif kind == "object":
            for name, one in inner.items():
                if not hasattr(value, name):
                    raise WrongResult(f"{place} is {kind_of(value)} without the attribute {name}")
                self.take(one, getattr(value, name), f"{place}.{name}")
        else:
            if not isinstance(value, dict) or set(value) != set(inner):
                seen = f"the keys {sorted(map(str, value))[:MOST_SHOWN]}" if isinstance(
                    value, dict) else kind_of(value)
                raise WrongResult(f"{place} must be a dict with the keys {sorted(inner)}, got "
                                  f"{seen}")
            for name, one in inner.items():
                self.take(one, value[name], f"{place}[{name!r}]")

    def take_each(self, skeletons, value, place):
        if not isinstance(value, (tuple, list)) or len(value) != len(skeletons):
            seen = f"{len(value)} values" if isinstance(value, (tuple, list)) else kind_of(value)
            raise WrongResult(f"{place} must be a tuple or list of {len(skeletons)} values, got "
                              f"{seen}")
        for number, (skeleton, one) in enumerate(zip(skeletons, value)):
            self.take(skeleton, one, f"{place}[{number}]")

    def take_output(self, name, value, place):
        target = self.values[name]
        if value is target:
            return
        self.kind.check(target, name, value, place)
        shape, wanted = tuple(value.shape), tuple(target.shape)
        if shape != wanted and not (shape == () and wanted == (1,)):
            raise WrongResult(f"{place} has the shape {list(shape)}; the output {name} has "
                              f"{list(wanted)}")
        if value.dtype != target.dtype:
            raise WrongResult(f"{place} has the type {value.dtype}; the output {name} has "
                              f"{target.dtype}: convert it")
        self.kind.copy(target, value.reshape(wanted) if shape != wanted else value)


def load_state(module, state, changing):
    """Puts the contract's tensors into the module, key by key. Parameters then are the arena's
    tensors; buffers are copies, because modules like BatchNorm write theirs, except those of keys
    in `changing`, whose new values are compared."""
    own = module.state_dict()
    name = type(module).__name__
    missing = [key for key in state if key not in own]
    extra = [key for key in own if key not in state]
    if missing or extra:
        lacks = f"lacks {', '.join(missing[:MOST_SHOWN])}" if missing else ""
        has = f"has {', '.join(extra[:MOST_SHOWN])}, which the contract does not" if extra else ""
        raise Failed(f"state: the state_dict of {name} {lacks}{' and ' if lacks and has else ''}"
                     f"{has}; its keys must be those of the contract's state")
    buffers = {key for key, _ in module.named_buffers()}
    given = {}
    for key, value in state.items():
        shape, wanted = tuple(own[key].shape), tuple(value.shape)
        if shape != wanted and not (shape == () and wanted == (1,)):
            raise Failed(f"state: {key} has the shape {list(shape)} in {name}; the contract's has "
                         f"{list(wanted)}")
        value = value.reshape(shape)
        given[key] = value if key in changing or key not in buffers else value.clone()
    module.load_state_dict(given, strict=True, assign=True)


class ChangedSetting(Failed):
    kind = "changed_setting"


def settings_of(torch):
    """Readers of the global settings of torch that change what a call computes, or where."""
    c = torch._C
    wanted = {
        "the default dtype": torch.get_default_dtype,
        "the default device": torch.get_default_device,
        "torch.get_float32_matmul_precision()": torch.get_float32_matmul_precision,
        "torch.backends.cuda.matmul.allow_tf32": getattr(c, "_get_cublas_allow_tf32", None),
        "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction":
            getattr(c, "_get_cublas_allow_fp16_reduced_precision_reduction", None),
        "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction":
            getattr(c, "_get_cublas_allow_bf16_reduced_precision_reduction", None),
        "torch.backends.cuda.matmul.allow_fp16_accumulation":
            getattr(c, "_get_cublas_allow_fp16_accumulation", None),
        "torch.backends.cudnn.allow_tf32": getattr(c, "_get_cudnn_allow_tf32", None),
        "torch.backends.cudnn.enabled": getattr(c, "_get_cudnn_enabled", None),
        "torch.backends.cudnn.deterministic": getattr(c, "_get_cudnn_deterministic", None),
        "torch.backends.mkldnn.enabled": getattr(c, "_get_mkldnn_enabled", None),
        "torch.are_deterministic_algorithms_enabled()":
            torch.are_deterministic_algorithms_enabled,
        "torch.is_grad_enabled()": torch.is_grad_enabled,
        "torch.is_inference_mode_enabled()": torch.is_inference_mode_enabled,
        "torch.is_autocast_enabled('cpu')": lambda read=torch.is_autocast_enabled: read("cpu"),
        "torch.is_autocast_enabled('cuda')": lambda read=torch.is_autocast_enabled: read("cuda"),
        "the stack of TorchFunctionMode": getattr(c, "_len_torch_function_stack", None),
        "the stack of TorchDispatchMode": getattr(c, "_len_torch_dispatch_stack", None),
    }
    if torch.cuda.is_initialized():
        wanted["the current CUDA device"] = torch.cuda.current_device
        wanted["the current CUDA stream"] = (
            lambda read=torch.cuda.current_stream: read().cuda_stream)
    return {name: reader for name, reader in wanted.items() if reader is not None}


class Settings:
    """The global settings as they are now; a kernel leaves them so."""

    def __init__(self, torch):
        self.readers = settings_of(torch)
        self.before = self.read()

    def read(self):
        def one(reader):
            try:
                return reader()
            except RuntimeError as error:  # old and new ways to set TF32 were mixed
                return f"unreadable: {error}"[:100]
        return {name: one(reader) for name, reader in self.readers.items()}

    def change(self):
        """What differs now, for the kernel's author; None if nothing."""
        now = self.read()
        changed = [f"{name} was {value} and is {now[name]}"
                   for name, value in self.before.items() if now[name] != value]
        if not changed:
            return None
        return (f"after the kernel's code ran, {', '.join(changed)}: global settings of torch are part "
                "of the task; set them back, or say at each operation what it shall do")
