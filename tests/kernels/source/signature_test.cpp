#include "kernels/source/signature.h"

#include <catch2/catch_test_macros.hpp>
#include <cstdint>
#include <string>

using namespace ratchet;

namespace {

/// "x:tensor:float32:const y:tensor:float32 n:dim:int32": a signature in one line.
std::string shape(std::string_view source, std::string_view entry = "solve") {
  const auto signature = parse_signature(source, entry);
  if (!signature) return "error: " + signature.error().message;
  std::string text;
  for (const auto& parameter : signature->parameters) {
    text += text.empty() ? "" : " ";
    text += parameter.name + ":" + std::string(name_of(parameter.kind)) + ":" +
            std::string(name_of(parameter.dtype)) + (parameter.is_const ? ":const" : "");
  }
  return text;
}

constexpr std::string_view kPlain = "x:tensor:float32:const y:tensor:float32 n:dim:int32";

}  // namespace

TEST_CASE("different spellings of the same entry read alike", "[signature]") {
  CHECK(shape("extern \"C\" void solve(const float* x, float* y, int n) {}") == kPlain);
  CHECK(shape("extern \"C\" { void solve(float const *x, float *y, int n) {} }") == kPlain);
  CHECK(shape("extern \"C\" __attribute__((visibility(\"default\"))) void solve(const float* "
              "__restrict__ x,\n"
              "    float* __restrict y, const int n) noexcept {}") == kPlain);
  CHECK(shape("[[gnu::flatten]] extern \"C\" void solve(const float x[], float y[4], int n);\n") ==
        kPlain);
  CHECK(shape("#define API extern \"C\" __attribute__((used))\nAPI void solve(const "
              "float*x,float*y,int n){}") == kPlain);
  CHECK(shape("using real = float; typedef const real* In;\n"
              "extern \"C\" void solve(In x, real* y, signed n) {}") == kPlain);
  CHECK(shape("#ifdef __cplusplus\nextern \"C\" {\n#endif\nvoid solve(const float* x, float* y, "
              "int n);\n"
              "#ifdef __cplusplus\n}\n#endif\n") == kPlain);
}

TEST_CASE("the line of an entry is that of its declaration, not of a comment or a call",
          "[signature]") {
  CHECK(line_of_entry("// solve(x)\nvoid resolve(int);\nvoid\nsolve (int n) {}\n", "solve") == 4);
  CHECK(line_of_entry("int other();\n", "solve") == 0);
  CHECK(place_of_entry({"k.cpp", "\nvoid solve(int n);", ""}, "solve") == "k.cpp:2: ");
  CHECK(place_of_entry({"k.cpp", "x", ""}, "solve") == "k.cpp: ");
}

TEST_CASE("a difference names the first parameter that differs", "[signature]") {
  const auto difference = [](std::string_view seen, std::string_view wanted) {
    return parameter_difference("solve", parse_signature(seen, "solve")->parameters, "the contract",
                                parse_signature(wanted, "solve")->parameters);
  };
  CHECK(difference("void solve(const float* x, double* y, int n) {}",
                   "void solve(const float* x, float* y, int n) {}") ==
        "parameter 2 of solve is y (pointer to float64), but that of the contract is y (pointer to "
        "float32)");
  CHECK(difference("void solve(const float* x) {}", "void solve(const float* x, int n) {}") ==
        "solve takes 1 parameters, but the contract takes 2");
}

TEST_CASE("comments, strings, dead code and calls are not the entry", "[signature]") {
  const auto source = R"src(
// extern "C" void solve(double* wrong) {}
/* extern "C" void solve(int wrong) { */
const char* text = "extern \"C\" void solve(char* wrong) {";
const char* raw = R"(void solve(long* wrong) {})";
#if 0
extern "C" void solve(short* wrong) {}
#endif
struct Other { void solve(double* wrong) {} };
__global__ void solve_kernel(const float* x) {}
static void helper() { void (*f)(int) = nullptr; if (f) { solve(1); } }
extern "C" void solve(const float* x,  // input, with a comma
                      float* y /* output (n) */, int n) { helper(); }
)src";

  CHECK(shape(source) == kPlain);
}

