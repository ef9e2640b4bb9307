#include "kernels/build/build_headers.h"

#include <algorithm>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "kernels/build/build_needs.h"
#include "server/core/files.h"
#include "server/core/hash.h"

namespace ratchet {
namespace {

namespace fs = std::filesystem;

/// The names in a make rule "library.so: a b \<newline> c"; "\ " is a space within a name.
std::vector<std::string> rule_names(std::string_view rule) {
  std::vector<std::string> names;
  std::string name;
  for (auto i = rule.find(": ") + 2; i < rule.size(); ++i) {
    const bool escaped = rule[i] == '\\' && i + 1 < rule.size();
    if (escaped && (rule[i + 1] == ' ' || rule[i + 1] == '#' || rule[i + 1] == '\\')) {
      name += rule[++i];
    } else if (rule[i] == ' ' || rule[i] == '\n' || escaped) {
      if (!name.empty()) names.push_back(std::exchange(name, {}));
    } else {
      name += rule[i];
    }
  }
  if (!name.empty()) names.push_back(name);
  return names;
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  if (folder.empty()) return false;
  const auto relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

/// The nearest parent folder under git; empty if there is none.
fs::path repository_of(fs::path folder) {
  std::error_code none;
  for (; folder.has_relative_path(); folder = folder.parent_path())
    if (fs::exists(folder / ".git", none)) return folder;
  return {};
}

bool is_header(const fs::path& path) {
  static const std::set<std::string> suffixes{".h",   ".hh",  ".hpp", ".hxx", ".cuh",
                                              ".inl", ".inc", ".cu",  ".cpp", ".hip"};
  return suffixes.contains(path.extension().string());
}

/// `.incbin` reads files without a trace in the list of headers. A literal assembled from macros
/// escapes this check, but gains nothing that the sandboxed kernel could disclose.
bool mentions_incbin(std::string_view text) {
  return text.find("incbin") != std::string_view::npos;
}

}  // namespace

bool may_include(const fs::path& path, const Source& source) {
  std::error_code none;
  const auto folder = fs::weakly_canonical(source.folder, none);
  if (lies_in(path, folder))
    return path.extension() != ".gch";  // an image of the compiler's memory
  const bool in_root =
      source.root.empty() || lies_in(path, fs::weakly_canonical(source.root, none));
  return in_root && is_header(path) && lies_in(path, repository_of(folder));
}

HeaderList headers_of(std::string_view rule, const fs::path& work, const Source& source,
                      const Toolchain& toolchain) {
  std::error_code none;
  std::vector<fs::path> trusted = toolchain.include_dirs;
  trusted.push_back(toolchain.cuda_home);
  if (toolchain.cutlass_include) trusted.emplace_back(*toolchain.cutlass_include);
  if (toolchain.hip)
    trusted.insert(trusted.end(), toolchain.hip->include_dirs.begin(),
                   toolchain.hip->include_dirs.end());
  HeaderList list;
  if (mentions_incbin(source.text)) list.intruder = "a file through .incbin";
  for (const auto& name : rule_names(rule)) {
    if (list.intruder) break;
    const auto path =
        fs::weakly_canonical(fs::path(name).is_absolute() ? fs::path(name) : work / name, none);
    if (lies_in(path, work)) continue;
    if (std::ranges::any_of(trusted, [&](const auto& root) { return lies_in(path, root); }))
      continue;
    const auto text = !source.folder.empty() && may_include(path, source)
                          ? read_file(path)
                          : Result<std::string>(Error{});
    if (!text)
      list.intruder = name;
    else if (mentions_incbin(*text))
      list.intruder = "a file through .incbin in " + name;
    else
      list.local.push_back({path.string(), sha256_hex(*text)});
  }
  return list;
}

std::vector<std::string> readable_by_compilers(const Source& source, const Toolchain& toolchain) {
  std::vector<std::string> readable{"/usr",
                                    "/bin",
                                    "/lib",
                                    "/lib64",
                                    "/etc/ld.so.cache",
                                    "/etc/alternatives",
                                    "/proc/self",
                                    "/proc/cpuinfo",
                                    "/proc/meminfo",
                                    "/proc/stat",
                                    "/sys/devices/system/cpu"};
  std::error_code none;
  const auto add = [&](const fs::path& path) {
    if (!path.empty()) readable.push_back(fs::weakly_canonical(path, none).string());
  };
  for (const auto* program : {&toolchain.host_compiler, &toolchain.nvcc})
    if (*program) add(fs::weakly_canonical((*program)->path, none).parent_path().parent_path());
  for (const auto& folder : toolchain.include_dirs) add(folder);
  if (toolchain.hip) {
    for (const auto& program : {toolchain.hip->compiler.path, toolchain.hip->llvm / "clang"})
      add(fs::weakly_canonical(program, none).parent_path().parent_path());
    for (const auto& folder : toolchain.hip->include_dirs) add(folder);
  }
  add(toolchain.cuda_home);
  if (toolchain.nvrtc) add(toolchain.nvrtc->parent_path());
  if (toolchain.cutlass_include) add(*toolchain.cutlass_include);
  if (source.folder.empty()) return readable;
  add(source.folder);
  for (const auto& header : local_headers(source)) add(header.path);
  return readable;
}

}  // namespace ratchet
