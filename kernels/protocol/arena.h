#pragma once

// The arena: the placement of a case's buffers, and the entry function's arguments.

#include <cstdint>
#include <string>
#include <vector>

#include "server/core/fields.h"
#include "server/facts/contract.h"

namespace ratchet::wire {

/// One buffer in an arena; offsets and sizes in bytes.
struct Buffer {
  std::string name;
  DType dtype = DType::f32;
  Role role = Role::in;
  std::string init;
  std::int64_t offset = 0;
  std::int64_t elements = 0;
  std::vector<std::int64_t> shape;
  bool constant = false;  ///< a module's weights: they do not change between timed calls

  [[nodiscard]] std::int64_t bytes() const { return elements * size_of(dtype); }

  static constexpr void fields(auto&& visit) {
    visit(required<&Buffer::name>(), required<&Buffer::dtype>(), required<&Buffer::role>(),
          required<&Buffer::init>(), required<&Buffer::offset>(), required<&Buffer::elements>(),
          optional<&Buffer::shape>(), optional<&Buffer::constant>());
  }
};

/// Guard bands precede the first buffer, separate the buffers and follow the last one.
struct ArenaLayout {
  std::int64_t bytes = 0;
  std::vector<Buffer> buffers;

  static constexpr void fields(auto&& visit) {
    visit(required<&ArenaLayout::bytes>(), required<&ArenaLayout::buffers>());
  }
};

inline constexpr std::int64_t kGuardBytes = 4096;
inline constexpr std::int64_t kAlignment =
    512;  // more than any vector load or TMA descriptor requires

/// One argument of the entry function: a buffer's offset in the arena, or a value.
struct Argument {
  std::string name;
  ParameterKind kind = ParameterKind::tensor;
  DType dtype = DType::f32;
  std::int64_t offset = 0;   ///< tensor
  std::int64_t integer = 0;  ///< dim, and integer scalars
  double real = 0;           ///< floating scalars

  static constexpr void fields(auto&& visit) {
    visit(optional<&Argument::name>(), required<&Argument::kind>(), required<&Argument::dtype>(),
          required<&Argument::offset>(), required<&Argument::integer>(),
          required<&Argument::real>());
  }
};

}  // namespace ratchet::wire

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<wire::Buffer>();
extern template const FieldTable& table_of<wire::ArenaLayout>();
extern template const FieldTable& table_of<wire::Argument>();
}  // namespace ratchet::fields_detail
