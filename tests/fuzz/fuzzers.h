#pragma once

#include <array>
#include <stdexcept>
#include <string_view>

namespace ratchet::fuzz {

// What the server does with the bytes of strangers. Each function reads one input as the server
// does and throws `std::logic_error` where a promise about it is broken; a crash, a leak or a
// sanitizer's report is the other way to fail. libFuzzer makes up inputs (`./dev fuzz`), and
// tests/fuzz/replay calls the same functions with every file of tests/fuzz/corpus.

void code(std::string_view bytes);       ///< listings of nvdisasm, cuobjdump and objdump
void frames(std::string_view bytes);     ///< what a lab's command writes
void http(std::string_view bytes);       ///< the bytes of a connection
void imports(std::string_view bytes);    ///< the files that another package's run left
void labs(std::string_view bytes);       ///< one message between a server and a lab
void launch(std::string_view bytes);     ///< a source with a `// launch:` line
void message(std::string_view bytes);    ///< one JSON-RPC message
void ncu(std::string_view bytes);        ///< CSV of Nsight Compute
void page(std::string_view bytes);       ///< a wiki page with front matter
void problem(std::string_view bytes);    ///< problem.json, or an expression over dims
void rocprof(std::string_view bytes);    ///< CSV, JSON and databases of rocprofv3
void signature(std::string_view bytes);  ///< a kernel's source, for its signature and its text
void yaml(std::string_view bytes);       ///< YAML alone

/// Whether `labs` knows the records of a method.
bool reads_lab_method(std::string_view name);

/// `name` is the fuzzer's source, its folder of the corpus and its program, `fuzz-<name>`.
struct Fuzzer {
  std::string_view name;
  void (*check)(std::string_view bytes);
};
inline constexpr std::array kFuzzers{
    Fuzzer{"code", code},       Fuzzer{"frames", frames},   Fuzzer{"http", http},
    Fuzzer{"imports", imports}, Fuzzer{"labs", labs},       Fuzzer{"launch", launch},
    Fuzzer{"message", message}, Fuzzer{"ncu", ncu},         Fuzzer{"page", page},
    Fuzzer{"problem", problem}, Fuzzer{"rocprof", rocprof}, Fuzzer{"signature", signature},
    Fuzzer{"yaml", yaml},
};

inline void require(bool holds, const char* promise) {
  if (!holds) throw std::logic_error(promise);
}

}  // namespace ratchet::fuzz
