"""The kernels of cuda/: each file is one kernel, slow for a reason, and says how each suspected reason
is removed. Its head:

    // dims: n=4194304
    // tensor: x float32 n in             as `tensors` of create_run: name, type, shape, role, init
    // without CAUSE: how                 compiled with -DWITHOUT_CAUSE, it gives the same answer …
    // without CAUSE, other answers: how  … or does the same work on other values
    // floor CAUSE, other answers: how    what remains when everything else is removed

cuda/unseen and cuda/scored were written by somebody who had read no rule of kernels/diagnosis, cuda/seen beside
them. unseen was scored by rules v2, scored by rules v5 (27), v6 (12), v7 (29), v8 (21),
v9 (16), v10 (22), v12 (28) and v14 (24), before rules changed for them. A folder cuda/blind is for kernels for which no rule has been changed: profile them for the next rules, once.
"""

import pathlib
import re

HERE = pathlib.Path(__file__).resolve().parent / "cuda"
HALVES = ("blind", "scored", "unseen", "seen")
TENSOR = re.compile(r"^// tensor: (.+)$", re.M)
CAUSE = re.compile(r"^// (without|floor) (\w+)(, other answers)?: (.+)$", re.M)

# What each cause stands for: the classes that are right where its removal gains most, and the findings.
CAUSES = {
    "BYTES": ("memory", "dram-bound-latency l2-bound"),
    "STRIDED_ACCESS": ("memory", "uncoalesced-loads partial-sector-stores"),
    "RANDOM_ACCESS": ("memory latency", "uncoalesced-loads partial-sector-stores"),
    "NARROW_ACCESS": ("memory latency", "narrow-access"),
    "REPEATED_READS": ("memory", "l1-bound l2-bound dram-bound-latency"),
    "LOCAL_MEMORY": ("memory latency", "register-spills"),
    "BANK_CONFLICTS": ("memory latency", "bank-conflicts"),
    "SHARED_TRAFFIC": ("memory latency", "shared-memory-stalls shared-memory-bound"),
    "GLOBAL_ATOMICS": ("memory latency", "atomics-contention"),
    "SHARED_ATOMICS": ("memory latency", "atomics-contention shared-atomics"),
    "CONSTANT_CACHE": ("memory latency", "constant-cache-miss"),
    "SMALL_COPIES": ("memory latency", "tma-bound"),
    "OPERANDS": ("memory latency", "tensor-pipe-underfed latency-bound-loads l1-bound"),
    "SERIAL_LOADS": ("latency occupancy", "latency-bound-loads"),
    "ARITHMETIC": ("compute", "arithmetic-bound"),
    "DOUBLE_PRECISION": ("compute", "accidental-fp64"),
    "SPECIAL_FUNCTIONS": ("compute", "special-function-bound"),
    "INTEGER_DIVISION": ("compute", "arithmetic-bound special-function-bound"),
    "SCALAR_PRODUCTS": ("compute", "fma-without-tensor"),
    "INSTRUCTION_FETCH": ("latency compute", "instruction-cache-miss"),
    "DIVERGENCE": ("compute latency", "warp-divergence"),
    "IDLE_LANES": ("compute latency", "warp-divergence"),
    "DEPENDENCE": ("latency", "dependency-chain latency-bound-loads"),
    "LOW_OCCUPANCY": ("occupancy latency", "low-achieved-occupancy"),
    "FEW_BLOCKS": ("occupancy latency", "small-grid"),
    "IMBALANCE": ("occupancy latency", "tail-effect"),
    "BARRIERS": ("latency", "barrier-stalls"),
    "TREE_IN_SHARED": ("latency compute", "barrier-stalls warp-divergence shared-memory-stalls"),
    "FENCES": ("latency memory", "fence-stalls"),
    "GRID_BARRIERS": ("latency", "grid-barrier barrier-stalls"),
    "LAUNCHES": ("launch", "launch-bound"),
    "HOST_WAITS": ("launch", "launch-bound"),
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
        unknown = {cause.name for cause in self.causes} - set(CAUSES)
        if unknown or not self.causes:
            raise ValueError(f"{path}: causes {unknown or 'are missing'}; known: {sorted(CAUSES)}")

    def extents(self, tensor):
        return [int(eval(part.replace("/", "//"), {}, self.dims)) for part in tensor["shape"].split(",")]

    def request(self, folder):
        """As arguments of create_run. The reference only has to have the same answer: it is the kernel."""
        folder.mkdir()
        for name, text in (("v0.cu", self.text), ("ref.cu", self.text.replace(" solve(", " reference("))):
            (folder / name).write_text(text, encoding="utf-8")
        return {"kernel": {"path": str(folder / "v0.cu")}, "reference": {"path": str(folder / "ref.cu")},
                "implementation": "cuda-cpp", "dims": self.dims, "output_dir": str(folder / "run"),
                "where": [f"{name} == {size}" for name, size in self.dims.items()],  # some fix theirs
                "tensors": [{**tensor, "shape": tensor["shape"].split(",")} for tensor in self.tensors]}


def kernels_of(names):
    found = [Kernel(path) for half in HALVES for path in sorted((HERE / half).glob("*.cu"))]
    return [kernel for kernel in found if not names or {kernel.name, kernel.half} & set(names)]
