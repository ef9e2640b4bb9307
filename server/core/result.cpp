#include "server/core/result.h"

namespace ratchet {

std::string_view name_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument:
      return "invalid_argument";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::wrong_stage:
      return "wrong_stage";
    case ErrorCode::drift:
      return "drift";
    case ErrorCode::conflict:
      return "conflict";
    case ErrorCode::unavailable:
      return "unavailable";
    case ErrorCode::not_permitted:
      return "not_permitted";
    case ErrorCode::too_large:
      return "too_large";
    case ErrorCode::timed_out:
      return "timed_out";
    case ErrorCode::internal:
      return "internal";
  }
  return "internal";
}

}  // namespace ratchet
