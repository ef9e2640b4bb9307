#include "kernels/build/builder.h"

#include <catch2/catch_test_macros.hpp>
#include <thread>

#include "kernels/build/build_flags.h"
#include "kernels/build/elf_symbols.h"
#include "server/core/files.h"
#include "server/core/hash.h"
#include "tests/kernels/build/builder_bench.h"
#include "tests/support/places.h"
#include "tests/support/temp_folder.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

BuildRequest host(std::string text, std::string folder = "") {
  BuildRequest request;
  request.source = {"kernel.cpp", std::move(text), std::move(folder)};
  return request;
}

constexpr const char* kAdd =
    "extern \"C\" void solve(const float* x, float* y, int n) { for (int i = 0; i < n; ++i) y[i] = "
    "x[i]; }";

}  // namespace

TEST_CASE("a host kernel builds once and is then found by content", "[builder]") {
  const Bench bench;
  const auto first = bench.build(host(kAdd));
  const auto again = bench.build(host(kAdd));
  const auto other = bench.build(host(std::string(kAdd) + "\n// another comment"));

  REQUIRE(first.ok);
  CHECK_FALSE(first.cached);
  CHECK(first.build_ms > 0);
  CHECK(sha256_hex(bench.library(first)) == first.binary_digest);
  CHECK(first.command.find(bench.folder.path().string()) == std::string::npos);
  CHECK(again.cached);
  CHECK(again.build_key == first.build_key);
  CHECK(again.binary_digest == first.binary_digest);
  CHECK(other.build_key != first.build_key);
}

TEST_CASE("a damaged cache entry is not returned", "[builder]") {
  const Bench bench;
  const auto first = bench.build(host(kAdd));
  REQUIRE(write_file(*bench.builder.path_of(first.build_key), "not the library"));
  const auto again = bench.build(host(kAdd));

  CHECK_FALSE(again.cached);
  CHECK(sha256_hex(bench.library(again)) == again.binary_digest);
}

TEST_CASE("a changed local header makes a new build", "[builder]") {
  const Bench bench;
  const auto source =
      "#include \"factor.h\"\nextern \"C\" void solve(float* y) { y[0] = kFactor; }";
  const auto folder = bench.folder / "source with blank";
  REQUIRE(write_file(folder / "factor.h", "constexpr float kFactor = 2;\n"));
  const auto two = bench.build(host(source, folder.string()));
  REQUIRE(write_file(folder / "factor.h", "constexpr float kFactor = 3;\n"));
  const auto three = bench.build(host(source, folder.string()));
  REQUIRE(write_file(folder / "factor.h", "constexpr float kFactor = 2;\n"));
  const auto two_again = bench.build(host(source, folder.string()));

  REQUIRE(two.ok);
  CHECK_FALSE(three.cached);
  CHECK(three.build_key != two.build_key);
  CHECK(two_again.cached);
  CHECK(two_again.build_key == two.build_key);
}

TEST_CASE("the generated header supplies a missing extern C", "[builder]") {
  const Bench bench;
  const auto record =
      bench.build(host("void solve(const float* x, float* y, int n) { y[0] = x[n - 1]; }"));

  REQUIRE(record.ok);
  CHECK(exports(bench.library(record), "solve"));
}

TEST_CASE("a misread entry does not build", "[builder]") {
  const Bench bench;
  // The header is not read by the parser, so it takes the prototype for the entry.
  REQUIRE(write_file(bench.folder / "real.h", "#define real double\n"));
  const auto hidden =
      bench.build(host("#include \"real.h\"\nextern \"C\" void solve(float* y);\n"
                       "extern \"C\" void solve(real* y) { y[0] = 1; }",
                       bench.folder.path().string()));
  CHECK(hidden.error_class == "signature");
  const auto elsewhere =
      bench.build(host("extern \"C\" void solve(float* y);\n"
                       "namespace n { void solve(float* y) { y[0] = 1; } }"));
  CHECK(elsewhere.error_class == "missing_entry");
  CHECK(elsewhere.hint->find("mangled") != std::string::npos);
}

TEST_CASE("a user's own solve.h takes precedence over the generated one", "[builder]") {
  const Bench bench;
  const auto source = "#include \"solve.h\"\nvoid solve(float* y) { y[0] = kFactor; }";
  REQUIRE(write_file(bench.folder / "solve.h", "void solve(float* y);\n#define kFactor 2\n"));

  const auto with = bench.build(host(source, bench.folder.path().string()));
  CHECK(with.ok);
  CHECK(exports(bench.library(with), "solve"));
  CHECK(bench.build(host("#include \"solve.h\"\nvoid solve(float* y) { y[0] = 1; }")).ok);
}

