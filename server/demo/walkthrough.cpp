#include "server/demo/walkthrough.h"

#include <fmt/format.h>

#include "server/core/files.h"

namespace ratchet::demo {

Result<std::vector<Step>> load_walkthrough(const std::filesystem::path& problem_dir,
                                           const std::string& implementation) {
  const auto path = problem_dir / "walkthrough.json";
  auto text = read_file(path);
  if (!text) return text.error();
  const Json parsed = Json::parse(*text, nullptr, false);
  if (!parsed.is_object() || !parsed.contains(implementation))
    return not_found(fmt::format("{} has no steps for {}", path.string(), implementation));
  return decode<std::vector<Step>>(parsed[implementation], Place{implementation});
}

}  // namespace ratchet::demo
