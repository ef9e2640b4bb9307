#include "kernels/disassembly/machine_code.h"

#include <catch2/catch_test_macros.hpp>
#include <vector>

#include "kernels/disassembly/code_loops.h"

using namespace ratchet;

namespace {

// A loop of two loads with one inside it, then code behind the end that jumps back in, as ptxas
// lays it out; the last branch and NOP are padding.
constexpr const char* kNested = R"(
.text._Z6kernelPf:
	//## File "kernel.cu", line 7
        /*0000*/                   S2R R2, SR_TID.X ;
.L_x_0:
        /*0010*/                   LDG.E.128.CONSTANT R4, desc[UR6][R2.64] ;
.L_x_1:
	//## File "kernel.cu", line 9
        /*0020*/                   FFMA R0, R4, R5, R0 ;
        /*0030*/              @!P0 BRA `(.L_x_1) ;
        /*0040*/               @P1 BRA `(.L_x_3) ;
.L_x_2:
        /*0050*/              @!P2 BRA `(.L_x_0) ;
        /*0060*/                   STG.E [R2.64], R0 ;
        /*0070*/                   EXIT ;
.L_x_3:
        /*0080*/                   STL [R1], R0 ;
        /*0090*/                   BRA `(.L_x_2) ;
.L_x_4:
        /*00a0*/                   BRA `(.L_x_4);
        /*00b0*/                   NOP;
)";

// A loop over a row, as llvm-objdump 15 printed it for gfx90a; then a private array's store.
constexpr const char* kAmd = R"(
code.o:	file format elf64-amdgpu

Disassembly of section .text:

0000000000001700 <_Z4rowsPKfPfi>:
; _Z4rowsPKfPfi():
; /src/kernel.hip:4
	s_load_dwordx4 s[0:3], s[6:7], 0x0                         // 000000001700: C00A0003 00000000
	s_cbranch_execz 9                                          // 000000001708: BF880009 <_Z4rowsPKfPfi+0x30>
; /src/kernel.hip:6
	global_load_dword v1, v[6:7], off                          // 00000000170C: DC508000 017F0006
; /usr/include/hip/amd_detail/amd_device_functions.h:890
	s_waitcnt vmcnt(0)                                         // 000000001714: BF8C0F70
	v_max_f32_e32 v4, v3, v1                                   // 000000001718: 16080303
	s_cbranch_execnz 65531                                     // 00000000171C: BF89FFFB <_Z4rowsPKfPfi+0xc>
; /src/kernel.hip:9
	ds_read2_b32 v[2:3], v1 offset1:32                         // 000000001720: D86E2000 02000001
	buffer_store_dword v6, off, s[0:3], 0 offset:16            // 000000001728: E0700010 80000600
	global_store_dwordx4 v4, v[0:3], s[10:11] offset:1024      // 000000001730: DC7C8400 000A0004
	s_endpgm                                                   // 000000001738: BF810000

0000000000001800 <.text>:
	s_nop 0                                                    // 000000001800: BF800000
)";

// A header's own kernel, and functions of a header and of a second source inlined into a loop; of
// what llvm-objdump 15 printed for gfx90a, the lines that matter.
constexpr const char* kAmdFiles = R"(
0000000000001900 <_Z5clearPfi>:
; _Z5clearPfi():
; /usr/include/hip/amd_detail/amd_hip_runtime.h:263
	s_load_dword s0, s[4:5], 0x8                               // 000000001900: C0020002 00000008
; /src/./rows.h:6
	v_lshl_add_u32 v0, s6, 6, v0                               // 000000001908: D1FD0000 04010C06
; /src/./rows.h:8
	s_endpgm                                                   // 000000001950: BF810000

0000000000001a00 <_Z1fPKfPfi>:
; _Z1fPKfPfi():
; /usr/include/hip/amd_detail/amd_hip_runtime.h:280
	s_load_dword s8, s[4:5], 0x10                              // 000000001A00: C0020202 00000010
; /src/kernel.hip:6
	v_mov_b32_e32 v4, v1                                       // 000000001A54: 7E080301
; /src/kernel.hip:7
	global_load_dword v6, v[2:3], off                          // 000000001A58: DC508000 067F0002
; /src/./rows.h:3
	v_add_u32_e32 v7, 1, v5                                    // 000000001A60: 680E0A81
	v_cvt_f32_i32_e32 v7, v7                                   // 000000001A64: 7E0E0B07
; /src/kernel.hip:7
	v_fmac_f32_e32 v4, v6, v7                                  // 000000001A84: 76080F06
; /src/./steps.hip:7
	v_fma_f32 v4, v4, v4, 1.0                                  // 000000001A88: D1CB0004 03CA0904
	s_cbranch_execnz 65520                                     // 000000001A94: BF89FFF0 <_Z1fPKfPfi+0x58>
; /src/kernel.hip:10
	global_store_dword v[0:1], v4, off                         // 000000001AB8: DC708000 007F0400
; /src/kernel.hip:11
	s_endpgm                                                   // 000000001AC0: BF810000
)";

}  // namespace

TEST_CASE("code of AMD GPUs is read with loops, lines, widths and private memory", "[sass]") {
  const auto functions = read_code(kAmd, CodeKind::amd, "kernel.hip");
  REQUIRE(functions.size() == 1);
  const auto& all = functions[0].instructions;
  const auto code = summary_of(functions[0], CodeKind::amd);

  CHECK(code.name == "rows");
  CHECK(code.instructions == 10);
  CHECK(code.loops == 1);
  CHECK(code.in_loops == 4);
  CHECK(all[2].loop_depth == 1);
  CHECK(all[6].loop_depth == 0);
  CHECK(all[1].operands == "0x30");
  CHECK(all[2].line == 6);
  CHECK(all[6].line == 9);
  CHECK(code.opcodes.at("v_max_f32") == 1);
  CHECK(code.widths == std::map<std::string, int>{
                           {"global 32", 1}, {"global 128", 1}, {"ds 64", 1}, {"buffer 32", 1}});
  CHECK(code.spill_stores == 1);
  CHECK(code.spill_loads == 0);
}

TEST_CASE("code that is inlined from other files has no line of the source", "[sass]") {
  const auto functions = read_code(kAmdFiles, CodeKind::amd, "kernel.hip");
  REQUIRE(functions.size() == 2);
  std::vector<int> of_header, of_source;
  for (const auto& one : functions[0].instructions) of_header.push_back(one.line);
  for (const auto& one : functions[1].instructions) of_source.push_back(one.line);
  CHECK(of_header == std::vector{0, 0, 0});
  // step() of steps.hip:7 is called in line 8 of the kernel, not in its line 7.
  CHECK(of_source == std::vector{0, 6, 7, 0, 0, 7, 0, 0, 10, 11});
  CHECK(functions[1].loops == 1);
}

TEST_CASE("loops are distinguished from branches, even if code was moved past the end", "[sass]") {
  const auto functions = read_code(kNested, CodeKind::sass);
  REQUIRE(functions.size() == 1);
  const auto& code = functions[0].instructions;
  REQUIRE(code.size() == 10);  // 12 printed, 2 of padding
  std::string depths;
  for (const auto& instruction : code) depths += std::to_string(instruction.loop_depth);

  CHECK(functions[0].loops == 2);
  // S2R 0 · LDG 1 · FFMA BRA 2 2 · BRA BRA 1 1 · STG EXIT 0 0 · the moved STL BRA 1 1
  CHECK(depths == "0122110011");
}

TEST_CASE("a function is counted by opcode, width, spill and loop", "[sass]") {
  const auto functions = read_code(kNested, CodeKind::sass);
  const auto code = summary_of(functions.at(0), CodeKind::sass);

  CHECK(code.name == "kernel");
  CHECK(code.instructions == 10);
  CHECK(code.deepest_loop == 2);
  CHECK(code.in_loops == 7);
  CHECK(code.opcodes.at("BRA") == 4);
  CHECK(code.widths == std::map<std::string, int>{{"LDG 128", 1}, {"STG 32", 1}, {"STL 32", 1}});
  CHECK(code.spill_stores == 1);
  CHECK(code.spill_loads == 0);
}

TEST_CASE("instructions carry guard, opcode, operands and source line", "[sass]") {
  const auto functions = read_code(kNested, CodeKind::sass);
  const auto& code = functions.at(0).instructions;

  CHECK(code[1].opcode == "LDG.E.128.CONSTANT");
  CHECK(code[1].operands == "R4, desc[UR6][R2.64]");
  CHECK(code[1].line == 7);
  CHECK(code[3].guard == "@!P0");
  CHECK(code[3].line == 9);
}

TEST_CASE("cuobjdump's output reads the same, with addresses for labels and encodings beside",
          "[sass]") {
  constexpr const char* kText = R"(
		Function : plain
        /*0000*/                   LDC R1, c[0x0][0x28] ;         /* 0x00000a00ff017b82 */
                                                                  /* 0x000fe20000000800 */
        /*0010*/                   FADD R0, R0, 1 ;               /* 0x0000000000027919 */
        /*0020*/              @!P0 BRA 0x10 ;                     /* 0x0000000000027919 */
        /*0030*/                   EXIT ;                         /* 0x0000000000027919 */
)";
  const auto functions = read_code(kText, CodeKind::sass);
  REQUIRE(functions.size() == 1);
  CHECK(functions[0].name == "plain");
  CHECK(functions[0].instructions.size() == 4);
  CHECK(functions[0].instructions[1].loop_depth == 1);
  CHECK(functions[0].instructions[3].loop_depth == 0);
}

TEST_CASE("host code is read from objdump", "[sass]") {
  constexpr const char* kText =
      "0000000000001119 <solve>:\n"
      "    1119:\txor    %eax,%eax\n"
      "    111b:\tvmovups (%rdi,%rax,4),%ymm0\n"
      "    1120:\tadd    $0x8,%rax\n"
      "    1124:\tjl     111b <solve+0x2>\n"
      "    1126:\tret\n";
  const auto functions = read_code(kText, CodeKind::host);
  REQUIRE(functions.size() == 1);
  const auto code = summary_of(functions[0], CodeKind::host);

  CHECK(code.name == "solve");
  CHECK(code.loops == 1);
  CHECK(code.in_loops == 3);
  CHECK(code.widths.at("256-bit registers") == 1);
}

TEST_CASE("arithmetic on one element is distinguished from vectors", "[sass]") {
  constexpr const char* kVectors = "%ymm1,%ymm0,%ymm0";
  constexpr const char* kElements = "%xmm1,%xmm0,%xmm0";
  for (const auto* one : {"addss", "vmulsd", "vfmadd231ss", "cvtsi2ss", "vcvttss2si", "ucomiss",
                          "movss", "vsqrtsd", "pinsrd", "movd"})
    CHECK(vector_use(one, kElements) == VectorUse::scalar);
  // The last four end like scalar instructions, but are packed integers.
  for (const auto* one : {"addps", "vmulpd", "vfmadd231ps", "vpaddd", "vmovups", "vpmaxsd",
                          "vpabsd", "vpminsd", "vpdpwssd"})
    CHECK(vector_use(one, kVectors) == VectorUse::packed);
  CHECK(vector_use("add", "%rax,%rdx") == VectorUse::none);

  const auto functions = read_code(
      "0000000000001119 <solve>:\n"
      "    1119:\tmulss  %xmm1,%xmm0\n"
      "    111b:\tvaddps %xmm1,%xmm0,%xmm0\n",
      CodeKind::host);
  const auto code = summary_of(functions.at(0), CodeKind::host);
  CHECK(code.widths.at("scalar in 128-bit registers") == 1);
  CHECK(code.widths.at("128-bit registers") == 1);
}

TEST_CASE("a loop that is entered at many places is one loop", "[sass]") {
  // 0 jumps to 2, 3, 4 or 5 (by 0, 1 and falling through); 6 leads back to 2.
  const std::vector<Flow> flow{{true, 3},  {true, 4},  {true, {}}, {true, {}},
                               {true, {}}, {true, {}}, {true, 2},  {false, {}}};
  const auto loops = find_loops(flow);
  CHECK(loops.count == 1);
  CHECK(loops.depth == std::vector<int>{0, 0, 1, 1, 1, 1, 1, 0});
  CHECK(loops.innermost == std::vector<int>{-1, -1, 0, 0, 0, 0, 0, -1});
}

TEST_CASE("text that is not a listing gives no function", "[sass]") {
  CHECK(read_code("", CodeKind::sass).empty());
  CHECK(read_code("cuobjdump fatal: no cubin\n/*00*/\n.text.:\n", CodeKind::sass).empty());
  CHECK(read_code("\x7f"
                  "ELF /*zz*/ BRA `(.L_x_9)",
                  CodeKind::sass)
            .empty());
}

