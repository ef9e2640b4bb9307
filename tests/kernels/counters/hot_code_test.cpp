#include "kernels/counters/hot_code.h"

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <string>

using namespace ratchet;
using Catch::Approx;

namespace {

/// The loop of a function with these instructions; the last jumps back to the first.
LoopCode loop_of(const std::string& lines) {
  std::string text = "0000000000001000 <solve>:\n";
  int address = 0x1000;
  std::size_t begin = 0;
  while (begin < lines.size()) {
    const auto end = lines.find('\n', begin);
    char number[16];
    std::snprintf(number, sizeof number, "%x", address++);
    text += "    " + std::string(number) + ":\t" + lines.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  // The views of the instructions point into the listing.
  static std::string kept;
  kept = text;
  const auto functions = read_code(kept, CodeKind::host);
  return loop_code(functions.at(0).instructions);
}

constexpr const char* kBack = "jne    1000 <solve>\n";

wire::PcSample sample(const std::string& object, std::int64_t offset, std::int64_t count) {
  return {object, offset, {{"cpu-clock", count}}};
}

}  // namespace

TEST_CASE("a sum with one accumulator is a chain, with four it is not", "[hot]") {
  CHECK(loop_of(std::string("vaddss (%rdi),%xmm0,%xmm0\nadd $0x4,%rdi\ncmp %rdx,%rdi\n") + kBack)
            .chained);
  CHECK_FALSE(loop_of(std::string("vaddps (%rdi),%ymm0,%ymm0\nvaddps 0x20(%rdi),%ymm1,%ymm1\n"
                                  "vaddps 0x40(%rdi),%ymm2,%ymm2\nvaddps 0x60(%rdi),%ymm3,%ymm3\n"
                                  "vaddps 0x80(%rdi),%ymm4,%ymm4\nvaddps 0xa0(%rdi),%ymm5,%ymm5\n"
                                  "add $0xc0,%rdi\ncmp %rdx,%rdi\n") +
                      kBack)
                  .chained);
  // Integers are added in one cycle.
  CHECK_FALSE(
      loop_of(std::string("add (%rdi),%eax\nadd $0x4,%rdi\ncmp %rdx,%rdi\n") + kBack).chained);
}

TEST_CASE("loads at loaded addresses are found, loads at counted ones are not", "[hot]") {
  CHECK(loop_of(std::string("movslq (%rsi,%rax,4),%rcx\nvmovss (%rdi,%rcx,4),%xmm0\n"
                            "vmovss %xmm0,(%rdx,%rax,4)\nadd $0x1,%rax\ncmp %rax,%r8\n") +
                kBack)
            .indirect);
  CHECK(loop_of(std::string("vmovdqu (%rsi,%rax,4),%ymm1\n"
                            "vgatherdps %ymm2,(%rdi,%ymm1,4),%ymm0\nadd $0x20,%rax\n") +
                kBack)
            .indirect);
  CHECK_FALSE(loop_of(std::string("mov 0x8(%rsp),%rcx\nvmovss (%rcx,%rax,4),%xmm0\n"
                                  "vmovss %xmm0,(%rdx,%rax,4)\nadd $0x1,%rax\ncmp %rax,%r8\n") +
                      kBack)
                  .indirect);
}

TEST_CASE("a stride is a line or more of which little is used", "[hot]") {
  CHECK(loop_of(std::string("vmovss (%rdi),%xmm0\nvmovss %xmm0,(%rsi)\nadd $0x4000,%rdi\n"
                            "add $0x4,%rsi\ncmp %rdx,%rsi\n") +
                kBack)
            .strided);
  CHECK(
      loop_of(std::string("vmovss (%rdi),%xmm0\nadd %rcx,%rdi\ncmp %rdx,%rdi\n") + kBack).strided);
  // Unrolled: 128 bytes a turn, all of them used.
  CHECK_FALSE(loop_of(std::string("vmovups (%rdi),%ymm0\nvmovups 0x20(%rdi),%ymm1\n"
                                  "vmovups 0x40(%rdi),%ymm2\nvmovups 0x60(%rdi),%ymm3\n"
                                  "add $0x80,%rdi\ncmp %rdx,%rdi\n") +
                      kBack)
                  .strided);
  // The inner loop of a product: a whole line of every row.
  CHECK_FALSE(
      loop_of(std::string("vmovups (%rdi),%zmm0\nadd %rcx,%rdi\ncmp %rdx,%rdi\n") + kBack).strided);
}

TEST_CASE("divisions that take longer than the chain beside them make it none", "[hot]") {
  // Eight divisions of what a chain of four cycles makes; here two of them.
  const std::string made = "imul $0x9e3779b1,%ecx,%ecx\nadd $0x9e37,%ecx\n";
  const std::string divided = "mov %ecx,%eax\nxor %edx,%edx\ndiv %esi\nadd %edx,%r11d\n";
  const auto beside = loop_of(made + divided + made + divided + kBack);
  CHECK_FALSE(beside.chained);
  CHECK(beside.dividing == 10);
  CHECK(loop_of(made + "mov %ecx,%eax\nadd %eax,%r11d\n" + kBack).chained);
  // A division of what the turn before divided.
  CHECK(loop_of(std::string("vdivss %xmm0,%xmm1,%xmm0\ndec %eax\n") + kBack).chained);
}

TEST_CASE("a walk down a tree waits for the comparison that chooses its next step", "[hot]") {
  const std::string walk =
      "movslq %eax,%rcx\nvmovss (%rdx),%xmm0\nvcomiss (%rdi,%rcx,4),%xmm0\nseta %cl\n"
      "add $0x4,%rdx\nmovzbl %cl,%ecx\nlea (%rcx,%rax,2),%eax\ncmp %eax,%esi\n";
  // Of the position in the input alone: nothing waits for a comparison.
  const std::string count =
      "vmovss (%rdx),%xmm0\nvcomiss (%rdi,%r8,4),%xmm0\nseta %cl\nadd $0x4,%rdx\n"
      "mov %cl,(%r9,%r8,1)\ninc %r8\ncmp %r8,%rsi\n";

  CHECK(loop_of(walk + kBack).chained);
  CHECK_FALSE(loop_of(count + kBack).chained);
}

TEST_CASE("arithmetic on integers that are loaded and stored is scalar, on places it is none",
          "[hot]") {
  const std::string tone =
      "mov (%rdi,%r10,4),%edx\nmov %edx,%r8d\nshr %r8d\nsub %r8d,%ecx\nimul %edx,%ecx\n"
      "shr $0xb,%ecx\nadd $0x3,%ecx\nand $0xfff,%ecx\nmov %ecx,(%rsi,%r10,4)\ninc %r10\n"
      "cmp %r10,%r9\n";
  const std::string places =
      "imul %r10,%rax\nadd %r8,%rax\nshl $0x2,%rax\nsub %r9,%rax\nmov (%rdi,%r10,4),%edx\n"
      "mov %edx,(%rsi,%r10,4)\ninc %r10\ncmp %r10,%r9\n";

  CHECK(loop_of(tone + kBack).scalar >= 5);
  CHECK(loop_of(places + kBack).scalar == 0);
  CHECK(loop_of("idiv %r11d\n" + tone + kBack).scalar == 0);  // no vectors divide integers
}

TEST_CASE("divisions are told where they take as long as all instructions", "[hot]") {
  std::string many = "vdivps %zmm3,%zmm1,%zmm2\n";
  for (int i = 0; i < 60; ++i) many += "vfmadd231ps %zmm3,%zmm4,%zmm2\n";
  const std::string few = "vdivps %zmm3,%zmm1,%zmm2\nvmovups %zmm2,(%rdi)\nadd $0x40,%rdi\n";

  CHECK(loop_of(few + kBack).divides);
  CHECK_FALSE(loop_of(many + kBack).divides);
}

TEST_CASE("a packed loop that moves as much as it calculates streams", "[hot]") {
  const std::string scale =
      "vmulps (%rdi,%rax,1),%zmm0,%zmm1\nvmovups %zmm1,(%rsi,%rax,1)\nadd $0x40,%rax\n";
  const std::string more = "vfmadd132ps %zmm1,%zmm1,%zmm1\nvmulps %zmm1,%zmm1,%zmm1\n";

  CHECK(loop_of(scale + kBack).streams);
  CHECK_FALSE(loop_of(more + scale + kBack).streams);
  CHECK_FALSE(loop_of(std::string("vmulss (%rdi,%rax,1),%xmm0,%xmm1\n"
                                  "vmovss %xmm1,(%rsi,%rax,1)\nadd $0x4,%rax\n") +
                      kBack)
                  .streams);
}

TEST_CASE("jumps by loaded data are told from jumps by a count", "[hot]") {
  CHECK(loop_of(std::string("vmovss (%rdi),%xmm0\nvcomiss 0xed4(%rip),%xmm0\njbe 1006 <solve>\n"
                            "vmovss %xmm0,(%rsi,%rax,4)\ninc %rax\nadd $0x4,%rdi\n"
                            "cmp %rdi,%rcx\n") +
                kBack)
            .branches == 1);
  CHECK(loop_of(std::string("mov (%rdi,%rax,4),%edx\nand $0x1,%edx\nje 1005 <solve>\ninc %r8\n"
                            "inc %rax\ncmp %rax,%rcx\n") +
                kBack)
            .branches == 1);
  // Every sixty-fourth turn, and until a pointer is at its end: predicted.
  CHECK(loop_of(std::string("vaddss (%rdi,%rax,4),%xmm0,%xmm0\ninc %rax\ncmp $0x40,%rax\n"
                            "je 1006 <solve>\nadd $0x4,%rdi\ncmp %rdi,%rcx\n") +
                kBack)
            .branches == 0);
}

TEST_CASE("samples become shares of objects and of what the hot loops do", "[hot]") {
  const std::string text =
      "0000000000001000 <solve>:\n"
      "    1000:\tmulss  (%rdi),%xmm1\n"
      "    1004:\tadd    $0x4,%rdi\n"
      "    1008:\tjne    1000 <solve>\n"
      "    100a:\tret\n";
  const auto functions = read_code(text, CodeKind::host);
  wire::PcSamples samples;
  samples.total = 100;
  samples.pcs = {sample("kernel", 0x1004, 60), sample("kernel", 0x100a, 10),
                 sample("libm.so.6", 0x30, 20), sample("libgomp.so.1", 0x40, 10)};
  const auto metrics = hot_code_metrics(samples, functions);

  CHECK(metrics.at("samples") == 100);
  CHECK(metrics.at("samples_in_kernel.pct") == Approx(70));
  CHECK(metrics.at("samples_in_libm.pct") == Approx(20));
  CHECK(metrics.at("samples_in_threads.pct") == Approx(10));
  CHECK(metrics.at("hot_loops.pct") == Approx(60));
  CHECK(metrics.at("packed_arithmetic.pct") == 0);
}

TEST_CASE("a loop that is entered in its middle is not one with the loop around it", "[hot]") {
  // A chain in rows: the inner loop begins with a jump over its first instruction, and is padded.
  // With the outer one's step of a row it would look like strided access.
  const std::string text =
      "0000000000001000 <solve>:\n"
      "    1000:\txor    %eax,%eax\n"
      "    1002:\tjmp    1010 <solve+0x10>\n"
      "    1004:\tnopl   0x0(%rax)\n"
      "    1008:\tvmovaps %xmm1,%xmm0\n"
      "    1010:\tvfmadd213ss (%rcx,%rax,4),%xmm7,%xmm1\n"
      "    1014:\tinc    %rax\n"
      "    1018:\tcmp    %eax,%edi\n"
      "    101a:\tjg     1008 <solve+0x8>\n"
      "    101c:\tadd    %r8,%rcx\n"
      "    1020:\tdec    %esi\n"
      "    1022:\tjne    1000 <solve>\n";
  wire::PcSamples samples;
  samples.total = 100;
  samples.pcs = {sample("kernel", 0x1010, 100)};
  const auto metrics = hot_code_metrics(samples, read_code(text, CodeKind::host));

  CHECK(metrics.at("dependency_chain.pct") == Approx(100));
  CHECK(metrics.at("strided_access.pct") == 0);
}

TEST_CASE("without samples there are no metrics rather than zeros", "[hot]") {
  wire::PcSamples samples;
  CHECK(hot_code_metrics(samples, {}).empty());
  samples.total = 5;
  samples.pcs = {sample("libpython3.11.so.1.0", 1, 5)};
  CHECK(hot_code_metrics(samples, {}).at("samples_in_python.pct") == Approx(100));
  CHECK_FALSE(hot_code_metrics(samples, {}).contains("packed_arithmetic.pct"));
  samples.unavailable = "not permitted";
  CHECK(hot_code_metrics(samples, {}).empty());
}
