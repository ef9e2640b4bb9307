// Lets every probe of tests/attacks/walls try to leave a real worker, a Python process and a
// compiler.

#include <fmt/format.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <fstream>

#include "kernels/confine/landlock.h"
#include "server/core/files.h"
#include "tests/kernels/confine/attacks/wall_attempts.h"
#include "tests/kernels/confine/attacks/wall_builds.h"
#include "tests/kernels/confine/attacks/wall_python.h"
#include "tests/kernels/confine/attacks/wall_table.h"
#include "tests/support/places.h"

using namespace ratchet;
using namespace ratchet::test;

namespace {

using Attempts = std::vector<WallAttempt>;

constexpr const char* kAll = "seccomp,landlock,root,user,limits";
constexpr uid_t kNeighbor = 65534;  // of another worker, when the server is root
// Where a machine refuses by itself what the probes of an ordinary user try, such as tracing.
constexpr std::size_t kMostRefusedUnconfined = 30;

bool is_honest(const walls::Family& family) {
  return std::string_view(family.name) == "honest";
}

/// Root's tests also run as an ordinary user.
std::vector<WallChild> users(bool namespaces = true) {
  if (::geteuid() != 0) return {{false, namespaces}};
  return {{false, namespaces}, {true, namespaces}};
}

/// Whether the child is root.
bool is_root(const WallChild& child) {
  return ::geteuid() == 0 && !child.ordinary;
}

std::string shown(const WallChild& child) {
  return fmt::format("{}, {} namespaces", is_root(child) ? "root" : "an ordinary user",
                     child.namespaces ? "with" : "without");
}

template <class Attempt>
Attempts each(const WallProbes& probes, const WallChild& child, const Attempt& attempt) {
  return in_wall_children(child, [&](const std::function<bool()>& mine) {
    Attempts all;
    for (const auto& family : probes.families())
      for (const auto& probe : family.probes)
        for (int i = 0; i < probe.variants; ++i)
          if (mine()) all.push_back(attempt(family, probe, i));
    return all;
  });
}

WallPlace place_of(const WallChild& child, std::string without = "") {
  return {is_root(child) ? kNeighbor : ::geteuid(), std::move(without)};
}

/// Whether root may do all that root may: in containers it often may not.
bool root_is_whole() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  ::syscall(SYS_capget, &header, data.data());
  const auto all = (std::uint64_t{1} << (CAP_LAST_CAP + 1)) - 1;
  const auto held = std::uint64_t{data[1].effective} << 32U | data[0].effective;
  return (held & all) == all;
}

/// The kernel or the machine has no such thing.
bool not_here(const std::string& how) {
  constexpr std::array kAbsent{"ENOSYS",     "EAFNOSUPPORT",    "ENODEV",
                               "ENXIO",      "EPROTONOSUPPORT", "ENOENT",
                               "EOPNOTSUPP", "EINVAL",          "nothing happened"};
  return std::ranges::find(kAbsent, how) != kAbsent.end();
}

const walls::Probe& named(const WallProbes& probes, const std::string& name) {
  for (const auto& family : probes.families())
    for (const auto& probe : family.probes)
      if (name == probe.name) return probe;
  throw std::out_of_range(name);
}

/// Whether one of the walls that a process has here stops the probe.
bool must_stop(const walls::Probe& probe, const WallChild& child) {
  unsigned present = walls::kSeccomp | walls::kServer;
  // Processes and timers are counted per user or user namespace: one of its own is needed.
  if (child.namespaces || is_root(child)) present |= walls::kLimits;
  if (confine::landlock_version() >= 6) present |= walls::kLandlock;
  if (child.namespaces) present |= walls::kMounts;
  if (is_root(child)) present |= walls::kUser;
  return !probe.open && (probe.walls & present) != 0;
}

}  // namespace

TEST_CASE("every probe does what it says where nothing confines it", "[walls][slow]") {
  const WallProbes probes;
  for (const auto& child : users()) {
    const auto attempts = each(probes, child, [&](const auto&, const auto& probe, int variant) {
      return probes.free(place_of(child), probe, variant);
    });
    std::size_t refused = 0;
    for (const auto& one : attempts) {
      if (one.done || not_here(one.how)) continue;
      const auto& probe = named(probes, one.probe);
      if (!is_root(child) && (probe.traits & walls::kRoot) != 0) continue;
      ++refused;
      INFO(shown(child) << ": " << one.probe << " " << one.variant << ": " << one.how);
      CHECK_FALSE((is_root(child) && root_is_whole()));
    }
    CHECK(refused <= kMostRefusedUnconfined);
  }
}

