#include "kernels/build/build_flags.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "server/core/text.h"

namespace ratchet {
namespace {

constexpr std::string_view kLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/// Only letters, digits and `extra`: by default no spaces, quotes, slashes or commas.
bool made_of(std::string_view text, std::string_view extra) {
  return !text.empty() && std::ranges::all_of(text, [&](char c) {
    return kLetters.find(c) != std::string_view::npos || extra.find(c) != std::string_view::npos;
  });
}

bool common_flag(std::string_view flag) {
  if (flag.starts_with("-D") || flag.starts_with("-U")) return made_of(flag.substr(2), "_=.+-");
  // -Wp, -Wa and -Wl pass their value to other programs; they need a comma.
  if (flag.starts_with("-W")) return made_of(flag.substr(2), "-=+");
  if (flag.starts_with("-std=")) return made_of(flag.substr(5), "+");
  return false;
}

bool host_flag(std::string_view flag) {
  if (flag.starts_with("-O")) return made_of(flag.substr(1), "");
  if (starts_with_any(flag,
                      {"-fplugin", "-fdump", "-fuse-ld", "-fprofile", "-fsanitize", "-flto",
                       "-fcompare-debug", "-fauto-profile", "-fcallgraph-info", "-fpass-plugin"}))
    return false;
  if (flag.starts_with("-f") || flag.starts_with("-m")) return made_of(flag.substr(2), "-=+");
  return false;
}

constexpr std::array<std::string_view, 8> kLibraries{"cublas", "cublasLt", "cusparse", "cufft",
                                                     "curand", "cusolver", "cuda",     "nvrtc"};

bool cuda_flag(std::string_view flag) {
  if (flag.starts_with("-l"))
    return std::ranges::find(kLibraries, flag.substr(2)) != kLibraries.end();
  if (flag == "-Xptxas" || flag == "-use_fast_math" || flag == "--use_fast_math") return true;
  if (starts_with_any(flag,
                      {"-O", "--maxrregcount=", "-maxrregcount=", "--expt-", "--extended-lambda",
                       "--ftz=", "--fmad=", "--prec-div=", "--prec-sqrt="}))
    return made_of(flag.substr(1), "-=_");
  return false;
}

/// A value for -Xptxas: one option of ptxas that names no file.
bool ptxas_value(std::string_view value) {
  return value.starts_with("-") && made_of(value, "-=_") &&
         !starts_with_any(value, {"-o", "--output", "--input", "-optf", "--options-file"});
}

}  // namespace

Status check_flags(const std::vector<std::string>& flags, Language language) {
  const bool cuda = language == Language::cuda;
  const auto* const compiler = cuda ? "nvcc" : language == Language::hip ? "hipcc" : "g++";
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::string_view flag = flags[i];
    const bool value = cuda && i > 0 && flags[i - 1] == "-Xptxas" && ptxas_value(flag);
    if (value || common_flag(flag) || (cuda ? cuda_flag(flag) : host_flag(flag))) continue;
    return invalid_argument(
        fmt::format("flags: the option \"{}\" is not accepted for {}", flag.substr(0, 80),
                    compiler),
        cuda ? "Accepted: -D -U -W -std=, --use_fast_math, --maxrregcount=N, --expt-*, "
               "--extended-lambda, --ftz= --fmad= --prec-div= --prec-sqrt=, -Xptxas X, -l of "
               "CUDA libraries."
             : "Accepted: -D -U -W -std= -O… -f… -m…, without file names and plugins.");
  }
  return {};
}

std::vector<std::string> linked_libraries(const std::vector<std::string>& flags) {
  std::vector<std::string> libraries;
  for (const auto& flag : flags)
    if (flag.starts_with("-l")) libraries.push_back(flag.substr(2));
  return libraries;
}

}  // namespace ratchet
