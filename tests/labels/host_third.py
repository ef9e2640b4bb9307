"""Third series of host kernels: tasks from many trades, each slow for one planted reason (three are as good as the
machine allows), and twins from which one suspected reason was removed. A twin's key is the finding whose advice it
follows. A twin {"dims": ...} runs the same source on other sizes, per element; None is absent by construction.
"""

V8, V16 = (f"typedef float V __attribute__((vector_size({size}), aligned(4), may_alias));\n" for size in (32, 64))
FOR = "\n#pragma omp parallel for\n"


def cpp(body, before="", entry=""):
    return {"body": body, "before": before, "entry": entry}


def entry(bound, dims, tensors, element, kernel, none, twins):
    """One kernel: tensors as lines of text (name type shape role [init]), and the findings absent by construction."""
    split = [tuple(line.split()) for line in tensors.split(";")]
    head = [f"{'const ' * (t[3] == 'in')}{'float' if t[1] == 'float32' else 'int'}* {t[0]}" for t in split]
    head = ", ".join(head + [f"int {name}" for name in dims])
    twins = {name: twin if "body" in twin else {"dims": twin} for name, twin in twins.items()}
    twins = {"host-" + name: twin for name, twin in {**twins, **dict.fromkeys(none.split())}.items()}
    return {"task": {"dims": dims, "tensors": split, "head": head, "element": element}, "kernel": kernel,
            "bound": bound.split(), "twins": twins}


# Molecular dynamics: springs add fixed-point forces to few atoms.
SPRING_LOOP = """for (int i = 0; i < n; ++i) { long long g = (long long)((x[b[i]] - x[a[i]]) * 65536.f);
    ATOMIC TO[a[i]] += g; ATOMIC TO[b[i]] -= g; }"""
SPRINGS = ("std::vector<long long> sum(t); long long* s = sum.data();" + FOR
           + SPRING_LOOP.replace("ATOMIC", "\n#pragma omp atomic\n").replace("TO", "s")
           + "for (int j = 0; j < t; ++j) f[j] = s[j] / 65536.f;")
SPRINGS_OWN = ("std::vector<long long> s(t);\n#pragma omp parallel\n{ std::vector<long long> o(t);\n#pragma omp for\n"
               + SPRING_LOOP.replace("ATOMIC", "").replace("TO", "o") + "\n#pragma omp critical\n"
               + "for (int j = 0; j < t; ++j) s[j] += o[j]; } for (int j = 0; j < t; ++j) f[j] = s[j] / 65536.f;")
# Inference: a layer that skips the zeros which the activation before it leaves.
SKIP = """for (int r = 0; r < n; ++r) { const float* p = x + (long)r * 64; V s = {};
    for (int i = 0; i < 64; ++i) if (p[i] > 0) s += p[i] * *(const V*)(w + i * 8); *(V*)(y + (long)r * 8) = s; }"""
SKIP_TWO = SKIP.replace("V s = {}", "V s = {}, u = {}").replace("++i) if", "i += 2) { if").replace(
    "(w + i * 8);", "(w + i * 8); if (p[i + 1] > 0) u += p[i + 1] * *(const V*)(w + i * 8 + 8); }").replace(
        "= s;", "= s + u;")
# Boosted trees: features to quantile bins by binary search.
KNOTS = """float knot[255]; for (int k = 0; k < 255; ++k) { float u = (k - 127) / 127.f;
    knot[k] = 2.5f * u * (0.4f + 0.6f * u * u); }""" + FOR
BINS = KNOTS + """for (int i = 0; i < n; ++i) { int lo = 0, hi = 255; float v = x[i]; while (lo < hi) {
    int mid = (lo + hi) / 2; if (knot[mid] < v) lo = mid + 1; else hi = mid; } y[i] = lo; }"""
BINS_FREE = KNOTS + """for (int i = 0; i < n; ++i) { int at = 0; float v = x[i];
    for (int h = 128; h > 0; h /= 2) at += (knot[at + h - 1] < v) * h; y[i] = at; }"""
