#pragma once

// What a kernel of a run is called with: its parameters, and the tensors among them.

#include <optional>
#include <string>
#include <vector>

#include "server/core/field.h"
#include "server/facts/types.h"

namespace ratchet {

/// One buffer of the ABI. Shapes are expressions over dims ("rows", "2*k"), so one spec serves
/// every case.
struct TensorSpec {
  std::string name;
  DType dtype = DType::f32;
  std::vector<std::string> shape;
  Role role = Role::in;
  std::string init = "normal";
  std::optional<double> atol;  ///< of this output; empty: the contract's
  std::optional<double> rtol;
  std::optional<double> matched_ratio;

  static constexpr void fields(auto&& visit) {
    visit(required<&TensorSpec::name>("", {.max_length = 64}), required<&TensorSpec::dtype>(),
          required<&TensorSpec::shape>("Expressions over dims.", {.max_length = 8}),
          required<&TensorSpec::role>(),
          optional<&TensorSpec::init>(
              "normal, uniform(a,b), indices(n), permutation, offsets, offsets(n), given (by "
              "inputs() of ref.py); zeros for outputs that a kernel adds onto.",
              {.max_length = 64}),
          optional<&TensorSpec::atol>("", {.min = 0}), optional<&TensorSpec::rtol>("", {.min = 0}),
          optional<&TensorSpec::matched_ratio>("", {.min = 0.5, .max = 1}));
  }
};

/// The kind of a parameter of `solve`; `tensor` and `dim` refer to an entry of the contract.
enum class ParameterKind { tensor, dim, scalar, stream };
constexpr auto enum_names(ParameterKind) {
  using enum ParameterKind;
  return as_written<tensor, dim, scalar, stream>();
}

struct Parameter {
  std::string name;
  ParameterKind kind = ParameterKind::tensor;
  DType dtype = DType::f32;     ///< of the elements or the value; i64 for size_t and long
  bool is_const = false;        ///< pointer to const
  std::optional<double> value;  ///< of a floating-point scalar, frozen at create_run

  static constexpr void fields(auto&& visit) {
    visit(required<&Parameter::name>(), required<&Parameter::kind>(), required<&Parameter::dtype>(),
          optional<&Parameter::is_const>(), optional<&Parameter::value>());
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<TensorSpec>();
extern template const FieldTable& table_of<Parameter>();
}  // namespace ratchet::fields_detail
