"""A series of host kernels in the form of kernels.py: one planted reason each, and twins. Rules v11 were
scored on it before any rule changed for it; rules v12 learned from it."""

NO_VECTORS = "__attribute__((noinline, optimize(\"no-tree-vectorize\"))) "
PARALLEL = "_Pragma(\"omp parallel for\") "
OMP = "#include <omp.h>\n"


def cpp(body, before="", entry=""):
    return {"body": body, "before": before, "entry": entry}


def each(n):
    return {"dims": {"n": n}, "tensors": [("x", "float32", "n", "in"), ("y", "float32", "n", "out")],
            "head": "const float* x, float* y, int n", "element": "n"}


def keys(n, t, out="n"):
    return {"dims": {"n": n, "t": t}, "element": "n",
            "tensors": [("at", "int32", "n", "in", "indices(t)"), ("y", "int32", out, "out")],
            "head": "const int* at, int* y, int n, int t"}


def square(m):
    return {"dims": {"m": m}, "element": "m*m",
            "tensors": [("x", "float32", "m,m", "in"), ("y", "float32", "m,m", "out")],
            "head": "const float* x, float* y, int m"}


PROBE = {"dims": {"n": 1 << 18, "t": 1 << 24}, "element": "n",
         "tensors": [("x", "float32", "t", "in"), ("at", "int32", "n", "in", "indices(t)"),
                     ("y", "float32", "n", "out")],
         "head": "const float* x, const int* at, float* y, int n, int t"}
LISTS = {"dims": {"n": 1 << 16, "t": 1 << 16}, "element": "n",
         "tensors": [("at", "int32", "t", "in", "permutation"), ("y", "int32", "8", "out")],
         "head": "const int* at, int* y, int n, int t"}
PAIR = {"dims": {"n": 1 << 23}, "element": "n",
        "tensors": [("g", "float32", "n", "in"), ("p", "float32", "n", "in"), ("y", "float32", "n", "out")],
        "head": "const float* g, const float* p, float* y, int n"}
POINTS = {"dims": {"n": 1 << 14}, "element": "n",
          "tensors": [("x", "float32", "n,16", "in"), ("c", "float32", "32,16", "in"), ("y", "int32", "n", "out")],
          "head": "const float* x, const float* c, int* y, int n"}

BIQUAD = ("for (int c = 0; c < 16; ++c) { const float* p = x + c * (n / 16); float* q = y + c * (n / 16); "
          "float a = 0, b = 0; for (int i = 0; i < n / 16; ++i) { float w = p[i] + 1.2f * a - 0.5f * b; "
          "q[i] = 0.1f * w + 0.2f * a + 0.1f * b; b = a; a = w; } }")
BIQUAD_MANY = ("const int s = n / 16; for (int c = 0; c < 16; c += 4) { const float* p = x + c * s; float* q = y + c * s; "
               + "".join(f"float a{k} = 0, b{k} = 0; " for k in range(4)) + "for (int i = 0; i < s; ++i) { "
               + "".join(f"float w{k} = p[i + {k} * s] + 1.2f * a{k} - 0.5f * b{k}; q[i + {k} * s] = 0.1f * w{k} + "
                         f"0.2f * a{k} + 0.1f * b{k}; b{k} = a{k}; a{k} = w{k}; " for k in range(4)) + "} }")
CRC_TABLE = ("struct Table { unsigned v[256]; Table() { for (unsigned i = 0; i < 256; ++i) { unsigned c = i; "
             "for (int k = 0; k < 8; ++k) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1; v[i] = c; } } };\n"
             "static const Table table;\n")
CRC = ("const int s = n / 64 * 4; for (int r = 0; r < 64; ++r) { const unsigned char* p = "
       "(const unsigned char*)at + r * s; unsigned c = ~0u; for (int i = 0; i < s; ++i) "
       "c = table.v[(c ^ p[i]) & 255] ^ (c >> 8); y[r] = int(~c); }")
CRC_MANY = ("const int s = n / 64 * 4; for (int r = 0; r < 64; r += 4) { const unsigned char* p = "
            "(const unsigned char*)at + r * s; unsigned c = ~0u, d = c, e = c, f = c; for (int i = 0; i < s; ++i) { "
            "c = table.v[(c ^ p[i]) & 255] ^ (c >> 8); d = table.v[(d ^ p[i + s]) & 255] ^ (d >> 8); "
            "e = table.v[(e ^ p[i + 2 * s]) & 255] ^ (e >> 8); f = table.v[(f ^ p[i + 3 * s]) & 255] ^ (f >> 8); } "
            "y[r] = int(~c); y[r + 1] = int(~d); y[r + 2] = int(~e); y[r + 3] = int(~f); }")
WALK = ("for (int l = 0; l < 8; ++l) { int p = l * (t / 8), s = 0; for (int i = 0; i < n / 8; ++i) "
        "{ p = at[p]; s ^= p; } y[l] = s; }")
