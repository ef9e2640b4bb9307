#include "kernels/measure/ceiling_code.h"

#include <fmt/format.h>

#include <string_view>

namespace ratchet::measure {
namespace {

constexpr unsigned kThreads = 256;
constexpr int kWarps = static_cast<int>(kThreads) / 32;

std::string header(int capability, bool own_features = false) {
  // The first PTX version that supports the chip and its types.
  const char* version = capability >= 120 ? "8.7" : capability >= 100 ? "8.6" : "8.4";
  return fmt::format(".version {}\n.target sm_{}{}\n.address_size 64\n", version, capability,
                     own_features ? "a" : "");
}

/// "%f0, %f1, …": `count` registers starting at `first`.
std::string registers(std::string_view prefix, int first, int count) {
  std::string list;
  for (int i = 0; i < count; ++i)
    list += fmt::format("{}{}{}", i == 0 ? "" : ", ", prefix, first + i);
  return list;
}

/// The frame of every roof kernel: `%turns` counts down, `%seed` differs between threads.
std::string kernel(const std::string& declarations, const std::string& before,
                   const std::string& turn, const std::string& after) {
  return fmt::format(R"(
.visible .entry ratchet_roof(.param .u32 turns_given, .param .u64 sink)
{{
  .reg .pred %more, %never;
  .reg .u32 %turns, %thread, %seed, %word, %address;
  .reg .u64 %out;
{}
  ld.param.u32 %turns, [turns_given];
  mov.u32 %thread, %tid.x;
  mad.lo.u32 %seed, %thread, 0x9E3779B1, 0x7F4A7C15;
{}
next_turn:
{}
  sub.u32 %turns, %turns, 1;
  setp.ne.u32 %more, %turns, 0;
  @%more bra next_turn;
{}
  ret;
}}
)",
                     declarations, before, turn, after);
}

/// Keeps `value` from being optimized away: it is stored only if it equals an improbable number.
std::string kept(std::string_view type, std::string_view value, std::string_view unlikely) {
  return fmt::format(
      "  setp.eq.{0} %never, {1}, {2};\n  ld.param.u64 %out, [sink];\n"
      "  cvta.to.global.u64 %out, %out;\n  @%never st.global.{0} [%out], {1};\n",
      type, value, unlikely);
}

/// Puts the next word of random bits (xorshift of the seed), masked, into %word.
std::string random_word(std::string_view mask) {
  return fmt::format(
      "  shl.b32 %word, %seed, 13;\n  xor.b32 %seed, %seed, %word;\n"
      "  shr.u32 %word, %seed, 17;\n  xor.b32 %seed, %seed, %word;\n"
      "  shl.b32 %word, %seed, 5;\n  xor.b32 %seed, %seed, %word;\n"
      "  and.b32 %word, %seed, {};\n",
      mask);
}

// Enough independent chains to hide the latency of a multiply-add at this occupancy.
constexpr int kChains = 8;
constexpr int kPerChain = 8;

RoofKernel multiply_adds(int capability, bool wide) {
  const char* type = wide ? "f64" : "f32";
  const char* factor = wide ? "0d3FEFF7CED916872B" : "0f3F7FBE77";  // 0.999
  const char* step = wide ? "0d3F50624DD2F1A9FC" : "0f3A83126F";    // 0.001
  std::string before =
      fmt::format("  mov.{0} %factor, {1};\n  mov.{0} %step, {2};\n", type, factor, step);
  std::string turn, after;
  for (int chain = 0; chain < kChains; ++chain)
    before += fmt::format("  cvt.rn.{}.u32 %x{}, %seed;\n", type, chain);
  for (int i = 0; i < kPerChain; ++i)
    for (int chain = 0; chain < kChains; ++chain)
      turn += fmt::format("  fma.rn.{0} %x{1}, %x{1}, %factor, %step;\n", type, chain);
  for (int chain = 1; chain < kChains; ++chain)
    after += fmt::format("  add.rn.{0} %x0, %x0, %x{1};\n", type, chain);
  after += kept(type, "%x0", wide ? "0dC05EDD3C07EE0B0B" : "0fC2F6E979");
  RoofKernel roof;
  roof.what = wide ? "fp64" : "fp32";
  roof.unit = "FLOP/s";
  roof.ptx = header(capability) +
             kernel(fmt::format("  .reg .{0} %x<{1}>, %factor, %step;", type, kChains), before,
                    turn, after);
  roof.threads = kThreads;
  roof.blocks_per_multiprocessor = 8;
  roof.operations = 2.0 * kChains * kPerChain * kThreads;
  return roof;
}

/// Multiply-adds of two 16-bit values each, without tensor cores.
RoofKernel pair_multiply_adds(int capability) {
  std::string before = "  mov.b32 %factor, 0x3BFF3BFF;\n  mov.b32 %step, 0x14001400;\n";  // 0.9995
  std::string turn, after;
  for (int chain = 0; chain < kChains; ++chain)
    before += random_word("0xBBFFBBFF") + fmt::format("  mov.b32 %x{}, %word;\n", chain);
  for (int i = 0; i < kPerChain; ++i)
    for (int chain = 0; chain < kChains; ++chain)
      turn += fmt::format("  fma.rn.f16x2 %x{0}, %x{0}, %factor, %step;\n", chain);
  for (int chain = 1; chain < kChains; ++chain)
    after += fmt::format("  add.rn.f16x2 %x0, %x0, %x{};\n", chain);
  after += "  mov.b32 %word, %x0;\n" + kept("u32", "%word", "0x12345679");
  RoofKernel roof;
  roof.what = "fp16_pairs";
  roof.unit = "FLOP/s";
  roof.ptx =
      header(capability) +
      kernel(fmt::format("  .reg .b32 %x<{}>, %factor, %step;", kChains), before, turn, after);
  roof.threads = kThreads;
  roof.blocks_per_multiprocessor = 8;
  roof.operations = 4.0 * kChains * kPerChain * kThreads;
  return roof;
}

/// An operand type of the tensor cores.
struct TensorType {
  const char* what;
  const char* name;         ///< of the operands in PTX
  const char* accumulator;  ///< f32 or s32
  const char* mask;         ///< turns random bits into finite numbers below 2
  int bytes;
  int least;  ///< compute capability
};

constexpr TensorType kTensorTypes[] = {{"tf32", "tf32", "f32", "0xBFFFFFFF", 4, 80},
                                       {"fp16", "f16", "f32", "0xBFFFBFFF", 2, 80},
                                       {"bf16", "bf16", "f32", "0xBFFFBFFF", 2, 80},
                                       {"fp8", "e4m3", "f32", "0xBFBFBFBF", 1, 89},
                                       {"int8", "s8", "s32", "0xFFFFFFFF", 1, 80}};

std::string unit_of(const TensorType& type) {
  return type.bytes == 1 && type.accumulator[0] == 's' ? "OP/s" : "FLOP/s";
}

RoofKernel warp_products(int capability, const TensorType& type) {
  constexpr int kTiles = 8;  // independent accumulators of a warp
  const bool whole = type.accumulator[0] == 's';
  const char* prefix = whole ? "%d" : "%f";
  const int k = 32 / type.bytes;  // m16n8 with 32 bytes of k
  std::string before, turn, after;
  for (int i = 0; i < 6; ++i)
    before += random_word(type.mask) + fmt::format("  mov.b32 %a{}, %word;\n", i);
  for (int i = 0; i < 4 * kTiles; ++i) before += fmt::format("  mov.b32 {}{}, 0;\n", prefix, i);
  for (int tile = 0; tile < kTiles; ++tile) {
    const auto d = registers(prefix, 4 * tile, 4);
    turn += fmt::format(
        "  mma.sync.aligned.m16n8k{0}.row.col.{1}.{2}.{2}.{1} {{{3}}}, {{%a0, %a1, %a2, %a3}}, "
        "{{%a4, %a5}}, {{{3}}};\n",
        k, type.accumulator, type.name, d);
  }
  for (int i = 1; i < 4 * kTiles; ++i)
    after += fmt::format("  add.{0} {1}0, {1}0, {1}{2};\n", type.accumulator, prefix, i);
  after +=
      kept(whole ? "u32" : "f32", fmt::format("{}0", prefix), whole ? "0x12345679" : "0fC2F6E979");
  const auto declared = fmt::format("  .reg .b32 %a<6>;\n  .reg .{} {}<{}>;", whole ? "s32" : "f32",
                                    prefix, 4 * kTiles);
  RoofKernel roof;
  roof.what = type.what;
  roof.unit = unit_of(type);
  roof.ptx = header(capability) + kernel(declared, before, turn, after);
  roof.threads = kThreads;
  roof.blocks_per_multiprocessor = 2;
  roof.operations = 2.0 * 16 * 8 * k * kTiles * kWarps;
  return roof;
}

/// fp64 on tensor cores: m8n8k4, two accumulators per tile.
RoofKernel wide_products(int capability) {
  constexpr int kTiles = 8;
  std::string before, turn, after;
  for (int i = 0; i < 2; ++i)
    before += random_word("0xBFFFFFFF") + fmt::format("  cvt.rn.f64.u32 %a{}, %word;\n", i);
  for (int i = 0; i < 2 * kTiles; ++i)
    before += fmt::format("  mov.f64 %x{}, 0d0000000000000000;\n", i);
  for (int tile = 0; tile < kTiles; ++tile) {
    const auto d = registers("%x", 2 * tile, 2);
    turn += fmt::format(
        "  mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {{{0}}}, {{%a0}}, {{%a1}}, {{{0}}};\n",
        d);
  }
  for (int i = 1; i < 2 * kTiles; ++i) after += fmt::format("  add.f64 %x0, %x0, %x{};\n", i);
  after += kept("f64", "%x0", "0dC05EDD3C07EE0B0B");
  RoofKernel roof;
  roof.what = "fp64";
  roof.unit = "FLOP/s";
  roof.ptx = header(capability) +
             kernel(fmt::format("  .reg .f64 %a<2>, %x<{}>;", 2 * kTiles), before, turn, after);
  roof.threads = kThreads;
  roof.blocks_per_multiprocessor = 2;
  roof.operations = 2.0 * 8 * 8 * 4 * kTiles * kWarps;
  return roof;
}

/// Hopper's `wgmma`: both operands in shared memory, 128-byte swizzled rows, two warp groups per
/// block that issue back to back; see the PTX ISA's chapter on asynchronous warpgroup-level matrix
/// operations.
RoofKernel group_products(const TensorType& type) {
  constexpr int kM = 64, kN = 256, kSteps = 4;  // four steps of 32 bytes fill a row
  constexpr int kBytesA = kM * 128, kBytesB = kN * 128;
  constexpr int kPasses = 4;  // over the tile in one turn
  const bool whole = type.accumulator[0] == 's';
  const char* prefix = whole ? "%d" : "%f";
  const int k = 32 / type.bytes;
  const char* scales = type.bytes == 2 ? ", 1, 1, 0, 0" : whole ? "" : ", 1, 1";
  const std::string d = registers(prefix, 0, kM * kN / 128);
  std::string before = fmt::format(
      "  mov.u32 %address, tile;\n  shl.b32 %word, %thread, 2;\n  add.u32 %address, %address, "
      "%word;\n"
      "  mov.u32 %left, {};\nfill:\n{}  st.shared.u32 [%address], %word;\n"
      "  add.u32 %address, %address, {};\n  sub.u32 %left, %left, 1;\n"
      "  setp.ne.u32 %more, %left, 0;\n  @%more bra fill;\n"
      "  fence.proxy.async.shared::cta;\n  bar.sync 0;\n",
      (kBytesA + kBytesB) / (4 * static_cast<int>(kThreads)), random_word(type.mask), 4 * kThreads);
  // Descriptor: address in units of 16 bytes, leading offset 1 (unused here), 1024 bytes between
  // groups of eight rows, 128-byte swizzle.
  before += fmt::format(
      "  mov.u32 %address, tile;\n  shr.u32 %address, %address, 4;\n  cvt.u64.u32 %a, %address;\n"
      "  or.b64 %a, %a, 0x4000004000010000;\n  add.u64 %b, %a, {};\n",
      kBytesA / 16);
  for (int i = 0; i < kM * kN / 128; ++i) before += fmt::format("  mov.b32 {}{}, 0;\n", prefix, i);
  before += "  setp.eq.u32 %add, 0, 0;\n";
  std::string turn = "  wgmma.fence.sync.aligned;\n";
  for (int step = 0; step < kPasses * kSteps; ++step)
    turn += fmt::format(
        "  add.u64 %a_step, %a, {0};\n  add.u64 %b_step, %b, {0};\n"
        "  wgmma.mma_async.sync.aligned.m64n256k{1}.{2}.{3}.{3} {{{4}}}, %a_step, %b_step, "
        "%add{5};\n",
        2 * (step % kSteps), k, type.accumulator, type.name, d, scales);
  turn += "  wgmma.commit_group.sync.aligned;\n  wgmma.wait_group.sync.aligned 1;\n";
  std::string after = "  wgmma.wait_group.sync.aligned 0;\n";
  for (int i = 1; i < kM * kN / 128; ++i)
    after += fmt::format("  add.{0} {1}0, {1}0, {1}{2};\n", type.accumulator, prefix, i);
  after +=
      kept(whole ? "u32" : "f32", fmt::format("{}0", prefix), whole ? "0x12345679" : "0fC2F6E979");
  const auto declared = fmt::format(
      "  .reg .pred %add;\n  .reg .u32 %left;\n  .reg .u64 %a, %b, %a_step, %b_step;\n"
      "  .reg .{} {}<{}>;\n  .shared .align 1024 .b8 tile[{}];",
      whole ? "s32" : "f32", prefix, kM * kN / 128, kBytesA + kBytesB);
  RoofKernel roof;
  roof.what = type.what;
  roof.unit = unit_of(type);
  roof.ptx = header(90, true) + kernel(declared, before, turn, after);
  roof.threads = kThreads;
  roof.blocks_per_multiprocessor = 1;
  constexpr int kGroups = kThreads / 128;
  roof.operations = 2.0 * kM * kN * k * kSteps * kPasses * kGroups;
  return roof;
}

}  // namespace

