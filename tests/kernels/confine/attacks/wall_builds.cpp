#include "tests/kernels/confine/attacks/wall_builds.h"

#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "kernels/build/builder.h"
#include "server/core/files.h"
#include "tests/kernels/confine/attacks/wall_targets.h"
#include "tests/support/places.h"

namespace ratchet::test {
namespace {

namespace fs = std::filesystem;

std::string head(const std::string& text, const std::string& key) {
  const auto at = text.find("// " + key + ": ");
  if (at == std::string::npos) return "";
  const auto begin = at + key.size() + 5;
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string with(std::string text, const std::string& name, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size())
    text.replace(at, name.size(), value);
  return text;
}

}  // namespace

std::vector<BuildProbe> build_probes() {
  std::vector<BuildProbe> probes;
  for (const auto& entry :
       fs::directory_iterator(source_dir() / "tests" / "attacks" / "walls" / "compiler")) {
    const auto text = read_file(entry.path());
    REQUIRE(text);
    BuildProbe probe{"build_" + entry.path().stem().string(),
                     head(*text, "Way"),
                     head(*text, "Walls"),
                     {},
                     *text};
    std::istringstream flags(head(*text, "Flags"));
    for (std::string flag; flags >> flag;) probe.flags.push_back(flag);
    probes.push_back(std::move(probe));
  }
  std::ranges::sort(probes, {}, &BuildProbe::name);
  return probes;
}

WallAttempt built_attempt(const WallPlace& place, const BuildProbe& probe, bool confined) {
  static const Toolchain toolchain = find_toolchain("python3");
  const WallTargets targets(place.neighbor);
  const auto prey = targets.prey(probe.name, 0, confined);
  const auto& target = prey.targets[1];
  const TempFolder folder;
  const auto project = folder / "project";
  fs::create_directories(project);
  fs::create_symlink(target.secret.data(), project / "linked.h");
  auto builder =
      Builder::open({folder / "cache", [] { return toolchain; }, std::chrono::seconds(60),
                     confined ? build_dir() / "bin" : fs::path()});
  REQUIRE(builder);
  BuildRequest request;
  // Without its head, whose words the build would refuse.
  auto text = with(probe.text.substr(probe.text.find("\n\n") + 2), "SECRET", target.secret.data());
  text = with(std::move(text), "FOLDER", target.folder.data());
  text = with(std::move(text), "PROCESS", std::to_string(target.process));
  request.source = {"kernel.cpp", std::move(text), project.string()};
  request.flags = probe.flags;
  const auto record = builder->build(request, {});
  if (!record) FAIL(record.error().message);
  std::string found, first;
  for (const auto* list : {&record->errors, &record->warnings})
    for (const auto& one : *list) {
      if (first.empty()) first = one.message;
      found += one.message + "\n";
    }
  if (record->ok) found += *read_file(*builder->path_of(record->build_key), 1U << 26U);
  for (const std::string_view wanted : {walls::kSecret, std::string_view("FOUND")})
    if (found.find(wanted) != std::string::npos) return {probe.name, 0, true, "it was shown"};
  return {probe.name, 0, false,
          record->ok ? "not in the library"
                     : fmt::format("{}: {}", record->error_class.value_or("error"), first)};
}

}  // namespace ratchet::test
