"""Host kernels by a stranger to the tool, from many trades, each slow for one planted reason (gemm_tiles and
blend are good already), and twins as in kernels.py. Only twins on near data, and those that cut vertical_smooth's
chain or std_thread_batches' divisions, compute something else.
"""

PARALLEL = "_Pragma(\"omp parallel for\") "
FLOATS = {"tensors": [("x", "float32", "n", "in"), ("y", "float32", "n", "out")],
          "head": "const float* x, float* y, int n", "element": "n"}
CLIP = {**FLOATS, "dims": {"n": 1 << 18}}


def cpp(body, before="", entry=""):
    return {"body": body, "before": before, "entry": entry}


def swap(text, *pairs):
    """`text` with each first occurrence replaced, which must be there."""
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


# Image histogram: pixels' levels counted into one table of four cache lines.
LEVELS = {"dims": {"n": 1 << 17, "t": 64}, "element": "n", "head": "const int* at, int* y, int n, int t",
          "tensors": [("at", "int32", "n", "in", "indices(t)"), ("y", "int32", "t", "out")]}
HISTOGRAM = ("for (int b = 0; b < t; ++b) y[b] = 0; " + PARALLEL
             + "for (int i = 0; i < n; ++i) { _Pragma(\"omp atomic\") y[at[i]]++; }")
# Database: WHERE x > 0.1, the matches written densely.
SELECT = "int k = 0; for (int i = 0; i < n; ++i) if (x[i] > 0.1f) y[k++] = x[i] * 2; for (; k < n; ++k) y[k] = 0;"
SELECT_TWO = """int ends[2]; _Pragma("omp parallel for") for (int p = 0; p < 2; ++p) { int k = p * (n / 2);
    for (int i = p * (n / 2); i < (p + 1) * (n / 2); ++i) if (x[i] > 0.1f) y[k++] = x[i] * 2; ends[p] = k; }
    int k = ends[0]; __builtin_memmove(y + k, y + n / 2, (ends[1] - n / 2) * 4); k += ends[1] - n / 2;
    for (; k < n; ++k) y[k] = 0;"""
# Comma-separated values: a state machine over classes of characters.
CLASSES = {"dims": {"n": 1 << 19, "t": 6}, "element": "n", "head": "const int* c, int* y, int n, int t",
           "tensors": [("c", "int32", "n", "in", "indices(t)"), ("y", "int32", "4", "out")]}
STEP = """if (s == 1) { if (v == 2) s = 2; else ++text; } else if (v == 1) { ++fields; s = 0; }
    else if (v == 2) s = 1; else if (v == 3) { ++rows; s = 0; } else if (s == 2) { ++bad; s = 0; } else ++text;"""
COUNTS = " y[0] = fields; y[1] = rows; y[2] = text; y[3] = bad;"
TOKENS = ("int s = 0, fields = 0, rows = 0, text = 0, bad = 0; for (int i = 0; i < n; ++i) { int v = c[i]; "
          + STEP + " }" + COUNTS)
TOKENS_TABLE = """int next[24]; long one[24], two[24];
    for (int e = 0; e < 24; ++e) { int s = e / 8, v = e % 8, fields = 0, rows = 0, text = 0, bad = 0;
        """ + STEP + """ next[e] = s * 8; one[e] = fields + (long(rows) << 32); two[e] = text + (long(bad) << 32); }
    int e = 0; long a = 0, b = 0; for (int i = 0; i < n; ++i) { e |= c[i]; a += one[e]; b += two[e]; e = next[e]; }
    int fields = int(a), rows = a >> 32, text = int(b), bad = b >> 32;""" + COUNTS
# ML inference: a deep decision tree in heap order, a feature per level.
TREE = {"dims": {"n": 1 << 14, "t": 1 << 23}, "element": "n * (t.bit_length() - 1)",
        "tensors": [("q", "float32", "n,32", "in"), ("x", "float32", "t", "in"), ("y", "int32", "n", "out")],
        "head": "const float* q, const float* x, int* y, int n, int t"}
DESCEND = PARALLEL + """for (int i = 0; i < n; ++i) { int p = 1;
    for (const float* f = q + i * 32; p < t; ++f) p = 2 * p + (*f > x[p]); y[i] = p - t; }"""
DESCEND_MANY = PARALLEL + """for (int i = 0; i < n; i += 16) { int p[16]; for (int& v : p) v = 1;
    for (int d = 0; 1 << d < t; ++d) for (int k = 0; k < 16; ++k) p[k] = 2 * p[k] + (q[(i + k) * 32 + d] > x[p[k]]);
    for (int k = 0; k < 16; ++k) y[i + k] = p[k] - t; }"""