std::vector<RoofKernel> roof_kernels(int capability) {
  std::vector<RoofKernel> roofs{multiply_adds(capability, false), multiply_adds(capability, true),
                                pair_multiply_adds(capability)};
  if (capability == 80 || capability == 90) roofs.push_back(wide_products(capability));
  if (capability >= 100 && capability < 120) return roofs;
  for (const auto& type : kTensorTypes) {
    if (capability < type.least) continue;
    auto zeros = type;
    zeros.mask = "0x00000000";
    for (const auto& one : {type, zeros}) {
      roofs.push_back(capability == 90 ? group_products(one) : warp_products(capability, one));
      if (one.mask == zeros.mask) roofs.back().what += "_of_zeros";
    }
  }
  return roofs;
}

RoofKernel shared_memory_roof(int capability) {
  constexpr int kLoads = 16;
  std::string before =
      "  mov.u32 %address, tile;\n  shl.b32 %word, %thread, 4;\n  add.u32 %address, %address, "
      "%word;\n"
      "  st.shared.v4.u32 [%address], {%thread, %thread, %thread, %thread};\n  bar.sync 0;\n"
      "  mov.u32 %sum, 0;\n";
  std::string turn;
  for (int i = 0; i < kLoads; ++i)
    turn +=
        "  ld.volatile.shared.v4.u32 {%x0, %x1, %x2, %x3}, [%address];\n"
        "  xor.b32 %x0, %x0, %x1;\n  xor.b32 %x2, %x2, %x3;\n"
        "  xor.b32 %sum, %sum, %x0;\n  xor.b32 %sum, %sum, %x2;\n";
  RoofKernel roof;
  roof.what = "shared_memory_bandwidth";
  roof.unit = "B/s";
  roof.ptx = header(capability) +
             kernel(fmt::format("  .reg .u32 %x<4>, %sum;\n  .shared .align 16 .b8 tile[{}];",
                                16 * kThreads),
                    before, turn, kept("u32", "%sum", "0x12345679"));
  roof.threads = kThreads;
  roof.blocks_per_multiprocessor = 4;
  roof.operations = 16.0 * kLoads * kThreads;
  return roof;
}

std::string copy_code(int capability) {
  return header(capability) + R"(
.visible .entry ratchet_copy(.param .u64 from, .param .u64 to, .param .u64 vectors)
{
  .reg .pred %out;
  .reg .u32 %r<8>;
  .reg .u64 %rd<8>;
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  cvt.u64.u32 %rd1, %r3;
  mad.wide.u32 %rd1, %r1, %r2, %rd1;
  ld.param.u64 %rd2, [vectors];
  setp.ge.u64 %out, %rd1, %rd2;
  @%out ret;
  ld.param.u64 %rd3, [from];
  ld.param.u64 %rd4, [to];
  cvta.to.global.u64 %rd3, %rd3;
  cvta.to.global.u64 %rd4, %rd4;
  shl.b64 %rd1, %rd1, 4;
  add.u64 %rd3, %rd3, %rd1;
  add.u64 %rd4, %rd4, %rd1;
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd3];
  st.global.v4.u32 [%rd4], {%r4, %r5, %r6, %r7};
  ret;
}
)";
}

}  // namespace ratchet::measure
