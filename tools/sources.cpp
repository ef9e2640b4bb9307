#include "tools/sources.h"

#include <fmt/format.h>

namespace ratchet {
namespace {

constexpr std::size_t kMaxSourceBytes = std::size_t{4} << 20U;

}  // namespace

std::string kernel_name_for(const std::optional<std::string>& implementation) {
  const std::string name = implementation.value_or("auto");
  if (name == "host-cpp" || name == "cpp") return "kernel.cpp";
  if (name == "triton" || name == "cute-dsl" || name == "cutedsl" || name == "host-python")
    return "kernel.py";
  return name == "hip-cpp" || name == "hip" ? "kernel.hip" : "kernel.cu";
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