TEST_CASE("every documented type is understood", "[signature]") {
  CHECK(shape("extern \"C\" void solve(const __half* a, half* b, __nv_bfloat16* c, nv_bfloat16* d,"
              "__nv_fp8_e4m3* e, __nv_fp8_e5m2* f, bool* g, double* h) {}") ==
        "a:tensor:float16:const b:tensor:float16 c:tensor:bfloat16 d:tensor:bfloat16 "
        "e:tensor:float8_e4m3 f:tensor:float8_e5m2 g:tensor:bool h:tensor:float64");
  CHECK(
      shape("extern \"C\" void solve(std::int8_t* a, uint8_t* b, short* c, unsigned short* d, "
            "unsigned* e,"
            "long long* f, unsigned long int* g, size_t* h, char* i, unsigned char* j) {}") ==
      "a:tensor:int8 b:tensor:uint8 c:tensor:int16 d:tensor:uint16 e:tensor:uint32 f:tensor:int64 "
      "g:tensor:uint64 h:tensor:uint64 i:tensor:int8 j:tensor:uint8");
  CHECK(shape("extern \"C\" void solve(long long a, std::size_t b, unsigned c, int64_t d, float e, "
              "double f,"
              "bool g, cudaStream_t s) {}") ==
        "a:dim:int64 b:dim:int64 c:dim:uint32 d:dim:int64 e:scalar:float32 f:scalar:float64 "
        "g:scalar:bool s:stream:uint64");
}

TEST_CASE("names that contain keywords keep their names", "[signature]") {
  CHECK(shape("extern \"C\" void solve(float* constants, int int_count) {}") ==
        "constants:tensor:float32 int_count:dim:int32");
}

TEST_CASE("a prototype before the definition does no harm, another parameter list does",
          "[signature]") {
  CHECK(shape("extern \"C\" void solve(const float*, float*, int);\n"
              "void solve(const float* x, float* y, int n) {}") == kPlain);
  CHECK(shape("extern \"C\" void solve(const float* x, int n);\n"
              "extern \"C\" void solve(const float* x, float* y, int n) {}")
            .find("different parameter lists") != std::string::npos);
}

TEST_CASE("a missing extern C is flagged and its header compiles to the same types",
          "[signature]") {
  const auto signature = parse_signature(
      "void solve(const __half* __restrict__ x, float y[], unsigned long long n, cudaStream_t s) "
      "{}",
      "solve");

  REQUIRE(signature);
  CHECK_FALSE(signature->extern_c);
  const auto header = declaration_header(*signature);
  CHECK(header.find("#include <cuda_fp16.h>") != std::string::npos);
  CHECK(header.find(
            "extern \"C\" void solve(const __half*, float*, unsigned long long, cudaStream_t);") !=
        std::string::npos);
}

TEST_CASE("HIP's types and its compiler's branches are read", "[signature]") {
  const auto signature = parse_signature(
      "#ifdef __HIP_PLATFORM_AMD__\n"
      "extern \"C\" void solve(const __half* x, hip_bfloat16* y, int n, hipStream_t s) {}\n"
      "#else\nextern \"C\" void solve(float* x) {}\n#endif\n",
      "solve", {Language::hip, {}});

  REQUIRE(signature);
  CHECK(signature->parameters.at(1).dtype == DType::bf16);
  CHECK(signature->parameters.at(3).kind == ParameterKind::stream);
  const auto header = declaration_header(*signature, Language::hip);
  for (const auto* name : {"hip/hip_fp16.h", "hip/hip_bfloat16.h", "hip/hip_runtime.h"})
    CHECK(header.find(name) != std::string::npos);
  CHECK(header.find("cuda") == std::string::npos);
}

TEST_CASE("return types and attributes may stand where people put them", "[signature]") {
  const std::string list = "(const float* x, float* y, int n) {}";
  CHECK(shape("extern \"C\" void __attribute__((noinline)) solve" + list) == kPlain);
  CHECK(shape("extern \"C\" __declspec(dllexport) void CUDARTAPI solve" + list) == kPlain);
  CHECK(shape("extern \"C\" auto solve(const float* x, float* y, int n) -> void {}") == kPlain);
  CHECK(shape("extern \"C\" [[gnu::hot]] void [[deprecated]] solve" + list).find("error") ==
        std::string::npos);
  CHECK(shape("extern \"C\" void* solve" + list).find("return void") != std::string::npos);
  CHECK(shape("extern \"C\" auto solve(int n) -> int { return n; }").find("return void") !=
        std::string::npos);
}