TEST_CASE("no probe gets through the walls of a kernel, and no honest call is refused",
          "[walls][slow]") {
  const WallProbes probes;
  for (const bool namespaces : {true, false})
    for (const auto& child : users(namespaces)) {
      const auto attempts = each(probes, child, [&](const auto&, const auto& probe, int variant) {
        return probes.confined(place_of(child), probe, variant);
      });
      for (const auto& one : attempts) {
        const auto& probe = named(probes, one.probe);
        INFO(shown(child) << ": " << one.probe << " " << one.variant << " (" << probe.way
                          << "): " << one.how);
        if (probe.walls == 0 && !probe.open)
          CHECK(one.done);
        else
          CHECK_FALSE((one.done && must_stop(probe, child)));
      }
    }
}

TEST_CASE("every probe gets through when its walls are taken out", "[walls][slow]") {
  const WallProbes probes;
  for (const auto& child : users()) {
    const auto attempts =
        each(probes, child, [&](const auto& family, const auto& probe, int variant) {
          // The server's part is not taken out.
          if (is_honest(family) || (probe.walls & walls::kServer) != 0)
            return WallAttempt{probe.name, variant, true, ""};
          return probes.confined(place_of(child, kAll), probe, variant);
        });
    std::size_t refused = 0;
    for (const auto& one : attempts) {
      if (one.done || not_here(one.how)) continue;
      const auto& probe = named(probes, one.probe);
      if (!is_root(child) && (probe.traits & walls::kRoot) != 0) continue;
      ++refused;
      UNSCOPED_INFO(shown(child) << ": " << one.probe << " " << one.variant << ": " << one.how);
    }
    CHECK(refused <= kMostRefusedUnconfined);
  }
}

// Six times as long as the others; run by hand when a wall or a probe has changed.
TEST_CASE("each wall that a probe names stops it alone", "[walls][.alone]") {
  const WallProbes probes;
  const std::vector<std::pair<std::string, unsigned>> names{{"seccomp", walls::kSeccomp},
                                                            {"landlock", walls::kLandlock},
                                                            {"root", walls::kMounts},
                                                            {"user", walls::kUser},
                                                            {"limits", walls::kLimits}};
  for (const auto& child : users())
    for (const auto& [kept, wall] : names) {
      if (wall == walls::kUser && !is_root(child)) continue;
      std::string without;
      for (const auto& [name, other] : names)
        if (other != wall) without += name + ",";
      const auto attempts =
          each(probes, child, [&, wall = wall](const auto&, const auto& probe, int variant) {
            // A limit on processes needs a user, or a user namespace, of its own.
            if ((probe.walls & wall) == 0 || wall == walls::kLimits)
              return WallAttempt{probe.name, variant, false, ""};
            return probes.confined(place_of(child, without), probe, variant);
          });
      for (const auto& one : attempts) {
        INFO(shown(child) << ", " << kept << " alone: " << one.probe << " " << one.variant << ": "
                          << one.how);
        CHECK_FALSE(one.done);
      }
    }
}

TEST_CASE("no probe in Python gets through, in any process that runs a user's file",
          "[walls][python][slow]") {
  for (const auto& child : users()) {
    const auto attempts = in_wall_children(child, [&](const std::function<bool()>& mine) {
      PythonWallProbes probes("python3");
      Attempts all;
      for (const auto& probe : probes.probes())
        for (const auto& role : probe.roles) {
          if (!mine()) continue;
          all.push_back(probes.confined(place_of(child), probe, role));
          all.back().probe += " in " + role;
        }
      return all;
    });
    for (const auto& one : attempts) {
      INFO(shown(child) << ": " << one.probe << ": " << one.how);
      CHECK(one.done == one.probe.starts_with("honest"));
    }
  }
}

TEST_CASE("every probe in Python does what it says where nothing confines it",
          "[walls][python][slow]") {
  for (const auto& child : users()) {
    const auto attempts = in_wall_children(child, [&](const std::function<bool()>& mine) {
      PythonWallProbes probes("python3");
      Attempts all;
      for (const auto& probe : probes.probes())
        if (mine()) all.push_back(probes.free(place_of(child), probe));
      return all;
    });
    for (const auto& one : attempts) {
      INFO(shown(child) << ": " << one.probe << ": " << one.how);
      CHECK((one.done || one.how == "EPERM"));  // a machine may restrict tracing
    }
  }
}

TEST_CASE("a source learns nothing of files outside from its compiler", "[walls][slow]") {
  for (const auto& child : users())
    for (const bool confined : {false, true})
      for (const auto& one : in_wall_children(child, [&](const std::function<bool()>& mine) {
             Attempts all;
             for (const auto& probe : build_probes())
               if (mine()) all.push_back(built_attempt(place_of(child), probe, confined));
             return all;
           })) {
        INFO(shown(child) << (confined ? "" : ", unconfined") << ": " << one.probe << ": "
                          << one.how);
        CHECK(one.done != confined);
      }
}

TEST_CASE("docs/walls.md lists every probe and the walls that stop it", "[walls]") {
  const auto path = source_dir() / "docs" / "walls.md";
  const auto table = wall_table(WallProbes());
  if (std::getenv("RATCHET_WRITE_DOCS")) std::ofstream(path) << table;
  const auto page = read_file(path);

  REQUIRE(page);
  CHECK(*page == table);
}
