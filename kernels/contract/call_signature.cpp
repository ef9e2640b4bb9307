#include "kernels/contract/call_signature.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "kernels/contract/where.h"
#include "kernels/source/expression.h"
#include "server/core/fields.h"

namespace ratchet {
namespace {

constexpr int kMostLevels = 16;
constexpr std::size_t kShown = 80;  // bytes of a skeleton in a message
constexpr std::string_view kLeaves =
    "A value is a list, {\"tuple\": […]}, {\"dict\": {…}}, {\"object\": {…}}, {\"tensor\": NAME}, "
    "{\"dim\": NAME}, {\"expr\": \"2*n\"}, {\"scalar\": NAME}, a number, a text, true, false or "
    "null.";

/// What a skeleton may hold depends on where it stands.
enum class Part { build, call, result };

std::string shown_json(const Json& value) {
  auto text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() > kShown ? text.substr(0, kShown) + "…" : text;
}

/// Walks the skeletons and notes which tensors they name.
class SignatureReader {
 public:
  explicit SignatureReader(const Contract& contract)
      : contract_(contract), names_(names_in(contract, contract.cases.at(0).dims)) {}

  Status read(const Json& value, const Place& place, Part part, int level = 0) {
    if (level > kMostLevels)
      return invalid_argument(
          fmt::format("{}: nested more than {} levels deep", place.path, kMostLevels),
          "Use a flatter structure.");
    if (value.is_array()) return each(value, place, part, level);
    if (value.is_object()) return read_object(value, place, part, level);
    if (part != Part::result || value.is_null()) return {};
    return invalid_argument(fmt::format("{}: must be an output or null, which stands for a value "
                                        "that is not compared, got {}",
                                        place.path, shown_json(value)),
                            "Name outputs: {\"tensor\": NAME}.");
  }

  Status read_state(const Json& state, const Place& place) {
    if (!state.is_object()) return must_be(place, "an object of tensors by key", state);
    for (const auto& [key, value] : state.items()) {
      const Place at{fmt::format("{}[\"{}\"]", place.path, key), place.strictness};
      if (!value.is_object() || value.size() != 1 || !value.contains("tensor"))
        return must_be(at, "{\"tensor\": NAME}", value);
      if (auto known = tensor(value["tensor"], at, Part::call); !known) return known;
      const auto& name = value["tensor"].get_ref<const std::string&>();
      if (spec_of(name)->role == Role::out)
        return invalid_argument(
            fmt::format("{}: {} is an output, and state is given", at.path, name),
            "Use a tensor with role in, or inout if the call changes it.");
    }
    return {};
  }

  /// Every tensor has a place in the call.
  [[nodiscard]] Status covers_all() const {
    for (const auto& spec : contract_.tensors) {
      if (passed_.contains(spec.name) || returned_.contains(spec.name)) continue;
      if (spec.role == Role::in)
        return invalid_argument(
            fmt::format("signature: the input {} is neither in args nor in kwargs nor in state",
                        spec.name),
            "Pass it, or leave the tensor out.");
      return invalid_argument(
          fmt::format("signature: the output {} is neither returned nor passed", spec.name),
          fmt::format("Name it in returns: {{\"tensor\": \"{}\"}}, or pass it in args or kwargs.",
                      spec.name));
    }
    return {};
  }

 private:
  const Contract& contract_;
  Dims names_;
  std::set<std::string> passed_, returned_;

  static Error must_be(const Place& place, std::string_view rule, const Json& seen) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("{}: must be {}, got {}", place.path, rule, shown_json(seen)),
                 std::string(kLeaves)};
  }

  [[nodiscard]] const TensorSpec* spec_of(const std::string& name) const {
    const auto spec = std::ranges::find(contract_.tensors, name, &TensorSpec::name);
    return spec == contract_.tensors.end() ? nullptr : &*spec;
  }

  Status each(const Json& list, const Place& place, Part part, int level) {
    for (std::size_t i = 0; i < list.size(); ++i)
      if (auto good = read(list[i], place.element(i), part, level + 1); !good) return good;
    return {};
  }

  Status read_object(const Json& value, const Place& place, Part part, int level) {
    if (value.size() != 1) return must_be(place, "an object with one key", value);
    const std::string key = value.begin().key();
    const Json& inner = value.begin().value();
    const Place at = place.field(key);
    if (key == "tuple") {
      if (!inner.is_array()) return must_be(at, "a list", inner);
      return each(inner, at, part, level);
    }
    if (key == "dict" || key == "object") {
      if (!inner.is_object()) return must_be(at, "an object of values by name", inner);
      for (const auto& [name, one] : inner.items())
        if (auto good = read(one, at.field(name), part, level + 1); !good) return good;
      return {};
    }
    if (key == "tensor") return tensor(inner, at, part);
    if (part == Part::result) return must_be(place, "an output, a container or null", value);
    if (key == "dim") return parameter(inner, at, ParameterKind::dim, "dims");
    if (key == "scalar") return parameter(inner, at, ParameterKind::scalar, "scalars");
    if (key != "expr") return must_be(place, "one of the known values", value);
    if (!inner.is_string()) return must_be(at, "an expression over dims", inner);
    const auto known = evaluate_integer(inner.get_ref<const std::string&>(), names_);
    if (known) return {};
    return Error{known.error().code, fmt::format("{}: {}", at.path, known.error().message),
                 known.error().hint};
  }