TEST_CASE("a name of 400 bytes that stands for gigabytes stays as it is", "[sass]") {
  // Each pair holds the one before twice: 2^35 words in the last.
  std::string name = "_Z1fSt4pairIiiE";
  for (const char c : std::string("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    name += std::string("S_IS") + c + "_S" + c + "_E";
  CHECK(source_name(name) == name);
}

TEST_CASE("thousands of loops in each other are read at once, as 32", "[sass]") {
  constexpr std::size_t kLoops = 5000;
  std::vector<Flow> flow(kLoops);
  for (std::size_t i = 0; i < kLoops; ++i) flow.push_back({true, kLoops - 1 - i});
  const auto loops = find_loops(flow);
  CHECK(loops.count == 32);
  CHECK(loops.depth.at(kLoops) == 32);
}

TEST_CASE("a loop with two ways out counts once, and straight code has none", "[sass]") {
  // 0 → 1 → 2 → 1 or out; 1 may leave as well.
  const std::vector<Flow> loop{{true, {}}, {true, 3}, {true, 1}, {false, {}}};
  CHECK(find_loops(loop).count == 1);
  CHECK(find_loops(loop).depth == std::vector<int>{0, 1, 1, 0});
  CHECK(find_loops({{true, {}}, {false, {}}}).count == 0);
  CHECK(find_loops({}).depth.empty());
}

TEST_CASE("source names lose parameters, return types and unnamed namespaces", "[sass]") {
  CHECK(source_name("_Z7softmaxILi4EEvPKfPf") == "softmax<4>");
  CHECK(source_name("_ZN12_GLOBAL__N_14copyEPf") == "copy");
  CHECK(source_name("solve") == "solve");
  CHECK(source_name("_ZN3lib6detail6kernelINS_4tileILi64EEENS1_IS3_fEEEEvT_T0_") !=
        "_ZN3lib6detail6kernelINS_4tileILi64EEENS1_IS3_fEEEEvT_T0_");
}