# Meshes: areas of triangles whose corners lie anywhere in memory.
AREAS = """for (int i = 0; i < n; ++i) {
    const float *a = p + 2L * c[3L * i], *b = p + 2L * c[3L * i + 1], *d = p + 2L * c[3L * i + 2];
    y[i] = 0.5f * __builtin_fabsf((b[0] - a[0]) * (d[1] - a[1]) - (b[1] - a[1]) * (d[0] - a[0])); }"""
AREAS_PACKED = FOR + """for (int s = 0; s < n; s += 64) { const int k = n - s < 64 ? n - s : 64; float g[6][64];
    for (int i = 0; i < k; ++i) for (int e = 0; e < 3; ++e) { const float* a = p + 2L * c[3L * (s + i) + e];
    g[2 * e][i] = a[0]; g[2 * e + 1][i] = a[1]; }
    for (int i = 0; i < k; ++i) y[s + i] = 0.5f * __builtin_fabsf(
        (g[2][i] - g[0][i]) * (g[5][i] - g[1][i]) - (g[3][i] - g[1][i]) * (g[4][i] - g[0][i])); }"""
# Finance: capped GARCH variances, a recurrence along each series.
GARCH = """for (int j = 0; j < m; ++j) { float s = 1; for (int i = 0; i < n; ++i) { float r = x[(long)j * n + i];
    s = 0.05f + 0.1f * r * r + 0.85f * s; s = s < 50.f ? s : 50.f; y[(long)j * n + i] = s; } }"""
GARCH_EIGHT = """int j = 0; for (; j + 8 <= m; j += 8) { float s[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (int i = 0; i < n; ++i) for (int k = 0; k < 8; ++k) { float r = x[(long)(j + k) * n + i];
    s[k] = 0.05f + 0.1f * r * r + 0.85f * s[k]; s[k] = s[k] < 50.f ? s[k] : 50.f; y[(long)(j + k) * n + i] = s[k]; } }
    x += (long)j * n; y += (long)j * n; m -= j;""" + GARCH.replace("int j", "j", 1)
# Storage: FNV hashes of blocks, for deduplication.
FNV = FOR + """for (int i = 0; i < b; ++i) { unsigned h = 2166136261u;
    for (int j = 0; j < l; ++j) h = (h ^ (unsigned)x[(long)i * l + j]) * 16777619u; y[i] = (int)h; }"""
FNV_EIGHT = FOR + """for (int g = 0; g < (b + 7) / 8; ++g) { unsigned h[8]; const int* p[8];
    for (int k = 0; k < 8; ++k) { h[k] = 2166136261u; p[k] = x + (long)(g * 8 + k < b ? g * 8 + k : b - 1) * l; }
    for (int j = 0; j < l; ++j) for (int k = 0; k < 8; ++k) h[k] = (h[k] ^ (unsigned)p[k][j]) * 16777619u;
    for (int k = 0; k < 8 && g * 8 + k < b; ++k) y[g * 8 + k] = (int)h[k]; }"""
# Tensors: a broadcast product that splits each flat index by the shape.
UNRAVEL = """for (int i = 0; i < n; ++i) { int k = i % d, r = i / d; int j = r % w; r = r / w;
    y[i] = x[r % h] * u[j] + v[k]; }"""
UNRAVEL_FREE = """const double id = 1. / d, iw = 1. / w, ih = 1. / h; for (int i = 0; i < n; ++i) {
    int r = (int)((i + 0.5) * id), k = i - r * d, q = (int)((r + 0.5) * iw), j = r - q * w;
    y[i] = x[q - (int)((q + 0.5) * ih) * h] * u[j] + v[k]; }"""
# Bundle adjustment: squared distances of projections over all cameras.
PROJECT = FOR + """for (int s = 0; s < n; s += 512) { const int c = n - s < 512 ? n - s : 512; double e[512] = {};
    double b[3][512]; for (int k = 0; k < 3; ++k) for (int i = 0; i < c; ++i) b[k][i] = p[(long)k * n + s + i];
    for (int k = 0; k < m; ++k) { const double tx = q[k * 3], ty = q[k * 3 + 1], tz = q[k * 3 + 2];
    for (int i = 0; i < c; ++i) { double d = __builtin_fabs(b[2][i] - tz) + 1;
    double u = (b[0][i] - tx) / d, v = (b[1][i] - ty) / d; e[i] += u * u + v * v; } }
    for (int i = 0; i < c; ++i) y[s + i] = e[i]; }"""