WALK_MANY = ("int p[8], s[8] = {}; for (int l = 0; l < 8; ++l) p[l] = l * (t / 8); "
             "for (int i = 0; i < n / 8; ++i) { _Pragma(\"GCC unroll 8\") for (int l = 0; l < 8; ++l) "
             "{ p[l] = at[p[l]]; s[l] ^= p[l]; } } for (int l = 0; l < 8; ++l) y[l] = s[l];")
PROBES = (PARALLEL + "for (int i = 0; i < n; ++i) { unsigned h = at[i] * 2654435761u; float s = 0; "
          "for (int k = 0; k < 4; ++k) { s += x[h & (t - 1)]; h = (h ^ (h >> 15)) * 2246822519u; } y[i] = s; }")
TONE = ("float v = x[i]; float a = v / (1 + (v < 0 ? -v : v)); float b = a * a; "
        "y[i] = a * (1 + b * (0.3f + b * (0.2f + b * (0.1f + b * (0.05f + b * 0.01f)))));")
FILTER = ("int k = 0; for (int i = 0; i < n; ++i) { if (x[i] > 0.1f) { y[k] = x[i]; ++k; } } "
          "for (; k < n; ++k) y[k] = 0;")
FILTER_NONE = ("int k = 0; for (int i = 0; i < n; ++i) { y[k] = x[i]; k += x[i] > 0.1f; } "
               "for (; k < n; ++k) y[k] = 0;")
ADAM = ("float m = 0.9f * p[i] + 0.1f * g[i]; y[i] = p[i] - 0.01f * m;")
KMEANS = ("for (int i = 0; i < n; ++i) { float best = 1e30f; int at = 0; for (int k = 0; k < 32; ++k) { float s = 0; "
          "for (int d = 0; d < 16; ++d) { float v = x[i * 16 + d] - c[k * 16 + d]; s += v * v; } "
          "if (s < best) { best = s; at = k; } } y[i] = at; }")
KMEANS_LANES = ("float q[16][32]; for (int k = 0; k < 32; ++k) for (int d = 0; d < 16; ++d) q[d][k] = c[k * 16 + d]; "
                "for (int i = 0; i < n; ++i) { float s[32] = {}; for (int d = 0; d < 16; ++d) "
                "for (int k = 0; k < 32; ++k) { float v = x[i * 16 + d] - q[d][k]; s[k] += v * v; } "
                "float best = 1e30f; int at = 0; for (int k = 0; k < 32; ++k) if (s[k] < best) { best = s[k]; at = k; } "
                "y[i] = at; }")
KMEANS_PART = NO_VECTORS + "static void part(const float* x, const float* c, int* y, int n) { " + KMEANS + " }\n"
ROTATE = ("for (int i = 0; i < m; ++i) for (int j = 0; j < m; ++j) y[(long)j * m + m - 1 - i] = x[(long)i * m + j];")
ROTATE_TILES = ("for (int a = 0; a < m; a += 16) for (int b = 0; b < m; b += 16) for (int j = b; j < b + 16; ++j) "
                "for (int i = a; i < a + 16; ++i) y[(long)j * m + m - 1 - i] = x[(long)i * m + j];")
SPARSE = ("_Pragma(\"omp parallel for schedule({})\") for (int r = 0; r < 512; ++r) {{ "
          "const int length = r < 32 ? n : n / 64; float s[16] = {{}}; for (int e = 0; e < 64; ++e) "
          "for (int k = 0; k < length; k += 16) for (int j = 0; j < 16; ++j) "
          "s[j] += x[k + j] * (0.5f + x[k + j] * 0.001f * r); float v = 0; for (float w : s) v += w; y[r] = v; }}")
MODULO = ("for (int i = 0; i < n; ++i) { unsigned a = at[i], s = 0; for (int k = 0; k < 8; ++k) "
          "{ a = a * 2654435761u + 40503u; s += a % unsigned(t); } y[i] = int(s); }")
MODULO_TIMES = ("const unsigned long c = ~0ul / unsigned(t) + 1; for (int i = 0; i < n; ++i) { unsigned a = at[i], s = 0; "
                "for (int k = 0; k < 8; ++k) { a = a * 2654435761u + 40503u; unsigned long low = c * a; "
                "s += unsigned(((unsigned __int128)low * unsigned(t)) >> 64); } y[i] = int(s); }")
SCRATCH = ("{0} for (int i = 0; i < n; ++i) t[i] = x[i] * x[i]; for (int i = 0; i < 8; ++i) y[i] = t[i]; "
           "for (int i = 8; i < n; ++i) y[i] = t[i] - t[i - 8]; {1}")
