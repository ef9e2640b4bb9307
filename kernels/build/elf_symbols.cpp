#include "kernels/build/elf_symbols.h"

#include <elf.h>
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>

#include "server/core/text.h"

namespace ratchet {
namespace {

/// Bounds-checked reads of a file image that untrusted code can influence.
class Image {
 public:
  explicit Image(std::string_view bytes) : bytes_(bytes) {}

  template <class T>
  [[nodiscard]] std::optional<T> read(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof(T));
    return value;
  }

  /// The NUL-terminated text at `offset`; empty if it extends beyond the file.
  [[nodiscard]] std::string text(std::uint64_t offset) const {
    if (offset >= bytes_.size()) return {};
    const auto end = bytes_.find('\0', offset);
    if (end == std::string_view::npos) return {};
    return std::string(bytes_.substr(offset, end - offset));
  }

 private:
  std::string_view bytes_;
};

struct Sections {
  std::optional<Elf64_Shdr> symbols, versions, needs;
  std::vector<Elf64_Shdr> all;
};

std::optional<Sections> sections_of(const Image& image) {
  const auto header = image.read<Elf64_Ehdr>(0);
  const bool elf = header && std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
                   header->e_ident[EI_CLASS] == ELFCLASS64 &&
                   header->e_ident[EI_DATA] == ELFDATA2LSB && header->e_type == ET_DYN &&
                   header->e_shentsize == sizeof(Elf64_Shdr);
  if (!elf) return std::nullopt;
  Sections sections;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = image.read<Elf64_Shdr>(header->e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return std::nullopt;
    if (section->sh_type == SHT_DYNSYM) sections.symbols = *section;
    if (section->sh_type == SHT_GNU_versym) sections.versions = *section;
    if (section->sh_type == SHT_GNU_verneed) sections.needs = *section;
    sections.all.push_back(*section);
  }
  if (!sections.symbols || sections.symbols->sh_link >= sections.all.size()) return std::nullopt;
  return sections;
}

/// Version index → soname, from .gnu.version_r.
std::map<unsigned, std::string> libraries_of(const Image& image, const Sections& sections) {
  std::map<unsigned, std::string> libraries;
  if (!sections.needs || sections.needs->sh_link >= sections.all.size()) return libraries;
  const auto names = sections.all[sections.needs->sh_link].sh_offset;
  auto at = sections.needs->sh_offset;
  for (std::uint32_t i = 0; i < sections.needs->sh_info; ++i) {
    const auto need = image.read<Elf64_Verneed>(at);
    if (!need) break;
    auto aux_at = at + need->vn_aux;
    for (unsigned j = 0; j < need->vn_cnt; ++j) {
      const auto aux = image.read<Elf64_Vernaux>(aux_at);
      if (!aux) break;
      libraries[aux->vna_other & 0x7fffU] = image.text(names + need->vn_file);
      aux_at += aux->vna_next;
    }
    if (need->vn_next == 0) break;
    at += need->vn_next;
  }
  return libraries;
}

/// C library functions that compute, allocate, copy, print or abort; none that opens, starts,
/// loads, maps or waits. Each name is surrounded by spaces.
constexpr std::string_view kHarmlessInLibc =
    " malloc calloc realloc free aligned_alloc posix_memalign memalign memcpy memmove "
    "memset memcmp memchr strlen strcmp strncmp strcpy strncpy strchr strrchr strstr "
    "strcat strtol strtoul strtod strtof atoi atof atol abs labs llabs div ldiv qsort "
    "bsearch rand srand rand_r abort exit __assert_fail __stack_chk_fail stdout stderr printf "
    "fprintf vprintf vfprintf sprintf snprintf vsnprintf puts putchar fputs fputc putc "
    "fwrite fflush perror strerror __errno_location madvise sysconf getpagesize "
    "clock_gettime clock time __cxa_finalize __cxa_atexit __tls_get_addr "
    "pthread_mutex_lock pthread_mutex_unlock pthread_once pthread_self sched_getcpu "
    "sched_yield frexp ldexp modf scalbn copysign isnan isinf finite ";

bool harmless_in_libc(const std::string& name) {
  // Fortified variants: __memcpy_chk for memcpy.
  const bool fortified = name.size() > 6 && name.starts_with("__") && name.ends_with("_chk");
  const auto plain = fortified ? name.substr(2, name.size() - 6) : name;
  return kHarmlessInLibc.find(" " + plain + " ") != std::string_view::npos;
}

bool harmless_in_libstdcpp(const std::string& name) {
  if (!starts_with_any(name,
                       {"_Znw",  "_Zna",   "_Zdl",   "_Zda",          "_ZTI",   "_ZTV",
                        "_ZTS",  "_ZSt",   "_ZNSt",  "_ZNKSt",        "_ZNVSt", "_ZN9__gnu_cxx",
                        "_ZNSo", "_ZNKSo", "_ZNSi",  "_ZNKSi",        "_ZNSs",  "_ZNKSs",
                        "_ZGV",  "__cxa_", "__gxx_", "__dynamic_cast"}))
    return false;
  static const std::array<std::string_view, 10> parts{
      "thread",        "filesystem",         "filebuf", "fstream", "__basic_file",
      "random_device", "condition_variable", "_async",  "promise", "stdio_"};
  return std::ranges::none_of(
      parts, [&](std::string_view part) { return name.find(part) != std::string::npos; });
}

bool allowed(const ImportedSymbol& symbol, Language language,
             const std::vector<std::string>& libraries) {
  const auto& name = symbol.name;
  if (starts_with_any(name, {"_ITM_", "__gmon_start__"})) return true;
  if (starts_with_any(symbol.library, {"libm.so", "libmvec.so", "libgcc_s.so"})) return true;
  if (starts_with_any(name, {"GOMP_", "omp_"})) return true;
  const bool cuda = language == Language::cuda;
  if (cuda && symbol.library.starts_with("libcudart.so")) return true;
  if (language == Language::hip && symbol.library.starts_with("libamdhip64.so")) return true;
  const auto declared = [&](const std::string& library) {
    return symbol.library.starts_with("lib" + library + ".so") || name.starts_with(library);
  };
  if (cuda && std::ranges::any_of(libraries, [&](const std::string& library) {
        // The driver's functions are cuXxx; its library carries no symbol versions.
        return library == "cuda"
                   ? name.size() > 2 && name.starts_with("cu") && name[2] >= 'A' && name[2] <= 'Z'
                   : declared(library);
      }))
    return true;
  return harmless_in_libc(name) || harmless_in_libstdcpp(name);
}

}  // namespace