PROJECT_FREE = PROJECT.replace("double u =", "d = 1 / d; double u =").replace(") / d", ") * d")
# Games: a lit triangle, rows of growing width.
LIGHTS = "float u = x[j], v = x[i], a = 0, b = 0, t;" + "".join(
    f" t = u * {(k % 7 - 3) / 8}f + v * {(k % 5 - 2) / 8}f; t = t > 0 ? t * t : 0; {'ab'[k % 2]} += t * t;"
    for k in range(48))
RASTER = ("\n#pragma omp parallel for schedule({})\nfor (int i = 0; i < m; ++i) {{ float* o = y + (long)i * m; "
          "for (int j = 0; j <= i; ++j) {{ {} o[j] = a + b; }} for (int j = i + 1; j < m; ++j) o[j] = 0; }}")
# Audio: reverberation and a dry mix as two sections.
REVERB = """static void reverb(const float* x, const float* h, float* y, int s, int c) { float b[1088], o[1024] = {};
    for (int i = 0; i < 64; ++i) b[i] = s ? x[s + i - 64] : 0; for (int i = 0; i < c; ++i) b[i + 64] = x[s + i];
    for (int k = 0; k < 64; k += 4) for (int i = 0; i < c; ++i) { const float* p = b + 64 + i - k;
    o[i] += h[k] * p[0] + h[k + 1] * p[-1] + h[k + 2] * p[-2] + h[k + 3] * p[-3]; }
    for (int i = 0; i < c; ++i) y[s + i] = o[i]; }\n"""
WET = "for (int s = 0; s < n; s += 1024) reverb(x, h, y, s, n - s < 1024 ? n - s : 1024); "
DRY = "for (int i = 0; i < n; ++i) z[i] = x[i] * (0.7f + 0.3f * x[i]); "
# Radio: FM demodulation by the angle between samples.
DEMOD = FOR + """for (int i = 0; i < n; ++i) { float c = i ? a[i - 1] : 1, d = i ? b[i - 1] : 0;
    float re = a[i] * c + b[i] * d, im = b[i] * c - a[i] * d; ANGLE }"""
OWN_ANGLE = """float p = __builtin_fabsf(re), q = __builtin_fabsf(im), g = p > q ? p : q, l = p > q ? q : p;
    float t = l / (g > 1e-30f ? g : 1e-30f); bool far = t > 0.41421356f; t = far ? (t - 1) / (t + 1) : t;
    float s = t * t, f = (((8.05374449538e-2f * s - 1.38776856032e-1f) * s + 1.99777106478e-1f) * s
        - 3.33329491539e-1f) * s * t + t;
    f = far ? f + 0.785398163f : f; f = q > p ? 1.57079633f - f : f; f = re < 0 ? 3.14159265f - f : f;
    y[i] = im < 0 ? -f : f;"""
# Inference: one row of activations times a big matrix.
DOT = """static float dot(const float* a, const float* b, int m) { V s[COUNT] = {}; int i = 0;
    for (; i + 8 * COUNT <= m; i += 8 * COUNT)
    for (int k = 0; k < COUNT; ++k) s[k] += *(const V*)(a + i + 8 * k) * *(const V*)(b + i + 8 * k); float t = 0;
    for (int k = 0; k < COUNT; ++k) for (int l = 0; l < 8; ++l) t += s[k][l]; for (; i < m; ++i) t += a[i] * b[i];
    return t; }\n"""
GEMV = FOR + "for (int i = 0; i < m; ++i) y[i] = dot(w + (long)i * m, x, m);"
DOT4, DOT8 = V8 + DOT.replace("COUNT", "4"), V8 + DOT.replace("COUNT", "8")
# Databases: first occurrences of ids, with a fresh map of visits per query.
VISIT = """unsigned char* seen = (unsigned char*)calloc(t, 1); for (int i = 0; i < n; ++i) { const int id = at[i];
    if (seen[id]) first[i] = 0; else { seen[id] = 1; first[i] = 1; } } free(seen);"""
