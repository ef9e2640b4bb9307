#pragma once

#include <span>
#include <string>

#include "kernels/diagnosis/diagnosis.h"

namespace ratchet {

/// What is different from the call as it is: its data, how its unchanged source was built, or where
/// it runs. `any_order`: the compiler may reorder floating-point arithmetic, take reciprocals, and
/// call vectors of the math library's functions.
enum class Condition {
  warm_caches,
  indices_in_order,
  halved_dim,
  fewer_blocks,
  register_cap,
  any_order,
  fewer_processors
};

/// One condition of a call changed, and timed in paired rounds against the call as it is. Shares of
/// the time.
struct Intervention {
  Condition condition = Condition::warm_caches;
  std::string what;  ///< "warm caches", "warm caches at rows=1024", "n halved", …
  double saved = 0;  ///< negative: it takes longer
  double low = 0;    ///< 95 % interval
  double high = 0;
  bool other_size = false;     ///< both calls were of a smaller size than the finding's
  bool refutes = true;         ///< it may speak against a cause
  std::string doubt;           ///< why its interval decides nothing, such as "cores_held"
  bool more_vectors = false;   ///< of arithmetic in any order: more vector instructions in loops
  bool halves_blocks = false;  ///< of a halved dim: of the grid's blocks, as large as before, half
                               ///< are left, in a call far longer than its launch
};

/// A cause is confirmed if its removal saves at least the first share of the time, over the whole
/// interval, and not confirmed if it saves less than the second.
inline constexpr double kConfirmedFrom = 0.10;
inline constexpr double kNotConfirmedBelow = 0.05;

/// Holds findings against what other conditions did to the time. The evidence of each that an
/// intervention speaks about begins with "confirmed: warm caches save 41 % (39..43)", "consistent:
/// …", "not confirmed: …" or "undecided: …". Confirmed findings come first, those that are not
/// confirmed last, and the class follows the first confirmed one. The evidence of the class ends
/// with all interventions.
///
/// A fixed cost per call is confirmed if no halved dim saves much, and refuted by one that does
/// only where steps of an interpreter, parallel regions or launches cannot be fewer then; a small
/// grid is confirmed if half of its blocks take as long as all of them. Fewer resident blocks
/// confirm nothing: where they cost little, occupancy is not what is missing; where they cost much,
/// more may help or not. Half of the processors that take as long as all say that the others are
/// idle, not that more threads help. Arithmetic in any order takes away the want of vectors, if
/// there are more then, and a fixed order; where findings of both kinds stand beside each other, it
/// confirms neither. Pure.
void verify(std::span<const Intervention> interventions, Diagnosis& diagnosis);

}  // namespace ratchet
