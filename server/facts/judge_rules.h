#pragma once

#include "server/core/field.h"

namespace ratchet {

/// The rules by which a run's answers are judged, frozen with it; docs/judging.md explains them. A
/// contract without them was recorded by an older version and keeps being judged by its rules:
/// absolute tolerances under every distribution, no shadow of the reference, no slices.
struct JudgeRules {
  int version = 2;
  double honest = 4;   ///< c: the allowed error over that of an honest kernel
  double noise = 4;    ///< most RMS error of a 16-bit output over that of an honest one
  double bias = 0.5;   ///< most signed mean error of a 16-bit output over its RMS
  double looser = 10;  ///< a given tolerance is used up to this many times the server's own
  double moved = 10;   ///< a slice is asked about once the answer moves by so many allowed errors

  static constexpr void fields(auto&& visit) {
    using J = JudgeRules;
    visit(required<&J::version>("Version of the rules."),
          optional<&J::honest>("Allowed error over that of an honest kernel."),
          optional<&J::noise>("Most RMS error of a 16-bit output over that of an honest one."),
          optional<&J::bias>("Most signed mean error of a 16-bit output over its RMS."),
          optional<&J::looser>("Most of a given tolerance over the server's own, away from the "
                               "normal distribution."),
          optional<&J::moved>("Allowed errors by which a slice must move the reference."));
  }
};

}  // namespace ratchet

// Instantiated once, in field_tables.cpp.
namespace ratchet::fields_detail {
extern template const FieldTable& table_of<JudgeRules>();
}  // namespace ratchet::fields_detail
