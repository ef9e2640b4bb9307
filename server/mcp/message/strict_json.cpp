#include "server/mcp/message/strict_json.h"

#include <string>
#include <utility>
#include <vector>

namespace ratchet::mcp {
namespace {

/// Builds the value from the parser's events and stops the parser at the first fault.
class Builder {
 public:
  explicit Builder(std::size_t depth_limit) : depth_limit_(depth_limit) { open_.reserve(8); }

  [[nodiscard]] JsonFault fault() const { return fault_; }
  [[nodiscard]] Json take() { return std::move(root_); }

  bool null() { return put(nullptr); }
  bool boolean(bool value) { return put(value); }
  bool number_integer(Json::number_integer_t value) { return put(value); }
  bool number_unsigned(Json::number_unsigned_t value) { return put(value); }
  bool number_float(Json::number_float_t value, const std::string& /*text*/) { return put(value); }
  bool string(std::string& value) { return put(std::move(value)); }
  bool binary(Json::binary_t& /*value*/) { return false; }  // never in text

  bool start_object(std::size_t /*size*/) { return open(Json::value_t::object); }
  bool start_array(std::size_t /*size*/) { return open(Json::value_t::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& name) {
    auto& members = open_.back()->get_ref<Json::object_t&>();
    const auto [member, fresh] = members.try_emplace(std::move(name));
    if (!fresh) return refuse(JsonFault::repeated_name);
    member_ = &member->second;
    return true;
  }

  template <class Error>
  bool parse_error(std::size_t /*position*/, const std::string& /*token*/, const Error& /*error*/) {
    return refuse(JsonFault::syntax);
  }

 private:
  template <class Value>
  Json& place(Value&& value) {
    Json& target = open_.empty()               ? root_
                   : open_.back()->is_object() ? *member_
                                               : open_.back()->emplace_back();
    target = std::forward<Value>(value);
    return target;
  }

  template <class Value>
  bool put(Value&& value) {
    place(std::forward<Value>(value));
    return true;
  }

  bool open(Json::value_t type) {
    if (open_.size() == depth_limit_) return refuse(JsonFault::too_deep);
    open_.push_back(&place(Json(type)));
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  bool refuse(JsonFault fault) {
    fault_ = fault;
    return false;
  }

  const std::size_t depth_limit_;
  Json root_;
  std::vector<Json*> open_;  ///< the containers being filled, outermost first
  Json* member_ = nullptr;   ///< where the next value of the innermost object goes
  JsonFault fault_ = JsonFault::syntax;
};

}  // namespace

std::variant<Json, JsonFault> parse_strictly(std::string_view text, std::size_t depth_limit) {
  Builder builder(depth_limit);
  if (!Json::sax_parse(text, &builder)) return builder.fault();
  return builder.take();
}

}  // namespace ratchet::mcp