# Audio: a biquad filter on each of 32 channels, one after the other.
BIQUAD = """const int l = n / 32; for (int c = 0; c < 32; ++c) { float s = 0, u = 0; for (int i = 0; i < l; ++i) {
    float v = x[c * l + i], w = 0.2f * v + s; s = 0.4f * v + 0.36f * w + u; u = 0.2f * v - 0.19f * w;
    y[c * l + i] = w; } }"""
BIQUAD_MANY = """const int l = n / 32; for (int c = 0; c < 32; c += 4) { float s[4] = {}, u[4] = {};
    for (int i = 0; i < l; ++i) for (int k = 0; k < 4; ++k) { float v = x[(c + k) * l + i], w = 0.2f * v + s[k];
    s[k] = 0.4f * v + 0.36f * w + u[k]; u[k] = 0.2f * v - 0.19f * w; y[(c + k) * l + i] = w; } }"""
# Number theory: a product of transforms modulo a prime that is known only when it runs.
RESIDUES = {"dims": {"n": 1 << 16, "t": 998244353}, "element": "n",
            "tensors": [("a", "int32", "n", "in", "indices(t)"), ("b", "int32", "n", "in", "indices(t)"),
                        ("y", "int32", "n", "out")], "head": "const int* a, const int* b, int* y, int n, int t"}
MODULO = ("const unsigned long m = t; for (int i = 0; i < n; ++i) { unsigned long v = a[i], w = b[i]; "
          + "v = v * w % m; w = w * w % m; " * 3 + "y[i] = int(v); }")
BARRETT = swap(MODULO.replace("v * w % m", "cut(v * w, m, f)").replace("w * w % m", "cut(w * w, m, f)"),
               ("m = t;", "m = t, f = ~0ul / m;"))
CUT = ("static inline unsigned long cut(unsigned long v, unsigned long m, unsigned long f) { unsigned long r = "
       "v - (unsigned long)((unsigned __int128)v * f >> 64) * m; return r < m ? r : r - m; }\n")
# Statistics: a density estimate by Epanechnikov's window, blocks of 256 points in L1.
POINTS = {"dims": {"n": 4096}, "element": "n * n",
          "tensors": [("x", "float32", "n", "in"), ("z", "float32", "n", "in"), ("y", "float32", "n", "out")],
          "head": "const float* x, const float* z, float* y, int n"}
PAIRS = """for (int p = 0; p < n; p += 256) { for (int i = p; i < p + 256; ++i) y[i] = 0;
    for (int j = 0; j < n; ++j) { const float a = x[j], b = z[j]; for (int i = p; i < p + 256; ++i) { """
WINDOW = ("const float f = 0.9f + 0.1f * std::fabs(x[0]), g = 1.1f + 0.1f * std::fabs(z[0]), h = f * g * n; " + PARALLEL
          + PAIRS + "float u = (x[i] - a) / f, v = (z[i] - b) / g, w = 1 - u * u - v * v; w = w > 0 ? w : 0; "
          "y[i] += w / h; } } }")
WINDOW_TIMES = swap(WINDOW, (" * n; ", " * n, d = 1 / f, e = 1 / g, c = 1 / h; "), ("a) / f", "a) * d"),
                    ("b) / g", "b) * e"), ("w / h", "w * c"))
# Astrophysics: density by Wendland's kernel.
SPH = PAIRS + ("float r = (x[i] - a) * (x[i] - a) + (z[i] - b) * (z[i] - b), h = 1 - r * 0.25f; h = h > 0 ? h : 0; "
               "float k = h * h; y[i] += b * b * k * k * (1 + r + 0.3f * r * r); } } }")
# Finance: American options by lattices, sorted by maturity.
LATTICE = {**FLOATS, "dims": {"n": 4096, "m": 32}, "element": "m",
           "tensors": [("x", "float32", "n", "in"), ("y", "float32", "m", "out")],
           "head": "const float* x, float* y, int n, int m"}
OPTIONS = """_Pragma("omp parallel for schedule(static)") for (int o = 0; o < m; ++o) { float v[4097]; v[4096] = 0;
    const int steps = (o + 1) * (n / m); for (int j = 0; j < n; ++j) v[j] = x[j] > 0 ? x[j] : 0;
    for (int s = steps; s > 0; --s) for (int j = 0; j < s; ++j) { float h = 0.5001f * v[j + 1] + 0.4998f * v[j];
        v[j] = h > 0.1f ? h : 0.1f; } y[o] = v[0]; }"""
