#pragma once

// Requests to a worker that runs a kernel, and the union of all requests. See messages.h for the
// roles.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/protocol/arena.h"
#include "kernels/protocol/counters.h"
#include "kernels/protocol/judge_requests.h"
#include "kernels/protocol/trial_requests.h"
#include "server/core/fields.h"
#include "server/facts/timing.h"

namespace ratchet::wire {

/// Loads a shared library and finds its entry, once per worker. Descriptor: the library, so that
/// the worker needs no path into the build cache and runs exactly the bytes that were hashed.
struct Load {
  std::string library;  ///< its name, for messages
  std::string entry;
  std::string baseline;  ///< which baseline a baseline process times; otherwise empty
  CallStyle call = CallStyle::solve;
  std::optional<Json> signature;  ///< of a module or function

  static constexpr void fields(auto&& visit) {
    visit(required<&Load::library>(), required<&Load::entry>(), optional<&Load::baseline>(),
          optional<&Load::call>(), optional<&Load::signature>());
  }
};

/// A call of the function that makes inputs, instead of the entry; only for the role baseline.
struct MadeInputs {
  std::vector<std::string> names;  ///< of the inputs to store
  std::int64_t seed = 0;
  bool anew = false;  ///< made once more, even if those of this seed and these sizes are kept

  static constexpr void fields(auto&& visit) {
    visit(required<&MadeInputs::names>(), required<&MadeInputs::seed>(),
          required<&MadeInputs::anew>());
  }
};

/// Calls the entry once on an arena. Descriptors: arena in, arena out.
struct Execute {
  ArenaLayout layout;
  std::vector<Argument> arguments;
  std::int64_t shift = 0;  ///< bytes by which the arena is offset from its allocation's start
  std::optional<MadeInputs> inputs{};

  static constexpr void fields(auto&& visit) {
    visit(required<&Execute::layout>(), required<&Execute::arguments>(),
          required<&Execute::shift>(), optional<&Execute::inputs>());
  }
};

/// Prepares timing on rotating arenas. Descriptors: one arena each, to be uploaded; none if a judge
/// generated them in the attached memory. A second Prepare replaces the arenas.
struct Prepare {
  ArenaLayout layout;
  std::vector<Argument> arguments;
  int rotation = 1;        ///< number of arenas
  std::int64_t shift = 0;  ///< bytes by which every arena is moved from its allocation's start
  std::vector<std::int64_t> at;  ///< where the arenas lie in the attached memory, bytes
  bool writes_all =
      true;  ///< each call writes every output element: what stays poisoned is missing
  /// Hexadecimal seeds of the changes before every timed call, one per arena; empty: no changes.
  std::vector<std::string> refresh_seeds;

  static constexpr void fields(auto&& visit) {
    visit(required<&Prepare::layout>(), required<&Prepare::arguments>(),
          required<&Prepare::rotation>(), required<&Prepare::shift>(), optional<&Prepare::at>(),
          required<&Prepare::writes_all>(), required<&Prepare::refresh_seeds>());
  }
};

/// Takes a block of samples after `warmup` untimed calls. One turn in an interleaved comparison.
struct TimeBlock {
  int warmup = 0;
  int samples = 1;
  CacheMode cache_mode = CacheMode::cold;
  bool host_time = false;
  double time_limit_ms = 1000;

  static constexpr void fields(auto&& visit) {
    visit(required<&TimeBlock::warmup>(), required<&TimeBlock::samples>(),
          required<&TimeBlock::cache_mode>(), required<&TimeBlock::host_time>(),
          required<&TimeBlock::time_limit_ms>());
  }
};

/// Returns an arena after timing, so that timed outputs can be checked, and its number of calls.
/// Descriptor: the arena out; without it, only the number.
struct Collect {
  int index = 0;  ///< position in the rotation

  static constexpr void fields(auto&& visit) { visit(required<&Collect::index>()); }
};

/// Attaches shared device memory. Descriptor: the memory.
struct Attach {
  std::int64_t bytes = 0;  ///< of the arenas in it, as in Share; 0: lets go of what is attached
  bool wide = false;       ///< of a WidenOnDevice, beside the other; only for the role baseline

