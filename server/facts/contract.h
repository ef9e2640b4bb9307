#pragma once

// What a run freezes: plain records with field lists, created by `kernels` (parsing, inference),
// stored and digested by `server/runs`.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/core/field.h"
#include "server/facts/judge_rules.h"
#include "server/facts/parameters.h"
#include "server/facts/types.h"

namespace ratchet {

using Dims = std::map<std::string, std::int64_t>;

/// "rows=1024 cols=4096".
[[nodiscard]] inline std::string dims_text(const Dims& dims, std::string_view separator = " ") {
  std::string text;
  for (const auto& [name, value] : dims) {
    if (!text.empty()) text += separator;
    text += name + "=" + std::to_string(value);
  }
  return text;
}

/// One case of the workload.
struct Case {
  Dims dims;
  double weight = 1;
  bool hidden =
      false;  ///< added by the server: checked, never timed, dims not shown while it passes

  static constexpr void fields(auto&& visit) {
    visit(required<&Case::dims>("Sizes by name."),
          optional<&Case::weight>("Weight in averages.", {.min = 0}),
          optional<&Case::hidden>("Added by the server."));
  }
};

/// The least the task must move and compute, as expressions over dims.
struct Work {
  std::string bytes;
  std::string flops;
  std::optional<DType> type;  ///< of a contract: empty in old ones, which meant float32

  static constexpr void fields(auto&& visit) {
    visit(required<&Work::bytes>("An expression over dims.", {.max_length = 256}),
          required<&Work::flops>("An expression over dims.", {.max_length = 256}),
          optional<&Work::type>("Type of the arithmetic. Default: by the inputs."));
  }
};

/// How to launch a device-only kernel (a `__global__` function without a host function), as
/// expressions over dims.
struct Launch {
  std::vector<std::string> grid;
  std::vector<std::string> block;
  std::string shared = "0";

  static constexpr void fields(auto&& visit) {
    visit(
        required<&Launch::grid>("Blocks per grid: 1 to 3 expressions over dims.",
                                {.max_length = 3}),
        required<&Launch::block>("Threads, likewise.", {.max_length = 3}),
        optional<&Launch::shared>("Dynamic, bytes, an expression over dims.", {.max_length = 256}));
  }
};

/// How a kernel is called: `solve` by the C ABI; in Python `run_kernel` by keyword, the `forward`
/// of a torch `module`, or a `function`. The last two have a signature
/// (kernels/contract/call_signature.h).
enum class CallStyle { solve, run_kernel, module, function };
constexpr auto enum_names(CallStyle) {
  using enum CallStyle;
  return as_written<solve, run_kernel, module, function>();
}
[[nodiscard]] constexpr bool has_signature(CallStyle call) {
  return call == CallStyle::module || call == CallStyle::function;
}

enum class ReferenceKind { cpp, cuda, python };
constexpr auto enum_names(ReferenceKind) {
  using enum ReferenceKind;
  return as_written<cpp, cuda, python>();
}

/// Of a compiled reference.
[[nodiscard]] constexpr Language language_of(ReferenceKind kind) {
  return kind == ReferenceKind::cuda ? Language::cuda : Language::cpp;
}

/// A source text with its file name; `folder` has its local headers and may be empty.
struct Source {
  std::string file_name;
  std::string text;
  std::string folder;
  std::string
      root;  ///< the allowed root that holds the folder; empty: recorded by an older version

  static constexpr void fields(auto&& visit) {
    visit(required<&Source::file_name>(), required<&Source::text>(), optional<&Source::folder>(),
          optional<&Source::root>());
  }
};

struct Contract {
  std::string kernel_name;  ///< [a-z0-9_]: prefix of the run id
  std::string problem;      ///< a shipped problem's name, or empty
  Implementation implementation = Implementation::host_cpp;
  DeviceKind device_kind = DeviceKind::host;
  int device = 0;  ///< index of the CUDA device; 0 on the host
  std::string device_name;
  std::string arch;  ///< "sm_90a" or "native"
  std::string entry = "solve";
  std::vector<std::string> flags;  ///< extra compiler flags
  std::optional<Launch> launch;    ///< device-only kernel: the entry is a `__global__` function
  std::vector<Parameter> parameters;
  std::vector<TensorSpec> tensors;
  std::vector<Case> cases;  ///< versions are timed on the first given case
  std::optional<Work> work;
  std::optional<double> atol;  ///< empty: depends on the dtype
  std::optional<double> rtol;
  std::optional<double> matched_ratio;  ///< share of each output that must match; empty: all
  std::optional<double> rest_within;    ///< see TaskRequest
  bool any_size = false;                ///< the kernel must take odd and prime sizes too
  /// Only the given sizes are asked: the reference has no answer at others that were drawn.
  std::optional<bool> given_sizes;
  bool seed_given = false;  ///< a seed that the caller knows weakens the claim, and is reported
  ReferenceKind reference_kind = ReferenceKind::cpp;
  Source kernel;  ///< v0
  Source reference;
  int iterations = 3;  ///< N: versions after v0
  int retries = 3;     ///< per version
  std::vector<std::string> baselines;
  double noise_threshold_pct = 0.5;
  std::optional<JudgeRules> judge;                ///< empty: the rules before version 2
  std::optional<std::vector<std::string>> where;  ///< relations that every size keeps
  std::optional<CallStyle> call;                  ///< empty: `solve`, or `run_kernel` in Python
  std::optional<Json> signature;                  ///< of a module or function
  std::optional<std::string> lab;                 ///< where it is measured; empty: here
  std::optional<bool> edge_values;  ///< refuse what differs on values at the edges of their types
  /// Never frozen with a run, whose steps add them: values that a search found bad, which checks
  /// and profiles ask beside their own.
  std::optional<std::vector<std::string>> found_values;

  static constexpr void fields(auto&& visit) {
    using C = Contract;
    visit(required<&C::kernel_name>(), required<&C::problem>(), required<&C::implementation>(),
          required<&C::device_kind>(), required<&C::device>(), required<&C::device_name>(),
          required<&C::arch>(), required<&C::entry>(), required<&C::flags>(),
          optional<&C::launch>(), required<&C::parameters>(), required<&C::tensors>(),
          required<&C::cases>(), optional<&C::work>(), optional<&C::atol>(), optional<&C::rtol>(),
          optional<&C::matched_ratio>(), optional<&C::rest_within>(), optional<&C::any_size>(),
          optional<&C::given_sizes>(), required<&C::seed_given>(), required<&C::reference_kind>(),
          required<&C::kernel>(), required<&C::reference>(), required<&C::iterations>(),
          required<&C::retries>(), required<&C::baselines>(), required<&C::noise_threshold_pct>(),
          optional<&C::judge>(), optional<&C::where>(), optional<&C::call>(),
          optional<&C::signature>(), optional<&C::lab>(), optional<&C::edge_values>(),
          optional<&C::found_values>());
  }

  /// Whether it is judged by this version of the rules or a later one.
  [[nodiscard]] bool judged_since(int version) const { return judge && judge->version >= version; }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<Case>();
extern template const FieldTable& table_of<Work>();
extern template const FieldTable& table_of<Launch>();
extern template const FieldTable& table_of<Source>();
extern template const FieldTable& table_of<Contract>();
}  // namespace ratchet::fields_detail
