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
    visit(optional("path", &SourceArg::path, "File inside the allowed roots."),
          optional("text", &SourceArg::text, "Source text."));
  }
};

struct TaskRequest {
  std::optional<std::string> problem;
  std::optional<SourceArg> kernel;
  std::optional<SourceArg> reference;
  std::optional<std::string> implementation;  ///< auto, a name or an alias
  Dims dims;
  std::vector<Case> cases;
  bool any_size = false;
  std::vector<TensorSpec> tensors;
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
  std::vector<std::string> baselines;
  std::string entry = "solve";
  std::vector<std::string> flags;
  std::optional<Launch> launch;

  static constexpr void fields(auto&& visit) {
    using T = TaskRequest;
    visit(optional("problem", &T::problem, "A shipped problem by name, e.g. softmax.",
                   {.max_length = 64}),
          optional("kernel", &T::kernel,
                   "Source of v0, {path} or {text}; with reference, instead of problem."),
          optional("reference", &T::reference, "ref.py, ref.cpp or ref.cu, {path} or {text}."),
          optional("implementation", &T::implementation,
                   "auto, host-cpp, cuda-cpp, cutlass, cute-dsl, triton or host-python.",
                   {.max_length = 32}),
          optional("dims", &T::dims, "Integer sizes by parameter name.", {.min = 1, .max = 1e12}),
          optional("cases", &T::cases,
                   "Workload: dims with weights; versions are timed on the first.",
                   {.max_length = 64}),
          optional("any_size", &T::any_size, "The kernel must also handle odd and prime sizes."),
          optional("tensors", &T::tensors, "Buffers, if the signature does not determine them.",
                   {.max_length = 64}),
          optional("scalars", &T::scalars, "Floating-point scalar parameters by name."),
          optional("work", &T::work, "Least bytes to move and FLOPs."),
          optional("ptr_size", &T::ptr_size, "Elements of every buffer; 0: derived from dims.",
                   {.min = 0, .max = 268435456}),
          optional("arch", &T::arch, "Target such as sm_90a. Default: the device's.",
                   {.max_length = 32}),
          optional("iterations", &T::iterations, "N, the number of versions after v0.",
                   {.min = 1, .max = 1000}),
          optional("device", &T::device, "Device index.", {.min = 0, .max = 63}),
          optional("seed", &T::seed, "Fixed seed, which weakens the claim. Default: secret."),
          optional("atol", &T::atol, "Absolute tolerance. Default: by dtype.", {.min = 0}),
          optional("rtol", &T::rtol, "Relative tolerance. Default: by dtype.", {.min = 0}),
          optional("matched_ratio", &T::matched_ratio,
                   "Share of elements that must be within tolerance. Default: 1.",
                   {.min = 0.5, .max = 1}),
          optional("baselines", &T::baselines, "pytorch-eager, torch-compile, flashinfer, vendor.",
                   {.max_length = 8}),
          optional("entry", &T::entry, "Kernel entry function.", {.max_length = 64}),
          optional("flags", &T::flags, "Extra compiler flags.", {.max_length = 32}),
          optional("launch", &T::launch, "Device-only .cu: how to launch its __global__ entry."));
  }
};

/// A shipped problem, ready to be planned: its task with the sources filled in.
struct Problem {
  TaskRequest task;
  Source kernel;
  Source reference;
};

}  // namespace ratchet