# Graphics: three color planes, a thread each; Newton's iteration for local contrast.
PLANES = {**CLIP, "tensors": [("x", "float32", "3,n", "in"), ("y", "float32", "3,n", "out")]}
CONTRAST = ("{ float v = x[i] * x[i] + 0.5f, g = 0.3f / (1 + 0.1f * v);"
            + " g = g * (1.5f - 0.5f * v * g * g);" * 24 + " y[i] = x[i] * g; }")
COLORS = PARALLEL + "for (int c = 0; c < 3; ++c) for (int i = c * n; i < (c + 1) * n; ++i) " + CONTRAST
COLORS_TILES = PARALLEL + "for (int c = 0; c < 3 * n; c += 4096) for (int i = c; i < c + 4096; ++i) " + CONTRAST
# Signal processing: a plain Fourier transform that asks for each twiddle factor.
FOURIER = {**FLOATS, "dims": {"n": 512}, "tensors": [("x", "float32", "n", "in"), ("y", "float32", "n,2", "out")],
           "element": "n * n"}
DFT = PARALLEL + """for (int k = 0; k < n; ++k) { float a = 0, b = 0; for (int j = 0; j < n; ++j) {
    const int p = k * j % n; const float w = 6.2831853f * p / n; a += x[j] * std::cos(w); b -= x[j] * std::sin(w); }
    y[2 * k] = a; y[2 * k + 1] = b; }"""
DFT_TABLE = ("std::vector<float> c(n), s(n); for (int p = 0; p < n; ++p) { const float w = 6.2831853f * p / n; "
             "c[p] = std::cos(w); s[p] = std::sin(w); } "
             + swap(DFT, ("const float w = 6.2831853f * p / n;", ""), ("std::cos(w)", "c[p]"), ("std::sin(w)", "s[p]")))
DFT_STEPS = swap(DFT, ("float a = 0", "int p = 0; const float f = 6.2831853f / n; float a = 0"), (
    "const int p = k * j % n; const float w = 6.2831853f * p / n;", "const float w = f * p;"), (
    "std::sin(w);", "std::sin(w); p += k; p = p < n ? p : p - n;"))
DFT_FOUR = PARALLEL + """for (int k = 0; k < n; ++k) { float a[4] = {}, b[4] = {};
    for (int j = 0; j < n; j += 4) for (int l = 0; l < 4; ++l) { const int p = k * (j + l) % n;
    const float w = 6.2831853f * p / n; a[l] += x[j + l] * std::cos(w); b[l] -= x[j + l] * std::sin(w); }
    y[2 * k] = a[0] + a[1] + a[2] + a[3]; y[2 * k + 1] = b[0] + b[1] + b[2] + b[3]; }"""
# Image statistics: four passes where one would do.
PASSES = ["y[i] = x[i] - 0.1f;", "y[i] = y[i] * 0.7f;", "y[i] = y[i] * y[i] + 0.2f;", "y[i] = y[i] < 2 ? y[i] : 2;"]
EVERY = "for (int i = 0; i < n; ++i) { "
ONE_REGION = ("_Pragma(\"omp parallel\") { " + "".join("_Pragma(\"omp for\") " + EVERY + p + " } " for p in PASSES)
              + "}")
FUSED = PARALLEL + EVERY + "float v = (x[i] - 0.1f) * 0.7f; v = v * v + 0.2f; y[i] = v < 2 ? v : 2; }"
# Database: a column is decoded into an arena that each query maps anew.
COLUMN = {"dims": {"n": 1 << 22, "t": 1 << 20}, "element": "n", "head": "const int* c, int* y, int n, int t",
          "tensors": [("c", "int32", "n", "in", "indices(t)"), ("y", "int32", "64", "out")]}
MAP = ("#include <sys/mman.h>\nstatic int* take(long bytes) { return (int*)mmap(nullptr, bytes, PROT_READ | "
       "PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); }\n")
QUERY = """int* const arena = take(n * 4l); for (int i = 0; i < n; ++i) arena[i] = (c[i] * 3) ^ (c[i] >> 4);
    for (int b = 0; b < 64; ++b) { unsigned s = 0; for (int i = b * (n / 64); i < (b + 1) * (n / 64); ++i)
    s += arena[i]; y[b] = int(s & 0xffffff); } munmap(arena, n * 4l);"""
