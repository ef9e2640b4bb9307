#include "kernels/disassembly/sass_signatures.h"

#include <algorithm>

namespace ratchet {
namespace {

using enum Relation;

constexpr CodeCondition rise(std::string_view opcodes, int least = 1) {
  return {.relation = rises, .opcodes = opcodes, .least = least};
}
constexpr CodeCondition appear(std::string_view opcodes) {
  return {.relation = appears, .opcodes = opcodes};
}
/// A factor of four: an unrolled loop reaches it, a rearranged one does not.
constexpr CodeCondition multiply(std::string_view opcodes) {
  return {.relation = multiplies, .opcodes = opcodes, .least = 4};
}
constexpr CodeCondition fall(std::string_view opcodes) {
  return {.relation = falls, .opcodes = opcodes};
}
constexpr CodeCondition no_more(std::string_view opcodes) {
  return {.relation = steady, .opcodes = opcodes};
}
constexpr CodeCondition have(std::string_view opcodes, int least = 1) {
  return {.relation = present, .opcodes = opcodes, .least = least};
}
constexpr CodeCondition without(std::string_view opcodes) {
  return {.relation = none, .opcodes = opcodes};
}
constexpr CodeCondition looped(CodeCondition condition) {
  condition.in_loop = true;
  return condition;
}
/// Waits that leave groups of copies in flight.
constexpr CodeCondition kOpenWait{.relation = present, .opcodes = "DEPBAR.LE", .least_operand = 1};

constexpr std::string_view kMatrix =
    "HMMA|IMMA|QMMA|OMMA|DMMA|BMMA|HGMMA|IGMMA|QGMMA|BGMMA|UTCHMMA|UTCIMMA|UTCQMMA|UTCOMMA";
constexpr std::string_view kGroupMatrix = "HGMMA|QGMMA|IGMMA|UTCHMMA|UTCQMMA|UTCOMMA|UTCIMMA";
constexpr std::string_view kAsyncCopies = "LDGSTS|UTMALDG|UBLKCP";
constexpr std::string_view kBulkCopies = "UTMALDG|UBLKCP";
constexpr std::string_view kGlobalAtomics = "RED|REDG|ATOM|ATOMG";
constexpr std::string_view kAtomics =
    "RED|REDG|ATOM|ATOMG|ATOMS|ATOMS.CAS|ATOMG.CAS|UTMAREDG|REDAS";
constexpr std::string_view kSpills = "LDL|STL";
constexpr std::string_view kWide = "LDG.128|STG.128|LDG.256|STG.256|LD.128|ST.128|LDS.128|STS.128";
constexpr std::string_view kFma = "FFMA|FFMA2|HFMA2.BF16|DFMA";
constexpr std::string_view kTrace = "the launches of a call, in its profile";
constexpr std::string_view kTraffic = "lts__t_sector_hit_rate.pct and dram__bytes.sum";
constexpr std::string_view kSectors =
    "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct";
constexpr std::string_view kParent = "the parent's code";

constexpr std::array kComputeSignatures{
    MethodSignature{
        "tensor_core", {CodeWay{appear(kMatrix)}, CodeWay{appear(kGroupMatrix)}}, kMatrix, kParent},
    MethodSignature{"mixed_precision",
                    {CodeWay{appear("F2FP")}, CodeWay{appear("HFMA2.BF16")},
                     CodeWay{appear("LDG.U16|LDS.U16")}},
                    "",
                    "the element types that are loaded, and registers of the build"},
    MethodSignature{
        "warp_specialization",
        {CodeWay{rise("USETMAXREG")}, CodeWay{rise("BAR.ARV"), have("LDGSTS|UTMALDG|UBLKCP|STS")}},
        "",
        "roles by warp in the source: mbarriers alone do not tell them"},
    MethodSignature{"launch_config", {}, "", "block size, registers and waves of the launch"},
    MethodSignature{"thread_coarsening", {}, "", "smsp__inst_executed.sum and the grid size"},
    MethodSignature{"ilp_unroll_register_tile",
                    {CodeWay{looped(rise(kFma)), looped(no_more("LDG|LDS|LD")), without(kSpills)}},
                    "",
                    "FMAs per load in the loop"},
    MethodSignature{"overlap_compute_memory", {}, "", "the order of loads and their uses"},
    MethodSignature{"gemm_softmax_interleave",
                    {CodeWay{looped(have(kGroupMatrix)), looped(rise("MUFU.EX2"))},
                     CodeWay{looped(rise(kGroupMatrix)), looped(have("MUFU.EX2"))}},
                    kGroupMatrix,
                    "the order of products and exponentials in the loop"},
    MethodSignature{"two_level_accumulation_promotion",
                    {CodeWay{have("QGMMA|HGMMA"), looped(rise("FADD|FFMA"))}},
                    "QGMMA|HGMMA|UTCQMMA",
                    "additions to the accumulators in the loop"},
    MethodSignature{"fp8_fast_accumulation_mode",
                    {CodeWay{have("QGMMA"), looped(fall("FADD|FFMA"))}},
                    "QGMMA|UTCQMMA|QMMA",
                    "additions to the accumulators in the loop"},
    MethodSignature{"block_scaled_precision",
                    {CodeWay{rise("UTCOMMA"), have("UTCCP")},
                     CodeWay{rise("UTCQMMA"), have("UTCCP")}, CodeWay{rise("OMMA.SF|QMMA.SF")}},
                    "UTCOMMA|UTCQMMA|OMMA|QMMA",
                    kParent},
    MethodSignature{"tf32_emulation_3xtf32_bf16x6",
                    {CodeWay{rise("HMMA.TF32|HGMMA.TF32", 3), rise("FADD|FFMA")},
                     CodeWay{rise("HMMA.BF16|HGMMA.BF16", 6), rise("F2FP.BF16"), rise("FADD")}},
                    "HMMA.TF32|HGMMA.TF32|HMMA.BF16|HGMMA.BF16|UTCHMMA",
                    "matrix instructions per tile step"},
    MethodSignature{"mufu_ex2_softmax_replacement",
                    {CodeWay{fall("MUFU.EX2"), rise("FFMA|FFMA2")}},
                    "",
                    "MUFU.EX2 per element"},
    MethodSignature{"reduction",
                    {CodeWay{rise("SHFL.BFLY|SHFL.DOWN", 4)}, CodeWay{rise("REDUX|CREDUX")}},
                    "",
                    "barriers per reduction"},
    MethodSignature{"warp_shuffle",
                    {CodeWay{rise("SHFL.BFLY|SHFL.DOWN|SHFL.UP")}, CodeWay{rise("SHFL.IDX", 2)}},
                    "SHFL",
                    kParent},
    MethodSignature{"loop_unroll",
                    {CodeWay{looped(multiply("FFMA|FADD|FMUL|HFMA2!MMA|DFMA")),
                             looped(multiply("LDG|LDS")), no_more(kWide), without(kSpills)}},
                    "",
                    "instructions per backward branch"},
    MethodSignature{"fma_and_fast_math",
                    {CodeWay{fall("FCHK")}, CodeWay{fall("FADD"), fall("FMUL"), rise("FFMA")}},
                    "",
                    "the sequences of division and square root"},
    MethodSignature{"lop3_bit_manipulation",
                    {CodeWay{fall("I2F"), rise("HADD2|HFMA2!MMA")}},
                    "",
                    "conversions per element"},
    MethodSignature{"pragma_no_alias",
                    {CodeWay{rise("LDG.CONSTANT"), fall("LDG!CONSTANT")}},
                    "",
                    "loads before stores in the unrolled body"},
    MethodSignature{
        "strength_reduce",
        {CodeWay{fall("I2F.RP"), fall("MUFU.RCP")}, CodeWay{fall("I2F.U32"), fall("MUFU.RCP")}},
        "",
        "the sequence of an integer division"},
    MethodSignature{"branch_eliminate",
                    {CodeWay{fall("BSSY"), rise("SEL|FSEL|FMNMX|VIMNMX|IMNMX")}},
                    "",
                    "branches per element"},
    MethodSignature{"handwritten_ptx_inline", {}, "", "the opcode that the PTX stands for"},
};

constexpr std::array kMemorySignatures{
    MethodSignature{"kernel_fusion", {}, "", kTrace},
    MethodSignature{"coalesced_access", {}, "", kSectors},
    MethodSignature{"tiling_smem",
                    {CodeWay{rise("LDS|LDSM"), rise("STS|LDGSTS|UTMALDG|UBLKCP"), fall("LDG|LD")},
                     CodeWay{rise(kGroupMatrix), rise("STS|LDGSTS|UTMALDG|UBLKCP")}},
                    "LDS|LDSM|HGMMA|QGMMA|IGMMA|UTCHMMA|UTCQMMA|UTCOMMA|UTCIMMA",
                    "global loads per FMA"},
    MethodSignature{
        "vectorized_access",
        {CodeWay{rise(kWide)}},
        "LDG.64|STG.64|LD.64|ST.64|LDS.64|STS.64|LDG.128|STG.128|LDG.256|STG.256|LD.128|"
        "ST.128|LDS.128|STS.128|LDGSTS.128|UTMALDG|UBLKCP|UTMASTG",
        kParent},
    MethodSignature{"async_copy", {CodeWay{appear("LDGSTS")}}, "LDGSTS", kParent},
    MethodSignature{"multi_stage_pipeline",
                    {CodeWay{rise("LDGSTS", 2), rise("LDGDEPBAR", 2), kOpenWait},
                     CodeWay{rise("LDGSTS", 2), rise("ARRIVES", 2)},
                     CodeWay{rise(kBulkCopies, 2), have("SYNCS.ARRIVE")}},
                    kAsyncCopies,
                    "stages times tile in the launch's shared memory"},
    MethodSignature{"epilogue_fusion", {}, "", kTrace},
    MethodSignature{"bank_conflict",
                    {},
                    "",
                    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum per shared wavefront"},
    MethodSignature{"ldmatrix_stmatrix", {CodeWay{rise("LDSM|STSM")}}, "LDSM|STSM", kParent},
    MethodSignature{"register_pressure",
                    {CodeWay{fall("STL"), fall("LDL")}},
                    "",
                    "registers and spills of the build"},
    MethodSignature{"tma_multicast",
                    {CodeWay{rise("UTMALDG.MULTICAST|UBLKCP.MULTICAST")}},
                    "UTMALDG.MULTICAST|UBLKCP.MULTICAST",
                    kParent},
    MethodSignature{"tma_descriptor_tuning",
                    {CodeWay{have("UTMALDG"), rise("UTMACCTL.PF")},
                     CodeWay{have("UTMALDG"), fall("UTMALDG"), without("UTMALDG.MULTICAST")}},
                    "UTMALDG|UTMASTG|UTMAREDG|UTMACCTL",
                    "boxes per tile, and bank conflicts for the swizzle"},
    MethodSignature{"epilogue_visitor_tree_fusion", {}, "", kTrace},
    MethodSignature{"data_layout", {}, "", kSectors},
    MethodSignature{"ldg_cache_modifier_hint",
                    {CodeWay{rise("LDG.EF|LDG.NA|LDG.EL|LDG.LU|STG.EF|STG.EL|STG.NA|STG.LU")},
                     CodeWay{rise("LDG.LTC128B|LDG.LTC256B|LDG.LTC64B")},
                     CodeWay{rise("LDG.STRONG.GPU|LDG.STRONG.SYS")}},
                    "",
                    "L2 policies travel in a descriptor and leave no opcode"},
    MethodSignature{"l2_persistence_window", {}, "", kTraffic},
    MethodSignature{
        "split_k_parallel_reduce",
        {},
        "",
        "whether the grid grew by the number of splits, and a second kernel or atomics at the end"},
    MethodSignature{"cache_and_readonly", {}, "", "l1tex__t_sector_hit_rate.pct"},
    MethodSignature{"smem_register_spilling",
                    {CodeWay{rise("STS"), rise("LDS"), fall("STL"), fall("LDL")}},
                    "STS",
                    "shared bytes of the build that the source does not declare"},
    MethodSignature{
        "tma_im2col_implicit_conv", {CodeWay{rise("UTMALDG.IM2COL")}}, "UTMALDG.IM2COL", kParent},
    MethodSignature{"distributed_smem",
                    {CodeWay{rise("UCGABAR_ARV"), rise("LD|ST|STAS|ATOM")}, CodeWay{rise("STAS")}},
                    "UCGABAR_ARV|STAS|UBLKCP|MAPA",
                    "the cluster size of the launch"},
    MethodSignature{
        "tensor_map_rebuild_avoid", {CodeWay{rise("UTMACCTL.PF")}}, "", "host time of a call"},
};

constexpr std::array kLatencySignatures{
    MethodSignature{"async_pipeline",
                    {CodeWay{looped(rise("LDGSTS")), kOpenWait},
                     CodeWay{looped(rise(kAsyncCopies)), looped(have("SYNCS.PHASECHK"))}},
                    kAsyncCopies,
                    "the distance between a copy and its wait"},
    MethodSignature{"reduce_sync_count",
                    {CodeWay{fall("BAR.SYNC|BAR.RED")}, CodeWay{looped(fall("BAR.SYNC|BAR.RED"))}},
                    "",
                    "barriers per iteration"},
    MethodSignature{"warp_shuffle_sync",
                    {CodeWay{have("SHFL"), fall("BAR.SYNC|BAR.RED")}},
                    "SHFL",
                    "barriers per iteration"},
    MethodSignature{"tile_scheduler_swizzle", {}, "", kTraffic},
    MethodSignature{"persistent_kernel", {}, "", "a grid of resident blocks in the launch"},
    MethodSignature{"stream_k_load_balancing", {}, "", "a grid of resident blocks in the launch"},
    MethodSignature{"online_recomputation", {}, "", "dram__bytes.sum"},
    MethodSignature{"warp_aggregated_atomics",
                    {CodeWay{rise("MATCH"), have(kAtomics)},
                     CodeWay{rise("VOTE|VOTEU"), rise("POPC|UPOPC"), have(kGlobalAtomics)},
                     CodeWay{rise("REDUX|CREDUX"), have(kGlobalAtomics)},
                     CodeWay{rise("SHFL"), have(kAtomics), fall("ATOMG|ATOM")}},
                    kAtomics,
                    "atomic instructions executed"},
    MethodSignature{
        "asymmetric_mbarrier_sync",
        {CodeWay{appear("SYNCS.ARRIVE"), appear("SYNCS.PHASECHK")}, CodeWay{appear("BAR.ARV")}},
        "SYNCS|BAR.ARV",
        kParent},
    MethodSignature{"pingpong_warpgroup_schedule",
                    {CodeWay{looped(have("HGMMA|QGMMA|IGMMA")), looped(rise("BAR.ARV"))},
                     CodeWay{looped(have("HGMMA|QGMMA|IGMMA")), looped(rise("BAR.SYNC"))}},
                    "HGMMA|QGMMA|IGMMA|BAR.ARV|SYNCS",
                    "blocks of 384 threads, and whether two consumer groups alternate"},
    MethodSignature{
        "producer_regdealloc_setmaxnreg", {CodeWay{rise("USETMAXREG")}}, "USETMAXREG", kParent},
    MethodSignature{
        "intra_wg_gemm_softmax_pipeline",
        {CodeWay{looped(have("HGMMA|QGMMA")),
                 looped(have("MUFU.EX2")),
                 {.relation = rises, .opcodes = "WARPGROUP.DEPBAR", .least_operand = 1}}},
        "HGMMA|QGMMA",
        "how many groups of matrix products are in flight when the exponentials run"},
    MethodSignature{"pdl_overlap", {CodeWay{rise("ACQBULK|PREEXIT")}}, "ACQBULK|PREEXIT", kTrace},
    MethodSignature{"cooperative_cluster",
                    {CodeWay{rise("UCGABAR_ARV")}, CodeWay{rise("ATOM|ATOMG"), rise("MEMBAR"),
                                                           looped(rise("LD.STRONG|LDG.STRONG"))}},
                    "",
                    "fewer kernels per call, and the cluster size of the launch"},
    MethodSignature{"static_launch_grid_graph", {}, "", kTrace},
    MethodSignature{"cuda_graphs", {}, "", kTrace},
    MethodSignature{"cluster_launch_control_scheduler",
                    {CodeWay{rise("UGETNEXTWORKID")}},
                    "UGETNEXTWORKID",
                    kParent},
    MethodSignature{"stream_event", {}, "", "overlapping kernels in the trace"},
    MethodSignature{"atomic_optimize",
                    {CodeWay{rise("REDG.F32x4|REDG.F32x2|REDG.F16x8.PACKED|REDG.BF16x8.PACKED")},
                     CodeWay{rise("RED|REDG"), fall("ATOM|ATOMG")},
                     CodeWay{rise("ATOMS"), fall("RED|REDG|ATOMG|ATOM")},
                     CodeWay{have(kAtomics), fall("MEMBAR")}},
                    "",
                    "atomic instructions executed, and the stall on them"},
};

constexpr auto kAll = [] {
  std::array<MethodSignature,
             kComputeSignatures.size() + kMemorySignatures.size() + kLatencySignatures.size()>
      all{};
  auto at = std::ranges::copy(kComputeSignatures, all.begin()).out;
  at = std::ranges::copy(kMemorySignatures, at).out;
  std::ranges::copy(kLatencySignatures, at);
  return all;
}();

}  // namespace

std::span<const MethodSignature> method_signatures() {
  return kAll;
}

const MethodSignature* signature_of(std::string_view id) {
  const auto name = id.substr(id.find('.') + 1);
  const auto* const found = std::ranges::find(kAll, name, &MethodSignature::id);
  return found == kAll.end() ? nullptr : found;
}

}  // namespace ratchet