VISIT_KEPT = VISIT.replace("unsigned char* seen = (unsigned char*)calloc(t, 1);", "static std::vector<char> seen; "
                           "if (seen.size() < t) seen.resize(t);").replace("free(seen)", (
                               "for (int i = 0; i < n; ++i) seen[at[i]] = 0"))
# Inference: a convolution through a matrix of shifted copies.
IM2COL = """for (int k = 0; k < 36; ++k) { float* o = col + (long)k * n; const int c = n > k ? n - k : 0;
    for (int i = 0; i < c; ++i) o[i] = x[i + k]; for (int i = c; i < n; ++i) o[i] = 0; }
    BLOCKS for (int s = 0; s < n; s += 1024) { const int e = n - s < 1024 ? n : s + 1024; float o[1024] = {};
    for (int k = 0; k < 36; ++k) for (int i = s; i < e; ++i) o[i - s] += w[k] * col[(long)k * n + i];
    for (int i = s; i < e; ++i) y[i] = o[i - s]; }"""
FRESH, KEPT = "float* col = new float[36L * n]; {} delete[] col;", (
    "static std::vector<float> c; if (c.size() < 36L * n) c.resize(36L * n); float* col = c.data(); {}")
ONE, TWO = IM2COL.replace("BLOCKS", ""), FOR + IM2COL.replace("BLOCKS", FOR)
DIRECT = """for (int s = 0; s < n; s += 1024) { const int c = n - s < 1024 ? n - s : 1024; float o[1024] = {}, b[1060];
    for (int i = 0; i < c + 35; ++i) b[i] = s + i < n ? x[s + i] : 0; for (int k = 0; k < 36; ++k)
    for (int i = 0; i < c; ++i) o[i] += w[k] * b[i + k]; for (int i = 0; i < c; ++i) y[s + i] = o[i]; }"""
# Physics: an equation of state that stops a row at the first invalid value.
STATE = ("float v = x[(long)r * l + j], u = v * v / 4, a = 1, b = 1;" + "".join(
    f" a = a * u + {0.1 + k / 64}f; b = b * u - {0.2 + k / 128}f;" for k in range(6)) * 4
         + " const float e = a / 8 + v * b;")
EOS = FOR + "for (int r = 0; r < m; ++r) { int j = 0; for (; j < l; ++j) { " + STATE + """if (e != e) break;
    y[(long)r * l + j] = e; } for (; j < l; ++j) y[(long)r * l + j] = 0; }"""
EOS_FLAG = FOR + "for (int r = 0; r < m; ++r) { int bad = 0; for (int j = 0; j < l; ++j) { " + STATE + """bad |= e != e;
    y[(long)r * l + j] = e; } for (int j = 0; bad && j < l; ++j) y[(long)r * l + j] = 0; }"""
SCALAR = "\n#pragma GCC optimize(\"no-tree-vectorize\")\n"
# Inference: an activation behind a virtual call per element.
HARD = """float g = (v + 3) * 0.16666667f, a = 1, b = 1; g = g < 0 ? 0 : g; g = g > 1 ? 1 : g; g = v * g;
    for (int k = 0; k < 6; ++k) { a = a * g + 0.3f; b = b * g - 0.2f; a = a < 8 ? a : 8; b = b > -8 ? b : -8; }
    return a + v * b;"""