# Camera: a fixed-point tone curve; each store of a pixel might change the bound and the constants.
RAW = {"dims": {"n": 1 << 19, "t": 4096}, "element": "n", "head": "const int* c, int* y, int n, int t",
       "tensors": [("c", "int32", "n", "in", "indices(t)"), ("y", "int32", "n", "out")]}
TONE = ("struct Curve { int n, gain, bias; }; Curve curve;\n__attribute__((noinline)) static void tone(const int* c, "
        "int* y) { for (int i = 0; i < curve.n; ++i) { unsigned v = c[i]; "
        + "v = (v * (curve.gain - (v >> 1)) >> 11) + curve.bias; " * 6 + "y[i] = v & 4095; } }\n")
TONE_COPY = swap(TONE.replace("curve.", "k."), ("int* y) { ", "int* y) { const Curve k = curve; "))
DEVELOP = "curve = {n / 2, 4095, t / 64}; " + PARALLEL + (
    "for (int p = 0; p < 2; ++p) tone(c + p * (n / 2), y + p * (n / 2));")
# ML inference: channels last to channels first.
LAYOUT = {"dims": {"m": 2400, "n": 512}, "element": "m * n", "head": "const float* x, float* y, int m, int n",
          "tensors": [("x", "float32", "m,n", "in"), ("y", "float32", "n,m", "out")]}
PERMUTE = "for (int c = 0; c < n; ++c) for (int p = 0; p < m; ++p) y[c * m + p] = x[p * n + c];"
PERMUTE_TILES = ("for (int q = 0; q < m; q += 16) for (int c = 0; c < n; ++c) for (int p = q; p < q + 16; ++p) "
                 "y[c * m + p] = x[p * n + c];")
# Image filter: smoothing down each column.
FRAME = {"dims": {"m": 1536}, "element": "m * m", "head": "const float* x, float* y, int m",
         "tensors": [("x", "float32", "m,m", "in"), ("y", "float32", "m,m", "out")]}
SMOOTH = PARALLEL + """for (int j = 0; j < m; ++j) { float s = 0; for (int i = 0; i < m; ++i) {
    s += 0.2f * (x[i * m + j] - s); y[i * m + j] = s; } }"""
SMOOTH_ROWS = PARALLEL + """for (int q = 0; q < m; q += 256) { float s[256] = {}; for (int i = 0; i < m; ++i)
    for (int j = 0; j < 256; ++j) { s[j] += 0.2f * (x[i * m + q + j] - s[j]); y[i * m + q + j] = s[j]; } }"""
# Bioinformatics: local alignment by antidiagonals, a region each.
STRANDS = {"dims": {"m": 160, "t": 4}, "element": "m * m", "head": "const int* a, const int* b, int* y, int m, int t",
           "tensors": [("a", "int32", "m", "in", "indices(t)"), ("b", "int32", "m", "in", "indices(t)"),
                       ("y", "int32", "m", "out")]}
ALIGN = """std::vector<int> u(m + 1), v(m + 1), w(m + 1); int *far = u.data(), *near = v.data(), *now = w.data();
    for (int i = 0; i < m; ++i) y[i] = 0;
    for (int d = 2; d <= 2 * m; ++d) { const int low = d > m ? d - m : 1, top = d > m ? m : d - 1;
        _Pragma("omp parallel for") for (int i = low; i <= top; ++i) {
            int h = far[i - 1] + (a[i - 1] == b[d - i - 1] ? 3 : -2), g = near[i - 1] > near[i] ? near[i - 1] : near[i];
            h = h > g - 4 ? h : g - 4; h = h > 0 ? h : 0; now[i] = h; if (y[i - 1] < h) y[i - 1] = h; }
        int* const free = far; far = near; near = now; now = free; }"""
# A server: each small batch starts a thread for its second half.
SQUASH = ("#include <thread>\nstatic void squash(const float* x, float* y) { for (int i = 0; i < 512; ++i) "
          "y[i] = x[i] / (1 + std::fabs(x[i])); }\n")
BATCHES = """for (int b = 0; b < n; b += 1024) { std::thread helper(squash, x + b + 512, y + b + 512);
    squash(x + b, y + b); helper.join(); }"""