  Status tensor(const Json& name, const Place& place, Part part) {
    std::vector<std::string_view> known;
    for (const auto& spec : contract_.tensors)
      if (part != Part::result || spec.role != Role::in) known.push_back(spec.name);
    if (part == Part::build)
      return invalid_argument(fmt::format("{}: a module is built before it gets tensors, got {}",
                                          place.path, shown_json(name)),
                              "Name the tensor in state, args or kwargs.");
    if (!name.is_string() ||
        std::ranges::find(known, name.get_ref<const std::string&>()) == known.end())
      return invalid_argument(fmt::format("{}: must be {}, got {}", place.path,
                                          part == Part::result ? "an output of the contract"
                                                               : "a tensor of the contract",
                                          shown_json(name)),
                              fmt::format("Known: {}.", fmt::join(known, ", ")));
    const auto& text = name.get_ref<const std::string&>();
    const bool first = (part == Part::result ? returned_ : passed_).insert(text).second;
    if (part == Part::result && !first)
      return invalid_argument(fmt::format("{}: {} is returned twice", place.path, text),
                              "Put null where a value comes back again.");
    return {};
  }

  Status parameter(const Json& name, const Place& place, ParameterKind kind,
                   std::string_view where) {
    std::vector<std::string_view> known;
    for (const auto& one : contract_.parameters)
      if (one.kind == kind) known.push_back(one.name);
    if (name.is_string() &&
        std::ranges::find(known, name.get_ref<const std::string&>()) != known.end())
      return {};
    return invalid_argument(
        fmt::format("{}: must be a name in {}, got {}", place.path, where, shown_json(name)),
        known.empty() ? fmt::format("The task has no {}.", where)
                      : fmt::format("Known: {}.", fmt::join(known, ", ")));
  }
};

struct Member {
  std::string_view name;
  Part part;
  bool of_module;  ///< only modules have it
  bool is_list;    ///< else an object of values by name, or for `returns` any value
};

constexpr std::array kMembers{
    Member{"init", Part::build, true, true},    Member{"init_kwargs", Part::build, true, false},
    Member{"state", Part::call, true, false},   Member{"args", Part::call, false, true},
    Member{"kwargs", Part::call, false, false}, Member{"returns", Part::result, false, false}};

Status known_members(const Json& signature, CallStyle call) {
  for (const auto& [key, value] : signature.items()) {
    const auto member = std::ranges::find(kMembers, key, &Member::name);
    if (member == kMembers.end())
      return invalid_argument(fmt::format("signature.{}: is not a known field", key),
                              "Known fields: init, init_kwargs, state, args, kwargs, returns.");
    if (member->of_module && call == CallStyle::function)
      return invalid_argument(
          fmt::format("signature.{}: a function has none", key),
          "Use call: module for a class, or pass what the function needs in args or kwargs.");
    const bool free = key == "returns";
    if (!free && (member->is_list ? !value.is_array() : !value.is_object()))
      return invalid_argument(
          fmt::format("signature.{}: must be {}, got {}", key,
                      member->is_list ? "a list" : "an object of values by name",
                      shown_json(value)),
          std::string(kLeaves));
  }
  return {};
}

Status read_signature(const Contract& contract) {
  const Json& signature = *contract.signature;
  if (auto known = known_members(signature, *contract.call); !known) return known;
  SignatureReader reader(contract);
  for (const auto& member : kMembers) {
    const auto found = signature.find(member.name);
    if (found == signature.end()) continue;
    const Place place{fmt::format("signature.{}", member.name)};
    if (member.name == "state") {
      if (auto good = reader.read_state(*found, place); !good) return good;
    } else if (member.is_list || member.part == Part::result) {
      if (auto good = reader.read(*found, place, member.part); !good) return good;
    } else {
      for (const auto& [name, value] : found->items())
        if (auto good = reader.read(value, place.field(name), member.part); !good) return good;
    }
  }
  return reader.covers_all();
}

bool names_output(const Contract& contract, const Json& skeleton) {
  if (!skeleton.is_structured()) return false;
  const auto name = skeleton.is_object() ? skeleton.find("tensor") : skeleton.end();
  if (name != skeleton.end() && name->is_string())
    return std::ranges::any_of(contract.tensors, [&](const TensorSpec& tensor) {
      return tensor.role == Role::out && tensor.name == name->get_ref<const std::string&>();
    });
  return std::ranges::any_of(skeleton,
                             [&](const Json& part) { return names_output(contract, part); });
}

}  // namespace

Status plan_call(Contract& contract, const TaskRequest& task) {
  contract.call = task.call;
  const bool described = task.call && has_signature(*task.call);
  if (!described && !task.signature) return {};
  if (!described)
    return invalid_argument("signature: only a module or a function has one",
                            "Add \"call\": \"module\" or \"function\", or leave signature out.");
  if (!task.signature)
    return invalid_argument(
        fmt::format("signature: is required for call: {}", name_of(*task.call)),
        "It says what is passed and returned: {\"args\": [{\"tensor\": \"x\"}], \"returns\": "
        "{\"tensor\": \"y\"}}; docs/tasks.md has an example.");
  contract.signature = task.signature;
  return read_signature(contract);
}

std::set<std::string> state_tensors(const Contract& contract) {
  std::set<std::string> names;
  if (!contract.signature) return names;
  const auto state = contract.signature->find("state");
  if (state == contract.signature->end()) return names;
  for (const auto& [key, value] : state->items()) names.insert(value.at("tensor"));
  return names;
}

bool takes_outputs(const Contract& contract) {
  if (!contract.signature) return true;
  for (const auto& [member, value] : contract.signature->items())
    if (member != "returns" && names_output(contract, value)) return true;
  return false;
}

}  // namespace ratchet
