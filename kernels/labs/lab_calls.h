#pragma once

// Requests to a lab: the arguments of Lab's methods. `secret` is derived from the run's.

#include <optional>
#include <string>
#include <vector>

#include "kernels/lab_requests.h"
#include "server/core/fields.h"
#include "server/facts/profile.h"
#include "server/facts/sanitizer.h"
#include "server/facts/task.h"

namespace ratchet::lab_wire {
struct Environment {
  std::optional<int> device;
  static constexpr void fields(auto&& visit) { visit(optional<&Environment::device>()); }
};

struct Plan {
  TaskRequest task;
  Source kernel, reference;
  static constexpr void fields(auto&& visit) {
    visit(required<&Plan::task>(), required<&Plan::kernel>(), required<&Plan::reference>());
  }
};

struct Build {
  Contract contract;
  Source source;
  static constexpr void fields(auto&& visit) {
    visit(required<&Build::contract>(), required<&Build::source>());
  }
};

struct OfContract {
  Contract contract;
  std::string secret;
  static constexpr void fields(auto&& visit) {
    visit(required<&OfContract::contract>(), optional<&OfContract::secret>());
  }
};

struct OfCandidate {
  Contract contract;
  Candidate candidate;
  std::string secret;
  std::optional<Candidate> yardstick;  ///< this and `seconds`: of a search
  double seconds = 0;
  Ahead ahead = {};  ///< of a check
  static constexpr void fields(auto&& visit) {
    using O = OfCandidate;
    visit(required<&O::contract>(), required<&O::candidate>(), optional<&O::secret>(),
          optional<&O::yardstick>(), optional<&O::seconds>(), optional<&O::ahead>());
  }
};

struct ProfileOf {
  Contract contract;
  Candidate candidate;
  std::optional<Candidate> parent, v0, best;
  std::optional<double> seconds, search;
  MetricSet metrics = MetricSet::overview;
  std::vector<std::string> names;
  CounterEngine engine = CounterEngine::cupti;
  bool verify = false;
  std::string secret;
  static constexpr void fields(auto&& visit) {
    using P = ProfileOf;
    visit(required<&P::contract>(), required<&P::candidate>(), optional<&P::parent>(),
          optional<&P::v0>(), optional<&P::best>(), optional<&P::seconds>(), optional<&P::search>(),
          required<&P::metrics>(), required<&P::names>(), required<&P::engine>(),
          optional<&P::verify>(), required<&P::secret>());
  }
};

struct Import {
  Contract contract;
  Candidate candidate;
  std::optional<Profile> profile;
  std::string file_name, content;  ///< content: base64
  static constexpr void fields(auto&& visit) {
    using I = Import;
    visit(required<&I::contract>(), required<&I::candidate>(), optional<&I::profile>(),
          required<&I::file_name>(), required<&I::content>());
  }
};

struct Benchmark {
  Contract contract;
  Candidate candidate;
  std::optional<Candidate> parent, v0;
  std::vector<std::string> baselines;
  int num_warmup = 0, num_trials = 0, discard_first = 0, prewarm_calls = 0;
  CacheMode cache_mode = CacheMode::cold;
  bool host_time = false;
  std::string values, secret;
  static constexpr void fields(auto&& visit) {
    using B = Benchmark;
    visit(required<&B::contract>(), required<&B::candidate>(), optional<&B::parent>(),
          optional<&B::v0>(), required<&B::baselines>(), required<&B::num_warmup>(),
          required<&B::num_trials>(), required<&B::discard_first>(), required<&B::prewarm_calls>(),
          required<&B::cache_mode>(), required<&B::host_time>(), required<&B::values>(),
          required<&B::secret>());
  }
};

struct Sanitize {
  Contract contract;
  Candidate candidate;
  std::vector<SanitizerTool> tools;
  std::optional<Dims> dims;
  static constexpr void fields(auto&& visit) {
    using S = Sanitize;
    visit(required<&S::contract>(), required<&S::candidate>(), required<&S::tools>(),
          optional<&S::dims>());
  }
};

struct Disassemble {
  Contract contract;
  Candidate candidate;
  DisassemblyRequest request;
  static constexpr void fields(auto&& visit) {
    using D = Disassemble;
    visit(required<&D::contract>(), required<&D::candidate>(), required<&D::request>());
  }
};

struct CheckSass {
  Contract contract;
  Candidate candidate;
  std::optional<Candidate> parent;
  std::vector<std::string> ids;
  static constexpr void fields(auto&& visit) {
    using C = CheckSass;
    visit(required<&C::contract>(), required<&C::candidate>(), optional<&C::parent>(),
          required<&C::ids>());
  }
};

struct Roofline {
  Contract contract;
  Profile profile;
  static constexpr void fields(auto&& visit) {
    visit(required<&Roofline::contract>(), required<&Roofline::profile>());
  }
};

struct Compare {
  Contract contract;
  Candidate a, b;
  std::optional<Profile> profile_a, profile_b;
  static constexpr void fields(auto&& visit) {
    using C = Compare;
    visit(required<&C::contract>(), required<&C::a>(), required<&C::b>(), optional<&C::profile_a>(),
          optional<&C::profile_b>());
  }
};

struct Race {
  struct Entrant {
    std::string name;
    Candidate candidate;
    static constexpr void fields(auto&& visit) {
      visit(required<&Entrant::name>(), required<&Entrant::candidate>());
    }
  };
  Contract contract;
  std::vector<Entrant> entrants;
  RacePlan race;
  std::string secret;
  static constexpr void fields(auto&& visit) {
    using R = Race;
    visit(required<&R::contract>(), required<&R::entrants>(), required<&R::race>(),
          required<&R::secret>());
  }
};

struct Noise {
  int device = 0;
  DeviceKind kind = DeviceKind::host;
  double time_ns = 0;
  static constexpr void fields(auto&& visit) {
    visit(required<&Noise::device>(), required<&Noise::kind>(), required<&Noise::time_ns>());
  }
};

struct Ceilings {
  int device = 0;
  DeviceKind kind = DeviceKind::host;
  bool refresh = false;
  static constexpr void fields(auto&& visit) {
    using C = Ceilings;
    visit(required<&C::device>(), required<&C::kind>(), required<&C::refresh>());
  }
};

}  // namespace ratchet::lab_wire