TEST_CASE("only active branches are read", "[signature]") {
  const auto source = [](const std::string& condition) {
    return condition +
           "\nextern \"C\" void solve(const float* x, float* y, int n) {}\n#else\n"
           "extern \"C\" void solve(double* z) {}\n#endif\n";
  };
  constexpr std::string_view kOther = "z:tensor:float64";
  for (const auto* holds : {"#if 1", "#ifdef __CUDACC__", "#if defined(__NVCC__) && 2 > 1",
                            "#ifndef LOCAL", "#if CUDART_VERSION >= 12000", "#if !defined LOCAL",
                            "#define A B\n#define B 3\n#if A == 3", "#if __has_include(<x.h>)"})
    CHECK(shape(source(holds)) == kPlain);
  for (const auto* fails : {"#if 0", "#ifdef LOCAL", "#if LOCAL", "#if defined(__HIP__)",
                            "#define A 1\n#undef A\n#ifdef A", "#if (1 + 2) * 3 != 9 || 0"})
    CHECK(shape(source(fails)) == kOther);
  const auto named =
      parse_signature(source("#ifdef LOCAL"), "solve", {Language::cuda, {"-DLOCAL"}});
  REQUIRE(named);
  CHECK(named->parameters.size() == 3);
}

TEST_CASE("overloads and templates of the same name are other functions", "[signature]") {
  CHECK(shape("template <class T> void solve(T* x, int n) {}\n"
              "void solve(double* x, int n) {}\n"
              "extern \"C\" void solve(const float* x, float* y, int n) { solve(y, n); }") ==
        kPlain);
  CHECK(shape("void solve(const std::vector<float>& x) {}\n"
              "void solve(const float* x, float* y, int n) {}") == kPlain);
  CHECK(shape("extern \"C\" void solve(const float*, float*, int);\n"
              "using real = float;\n"
              "void solve(const real* x, real* y, const int n = 5) {}") == kPlain);
}

TEST_CASE("a constant pointer is not a pointer to constants", "[signature]") {
  CHECK(shape("typedef float* Out; using In = const float*;\n"
              "extern \"C\" void solve(const In x, const Out y, int n) {}") == kPlain);
  CHECK(shape("#define IN float*\nextern \"C\" void solve(const IN x, float* const y, int n) {}") ==
        kPlain);
}

TEST_CASE("byte order marks, line endings and other scripts are accepted", "[signature]") {
  CHECK(shape("\xef\xbb\xbf"
              "extern \"C\" {\r\nvoid solve(const float* x,\r\n  float* y, \\\r\n int "
              "n)\r\n{}\r\n}\r\n") == kPlain);
  CHECK(shape("// \u77e9\u9635\nextern \"C\" void solve(float* \u00fcber, int n) {}") ==
        "\u00fcber:tensor:float32 n:dim:int32");
  CHECK(shape(std::string_view("\xff\xfe"
                               "e\0x\0",
                               6))
            .find("UTF-16") != std::string::npos);
}

TEST_CASE("a noexcept entry is declared as one", "[signature]") {
  const auto signature = parse_signature("void solve(float* y) noexcept {}", "solve");
  REQUIRE(signature);
  CHECK(declaration_header(*signature).find("void solve(float*) noexcept;") != std::string::npos);
}

TEST_CASE("CUTLASS's types are declared in their namespace", "[signature]") {
  const auto signature = parse_signature(
      "using namespace cute;\nextern \"C\" void solve(const half_t* a, cute::bfloat16_t* b, "
      "const cutlass::half_t* c, int n) {}",
      "solve");
  REQUIRE(signature);
  const auto header = declaration_header(*signature);
  CHECK(header.find("solve(const cutlass::half_t*, cutlass::bfloat16_t*, const cutlass::half_t*, "
                    "int)") != std::string::npos);
  CHECK(header.find("cutlass/numeric_types.h") != std::string::npos);
  const auto own = parse_signature("typedef __half half_t;\nvoid solve(half_t* a) {}", "solve");
  REQUIRE(own);
  CHECK(declaration_header(*own).find("solve(__half*)") != std::string::npos);
}

