#include "kernels/contract/dims_used.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

namespace ratchet {
namespace {

/// Whether `name` is a word of the text.
bool has_word(std::string_view text, std::string_view name) {
  const auto word = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
  for (auto at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const auto end = at + name.size();
    if ((at == 0 || !word(static_cast<unsigned char>(text[at - 1]))) &&
        (end == text.size() || !word(static_cast<unsigned char>(text[end]))))
      return true;
  }
  return false;
}

}  // namespace

Status check_dims_used(const Contract& contract, const TaskRequest& task) {
  std::vector<std::string_view> texts{contract.kernel.text, contract.reference.text};
  for (const auto& tensor : contract.tensors) {
    texts.insert(texts.end(), tensor.shape.begin(), tensor.shape.end());
    texts.emplace_back(tensor.init);
  }
  const auto signature = task.signature ? task.signature->dump() : "";
  texts.emplace_back(signature);
  texts.insert(texts.end(), task.where.begin(), task.where.end());
  if (task.work) texts.insert(texts.end(), {task.work->bytes, task.work->flops});
  for (const auto& one : contract.cases)
    for (const auto& [name, value] : one.dims) {
      if (std::ranges::any_of(texts, [&](auto text) { return has_word(text, name); })) continue;
      std::string known;
      for (const auto& parameter : contract.parameters)
        if (parameter.kind == ParameterKind::dim && parameter.name != name)
          known += (known.empty() ? "" : ", ") + parameter.name;
      return invalid_argument(
          fmt::format("dims.{}: neither the kernel, the reference, a shape nor `work` uses it",
                      name),
          known.empty()
              ? fmt::format("Leave {} out.", name)
              : fmt::format("Leave {} out; the sizes of {} are {}.", name, contract.entry, known));
    }
  return {};
}

}  // namespace ratchet