CALLED = """struct Layer { virtual ~Layer() {} virtual float at(float) const = 0; }; struct Hard : Layer {
    float at(float v) const override { BODY } }; struct Plain : Layer { float at(float v) const override {
    return v > 0 ? v : 0; } }; __attribute__((noipa)) static Layer* chosen(int k) { static Hard h; static Plain p;
    return k ? (Layer*)&h : &p; }
""".replace("BODY", HARD)
ACTIVATE = "const Layer* f = chosen(1); {}for (int i = 0; i < n; ++i) y[i] = f->at(x[i]);"
# Search: Manhattan distances of descriptors, 128 points at a time in registers.
NEAREST = """LOOP for (int o = 0; o < m; o += 64)
    for (int s = 0; s < n; s += 128) for (int q = o; q < m && q < o + 64; ++q) { V a[8] = {}, z[8] = {};
    if (s + 128 <= n) { for (int k = 0; k < d; k += STEP) { PART }
    for (int u = 0; u < 8; ++u) *(V*)(y + (long)q * n + s + 16 * u) = a[u] + z[u]; } else for (int j = s; j < n; ++j) {
    float t = 0; for (int k = 0; k < d; ++k) t += __builtin_fabsf(p[(long)k * n + j] - x[(long)q * d + k]);
    y[(long)q * n + j] = t; } }"""
FAR = """{ const float* r = p + (long)(KK) * n + s; float v = x[(long)q * d + KK]; for (int u = 0; u < 8; ++u) {
    V t = *(const V*)(r + 16 * u) - v; SUM[u] += t < 0 ? -t : t; } }"""
NEAREST_ONE = NEAREST.replace("STEP", "1").replace("PART", FAR.replace("KK", "k").replace("SUM", "a"))
NEAREST_TWO = NEAREST.replace("STEP", "2").replace("PART", FAR.replace("KK", "k").replace("SUM", "a")
                                                   + "if (k + 1 < d)" + FAR.replace("KK", "k + 1").replace("SUM", "z"))
# Statistics: mean and variance of each column, column by column.
COLUMN = """__attribute__((noinline)) static void column(const float* p, int r, int c, float* mean, float* var) {
    double s = 0, q = 0; for (int i = 0; i < r; ++i) { double v = p[(long)i * c]; s += v; q += v * v; } *mean = s / r;
    *var = q / r - s / r * (s / r); }\n"""
COLUMN_TWO = COLUMN.replace("q = 0; for (int i = 0; i < r; ++i) {", """q = 0, a = 0, b = 0; int i = 0;
    for (; i + 2 <= r; i += 2) { double v = p[(long)i * c], w = p[(long)i * c + c]; s += v; q += v * v; a += w;
    b += w * w; } s += a; q += b; for (; i < r; ++i) {""")
COLUMNS = "for (int j = 0; j < c; ++j) column(x + j, r, c, y + j, z + j);"
ROWS = """std::vector<double> s(c), q(c); for (int i = 0; i < r; ++i) for (int j = 0; j < c; ++j) {
    double v = x[(long)i * c + j]; s[j] += v; q[j] += v * v; } for (int j = 0; j < c; ++j) { y[j] = s[j] / r;
    z[j] = q[j] / r - s[j] / r * (s[j] / r); }"""
# Robots: a small network, each layer its own parallel region.
MLP = """for (int i = 0; i < n; ++i) { float a[32], b[32]; for (int k = 0; k < 32; ++k) a[k] = x[(long)i * 32 + k];
    for (int l = 0; l < 3; ++l) { REGION for (int o = 0; o < 32; ++o) { SUM b[o] = s > 0 ? s / 4 : 0; }
    for (int k = 0; k < 32; ++k) a[k] = b[k]; } for (int k = 0; k < 32; ++k) y[(long)i * 32 + k] = a[k]; }"""
SUM_ONE = "float s = 0; for (int k = 0; k < 32; ++k) s += w[(l * 32 + o) * 32 + k] * a[k];"
SUM_EIGHT = ("float e[8] = {}, s = 0; for (int k = 0; k < 32; k += 8) for (int u = 0; u < 8; ++u) "
             "e[u] += w[(l * 32 + o) * 32 + k + u] * a[k + u]; for (float v : e) s += v;")
