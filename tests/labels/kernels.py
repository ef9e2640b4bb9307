"""Host kernels, each slow for one reason that was planted, and twins from which one suspected reason
was removed. A twin's key is the finding whose advice it follows: what it gains says whether that
advice is right. A twin {"dims": ...} runs the same source on other sizes, per element.
"""

import importlib.util

EACH = {"dims": {"n": 1 << 18}, "tensors": [("x", "float32", "n", "in"), ("y", "float32", "n", "out")],
        "head": "const float* x, float* y, int n", "element": "n"}
BIG = {**EACH, "dims": {"n": 1 << 23}}
SMALL = {**EACH, "dims": {"n": 4096}}
SUMS = {"dims": {"n": 1 << 18}, "tensors": [("x", "float32", "n", "in"), ("y", "float32", "16", "out")],
        "head": "const float* x, float* y, int n", "element": "n"}
LOOKUP = {"dims": {"n": 1 << 18, "t": 1 << 23}, "element": "n",
          "tensors": [("x", "float32", "t", "in"), ("at", "int32", "n", "in", "indices(t)"),
                      ("y", "float32", "n", "out")],
          "head": "const float* x, const int* at, float* y, int n, int t"}
CHASE = {"dims": {"n": 1 << 14, "t": 1 << 23}, "element": "n",
         "tensors": [("at", "int32", "t", "in", "permutation"), ("y", "int32", "n", "out")],
         "head": "const int* at, int* y, int n, int t"}
SQUARE = {"dims": {"m": 2048}, "element": "m*m",
          "tensors": [("x", "float32", "m,m", "in"), ("y", "float32", "m,m", "out")],
          "head": "const float* x, float* y, int m"}
PRODUCT = {"dims": {"m": 384}, "element": "m*m*m",
           "tensors": [("a", "float32", "m,m", "in"), ("b", "float32", "m,m", "in"),
                       ("c", "float32", "m,m", "out")],
           "head": "const float* a, const float* b, float* c, int m"}
ARRAYS = {"dims": {"n": 1 << 23}, "element": "n",
          "tensors": [("x", "float32", "n", "in"), ("y", "float32", "n", "out")], "head": "x, y"}
FEW = {**ARRAYS, "dims": {"n": 4096}}

NO_VECTORS = "__attribute__((noinline, optimize(\"no-tree-vectorize\"))) "
PARALLEL = "_Pragma(\"omp parallel for\") "


def cpp(body, before="", entry=""):
    return {"body": body, "before": before, "entry": entry}


def loop(statement, parallel=False):
    return (PARALLEL if parallel else "") + f"for (int i = 0; i < n; ++i) {{ {statement} }}"


STREAM = "y[i] = 2 * x[i] + 1;"
# The same instructions on 32 kB per thread.
STREAM_NEAR = ("for (int p = 0; p < n / 4096; ++p) { const int at = p < n / 8192 ? 0 : 1 << 18; "
               "for (int i = at; i < at + 4096; ++i) { " + STREAM + " } }")
# 192 terms of polynomials: far more arithmetic than traffic, and four independent chains.
POLY = ("float v = x[i], w = v * v; float a = 1, b = 2, c = 3, d = 4;"
        + " a = a * w + 0.1f; b = b * w + 0.2f; c = c * w + 0.3f; d = d * w + 0.4f;" * 48
        + " y[i] = a + v * b + c * d;")
PARTS = ("static void parts(const float* x, float* y, int n) { " + "_Pragma(\"omp parallel for\") "
         + "for (int p = 0; p < 8; ++p) part(x + p * (n / 8), y + p * (n / 8), n / 8); }\n")
SCALAR_PARTS = (NO_VECTORS + "static void part(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) { "
                + POLY + " } }\n" + PARTS)
SUM_ONE = ("for (int r = 0; r < 16; ++r) { float s = 0; for (int i = 0; i < n / 16; ++i) "
           "s += x[r * (n / 16) + i]; y[r] = s; }")
