#include "tools/sources.h"

#include <fmt/format.h>

#include "server/facts/implementation_names.h"

namespace ratchet {
namespace {

constexpr std::size_t kMaxSourceBytes = std::size_t{4} << 20U;

}  // namespace

std::string kernel_name_for(const std::optional<std::string>& implementation) {
  const auto meant = implementations_named(implementation.value_or("auto"));
  if (meant.empty()) return "kernel.cu";
  if (is_python(meant.front())) return "kernel.py";
  if (is_only_built(meant.front())) return "kernel.hip";
  return is_host(meant.front()) ? "kernel.cpp" : "kernel.cu";
}

Result<Source> read_source(const SourceArg& argument, const std::string& field,
                           const std::string& default_name, const Roots& roots) {
  if (argument.path.has_value() == argument.text.has_value())
    return invalid_argument(fmt::format("{}: {}", field,
                                        argument.path ? "both a path and a text were given"
                                                      : "has no path and no text"),
                            R"(Give {"path": FILE} or {"text": SOURCE}.)");
  if (argument.text) {
    if (argument.text->empty())
      return invalid_argument(fmt::format("{}: the given text is empty", field));
    return Source{default_name, *argument.text, ""};
  }
  auto file = roots.read(*argument.path, kMaxSourceBytes);
  if (!file) return file.error().at(field);
  return Source{file->path.filename().string(), std::move(file->bytes),
                file->path.parent_path().string(), file->root.string()};
}

}  // namespace ratchet
