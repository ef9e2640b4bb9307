#include "kernels/build/compiler_output.h"

#include <catch2/catch_test_macros.hpp>

using namespace ratchet;

// The texts below are what g++ 12.2, nvcc 13.0, ptxas and ld printed.

TEST_CASE("resources are the maximum over all kernels that ptxas lists", "[compiler_output]") {
  const auto output = parse_compiler_output(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function '_Z1fPf' for 'sm_90a'\n"
      "ptxas info    : Function properties for _Z1fPf\n"
      "    16 bytes stack frame, 12 bytes spill stores, 8 bytes spill loads\n"
      "ptxas info    : Used 168 registers, used 1 barriers, 256 bytes smem, 400 bytes cmem[0]\n"
      "ptxas info    : Function properties for _Z1gPf\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 10 registers, used 0 barriers\n");

  CHECK(output.registers == 168);
  CHECK(output.shared_bytes == 256);
  CHECK(output.spill_bytes == 20);
  CHECK(output.stack_bytes == 16);
  CHECK(output.errors.empty());
}

TEST_CASE("resources of kernels for AMD GPUs come from clang's remarks", "[compiler_output]") {
  const auto output = parse_compiler_output(
      "k.hip:2:1: remark: Function Name: _Z1fPf [-Rpass-analysis=kernel-resource-usage]\n"
      "k.hip:2:1: remark:     SGPRs: 19 [-Rpass-analysis=kernel-resource-usage]\n"
      "k.hip:2:1: remark:     VGPRs: 10 [-Rpass-analysis=kernel-resource-usage]\n"
      "k.hip:2:1: remark:     ScratchSize [bytes/lane]: 272 "
      "[-Rpass-analysis=kernel-resource-usage]\n"
      "k.hip:2:1: remark:     SGPRs Spill: 7 [-Rpass-analysis=kernel-resource-usage]\n"
      "k.hip:2:1: remark:     VGPRs Spill: 3 [-Rpass-analysis=kernel-resource-usage]\n"
      "k.hip:2:1: remark:     LDS Size [bytes/block]: 1024 "
      "[-Rpass-analysis=kernel-resource-usage]\n"
      "k.hip:9:1: remark:     VGPRs: 64 [-Rpass-analysis=kernel-resource-usage]\n");

  CHECK(output.registers == 64);
  CHECK(output.shared_bytes == 1024);
  CHECK(output.stack_bytes == 272);
  CHECK(output.spill_bytes == 12);
  CHECK(output.warnings.empty());
}

TEST_CASE("errors and warnings keep file and line", "[compiler_output]") {
  const auto output = parse_compiler_output(
      "b.cpp: In function 'void solve(float*, int)':\n"
      "b.cpp:7:39: error: 'foo' was not declared in this scope\n"
      "u.cu(3): error: identifier \"bogus\" is undefined\n"
      "w.cu(12): warning #177-D: variable \"q\" was declared but never referenced\n"
      "t.cu:1:10: fatal error: torch/extension.h: No such file or directory\n"
      "ptxas /tmp/x.ptx, line 23; error   : Instruction 'wgmma.fence' not supported on .target "
      "'sm_90'\n"
      "tmpxft.cpp:(.text+0x105): undefined reference to `missing'\n"
      "/usr/bin/ld: final link failed: No space left on device\n");

  REQUIRE(output.errors.size() == 6);
  CHECK(output.errors[0].file == "b.cpp");
  CHECK(output.errors[0].line == 7);
  CHECK(output.errors[0].message == "'foo' was not declared in this scope");
  CHECK(output.errors[1].file == "u.cu");
  CHECK(output.errors[1].line == 3);
  CHECK(output.errors[3].file.empty());
  CHECK(output.errors[3].message == "Instruction 'wgmma.fence' not supported on .target 'sm_90'");
  CHECK(output.errors[4].message == "undefined reference to `missing'");
  CHECK(output.errors[5].message == "No space left on device");
  REQUIRE(output.warnings.size() == 1);
  CHECK(output.warnings[0].line == 12);
}

TEST_CASE("a flood of errors is capped", "[compiler_output]") {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "a.cpp:1:1: error: " + std::string(5000, 'x') + "\n";
  const auto output = parse_compiler_output(text);

  CHECK(output.errors.size() == kMaxDiagnostics);
  CHECK(output.errors[0].message.size() < kMaxDiagnosticText + 10);
}

TEST_CASE("failures are classified", "[compiler_output]") {
  const auto name = [](std::string_view text) { return classify_failure(text, "sm_90").name; };

  CHECK(name("fatal error: torch/extension.h: No such file or directory") == "torch_headers");
  CHECK(name("fatal error: mine.h: No such file or directory") == "missing_header");
  CHECK(name("k.hip:1:10: fatal error: 'none.h' file not found") == "missing_header");
  CHECK(name("clang: error: invalid target ID 'gfx942'") == "wrong_arch");
  CHECK(name("clang: error: cannot find ROCm device library for gfx1100") == "wrong_arch");
  CHECK(name("error: local memory (80000) exceeds limit (65536) in function '_Z1fPf'") ==
        "too_much_shared");
  CHECK(name("Instruction 'wgmma.fence' not supported on .target 'sm_90'") == "wrong_arch");
  CHECK(name("Entry function 'f' uses too much shared data (0x13880 bytes, 0xc000 max)") ==
        "too_much_shared");
  CHECK(name("undefined reference to `missing'") == "unresolved_symbol");
  CHECK(name("/usr/bin/ld: cannot find -lcublasx: No such file or directory") ==
        "unresolved_library");
  CHECK(name("/usr/bin/ld: final link failed: No space left on device") == "disk_full");
  CHECK(name("g++: fatal error: Killed signal terminated program cc1plus") == "out_of_memory");
  CHECK(name("nvcc error   : 'cicc' died due to signal 9 (Kill signal)") == "out_of_memory");
  CHECK(name("clang: error: unable to execute command: Killed") == "out_of_memory");
  CHECK(name("nvcc error   : 'cicc' died due to signal 11 (Invalid memory reference)") ==
        "compile_error");
  CHECK(name("error: expected ';'") == "compile_error");
  CHECK(classify_failure("not supported on .target", "sm_90").hint.find("sm_90 lacks") !=
        std::string::npos);
}