  static constexpr void fields(auto&& visit) {
    visit(required<&Attach::bytes>(), optional<&Attach::wide>());
  }
};

/// Calls the entry once on the arena at offset `at` of the attached memory.
struct Call {
  ArenaLayout layout;
  std::vector<Argument> arguments;
  std::int64_t at = 0;
  std::optional<MadeInputs> inputs{};
  bool wide = false;  ///< in float64, on the memory attached as such

  static constexpr void fields(auto&& visit) {
    visit(required<&Call::layout>(), required<&Call::arguments>(), required<&Call::at>(),
          optional<&Call::inputs>(), optional<&Call::wide>());
  }
};

/// Calls the entry once with every buffer in a separate allocation, for a tool that watches memory:
/// outputs are uninitialized, and nothing is returned. Descriptor: an arena with the inputs.
struct Exercise {
  ArenaLayout layout;
  std::vector<Argument> arguments;

  static constexpr void fields(auto&& visit) {
    visit(required<&Exercise::layout>(), required<&Exercise::arguments>());
  }
};

/// Measures the roofs of the device.
struct MeasureCeilings {
  static constexpr void fields(auto&&) {}
};

/// Server to worker: exactly one member is set.
struct Request {
  std::optional<Load> load;
  std::optional<Execute> execute;
  std::optional<Prepare> prepare;
  std::optional<TimeBlock> time;
  std::optional<Collect> collect;
  std::optional<Count> count;
  std::optional<Generate> generate;
  std::optional<Refresh> refresh;
  std::optional<Change> change;
  std::optional<Combine> combine;
  std::optional<Widen> widen;
  std::optional<Describe> describe;
  std::optional<Forge> forge;
  std::optional<Compare> compare;
  std::optional<Share> share;
  std::optional<Attach> attach;
  std::optional<Call> call;
  std::optional<GenerateOnDevice> generate_on_device;
  std::optional<CompareOnDevice> compare_on_device;
  std::optional<DescribeOnDevice> describe_on_device;
  std::optional<ForgeOnDevice> forge_on_device;
  std::optional<WidenOnDevice> widen_on_device;
  std::optional<TermsOnDevice> terms_on_device;
  std::optional<Exercise> exercise;
  std::optional<MeasureCeilings> ceilings;

  static constexpr void fields(auto&& visit) {
    using R = Request;
    visit(optional<&R::load>(), optional<&R::execute>(), optional<&R::prepare>(),
          optional<&R::time>(), optional<&R::collect>(), optional<&R::count>(),
          optional<&R::generate>(), optional<&R::refresh>(), optional<&R::change>(),
          optional<&R::combine>(), optional<&R::widen>(), optional<&R::describe>(),
          optional<&R::forge>(), optional<&R::compare>(), optional<&R::share>(),
          optional<&R::attach>(), optional<&R::call>(), optional<&R::generate_on_device>(),
          optional<&R::compare_on_device>(), optional<&R::describe_on_device>(),
          optional<&R::forge_on_device>(), optional<&R::widen_on_device>(),
          optional<&R::terms_on_device>(), optional<&R::exercise>(), optional<&R::ceilings>());
  }
};

}  // namespace ratchet::wire

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<wire::Load>();
extern template const FieldTable& table_of<wire::MadeInputs>();
extern template const FieldTable& table_of<wire::Execute>();
extern template const FieldTable& table_of<wire::Prepare>();
extern template const FieldTable& table_of<wire::TimeBlock>();
extern template const FieldTable& table_of<wire::Collect>();
extern template const FieldTable& table_of<wire::Attach>();
extern template const FieldTable& table_of<wire::Call>();
extern template const FieldTable& table_of<wire::Exercise>();
extern template const FieldTable& table_of<wire::MeasureCeilings>();
extern template const FieldTable& table_of<wire::Request>();
}  // namespace ratchet::fields_detail