# Physics: soft repulsion of all pairs, 32 targets in registers (as good as it gets).
PAIRS = "\n#pragma omp parallel for SHARES\n" + """for (int s = 0; s < n; s += 32) {
    const int c = n - s < 32 ? n - s : 32; float b[3][32] = {}; for (int e = 0; e < 3; ++e)
    for (int i = 0; i < c; ++i) b[e][i] = p[(long)e * n + s + i]; V t[3][2], f[3][2] = {}; for (int e = 0; e < 3; ++e)
    for (int u = 0; u < 2; ++u) t[e][u] = *(V*)(b[e] + 16 * u); for (int j = 0; j < n; ++j)
    for (int u = 0; u < 2; ++u) { V dx = t[0][u] - p[j], dy = t[1][u] - p[n + j];
    V dz = t[2][u] - p[2L * n + j], g = 1 - 0.25f * (dx * dx + dy * dy + dz * dz); g = g > 0 ? g * g : V{};
    f[0][u] += g * dx; f[1][u] += g * dy; f[2][u] += g * dz; } for (int e = 0; e < 3; ++e) {
    for (int u = 0; u < 2; ++u) *(V*)(b[e] + 16 * u) = f[e][u];
    for (int i = 0; i < c; ++i) y[(long)e * n + s + i] = b[e][i]; } }"""
# Audio: four long tracks to one (as good as it gets).
MIX = "\n#pragma omp parallel for SHARES\n" + """for (int s = 0; s < n; s += 2048) {
    const int c = n - s < 2048 ? n - s : 2048; const float *a = x + FROM, *b = a + n, *d = b + n, *e = d + n;
    float* o = y + FROM; for (int i = 0; i < c; ++i) o[i] = 0.4f * a[i] + 0.3f * b[i] + 0.2f * d[i] + 0.1f * e[i]; }"""
MIX_NEAR = MIX.replace("FROM", "(s < n / 2 ? 0 : n / 4096 * 2048)").replace("SHARES", "")
# Monte Carlo: Philox counters to uniform numbers (as good as it gets).
PHILOX = "\n#pragma omp parallel for simd schedule(SHARES)\n" + """for (int i = 0; i < n; ++i) {
    unsigned a = i, b = 7, c = 1, d = 0, k = key[0], q = key[1]; for (int r = 0; r < 10; ++r) {
    unsigned long long u = 0xD2511F53ull * a, v = 0xCD9E8D57ull * c; a = (unsigned)(v >> 32) ^ b ^ k; b = (unsigned)v;
    c = (unsigned)(u >> 32) ^ d ^ q; d = (unsigned)u; k += 0x9E3779B9u; q += 0xBB67AE85u; }
    y[i] = (int)((a ^ b ^ c ^ d) >> 8) * 0x1p-24f; }"""


def shares(code, kind):
    return code.replace("parallel for", f"parallel for schedule({kind})")


