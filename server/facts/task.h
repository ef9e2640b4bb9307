#pragma once

// What a caller asks for when a run is created: the arguments of `create_run`, and the shape of a
// shipped problem's `problem.json`. `kernels` turns it into a Contract.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/facts/contract.h"

namespace ratchet {

/// Source given by path (inside the allowed roots) or as text; exactly one.
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
  std::optional<std::string> implementation;  ///< with the packages' aliases, or auto
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
                   "v0 source, {path} or {text}; with reference instead of problem."),
          optional("reference", &T::reference, "ref.py, ref.cpp or ref.cu, {path} or {text}."),
          optional("implementation", &T::implementation,
                   "auto, host-cpp, cuda-cpp, cutlass, cute-dsl, triton or host-python.",
                   {.max_length = 32}),
          optional("dims", &T::dims, "Integer sizes by parameter name.", {.min = 1, .max = 1e12}),
          optional("cases", &T::cases, "Workload: dims with weights.", {.max_length = 64}),
          optional("any_size", &T::any_size, "Kernel must take odd and prime sizes too."),
          optional("tensors", &T::tensors, "Buffers, when the signature does not say enough.",
                   {.max_length = 64}),
          optional("scalars", &T::scalars, "Floating scalar parameters by name."),
          optional("work", &T::work, "Least bytes and FLOPs."),
          optional("ptr_size", &T::ptr_size, "Elements of every buffer; 0: from dims.",
                   {.min = 0, .max = 268435456}),
          optional("arch", &T::arch, "Target such as sm_90a; default: the device's.",
                   {.max_length = 32}),
          optional("iterations", &T::iterations, "N, versions after v0.", {.min = 1, .max = 1000}),
          optional("device", &T::device, "Device index.", {.min = 0, .max = 63}),
          optional("seed", &T::seed, "A fixed seed weakens the claim; default secret."),
          optional("atol", &T::atol, "Absolute tolerance; default per dtype.", {.min = 0}),
          optional("rtol", &T::rtol, "Relative tolerance; default per dtype.", {.min = 0}),
          optional("matched_ratio", &T::matched_ratio,
                   "Share of elements that must be within tolerance; default 1, all.",
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
