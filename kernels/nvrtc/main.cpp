// ratchet-nvrtc LIBRARY SOURCE OUTPUT OPTION...
//
// Compiles one file of device code to a cubin through NVRTC, which is looked for when the program
// runs: a process of its own, so that a compiler that hangs or dies takes nothing with it. The
// compiler's text goes to standard error. Exit: 0 compiled, 1 errors in the source, 2 no compiler.

#include <dlfcn.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <vector>

namespace {

using Program = struct Opaque*;

template <class Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

/// The part of NVRTC's C interface that is used; the same since its first release, but for the
/// cubin (CUDA 11.1).
struct Nvrtc {
  int (*create)(Program*, const char*, const char*, int, const char* const*, const char* const*);
  int (*compile)(Program, int, const char* const*);
  int (*log_size)(Program, std::size_t*);
  int (*log)(Program, char*);
  int (*cubin_size)(Program, std::size_t*);
  int (*cubin)(Program, char*);

  explicit Nvrtc(void* library)
      : create(find<decltype(create)>(library, "nvrtcCreateProgram")),
        compile(find<decltype(compile)>(library, "nvrtcCompileProgram")),
        log_size(find<decltype(log_size)>(library, "nvrtcGetProgramLogSize")),
        log(find<decltype(log)>(library, "nvrtcGetProgramLog")),
        cubin_size(find<decltype(cubin_size)>(library, "nvrtcGetCUBINSize")),
        cubin(find<decltype(cubin)>(library, "nvrtcGetCUBIN")) {}

  [[nodiscard]] bool complete() const {
    return create && compile && log_size && log && cubin_size && cubin;
  }
};

/// NVRTC looks for its other half by name: found already, it need not lie where the loader looks.
void load_builtins(const std::filesystem::path& folder) {
  std::error_code none;
  for (const auto& file : std::filesystem::directory_iterator(folder, none))
    if (file.path().filename().string().starts_with("libnvrtc-builtins.so"))
      ::dlopen(file.path().c_str(), RTLD_NOW | RTLD_GLOBAL);
}

using Size = int (*)(Program, std::size_t*);
using Content = int (*)(Program, char*);

std::string content(Program program, Size size_of, Content copy) {
  std::size_t size = 0;
  if (size_of(program, &size) != 0) return {};
  std::string text(size, '\0');
  if (size == 0 || copy(program, text.data()) != 0) return {};
  return text;
}

int compile(const Nvrtc& nvrtc, const char* source, const char* output,
            const std::vector<const char*>& options) {
  std::ifstream in(source, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  Program program = nullptr;
  if (nvrtc.create(&program, text.c_str(), source, 0, nullptr, nullptr) != 0) return 2;
  const int result = nvrtc.compile(program, static_cast<int>(options.size()), options.data());
  std::fputs(content(program, nvrtc.log_size, nvrtc.log).c_str(), stderr);
  if (result != 0) return 1;
  const auto cubin = content(program, nvrtc.cubin_size, nvrtc.cubin);
  std::ofstream out(output, std::ios::binary);
  return !cubin.empty() && out << cubin << std::flush ? 0 : 2;
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  load_builtins(std::filesystem::path(arguments[1]).parent_path());
  void* library = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return 2;
  const Nvrtc nvrtc(library);
  if (!nvrtc.complete()) return 2;
  return compile(nvrtc, arguments[2], arguments[3], {arguments + 4, arguments + count});
}