BATCHES_ALONE = swap(BATCHES, ("std::thread helper(squash, x", "squash(x"), ("helper.join();", ""))
# Linear algebra as it should be: tiles in registers, panels packed.
DENSE = {"dims": {"m": 576}, "element": "m ** 3", "head": "const float* a, const float* b, float* c, int m",
         "tensors": [("a", "float32", "m,m", "in"), ("b", "float32", "m,m", "in"), ("c", "float32", "m,m", "out")]}
VECTOR = "typedef float V __attribute__((vector_size(64), aligned(4), may_alias));\n"
GEMM = PARALLEL + """for (int q = 0; q < m; q += 32) { std::vector<float> panel(m * 32);
    for (int l = 0; l < m; ++l) for (int j = 0; j < 32; ++j) panel[l * 32 + j] = b[l * m + q + j];
    for (int i = 0; i < m; i += 8) { V s[8][2] = {}; for (int l = 0; l < m; ++l) {
        const V u = *(const V*)&panel[l * 32], v = *(const V*)&panel[l * 32 + 16];
        _Pragma("GCC unroll 8") for (int r = 0; r < 8; ++r) { s[r][0] += a[(i + r) * m + l] * u;
            s[r][1] += a[(i + r) * m + l] * v; } }
        for (int r = 0; r < 8; ++r) for (int h = 0; h < 2; ++h) *(V*)&c[(i + r) * m + q + h * 16] = s[r][h]; } }"""
# Compositing as it should be: one pass over four streams.
MIX = {**FLOATS, "dims": {"n": 1 << 22}, "head": "const float* a, const float* b, const float* w, float* y, int n",
       "tensors": [(name, "float32", "n", "in") for name in "abw"] + [("y", "float32", "n", "out")]}
BLEND = PARALLEL + EVERY + "y[i] = a[i] + w[i] * (b[i] - a[i]); }"
BLEND_NEAR = PARALLEL + """for (int p = 0; p < n; p += 2048) { const int from = p < n / 2 ? 0 : n / 2;
    for (int i = from; i < from + 2048; ++i) y[i] = a[i] + w[i] * (b[i] - a[i]); }"""

