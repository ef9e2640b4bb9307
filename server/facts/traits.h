#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "server/facts/environment.h"

namespace ratchet {

/// What a time or a verdict may depend on, by name: devices and their drivers, tools, walls,
/// ratchet.
using Traits = std::map<std::string, std::string>;

/// `gpu`: of the GPUs only this one. Pure.
[[nodiscard]] Traits traits_of(const Environment& environment, std::optional<int> gpu = {});

/// What is not the same, by name: "g++: 12.2.0, there 13.1.0", with this word for "there". Pure.
[[nodiscard]] std::vector<std::string> differences(const Traits& one, const Traits& other,
                                                   const char* there = "there");

}  // namespace ratchet