ATAN, CALLOC = DEMOD.replace("ANGLE", "y[i] = std::atan2(im, re);"), "#include <cstdlib>"
KERNELS = {
    "spring_forces": entry("latency", {"n": 1 << 17, "t": 64},
        "x float32 t in; a int32 n in indices(t); b int32 n in indices(t); f float32 t out", "n", cpp(SPRINGS),
        "single-thread", {"atomics": cpp(SPRINGS_OWN), "cache-miss": dict(t=16), "memory-bandwidth": dict(n=1 << 15)}),
    "relu_skip": entry("latency", {"n": 4096}, "x float32 n,64 in; w float32 64,8 in; y float32 n,8 out", "n",
        cpp(SKIP, V8), "scalar-loop", {"branches": cpp(SKIP.replace("if (p[i] > 0) s += p[i]",
        "s += (p[i] > 0 ? p[i] : 0)"), V8), "dependency-chain": cpp(SKIP_TWO, V8), "single-thread": cpp(FOR + SKIP,
        V8), "memory-bandwidth": dict(n=2048)}),
    "quantile_bins": entry("latency", {"n": 1 << 17}, "x float32 n in; y int32 n out", "n", cpp(BINS),
        "single-thread cache-miss", {"branches": cpp(BINS_FREE), "memory-bandwidth": dict(n=1 << 16),
        "imbalance": cpp(shares(BINS, "dynamic, 1024"))}),
    "triangle_areas": entry("latency memory", {"n": 1 << 16, "t": 1 << 23},
        "p float32 t,2 in; c int32 n,3 in indices(t); y float32 n out", "n", cpp(FOR + AREAS), "single-thread",
        {"cache-miss": dict(t=1 << 12), "scalar-loop": cpp(AREAS_PACKED), "imbalance": cpp(shares(FOR + AREAS,
        "dynamic, 1024"))}),
    "garch_paths": entry("latency", {"m": 16, "n": 16000}, "x float32 m,n in; y float32 m,n out", "m*n", cpp(GARCH),
        "divisions", {"dependency-chain": cpp(GARCH_EIGHT), "single-thread": cpp(FOR + GARCH),
        "memory-bandwidth": dict(n=8000)}),
    "fnv_blocks": entry("latency", {"b": 256, "l": 4000, "t": 1 << 30}, "x int32 b,l in indices(t); y int32 b out",
        "b*l", cpp(FNV), "single-thread", {"dependency-chain": cpp(FNV_EIGHT), "memory-bandwidth": dict(b=128),
        "imbalance": cpp(shares(FNV, "dynamic, 4"))}),
    "unravel_index": entry("compute", {"n": 1 << 18, "h": 56, "w": 57, "d": 65},
        "x float32 h in; u float32 w in; v float32 d in; y float32 n out", "n", cpp(UNRAVEL), "math-calls",
        {"divisions": cpp(UNRAVEL_FREE), "single-thread": cpp(FOR + UNRAVEL), "cache-miss": dict(h=9, w=7, d=17),
        "memory-bandwidth": dict(n=1 << 16)}),
    "reprojection": entry("compute", {"n": 1 << 16, "m": 128}, "p float32 3,n in; q float32 m,3 in; y float32 n out",
        "n*m", cpp(PROJECT), "scalar-loop single-thread", {"divisions": cpp(PROJECT_FREE),
        "memory-bandwidth": dict(n=1 << 15), "imbalance": cpp(shares(PROJECT, "dynamic"))}),
    "triangle_raster": entry("occupancy", {"m": 1536}, "x float32 m in; y float32 m,m out", "m*m",
        cpp(RASTER.format("static", LIGHTS)), "scalar-loop single-thread",
        {"imbalance": cpp(RASTER.format("dynamic, 8", LIGHTS)), "memory-bandwidth": dict(m=1024),
        "thread-overhead": cpp(RASTER.format("static", LIGHTS).replace("#pragma", "//"))}),
    "audio_sections": entry("occupancy", {"n": 1 << 20},
        "x float32 n in; h float32 64 in; y float32 n out; z float32 n out", "n",
        cpp("\n#pragma omp parallel sections\n{\n#pragma omp section\n" + WET + "\n#pragma omp section\n" + DRY + "}",
        REVERB), "scalar-loop", {"imbalance": cpp(FOR + WET + FOR + DRY, REVERB), "thread-overhead": cpp(WET + DRY,
        REVERB), "memory-bandwidth": dict(n=1 << 18)}),
    "fm_demod": entry("compute", {"n": 1 << 17}, "a float32 n in; b float32 n in; y float32 n out", "n", cpp(ATAN),
        "single-thread", {"math-calls": cpp(DEMOD.replace("ANGLE", OWN_ANGLE)), "memory-bandwidth": dict(n=1 << 15),
        "imbalance": cpp(shares(ATAN, "dynamic, 2048"))}),
    "gemv_row": entry("memory", {"m": 3000}, "w float32 m,m in; x float32 m in; y float32 m out", "m*m", cpp(GEMV,
        DOT4), "scalar-loop single-thread", {"memory-bandwidth": cpp(GEMV.replace("(long)i", "(long)(i % 2)"), DOT4),
        "dependency-chain": cpp(GEMV, DOT8), "imbalance": cpp(shares(GEMV, "dynamic, 64"), DOT4)}),
    "first_visits": entry("memory", {"n": 4096, "t": 1 << 26}, "at int32 n in indices(t); first int32 n out", "n",
        cpp(VISIT, CALLOC), "dependency-chain", {"page-faults": cpp(VISIT_KEPT),
        "cache-miss": cpp(VISIT.replace("at[i]", "(int)((long)i * t / n)"), CALLOC),
        "branches": cpp(VISIT.replace("if (seen[id]) first[i] = 0; else { seen[id] = 1; first[i] = 1; }",
        "first[i] = 1 - seen[id]; seen[id] = 1;"), CALLOC)}),
    "im2col_fresh": entry("memory", {"n": 234000}, "x float32 n in; w float32 36 in; y float32 n out", "n",
        cpp(FRESH.format(ONE)), "scalar-loop strided-access", {"page-faults": cpp(KEPT.format(ONE)),
        "memory-bandwidth": cpp(DIRECT), "single-thread": cpp(FRESH.format(TWO))}),
    "eos_checked": entry("compute", {"m": 256, "l": 1024}, "x float32 m,l in; y float32 m,l out", "m*l", cpp(EOS),
        "single-thread math-calls", {"scalar-loop": cpp(EOS_FLAG), "branches": cpp(EOS_FLAG, SCALAR),
        "memory-bandwidth": dict(m=64)}),
    "virtual_activation": entry("compute", {"n": 1 << 18}, "x float32 n in; y float32 n out", "n",
        cpp(ACTIVATE.format(""), CALLED), "divisions math-calls",
        {"scalar-loop": cpp("for (int i = 0; i < n; ++i) y[i] = at(x[i]);",
        "static float at(float v) { " + HARD + " }"), "single-thread": cpp(ACTIVATE.format(FOR), CALLED),
        "memory-bandwidth": dict(n=1 << 16)}),
    "manhattan_search": entry("occupancy", {"m": 8000, "n": 384, "d": 64},
        "x float32 m,d in; p float32 d,n in; y float32 m,n out", "m*n*d", cpp(NEAREST_ONE.replace("LOOP", ""), V16),
        "scalar-loop", {"single-thread": cpp(NEAREST_ONE.replace("LOOP", FOR), V16),
        "dependency-chain": cpp(NEAREST_TWO.replace("LOOP", ""), V16), "memory-bandwidth": dict(m=4000)}),
    "column_stats": entry("latency memory", {"r": 1024, "c": 2048},
        "x float32 r,c in; y float32 c out; z float32 c out", "r*c", cpp(COLUMNS, COLUMN), "",
        {"strided-access": cpp(ROWS), "dependency-chain": cpp(COLUMNS, COLUMN_TWO), "single-thread": cpp(FOR + COLUMNS,
        COLUMN)}),
    "tiny_mlp": entry("launch", {"n": 32}, "x float32 n,32 in; w float32 3,32,32 in; y float32 n,32 out", "n",
        cpp(MLP.replace("REGION", FOR).replace("SUM", SUM_ONE)), "single-thread imbalance",
        {"thread-overhead": cpp(MLP.replace("REGION", "").replace("SUM", SUM_ONE)),
        "dependency-chain": cpp(MLP.replace("REGION", FOR).replace("SUM", SUM_EIGHT)),
        "memory-bandwidth": dict(n=16)}),
    "soft_repulsion": entry("compute", {"n": 4096}, "p float32 3,n in; y float32 3,n out", "n*n",
        cpp(PAIRS.replace("SHARES", ""), V16), "scalar-loop single-thread math-calls",
        {"imbalance": cpp(PAIRS.replace("SHARES", "schedule(dynamic)"), V16), "memory-bandwidth": dict(n=2048)}),
    "track_mix": entry("memory", {"n": 1 << 21}, "x float32 4,n in; y float32 n out", "n", cpp(MIX.replace("SHARES",
        "").replace("FROM", "s")), "scalar-loop single-thread page-faults", {"memory-bandwidth": cpp(MIX_NEAR),
        "imbalance": cpp(MIX.replace("FROM", "s").replace("SHARES", "schedule(dynamic, 8)"))}),
    "philox_uniforms": entry("compute", {"n": 1 << 20, "t": 1 << 20}, "key int32 2 in indices(t); y float32 n out",
        "n", cpp(PHILOX.replace("SHARES", "static")), "scalar-loop single-thread dependency-chain",
        {"memory-bandwidth": dict(n=1 << 18), "imbalance": cpp(PHILOX.replace("SHARES", "dynamic, 8192"))}),
}
