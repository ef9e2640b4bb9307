"""The kernels of cuda/: each file is one kernel, slow for a reason, and says how each suspected reason
is removed. Its head:

    // dims: n=4194304
    // tensor: x float32 n in             as `tensors` of create_run: name, type, shape, role, init
    // without CAUSE: how                 compiled with -DWITHOUT_CAUSE, it gives the same answer …
    // without CAUSE, other answers: how  … or does the same work on other values
    // floor CAUSE, other answers: how    what remains when everything else is removed

cuda/unseen was written by somebody who had read no rule of kernels/diagnosis, cuda/seen beside them.
"""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent / "cuda"
TENSOR = re.compile(r"^// tensor: (.+)$", re.M)
CAUSE = re.compile(r"^// (without|floor) (\w+)(, other answers)?: (.+)$", re.M)

# The classes that are right where the removal of this cause gains most.
CLASSES = {
    "BYTES": {"memory"},
    "STRIDED_ACCESS": {"memory"},
    "RANDOM_ACCESS": {"memory", "latency"},
    "NARROW_ACCESS": {"memory", "latency"},
    "REPEATED_READS": {"memory"},
    "LOCAL_MEMORY": {"memory", "latency"},
    "BANK_CONFLICTS": {"memory", "latency"},
    "GLOBAL_ATOMICS": {"memory", "latency"},
    "SHARED_ATOMICS": {"memory", "latency"},
    "CONSTANT_CACHE": {"memory", "latency"},
    "ARITHMETIC": {"compute"},
    "SPECIAL_FUNCTIONS": {"compute"},
    "INTEGER_DIVISION": {"compute"},
    "SCALAR_PRODUCTS": {"compute"},
    "DIVERGENCE": {"compute", "latency"},
    "DEPENDENCE": {"latency"},
    "LOW_OCCUPANCY": {"occupancy", "latency"},
    "FEW_BLOCKS": {"occupancy", "latency"},
    "IMBALANCE": {"occupancy", "latency"},
    "BARRIERS": {"latency"},
    "TREE_IN_SHARED": {"latency", "compute"},
    "FENCES": {"latency", "memory"},
    "GRID_BARRIERS": {"latency"},
    "LAUNCHES": {"launch"},
    "HOST_WAITS": {"launch"},
}


class Cause:
    def __init__(self, kind, name, other, how):
        self.floor, self.name, self.same, self.how = kind == "floor", name, not other, how


class Kernel:
    def __init__(self, path):
        self.path, self.name, self.half = path, path.stem, path.parent.name
        self.text = path.read_text(encoding="utf-8")
        self.dims = {name: int(value) for name, value in
                     re.findall(r"(\w+)=(\d+)", re.search(r"^// dims: (.+)$", self.text, re.M)[1])}
        self.tensors = [dict(zip(("name", "dtype", "shape", "role", "init"), line.split()))
                        for line in TENSOR.findall(self.text)]
        self.causes = [Cause(*found) for found in CAUSE.findall(self.text)]
        unknown = {cause.name for cause in self.causes} - set(CLASSES)
        if unknown or not self.causes:
            raise ValueError(f"{path}: causes {unknown or 'are missing'}; known: {sorted(CLASSES)}")

    def extents(self, tensor):
        return [int(eval(part.replace("/", "//"), {}, self.dims)) for part in tensor["shape"].split(",")]

    def request(self, folder):
        """As arguments of create_run. The reference only has to have the same answer: it is the kernel."""
        tensors = [{**tensor, "shape": tensor["shape"].split(",")} for tensor in self.tensors]
        return {"kernel": {"text": self.text}, "implementation": "cuda-cpp", "dims": self.dims,
                "reference": {"text": self.text.replace(" solve(", " reference(")},
                "tensors": tensors, "output_dir": str(folder)}


def kernels_of(names):
    found = [Kernel(path) for path in sorted(HERE.glob("*/*.cu"))]
    return [kernel for kernel in found if not names or {kernel.name, kernel.half} & set(names)]