Result<DynamicSymbols> dynamic_symbols(std::string_view bytes) {
  const Image image(bytes);
  const auto sections = sections_of(image);
  if (!sections) return invalid_argument("not a 64-bit ELF shared library with dynamic symbols");
  const auto libraries = libraries_of(image, *sections);
  const auto names = sections->all[sections->symbols->sh_link].sh_offset;
  const auto count = sections->symbols->sh_size / sizeof(Elf64_Sym);
  DynamicSymbols symbols;
  for (std::uint64_t i = 1; i < count; ++i) {
    const auto symbol = image.read<Elf64_Sym>(sections->symbols->sh_offset + i * sizeof(Elf64_Sym));
    if (!symbol) return invalid_argument("the dynamic symbol table extends beyond the file");
    if (symbol->st_shndx != SHN_UNDEF) {
      symbols.exported.push_back(image.text(names + symbol->st_name));
      continue;
    }
    ImportedSymbol imported{image.text(names + symbol->st_name), ""};
    if (sections->versions) {
      const auto version = image.read<std::uint16_t>(sections->versions->sh_offset + i * 2);
      const auto library = libraries.find(version.value_or(0) & 0x7fffU);
      if (library != libraries.end()) imported.library = library->second;
    }
    symbols.imported.push_back(std::move(imported));
  }
  return symbols;
}

std::vector<std::string> forbidden_symbols(const std::vector<ImportedSymbol>& symbols,
                                           Language language,
                                           const std::vector<std::string>& libraries) {
  std::vector<std::string> forbidden;
  for (const auto& symbol : symbols)
    if (!allowed(symbol, language, libraries)) forbidden.push_back(symbol.name);
  return forbidden;
}

}  // namespace ratchet