HEAT = ("static float a[66 * 66], b[66 * 66]; for (int i = 0; i < m; ++i) for (int j = 0; j < m; ++j) "
        "a[i * m + j] = b[i * m + j] = x[i * m + j]; float *p = a, *q = b; for (int s = 0; s < 40; ++s) { "
        "@for (int i = 1; i < m - 1; ++i) for (int j = 1; j < m - 1; ++j) q[i * m + j] = p[i * m + j] * 0.6f + "
        "0.1f * (p[i * m + j - 1] + p[i * m + j + 1] + p[i * m - m + j] + p[i * m + m + j]); float* o = p; p = q; q = o; } "
        "for (int i = 0; i < m * m; ++i) y[i] = p[i];")
GAMMA = "y[i] = std::pow(std::fabs(x[i]), 1.5f);"
GAMMA_ROOT = "float v = std::fabs(x[i]); y[i] = v * __builtin_sqrtf(v);"
HISTOGRAM = ("for (int k = 0; k < t; ++k) y[k] = 0; " + PARALLEL + "for (int i = 0; i < n; ++i) { "
             "_Pragma(\"omp atomic\") y[at[i]] += 1; }")
HISTOGRAM_OWN = ("for (int k = 0; k < t; ++k) y[k] = 0; _Pragma(\"omp parallel\") { int h[256] = {}; "
                 "_Pragma(\"omp for nowait\") for (int i = 0; i < n; ++i) h[at[i]] += 1; "
                 "_Pragma(\"omp critical\") for (int k = 0; k < t; ++k) y[k] += h[k]; }")
SIGMOID = "y[i] = 1 / (1 + std::exp(-x[i]));"
SIGMOID_OWN = ("float v = -x[i]; float k = __builtin_rintf(v * 1.44269504f);"
               " v = v - k * 0.693359375f + k * 2.12194440e-4f; float p = 1.9875691500e-4f;"
               " p = p * v + 1.3981999507e-3f; p = p * v + 8.3334519073e-3f; p = p * v + 4.1665795894e-2f;"
               " p = p * v + 1.6666665459e-1f; p = p * v + 5.0000001201e-1f; p = p * v * v + v + 1;"
               " int e = (int(k) + 127) << 23; float f; __builtin_memcpy(&f, &e, 4); y[i] = 1 / (1 + p * f);")
ESCAPE = ("for (int i = 0; i < n; ++i) { float a = x[i], b = 0.3f, u = a, v = b; int k = 0; "
          "while (k < 64 && u * u + v * v < 4) { float w = u * u - v * v + a; v = 2 * u * v + b; u = w; ++k; } y[i] = k; }")
ESCAPE_LANES = ("for (int i = 0; i < n; i += 32) { float a[32], u[32], v[32]; int k[32]; for (int l = 0; l < 32; ++l) "
                "{ a[l] = u[l] = x[i + l]; v[l] = 0.3f; k[l] = 0; } for (int s = 0; s < 64; ++s) "
                "for (int l = 0; l < 32; ++l) { float r = u[l] * u[l] + v[l] * v[l]; bool in = r < 4; "
                "float w = u[l] * u[l] - v[l] * v[l] + a[l], z = 2 * u[l] * v[l] + 0.3f; "
                "k[l] += in; u[l] = in ? w : u[l]; v[l] = in ? z : v[l]; } "
                "for (int l = 0; l < 32; ++l) y[i + l] = k[l]; }")


def loop(statement, parallel=False):
    return (PARALLEL if parallel else "") + f"for (int i = 0; i < n; ++i) {{ {statement} }}"


def threads(text):
    """The outermost loop's rounds over all threads."""
    return text.replace("for (int", PARALLEL + "for (int", 1)