SUM_MANY = ("for (int r = 0; r < 16; ++r) { const float* p = x + r * (n / 16); float s[16] = {}; "
            "for (int i = 0; i < n / 16; i += 16) for (int k = 0; k < 16; ++k) s[k] += p[i + k]; "
            "float t = 0; for (float v : s) t += v; y[r] = t; }")
GATHER = "y[i] = x[at[i]] + 1;"
FOLLOW = "int p = 0; for (int i = 0; i < n; ++i) { p = at[p]; y[i] = p; }"
EXP = "y[i] = std::exp(-x[i] * x[i]);"
# Cephes' single-precision exponential, which compilers vectorize.
OWN_EXP = ("float v = -x[i] * x[i]; v = v < -87.f ? -87.f : v; float k = __builtin_rintf(v * 1.44269504f);"
           " v = v - k * 0.693359375f + k * 2.12194440e-4f; float p = 1.9875691500e-4f;"
           " p = p * v + 1.3981999507e-3f; p = p * v + 8.3334519073e-3f; p = p * v + 4.1665795894e-2f;"
           " p = p * v + 1.6666665459e-1f; p = p * v + 5.0000001201e-1f; p = p * v * v + v + 1;"
           " int e = (int(k) + 127) << 23; float f; __builtin_memcpy(&f, &e, 4); y[i] = p * f;")
DIVIDE = "float v = x[i] * x[i]; y[i] = 0" + "".join(f" + {k}.f / (v + {k})" for k in range(1, 25)) + ";"
MULTIPLY = DIVIDE.replace("/", "*")
SCALAR_STREAM = (NO_VECTORS + "static void part(const float* x, float* y, int n) { " + loop(STREAM) + " }\n" + PARTS
                 + "static void near(const float* x, float* y, int n) { " + PARALLEL
                 + "for (int p = 0; p < n / 4096; ++p) { const int at = p < n / 8192 ? 0 : 1 << 18; "
                 + "part(x + at, y + at, 4096); } }\n")
TRIANGLE = ("_Pragma(\"omp parallel for schedule({})\") for (int i = 0; i < 256; ++i) {{ float s = 0; "
            "for (int r = 0; r < 8; ++r) for (int k = 0; k < i * (n / 1024); ++k) "
            "s = s > x[k] * x[k] ? s : x[k] * x[k]; for (int j = 0; j < n / 256; ++j) y[i * (n / 256) + j] = s; }}")
BRANCH = "float v = x[i]; if (v > 0) { y[i] = v * 3 + 1; k += 3; } else { y[i] = v; k = k / 7 + i; }"

