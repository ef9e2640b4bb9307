#include "server/facts/implementation_names.h"

#include "server/core/text.h"

namespace ratchet {

std::vector<Implementation> implementations_named(std::string_view name) {
  using enum Implementation;
  const auto plain = lowered(name);
  if (plain == "cpp") return {host_cpp, cuda_cpp};
  if (plain == "cuda") return {cuda_cpp, triton};
  if (plain == "cute" || plain == "cutedsl") return {cute_dsl, cuda_cpp};
  if (plain == "hip") return {hip_cpp};
  for (const auto& [value, known] : enum_names(Implementation{}))
    if (plain == known) return {value};
  return {};
}

}  // namespace ratchet