TEST_CASE("folder names may contain shell metacharacters", "[builder]") {
  const Bench bench;
  const auto folder = bench.folder / "f\u00f6lder $(touch made) 'and' \"quotes\"";
  REQUIRE(write_file(folder / "factor.h", "#error \"line two\"\n"));
  const auto source = "#include \"factor.h\"\nextern \"C\" void solve(float* y) { y[0] = 1; }";
  auto record = bench.build(host(source, folder.string()));

  REQUIRE(record.errors.size() == 1);
  CHECK(record.errors[0].file == "factor.h");
  REQUIRE(write_file(folder / "factor.h", "\n"));
  CHECK(bench.build(host(source, folder.string())).ok);
}

TEST_CASE("a main for tests adds nothing that the entry does not call", "[builder]") {
  const Bench bench;
  const auto record = bench.build(host(
      "#include <cstdio>\n#include <cstdlib>\n#include <iostream>\n" + std::string(kAdd) +
      "\nint main() { std::FILE* f = std::fopen(\"data\", \"r\"); std::cout << getenv(\"HOME\"); "
      "std::fclose(f); std::exit(0); }"));

  INFO((record.errors.empty() ? "" : record.errors[0].message));
  REQUIRE(record.ok);
  CHECK_FALSE(exports(bench.library(record), "main"));
}

TEST_CASE("a source that uses C++20 is compiled as C++20", "[builder]") {
  const Bench bench;
  CHECK(bench
            .build(host("#include <numbers>\nextern \"C\" void solve(float* y) { y[0] = "
                        "std::numbers::pi_v<float>; }"))
            .ok);
}

TEST_CASE("compiler errors come back with file, line and class", "[builder]") {
  const Bench bench;
  const auto record =
      bench.build(host("extern \"C\" void solve(float* y) {\n  y[0] = nothing;\n}"));

  REQUIRE_FALSE(record.ok);
  CHECK(record.error_class == "compile_error");
  REQUIRE(record.errors.size() == 1);
  CHECK(record.errors[0].file == "kernel.cpp");
  CHECK(record.errors[0].line == 2);
  CHECK(record.errors[0].message.find("nothing") != std::string::npos);
  CHECK(record.build_key.empty());
  CHECK(bench.build(host("#include \"no.h\"\nextern \"C\" void solve(float* y) {}")).error_class ==
        "missing_header");
}

TEST_CASE("an unresolved symbol is the kernel's error", "[builder]") {
  const Bench bench;
  const auto record = bench.build(
      host("extern \"C\" void other(); extern \"C\" void solve(float* y) { other(); }"));
  CHECK(record.error_class == "unresolved_symbol");
}

TEST_CASE("a kernel may not call into the system", "[builder]") {
  const Bench bench;
  for (const auto* body : {"dlopen(\"x\", 2)", "fork()", "getenv(\"SEED\")", "usleep(9)"}) {
    const auto record = bench.build(
        host(std::string("#include <dlfcn.h>\n#include <unistd.h>\n#include <cstdlib>\n") +
             "extern \"C\" void solve(float* y) { y[0] = (float)(long)" + body + "; }"));
    INFO(body);
    CHECK(record.error_class == "forbidden_symbol");
    CHECK_FALSE(record.ok);
  }
  const auto thread =
      bench.build(host("#include <thread>\nextern \"C\" void solve(float* y) { std::thread([=] { "
                       "y[0] = 1; }).detach(); }"));
  CHECK(thread.error_class == "forbidden_symbol");
}

