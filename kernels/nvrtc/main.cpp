// ratchet-nvrtc LIBRARY
//
// Compiles one source of device code to a cubin with NVRTC, which is loaded at run time. A separate
// process, so that a compiler that hangs or crashes affects nothing else. If started before its
// input arrives, it loads and warms up the compiler while it waits. Standard input: the source's
// name and the options, one per line, an empty line, the source. The cubin goes to standard output,
// the compiler's log to standard error. Exit code: 0 compiled, 1 errors in the source, 2 no
// compiler.

#include <dlfcn.h>
#include <poll.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace {

using Program = struct Opaque*;

template <class Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

/// The part of NVRTC's C interface in use; unchanged since its first release, except for the cubin
/// functions (CUDA 11.1).
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

/// NVRTC opens its builtins library by name. Loading it here makes that work even if its folder is
/// not on the loader's search path.
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

/// Makes the compiler do its one-time initialization before the source arrives.
void warm_up(const Nvrtc& nvrtc) {
  Program program = nullptr;
  const std::vector<const char*> options{"--gpu-architecture=sm_90"};
  if (nvrtc.create(&program, "__global__ void nothing() {}", "nothing.cu", 0, nullptr, nullptr) ==
      0)
    (void)nvrtc.compile(program, static_cast<int>(options.size()), options.data());
}

bool input_available() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return ::poll(&input, 1, 0) > 0;
}

int compile(const Nvrtc& nvrtc, const std::string& name, const std::string& source,
            const std::vector<const char*>& options) {
  Program program = nullptr;
  if (nvrtc.create(&program, source.c_str(), name.c_str(), 0, nullptr, nullptr) != 0) return 2;
  const int result = nvrtc.compile(program, static_cast<int>(options.size()), options.data());
  std::fputs(content(program, nvrtc.log_size, nvrtc.log).c_str(), stderr);
  if (result != 0) return 1;
  const auto cubin = content(program, nvrtc.cubin_size, nvrtc.cubin);
  if (cubin.empty()) return 2;
  return std::fwrite(cubin.data(), 1, cubin.size(), stdout) == cubin.size() ? 0 : 2;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  load_builtins(std::filesystem::path(arguments[1]).parent_path());
  void* library = ::dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return 2;
  const Nvrtc nvrtc(library);
  if (!nvrtc.complete()) return 2;
  if (!input_available()) warm_up(nvrtc);
  const std::string job{std::istreambuf_iterator<char>(std::cin), {}};
  const auto end = job.find("\n\n");
  if (end == std::string::npos) return 2;
  std::istringstream lines(job.substr(0, end));
  std::vector<std::string> options;
  for (std::string line; std::getline(lines, line);) options.push_back(line);
  if (options.empty()) return 2;
  std::vector<const char*> pointers;
  for (std::size_t i = 1; i < options.size(); ++i) pointers.push_back(options[i].c_str());
  return compile(nvrtc, options[0], job.substr(end + 2), pointers);
}