KERNELS = {
    "histogram_atomic": {"task": LEVELS, "kernel": cpp(HISTOGRAM), "bound": ["latency"], "twins": {
        "host-atomics": cpp(swap(HISTOGRAM, ("omp parallel for", "omp parallel for reduction(+:y[:t])"),
                                 ("_Pragma(\"omp atomic\") ", ""))),
        "host-cache-miss": None, "host-single-thread": None}},
    "filter_select": {"task": CLIP, "bound": ["latency"], "kernel": cpp(SELECT), "twins": {
        "host-branches": cpp(swap(SELECT, ("if (x[i] > 0.1f) y[k++] = x[i] * 2;",
                                           "{ y[k] = x[i] * 2; k += x[i] > 0.1f; }"))),
        "host-single-thread": cpp(SELECT_TWO), "host-cache-miss": None}},
    "tokenizer_switch": {"task": CLASSES, "kernel": cpp(TOKENS), "bound": ["latency"], "twins": {
        "host-branches": cpp(TOKENS_TABLE), "host-cache-miss": None,
        "host-memory-bandwidth": cpp(swap(TOKENS, ("c[i]", "c[i & 131071]")))}},
    "tree_descent": {"task": TREE, "kernel": cpp(DESCEND), "bound": ["latency"], "twins": {
        "host-cache-miss": {"dims": {"t": 1 << 10}}, "host-dependency-chain": cpp(DESCEND_MANY),
        "host-branches": None, "host-single-thread": None}},
    "biquad_channels": {"task": CLIP, "kernel": cpp(BIQUAD), "bound": ["latency"], "twins": {
        "host-dependency-chain": cpp(BIQUAD_MANY),
        "host-single-thread": cpp(swap(BIQUAD, ("for (int c", PARALLEL + "for (int c"))),
        "host-memory-bandwidth": cpp(BIQUAD.replace("c * l + i]", "c * l + (i & 255)]"))}},
    "modular_product": {"task": RESIDUES, "kernel": cpp(MODULO), "bound": ["compute"], "twins": {
        "host-divisions": cpp(BARRETT, CUT),
        "host-single-thread": cpp(swap(MODULO, ("for (int i", PARALLEL + "for (int i"))),
        "host-memory-bandwidth": cpp(MODULO.replace("[i]", "[i & 2047]"))}},
    "kernel_density": {"task": POINTS, "kernel": cpp(WINDOW), "bound": ["compute"], "twins": {
        "host-divisions": cpp(WINDOW_TIMES), "host-math-calls": None, "host-scalar-loop": None,
        "host-memory-bandwidth": None}},
    "sph_density": {"task": POINTS, "kernel": cpp(SPH), "bound": ["occupancy"], "twins": {
        "host-single-thread": cpp(PARALLEL + SPH), "host-scalar-loop": None, "host-memory-bandwidth": None}},
    "lattice_maturities": {"task": LATTICE, "kernel": cpp(OPTIONS), "bound": ["occupancy"], "twins": {
        "host-imbalance": cpp(swap(OPTIONS, ("static", "dynamic"))), "host-scalar-loop": None}},
    "three_planes": {"task": PLANES, "kernel": cpp(COLORS), "bound": ["occupancy"], "twins": {
        "host-imbalance": cpp(COLORS_TILES), "host-scalar-loop": None, "host-single-thread": None}},
    "dft_twiddles": {"task": FOURIER, "kernel": cpp(DFT), "bound": ["compute"], "twins": {
        "host-math-calls": cpp(DFT_TABLE), "host-divisions": cpp(DFT_STEPS), "host-dependency-chain": cpp(DFT_FOUR)}},
    "four_passes": {"task": {**FLOATS, "dims": {"n": 1 << 22}}, "bound": ["memory"],
        "kernel": cpp("".join(PARALLEL + EVERY + p + " } " for p in PASSES)), "twins": {
            "host-memory-bandwidth": cpp(FUSED), "host-thread-overhead": cpp(ONE_REGION), "host-page-faults": None}},
    "query_arena": {"task": COLUMN, "kernel": cpp(QUERY, MAP), "bound": ["memory"], "twins": {
        "host-page-faults": cpp(swap(QUERY, ("int* const", "static int* const"), ("munmap(arena, n * 4l);", "")), MAP),
        "host-single-thread": cpp(QUERY.replace("for (int i = 0", PARALLEL + "for (int i = 0")
                                  .replace("for (int b", PARALLEL + "for (int b"), MAP), "host-scalar-loop": None}},
    "pixels_aliased": {"task": RAW, "kernel": cpp(DEVELOP, TONE), "bound": ["compute"], "twins": {
        "host-scalar-loop": cpp(DEVELOP, TONE_COPY), "host-single-thread": None,
        "host-memory-bandwidth": cpp(DEVELOP, TONE.replace("[i]", "[i & 2047]"))}},
    "layout_permute": {"task": LAYOUT, "bound": ["latency", "memory"],
        "kernel": cpp(PERMUTE, entry="__attribute__((optimize(\"no-loop-interchange\"))) "), "twins": {
            "host-strided-access": cpp(PERMUTE_TILES), "host-cache-miss": None,
            "host-single-thread": cpp(PARALLEL + PERMUTE)}},
    "vertical_smooth": {"task": FRAME, "kernel": cpp(SMOOTH), "bound": ["latency", "memory"], "twins": {
        "host-strided-access": cpp(SMOOTH_ROWS), "host-single-thread": None, "host-cache-miss": None,
        "host-dependency-chain": cpp(swap(SMOOTH, ("s += 0.2f * (x[i * m + j] - s)", "s = 0.2f * x[i * m + j]")))}},
    "align_diagonals": {"task": STRANDS, "kernel": cpp(ALIGN), "bound": ["launch"], "twins": {
        "host-thread-overhead": cpp(swap(ALIGN, (PARALLEL, ""))), "host-single-thread": None, "host-cache-miss": None}},
    "std_thread_batches": {"task": {**FLOATS, "dims": {"n": 48 << 10}}, "kernel": cpp(BATCHES, SQUASH),
        "bound": ["launch"], "twins": {
            "host-thread-overhead": cpp(BATCHES_ALONE, SQUASH), "host-single-thread": None, "host-scalar-loop": None,
            "host-divisions": cpp(BATCHES, swap(SQUASH, (" / ", " * ")))}},
    "gemm_tiles": {"task": DENSE, "kernel": cpp(GEMM, VECTOR), "bound": ["compute"], "twins": {
        "host-memory-bandwidth": {"dims": {"m": 192}}, "host-strided-access": None, "host-scalar-loop": None,
        "host-dependency-chain": None}},
    "blend": {"task": MIX, "kernel": cpp(BLEND), "bound": ["memory"], "twins": {
        "host-memory-bandwidth": cpp(BLEND_NEAR), "host-page-faults": None, "host-scalar-loop": None}},
}