KERNELS = {
    "stream_threads": {"task": BIG, "kernel": cpp(loop(STREAM, True)), "bound": ["memory"],
                       "twins": {"host-memory-bandwidth": cpp(PARALLEL + STREAM_NEAR),
                                 "host-scalar-loop": None, "host-single-thread": None}},
    "stream_one_thread": {"task": BIG, "kernel": cpp(loop(STREAM)), "bound": ["memory"],
                          "twins": {"host-single-thread": cpp(loop(STREAM, True)),
                                    "host-memory-bandwidth": cpp(STREAM_NEAR),
                                    "host-scalar-loop": None}},
    "stream_scalar": {"task": BIG, "kernel": cpp("parts(x, y, n);", SCALAR_STREAM), "bound": ["memory"],
                      "twins": {"host-scalar-loop": cpp(loop(STREAM, True)),
                                "host-memory-bandwidth": cpp("near(x, y, n);", SCALAR_STREAM),
                                "host-single-thread": None}},
    "poly_scalar": {"task": EACH, "kernel": cpp(loop(POLY), entry=NO_VECTORS), "bound": ["compute"],
                    "twins": {"host-scalar-loop": cpp(loop(POLY)),
                              "host-single-thread": cpp("parts(x, y, n);", SCALAR_PARTS),
                              "host-memory-bandwidth": {"dims": {"n": 4096}}}},
    "poly_scalar_threads": {"task": EACH, "kernel": cpp("parts(x, y, n);", SCALAR_PARTS),
        "bound": ["compute"], "twins": {"host-scalar-loop": cpp(loop(POLY, True)),
                                        "host-single-thread": None}},
    "poly_packed": {"task": EACH, "kernel": cpp(loop(POLY)), "bound": ["occupancy"],
                    "twins": {"host-single-thread": cpp(loop(POLY, True)), "host-scalar-loop": None,
                              "host-memory-bandwidth": {"dims": {"n": 4096}}}},
    "poly_packed_threads": {"task": EACH, "kernel": cpp(loop(POLY, True)), "bound": ["compute"],
                            "twins": {"host-scalar-loop": None, "host-single-thread": None}},
    "sum_one_chain": {"task": SUMS, "kernel": cpp(SUM_ONE), "bound": ["latency"],
                      "twins": {"host-dependency-chain": cpp(SUM_MANY),
                                "host-single-thread": cpp(SUM_ONE.replace("for (int r", PARALLEL + "for (int r", 1)),
                                "host-memory-bandwidth": {"dims": {"n": 4096}}}},
    "gather_far": {"task": LOOKUP, "kernel": cpp(loop(GATHER, True)), "bound": ["latency", "memory"],
                   "twins": {"host-cache-miss": {"dims": {"n": 1 << 18, "t": 1 << 12}},
                             "host-single-thread": None}},
    "chase_far": {"task": CHASE, "kernel": cpp(FOLLOW), "bound": ["latency"],
                  "twins": {"host-cache-miss": {"dims": {"n": 1 << 14, "t": 1 << 12}},
                            "host-scalar-loop": None, "host-single-thread": None}},
    "columns": {"task": SQUARE, "kernel": cpp("for (int j = 0; j < m; ++j) for (int i = 0; i < m; ++i) "
                                              "y[(long)i * m + j] = x[(long)i * m + j] * 2;", entry=(
        "__attribute__((optimize(\"no-loop-interchange\"))) ")), "bound": ["latency", "memory"],
        "twins": {"host-strided-access": cpp("for (int i = 0; i < m; ++i) for (int j = 0; j < m; ++j) "
                                             "y[(long)i * m + j] = x[(long)i * m + j] * 2;"),
                  "host-scalar-loop": None}},
    "product_naive": {"task": PRODUCT, "kernel": cpp(
        "for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) { float s = 0; for (int l = 0; l < m; l++) "
        "s += a[i * m + l] * b[l * m + j]; c[i * m + j] = s; }"), "bound": ["latency", "memory"],
        "twins": {"host-strided-access": cpp(
            "for (int i = 0; i < m; i++) { for (int j = 0; j < m; j++) c[i * m + j] = 0; for (int l = 0; l < m; l++) "
            "for (int j = 0; j < m; j++) c[i * m + j] += a[i * m + l] * b[l * m + j]; }"),
            "host-single-thread": cpp(
                PARALLEL + "for (int i = 0; i < m; i++) for (int j = 0; j < m; j++) { float s = 0; "
                "for (int l = 0; l < m; l++) s += a[i * m + l] * b[l * m + j]; c[i * m + j] = s; }"),
            "host-memory-bandwidth": {"dims": {"m": 64}}}},
    "temporaries": {"task": BIG, "kernel": cpp(
        "std::vector<float> t(n), u(n); " + loop("t[i] = 2 * x[i];") + loop("u[i] = t[i] + 1;")
        + loop("y[i] = u[i];")), "bound": ["memory"],
        "twins": {"host-page-faults": cpp("static std::vector<float> t(n), u(n); " + loop("t[i] = 2 * x[i];")
                                          + loop("u[i] = t[i] + 1;") + loop("y[i] = u[i];")),
                  "host-scalar-loop": None}},
    "numpy_temporaries": {"task": {**ARRAYS, "dims": {"n": 1 << 22}}, "bound": ["memory"],
                          "kernel": "    y[:] = np.sqrt(x * x + 1.0) * 2.0 + x\n",
                          "twins": {"host-page-faults": "    for i in range(0, x.size, 16384):\n        a = x[i:i + "
                                    "16384]\n        o = y[i:i + 16384]\n        np.multiply(a, a, out=o)\n        o "
                                    "+= 1.0\n        np.sqrt(o, out=o)\n        o *= 2.0\n        o += a\n",
                                    "host-interpreter": None}},
    "python_loop": {"task": FEW, "bound": ["launch"],
                    "kernel": "    for i in range(x.size):\n        y[i] = x[i] * 2.0 + 1.0\n",
                    "twins": {"host-interpreter": "    np.multiply(x, 2.0, out=y)\n    y += 1.0\n",
                              "host-memory-bandwidth": None, "host-scalar-loop": None}},
    "python_small_steps": {"task": ARRAYS | {"dims": {"n": 1 << 16}}, "bound": ["launch"],
                           "kernel": "    for i in range(0, x.size, 16):\n        y[i:i + 16] = x[i:i + 16] * 2.0 + 1.0\n",
                           "twins": {"host-interpreter": "    np.multiply(x, 2.0, out=y)\n    y += 1.0\n"}},
    "exponentials": {"task": EACH, "kernel": cpp(loop(EXP, True)), "bound": ["compute"],
                     "twins": {"host-math-calls": cpp(loop(OWN_EXP, True)), "host-single-thread": None,
                               "host-memory-bandwidth": {"dims": {"n": 1 << 16}}}},
    "divisions": {"task": EACH, "kernel": cpp(loop(DIVIDE, True)), "bound": ["compute"],
                  "twins": {"host-divisions": cpp(loop(MULTIPLY, True)),
                            "host-scalar-loop": None, "host-single-thread": None}},
    "many_regions": {"task": SMALL, "kernel": cpp(
        "for (int r = 0; r < 64; ++r) { " + PARALLEL + "for (int i = r * (n / 64); i < (r + 1) * (n / 64); ++i) "
        "{ " + STREAM + " } }"), "bound": ["launch"],
        "twins": {"host-thread-overhead": cpp(loop(STREAM)), "host-scalar-loop": None,
                  "host-single-thread": None}},
    "unequal_shares": {"task": EACH, "kernel": cpp(TRIANGLE.format("static")), "bound": ["occupancy"],
                       "twins": {"host-imbalance": cpp(TRIANGLE.format("dynamic")), "host-scalar-loop": None}},
    "shared_counter": {"task": SUMS, "kernel": cpp(
        "static float s; s = 0; " + PARALLEL + "for (int i = 0; i < n; ++i) { _Pragma(\"omp atomic\") s += x[i]; } "
        "for (int r = 0; r < 16; ++r) y[r] = 0 * s;"), "bound": ["latency"],
        "twins": {"host-atomics": cpp("float s = 0; _Pragma(\"omp parallel for reduction(+:s)\") "
                                      "for (int i = 0; i < n; ++i) s += x[i]; "
                                      "for (int r = 0; r < 16; ++r) y[r] = 0 * s;"),
                  "host-single-thread": None, "host-scalar-loop": None}},
    "branches": {"task": EACH, "kernel": cpp(
        "int k = 0; " + loop(BRANCH) + " y[0] = 0 * k;", entry=NO_VECTORS), "bound": ["latency"],
        "twins": {"host-branches": cpp("int k = 0; " + loop(BRANCH.replace("if (v > 0)", "if (v > 100)"))
                                       + " y[0] = 0 * k;", entry=NO_VECTORS)}},
}


def source_of(kernel, task, entry="solve"):
    """A kernel's text. C++ kernels are bodies, Python kernels the lines of `run_kernel`."""
    if isinstance(kernel, str):
        return f"import numpy as np\n\n\ndef run_kernel({task['head']}, **_):\n{kernel}"
    return (f"#include <cmath>\n#include <vector>\n{kernel['before']}\nextern \"C\" {kernel['entry']}void "
            f"{entry}({task['head']}) {{ {kernel['body']} }}\n")


def kernels_of(path):
    """The KERNELS of a module like this one."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.KERNELS