TEST_CASE("ordinary C++ and OpenMP are allowed", "[builder]") {
  const Bench bench;
  const auto record = bench.build(host(R"(
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <omp.h>
#include <stdexcept>
#include <string>
#include <vector>
void solve(const float* x, float* y, int n) {
  std::vector<double> sums(static_cast<std::size_t>(omp_get_max_threads()));
#pragma omp parallel for
  for (int i = 0; i < n; ++i) sums[omp_get_thread_num()] += std::exp(x[i]) + std::tgamma(x[i]);
  std::sort(sums.begin(), sums.end());
  if (n < 0) throw std::runtime_error("n is " + std::to_string(n));
  std::printf("%f\n", sums[0]);
  y[0] = static_cast<float>(sums[0]);
})"));
  INFO((record.errors.empty() ? "" : record.errors[0].message));
  CHECK(record.ok);
}

TEST_CASE("a kernel may not include files of this machine", "[builder]") {
  const Bench bench;
  const auto secret = bench.folder / "secret.h";
  REQUIRE(write_file(secret, "constexpr int kSecret = 7;\n"));
  const auto record =
      bench.build(host("#include \"" + secret.string() +
                       "\"\nextern \"C\" void solve(float* y) { y[0] = kSecret; }"));

  CHECK(record.error_class == "forbidden_include");
  CHECK(record.hint->find("beside the source") != std::string::npos);
  const auto assembled = bench.build(
      host("extern \"C\" void solve(float* y) { asm(\".incbin \\\"/etc/hostname\\\"\"); }"));
  CHECK(assembled.error_class == "forbidden_include");
}

TEST_CASE("headers of the same repository may be included, its other files may not", "[builder]") {
  const Bench bench;
  REQUIRE(write_file(bench.folder / "project/include/factor.h", "#define kFactor 2\n"));
  REQUIRE(write_file(bench.folder / "project/include/secret", "#define kFactor 2\n"));
  REQUIRE(write_file(bench.folder / "project/kernels/readme", ""));
  const auto build = [&](const std::string& name) {
    return bench.build(host("#include \"../include/" + name +
                                "\"\nextern \"C\" void solve(float* y) { y[0] = kFactor; }",
                            (bench.folder / "project/kernels").string()));
  };
  CHECK(build("factor.h").error_class == "forbidden_include");
  std::filesystem::create_directory(bench.folder / "project/.git");
  CHECK(build("factor.h").ok);
  CHECK(build("secret").error_class == "forbidden_include");
}

TEST_CASE("a compiler reads the source's folder and the headers that it includes, no other file",
          "[builder]") {
  const test::TempFolder folder;
  const auto builder = *Builder::open({.cache = folder / "cache",
                                       .find_toolchain = toolchain,
                                       .deadline = std::chrono::seconds(60),
                                       .programs = test::build_dir() / "bin"});
  REQUIRE(write_file(folder / "project/include/factor.h", "#define kFactor 2\n"));
  REQUIRE(write_file(folder / "project/other/key", "secret"));
  REQUIRE(write_file(folder / "project/kernels/table.bin", "12345678"));
  std::filesystem::create_directory(folder / "project/.git");
  const auto build = [&](const std::string& assembled, const std::string& root) {
    auto request = host(
        "#include \"../include/factor.h\"\n"
        "extern \"C\" void solve(float* y) {\n  y[0] = kFactor;\n"
        "#define READ \".inc\" \"bin \"\n  asm(READ \"\\\"" +
            assembled + "\\\"\");\n}",
        (folder / "project/kernels").string());
    request.source.root = root;
    auto record = builder.build(request, CallContext());
    REQUIRE(record);
    return *record;
  };
  const auto project = (folder / "project").string();

  // First, because what was built once is found again.
  const auto outside = build(project + "/kernels/table.bin", project + "/kernels");
  const auto own = build(project + "/kernels/table.bin", project);
  const auto foreign = build(project + "/other/key", project);

  CHECK(own.ok);
  CHECK_FALSE(foreign.ok);
  REQUIRE_FALSE(foreign.errors.empty());
  CHECK(foreign.errors[0].message.find("key") != std::string::npos);  // it is not there
  // The header lies in the repository, but not in the root that was allowed.
  CHECK_FALSE(outside.ok);
}

TEST_CASE("a source may lie in a folder that also holds the server's closed state", "[builder]") {
  const test::TempFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
  const auto state = folder / "state";
  std::filesystem::create_directory(state);
  std::filesystem::permissions(state, std::filesystem::perms::owner_all);
  const auto builder = *Builder::open({.cache = state / "cache",
                                       .find_toolchain = toolchain,
                                       .deadline = std::chrono::seconds(60),
                                       .programs = test::build_dir() / "bin"});

  const auto record = builder.build(host(kAdd, folder.path().string()), CallContext());

  REQUIRE(record);
  INFO((record->errors.empty() ? "" : record->errors[0].message));
  CHECK(record->ok);
}

TEST_CASE("a parameter list that differs from the contract's is refused before the compiler runs",
          "[builder]") {
  const Bench bench;
  auto request = host(kAdd);
  request.parameters = {{"x", ParameterKind::tensor, DType::f32, true, {}},
                        {"y", ParameterKind::tensor, DType::f64, false, {}},
                        {"n", ParameterKind::dim, DType::i32, false, {}}};
  CHECK(bench.build(request).error_class == "signature");
  request.parameters[1].dtype = DType::f32;
  CHECK(bench.build(request).ok);
}

TEST_CASE("a compiler that does not finish is killed", "[builder]") {
  const test::TempFolder folder;
  const auto builder = *Builder::open({folder / "cache", toolchain, std::chrono::seconds(1)});
  // 2^24 instantiations.
  const auto record =
      builder.build(host("template <int N, int M> struct T { static constexpr int v = T<N - 1, 2 * "
                         "M>::v + T<N - 1, 2 * M + 1>::v; };"
                         "template <int M> struct T<0, M> { static constexpr int v = M; };"
                         "extern \"C\" void solve(int* y) { y[0] = T<24, 0>::v; }"),
                    CallContext());

  REQUIRE(record);
  CHECK(record->error_class == "compile_timeout");
}

TEST_CASE("a compiler that is killed ran out of memory, one that fails met an error", "[builder]") {
  const test::TempFolder folder;
  const auto script = folder / "g++";
  const auto built_by = [&](const std::string& text) {
    REQUIRE(write_file(script, "#!/bin/sh\n" + text + "\n"));
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    const auto find = [&] {
      auto found = toolchain();
      found.host_compiler->path = script;
      return found;
    };
    auto record = Builder::open({folder / "cache", find, std::chrono::seconds(60)})
                      ->build(host(kAdd), CallContext());
    REQUIRE(record);
    return *std::move(record);
  };
  const auto killed = built_by("kill -9 $$");
  CHECK(killed.error_class == "out_of_memory");
  CHECK(killed.hint->find("GiB of address space") != std::string::npos);
  REQUIRE(killed.errors.size() == 1);
  CHECK(killed.errors[0].message.find("signal 9") != std::string::npos);
  // What g++ says where one of its passes is killed.
  const auto pass =
      built_by("echo 'g++: fatal error: Killed signal terminated program' >&2; exit 1");
  CHECK(pass.error_class == "out_of_memory");
  CHECK(pass.hint == killed.hint);

  CHECK(built_by("echo 'kernel.cpp:1:1: error: no' >&2; exit 1").error_class == "compile_error");
  CHECK(built_by("exec " + toolchain().host_compiler->path.string() + " \"$@\"").ok);
}

TEST_CASE("a canceled build is an error, not a finding, and leaves nothing behind", "[builder]") {
  const Bench bench;
  std::stop_source stop;
  stop.request_stop();
  const auto record = bench.builder.build(host(kAdd), CallContext({}, stop.get_token()));

  REQUIRE_FALSE(record);
  CHECK(record.error().code == ErrorCode::timed_out);
  CHECK(std::filesystem::is_empty(bench.folder / "cache" / "work"));
}

TEST_CASE("flags that reach other programs or files are refused", "[builder]") {
  for (const auto* flag :
       {"-fplugin=x.so", "-Wl,-rpath,/", "-Wa,x", "-o", "-I/etc", "-fdump-tree-all", "@file",
        "-DX=$(id)", "-wrapper", "-B.", "-lcublas", "kernel.cpp"}) {
    INFO(flag);
    CHECK_FALSE(check_flags({flag}, Language::cpp));
  }
  CHECK(check_flags({"-O2", "-ffast-math", "-mavx2", "-DTILE=16", "-std=c++20", "-Wno-unused"},
                    Language::cpp));
  CHECK(check_flags({"--use_fast_math", "-Xptxas", "-dlcm=ca", "-lcublas", "--maxrregcount=64"},
                    Language::cuda));
  CHECK_FALSE(check_flags({"-ccbin=/tmp/x"}, Language::cuda));
  CHECK_FALSE(check_flags({"-Xcompiler", "-fplugin=x.so"}, Language::cuda));
  CHECK_FALSE(check_flags({"-Xptxas", "-o/tmp/x"}, Language::cuda));
  CHECK(check_flags({"-munsafe-fp-atomics", "-O2", "-DN=4"}, Language::hip));
  for (const auto* flag : {"-fpass-plugin=x", "-Xclang", "--offload-arch=gfx90a", "-mllvm=-x/y"})
    CHECK_FALSE(check_flags({flag}, Language::hip));
}

TEST_CASE("reading symbols of anything but a library is an error", "[builder]") {
  CHECK_FALSE(dynamic_symbols(""));
  CHECK_FALSE(
      dynamic_symbols("\x7f"
                      "ELF"));
  const Bench bench;
  auto library = bench.library(bench.build(host(kAdd)));
  REQUIRE(dynamic_symbols(library));
  // The section table is at the end: truncated or pointing outside the file, it is an error, not a
  // crash.
  CHECK_FALSE(dynamic_symbols(std::string_view(library).substr(0, library.size() - 64)));
  library[0x28 + 7] = '\x7f';
  CHECK_FALSE(dynamic_symbols(library));
}