KERNELS = {
    "audio_biquad": {"task": each(16 * 4112), "kernel": cpp(BIQUAD), "bound": ["latency"], "twins": {
        "host-dependency-chain": cpp(BIQUAD_MANY, entry=NO_VECTORS), "host-single-thread": cpp(threads(BIQUAD)),
        "host-memory-bandwidth": {"dims": {"n": 4096}}}},
    "crc_records": {"task": keys(1 << 16, 1 << 30, "64"), "kernel": cpp(CRC, CRC_TABLE), "bound": ["latency"], "twins": {
        "host-dependency-chain": cpp(CRC_MANY, CRC_TABLE), "host-single-thread": cpp(threads(CRC), CRC_TABLE),
        "host-cache-miss": {"dims": {"n": 1 << 12, "t": 1 << 30}}}},
    "eight_lists": {"task": LISTS, "kernel": cpp(WALK), "bound": ["latency"], "twins": {
        "host-dependency-chain": cpp(WALK_MANY), "host-cache-miss": {"dims": {"n": 1 << 16, "t": 1 << 12}},
        "host-single-thread": cpp(threads(WALK))}},
    "hash_probe": {"task": PROBE, "kernel": cpp(PROBES), "bound": ["latency", "memory"], "twins": {
        "host-cache-miss": {"dims": {"n": 1 << 18, "t": 1 << 12}}, "host-single-thread": None,
        "host-divisions": None}},
    "tone_map": {"task": each(1 << 17), "kernel": cpp(loop(TONE), entry=NO_VECTORS), "bound": ["compute"], "twins": {
        "host-scalar-loop": cpp(loop(TONE)), "host-memory-bandwidth": {"dims": {"n": 4096}},
        "host-divisions": cpp(loop(TONE.replace("v / (", "v * (")), entry=NO_VECTORS)}},
    "where_clause": {"task": each(1 << 16), "kernel": cpp(FILTER), "bound": ["latency"], "twins": {
        "host-branches": cpp(FILTER_NONE), "host-memory-bandwidth": {"dims": {"n": 4096}}}},
    "momentum_step": {"task": PAIR, "kernel": cpp(loop(ADAM, True)), "bound": ["memory"], "twins": {
        "host-memory-bandwidth": cpp("_Pragma(\"omp parallel for\") for (int b = 0; b < n / 2048; ++b) { const int o = "
                                     "omp_get_thread_num() * 8192; for (int i = o; i < o + 2048; ++i) { " + ADAM
                                     + " } }", OMP),
        "host-scalar-loop": None, "host-single-thread": None}},
    "kmeans_assign": {"task": POINTS, "kernel": cpp("part(x, c, y, n);", KMEANS_PART), "bound": ["compute", "latency"], "twins": {
        "host-scalar-loop": cpp(KMEANS_LANES), "host-single-thread": cpp(PARALLEL + "for (int b = 0; b < 128; ++b) { const int s = n / 128; part(x + b * s * 16, c, y + b * s, s); }", KMEANS_PART),
        "host-memory-bandwidth": {"dims": {"n": 512}}}},
    "rotate_image": {"task": square(1024), "kernel": cpp(ROTATE, entry=(
        "__attribute__((optimize(\"no-loop-interchange\"))) ")), "bound": ["latency", "memory"], "twins": {
        "host-strided-access": cpp(ROTATE_TILES), "host-single-thread": cpp(threads(ROTATE))}},
    "heavy_rows": {"task": {**each(1 << 14), "tensors": [("x", "float32", "n", "in"), ("y", "float32", "512", "out")]},
                   "kernel": cpp(SPARSE.format("static")), "bound": ["occupancy"], "twins": {
        "host-imbalance": cpp(SPARSE.format("dynamic,1")), "host-scalar-loop": None}},
    "bucket_modulo": {"task": keys(1 << 16, 1000003), "kernel": cpp(MODULO), "bound": ["compute"], "twins": {
        "host-divisions": cpp(MODULO_TIMES), "host-single-thread": cpp(threads(MODULO)),
        "host-memory-bandwidth": {"dims": {"n": 4096}}}},
    "energy_scratch": {"task": each(9 << 20), "kernel": cpp(SCRATCH.format("float* t = new float[n];", "delete[] t;")),
                       "bound": ["memory"], "twins": {
        "host-page-faults": cpp(SCRATCH.format("static float* t = new float[n];", "")), "host-scalar-loop": None}},
    "small_heat": {"task": square(66), "kernel": cpp(HEAT.replace("@", PARALLEL)), "bound": ["launch"], "twins": {
        "host-thread-overhead": cpp(HEAT.replace("@", "")), "host-single-thread": None}},
    "gamma_curve": {"task": each(1 << 17), "kernel": cpp(loop(GAMMA)), "bound": ["compute"], "twins": {
        "host-math-calls": cpp(loop(GAMMA_ROOT)), "host-single-thread": cpp(loop(GAMMA, True)),
        "host-memory-bandwidth": {"dims": {"n": 4096}}}},
    "sigmoid_threads": {"task": each(1 << 20), "kernel": cpp(loop(SIGMOID, True)), "bound": ["compute"], "twins": {
        "host-math-calls": cpp(loop(SIGMOID_OWN, True)), "host-single-thread": None,
        "host-divisions": cpp(loop(SIGMOID.replace("1 / (", "1 * ("), True))}},
    "shared_histogram": {"task": keys(1 << 18, 256, "t"), "kernel": cpp(HISTOGRAM), "bound": ["latency"], "twins": {
        "host-atomics": cpp(HISTOGRAM_OWN), "host-single-thread": None, "host-scalar-loop": None}},
    "escape_time": {"task": each(1 << 14), "kernel": cpp(ESCAPE), "bound": ["latency", "compute"], "twins": {
        "host-scalar-loop": cpp(ESCAPE_LANES), "host-single-thread": cpp(threads(ESCAPE)),
        "host-memory-bandwidth": {"dims": {"n": 2048}}}},
}