TEST_CASE("functions that may be meant as the entry are named", "[signature]") {
  const auto hint = [](std::string_view source) {
    return parse_signature(source, "solve").error().hint;
  };
  CHECK(hint("extern \"C\" void forward(float* x) {}").find("forward") != std::string::npos);
  CHECK(
      hint("__global__ void f(float* x) { x[0] = 1;\nextern \"C\" void solve(float* x) {}\n// end")
          .find("not closed") != std::string::npos);
  CHECK(shape("inline void solve(float* x) {}").find("inline") != std::string::npos);
  CHECK(shape("namespace { extern \"C\" void solve(float* x) {} }").find("unnamed") !=
        std::string::npos);
}

TEST_CASE("unreadable parameters are quoted with the accepted forms", "[signature]") {
  const auto error =
      parse_signature("extern \"C\" void solve(const float4* x, int n) {}", "solve").error();
  CHECK(error.message.find("const float4* x") != std::string::npos);
  CHECK(error.hint.find("[const] T* name") != std::string::npos);
  for (const auto* list : {"void* p", "float** p", "float& p", "std::vector<float> v", "half x",
                           "float*", "long double x", "int n, int n", "..."})
    CHECK_FALSE(parse_signature("extern \"C\" void solve(" + std::string(list) + ") {}", "solve"));
}

TEST_CASE("an entry that cannot be called is refused with the reason", "[signature]") {
  CHECK(shape("__global__ void solve(float* x) {}").find("device code") != std::string::npos);
  CHECK(shape("static void solve(float* x) {}").find("static") != std::string::npos);
  CHECK(shape("namespace a { void solve(float* x) {} }").find("namespace") != std::string::npos);
  CHECK(shape("extern \"C\" int solve(float* x) { return 0; }").find("return void") !=
        std::string::npos);
  CHECK(shape("int main() {}").find("is not defined") != std::string::npos);
  CHECK(shape("namespace a { extern \"C\" void solve(float* x) {} }") == "x:tensor:float32");
}

TEST_CASE("truncated sources give an error, not a crash", "[signature]") {
  for (const auto* source :
       {"extern \"C\" void solve(", "extern \"C\" void solve(float* x", "\"abc", "R\"(", "/* open",
        "extern \"C\" {", "#define", "#if 0\n", "\\", "}}}}", "solve("})
    CHECK_FALSE(parse_signature(source, "solve"));
}

TEST_CASE("macros that multiply cost no more than their text", "[signature]") {
  // Ten levels of ten words each would be 10^10 words, or as many that stand for nothing.
  for (const std::string word : {"int", ""}) {
    std::string source = "#define A0 " + word + "\n";
    for (int i = 1; i <= 10; ++i) {
      source += "#define A" + std::to_string(i);
      for (int k = 0; k < 10; ++k) source += " A" + std::to_string(i - 1);
      source += "\n";
    }
    CHECK_FALSE(parse_signature(source + "extern \"C\" void solve(A10* x) {}", "solve"));
  }
  CHECK(shape("#define REAL float\n#define IN const REAL* __restrict__\n"
              "extern \"C\" void solve(IN x, REAL* y, int n) {}") == kPlain);
}

TEST_CASE("a function in a function's parameters is no kernel", "[signature]") {
  std::string nested = "__global__ void f";
  for (int i = 0; i < 20'000; ++i) nested += "(a";
  CHECK(kernel_names(nested + std::string(20'000, ')') + " {}") == std::vector<std::string>{"f"});
  CHECK(kernel_names("__global__ void __launch_bounds__(256, 2) f(void (*g)(int)) {}") ==
        std::vector<std::string>{"f"});
}

TEST_CASE("a parameter may be named like its type", "[signature]") {
  const auto signature =
      parse_signature("extern \"C\" void solve(float* x, size_t size_t) {}", "solve");
  REQUIRE(signature);
  CHECK(signature->types == std::vector<std::string>{"float*", "size_t"});
}

TEST_CASE("an array in a default value makes no pointer of the parameter", "[signature]") {
  const auto signature =
      parse_signature("extern \"C\" void solve(float y[4], int n = sizes[0]) {}", "solve");
  REQUIRE(signature);
  CHECK(signature->types == std::vector<std::string>{"float*", "int"});
}
