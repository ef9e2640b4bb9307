// Analysis of versions that have been measured.

#include "kernels/diagnosis/roofline_report.h"
#include "kernels/disassembly/machine_code.h"
#include "kernels/disassembly/version_diff.h"
#include "kernels/lab/laboratory.h"

namespace ratchet {

Result<RooflineReport> Laboratory::roofline(const Contract& contract, const Profile& profile,
                                            CallContext& call) {
  auto turn = queue.wait(contract.device_kind, contract.device, call);
  if (!turn) return turn.error();
  auto roofs = measured_ceilings(contract.device, contract.device_kind, false, call);
  if (!roofs) return roofs.error();
  auto work = work_of(contract, contract.cases.front().dims);
  if (!work) return work.error();
  auto device = greeting(contract.device_kind, contract.device, call);
  if (!device) return device.error();
  return roofline_report({&profile, *roofs, *work, device->device.multiprocessors});
}

RooflineDrawing Laboratory::drawing(const RooflineReport& report) const {
  return {roofline_svg(report), roofline_text(report)};
}

Result<VersionDiff> Laboratory::compare(const Contract& contract, const ComparedVersion& a,
                                        const ComparedVersion& b, CallContext& call) {
  auto diff = diff_of(a, b);
  auto left = listing_of(contract, *a.candidate, CodeView::sass, call);
  auto right = listing_of(contract, *b.candidate, CodeView::sass, call);
  if (!left || !right) {
    diff.sass_note = (left ? right : left).error().message;
    return diff;
  }
  const auto kind = contract.device_kind == DeviceKind::cuda ? CodeKind::sass : CodeKind::host;
  diff.sass_diff = code_diff(read_code(left->text, kind), read_code(right->text, kind));
  return diff;
}

}  // namespace ratchet
