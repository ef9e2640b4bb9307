#pragma once

// The task of a run: the arguments of `create_run`, and the form of a shipped problem's
// `problem.json`. `kernels` turns it into a Contract.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/facts/contract.h"

namespace ratchet {

/// A source given either by path, inside the allowed roots, or as text.
struct SourceArg {
  std::optional<std::string> path;
  std::optional<std::string> text;

  static constexpr void fields(auto&& visit) {
    visit(optional<&SourceArg::path>("In an allowed root."), optional<&SourceArg::text>());
  }
};

struct TaskRequest {
  std::optional<std::string> problem;
  std::optional<SourceArg> kernel;
  std::optional<SourceArg> reference;
  std::optional<std::string> implementation;  ///< auto, a name or an alias
  Dims dims;
  std::vector<Case> cases;
  std::optional<bool> any_size;
  std::vector<TensorSpec> tensors;
  std::vector<std::string> accumulate;
  std::vector<std::string> where;
  std::map<std::string, double> scalars;
  std::optional<Work> work;
  std::int64_t ptr_size = 0;
  std::optional<std::string> arch;
  int iterations = 3;
  int device = 0;
  std::optional<std::int64_t> seed;
  std::optional<double> atol;
  std::optional<double> rtol;
  std::optional<double> matched_ratio;
  /// What elements beyond `matched_ratio` may be off by, in the server's own tolerances; empty: by
  /// any finite amount.
  std::optional<double> rest_within;
  std::optional<bool> edge_values;
  std::vector<std::string> baselines;
  std::string entry = "solve";
  std::optional<CallStyle> call;
  std::optional<Json> signature;  ///< of a module or function
  std::vector<std::string> flags;
  std::optional<Launch> launch;
  std::optional<std::string> lab;

  static constexpr void fields(auto&& visit) {
    using T = TaskRequest;
    visit(
        optional<&T::problem>("A shipped problem, e.g. softmax, or an imported one's folder.",
                              {.max_length = 4096}),
        optional<&T::kernel>("v0, {path} or {text}; with reference, instead of problem."),
        optional<&T::reference>("ref.py, ref.cpp or ref.cu, {path} or {text}."),
        optional<&T::implementation>(
            "auto, host-cpp, cuda-cpp, cutlass, cute-dsl, triton or host-python.",
            {.max_length = 32}),
        optional<&T::dims>("Sizes by parameter name, 1 or more."),
        optional<&T::cases>("Workload: dims with weights; versions are timed on the first.",
                            {.max_length = 64}),
        optional<&T::any_size>("Also odd, prime and tiny sizes. Default: if v0 takes them."),
        optional<&T::tensors>("Buffers, unless the signature tells.", {.max_length = 1024}),
        optional<&T::accumulate>("Outputs that the kernel adds onto; or init zeros.",
                                 {.max_length = 64}),
        optional<&T::where>("Relations such as nnz <= m*n.", {.max_length = 64}),
        optional<&T::scalars>("Scalar parameters by name that are no sizes."),
        optional<&T::work>("Least bytes to move and FLOPs."),
        optional<&T::ptr_size>("Elements of every buffer; 0: by dims.",
                               {.min = 0, .max = 268435456}),
        optional<&T::arch>("Such as sm_90a. Default: the device's.", {.max_length = 32}),
        optional<&T::iterations>("Versions after v0.", {.min = 1, .max = 1000}),
        optional<&T::device>("", {.min = 0, .max = 63}),
        optional<&T::seed>("Weakens the claim. Default: secret."),
        optional<&T::atol>("Default: by dtype.", {.min = 0}),
        optional<&T::rtol>("Default: by dtype.", {.min = 0}),
        optional<&T::matched_ratio>("Share of elements within tolerance.", {.min = 0.5, .max = 1}),
        optional<&T::rest_within>("Most the rest is off, in default tolerances.", {.min = 1}),
        optional<&T::edge_values>("Refuse errors at largest, infinite, NaN inputs."),
        optional<&T::baselines>("pytorch-eager, torch-compile, flashinfer, vendor.",
                                {.max_length = 8}),
        optional<&T::entry>("Entry function.", {.max_length = 64}), optional<&T::call>(),
        optional<&T::signature>("Of a module or function: see docs/tasks.md."),
        optional<&T::flags>("More compiler flags.", {.max_length = 32}),
        optional<&T::launch>("How to launch a __global__ entry."),
        optional<&T::lab>("Name or group in list_labs.", {.max_length = 64}));
  }
};

/// A problem, ready to be planned: its task with the sources filled in.
struct Problem {
  TaskRequest task;
  std::optional<Source> kernel;  ///< v0; an imported problem may have none
  Source reference;
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<SourceArg>();
extern template const FieldTable& table_of<TaskRequest>();
}  // namespace ratchet::fields_detail
