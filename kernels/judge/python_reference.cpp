#include "kernels/judge/python_reference.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <utility>

#include "kernels/process/python_fork_server.h"

namespace ratchet {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLoad(120'000);  // a module's own imports, and a CUDA context

Error failed(const std::string& file_name, const std::string& message, int line) {
  return invalid_argument(
      line > 0
          ? fmt::format("the reference failed at {}:{}: {}", file_name, line, behind_fence(message))
          : fmt::format("the reference {} failed: {}", file_name, behind_fence(message)),
      "Fix the reference and create the run again.");
}

Json load_request(const Contract& contract) {
  const auto& source = contract.reference;
  Json plan{{"file_name", source.file_name},
            {"text", source.text},
            {"folder", source.folder},
            {"cuda_device", nullptr}};
  if (contract.device_kind == DeviceKind::cuda) plan["cuda_device"] = contract.device;
  return {{"load", std::move(plan)}};
}

Json list_of(const std::vector<wire::Argument>& arguments) {
  Json list = Json::array();
  for (const auto& argument : arguments) list.push_back(encode(argument));
  return list;
}

Result<Json> answer_of(WorkerProcess& process, const std::string& file_name, const Json& question,
                       std::span<const int> descriptors, milliseconds deadline,
                       const CallContext& call) {
  auto answer = process.ask(question, descriptors, deadline, call);
  if (!answer) return answer.error();
  if (answer->fault)
    return failed(file_name, fmt::format("{}: {}", answer->fault->kind, answer->fault->message), 0);
  if (const auto failure = answer->body.find("failed"); failure != answer->body.end())
    return failed(file_name, failure->value("message", ""), failure->value("line", 0));
  return std::move(answer->body);
}

class PythonReference : public Reference {
 public:
  PythonReference(WorkerProcess process, const Contract& contract, milliseconds deadline,
                  bool oversized)
      : process_(std::move(process)),
        contract_(contract),
        deadline_(deadline),
        oversized_(oversized) {}

  Status load(const CallContext& call) {
    auto loaded = ask(load_request(contract_), {}, kLoad, call);
    if (!loaded) return loaded.error();
    if (loaded->contains("atol")) atol_ = (*loaded)["atol"].get<double>();
    if (loaded->contains("rtol")) rtol_ = (*loaded)["rtol"].get<double>();
    return {};
  }

  Result<MemoryFile> answer(const Dims& dims, const CallPlan& plan, const MemoryFile& arena,
                            const CallContext& call) override {
    return run(dims, plan, arena, false, call);
  }

  std::optional<MemoryFile> shadow(const Dims& dims, const CallPlan& plan, const MemoryFile& arena,
                                   const CallContext& call) override {
    if (!widens_) return std::nullopt;
    auto answered = run(dims, plan, arena, true, call);
    widens_ = answered.has_value();
    if (!widens_) return std::nullopt;
    return *std::move(answered);
  }

  [[nodiscard]] std::optional<double> atol() const override { return atol_; }
  [[nodiscard]] std::optional<double> rtol() const override { return rtol_; }

 private:
  Result<MemoryFile> run(const Dims& dims, const CallPlan& plan, const MemoryFile& arena, bool wide,
                         const CallContext& call) {
    auto expected = MemoryFile::create("expected", plan.layout.bytes);
    if (!expected) return expected.error();
    const Json request{{"layout", encode(plan.layout)},
                       {"arguments", list_of(plan.arguments)},
                       {"dims", dims},
                       {"wide", wide},
                       {"oversized", oversized_}};
    const std::array descriptors{arena.fd(), expected->fd()};
    auto done = ask({{"run", request}}, descriptors, deadline_, call);
    if (!done) return done.error();
    return expected;
  }

  Result<Json> ask(const Json& question, std::span<const int> descriptors, milliseconds deadline,
                   const CallContext& call) {
    return answer_of(process_, contract_.reference.file_name, question, descriptors, deadline,
                     call);
  }

  WorkerProcess process_;
  Contract contract_;
  milliseconds deadline_;
  bool oversized_;
  bool widens_ = true;  ///< until it fails in float64
  std::optional<double> atol_;
  std::optional<double> rtol_;
};

}  // namespace

Result<std::unique_ptr<Reference>> open_python_reference(const ReferenceParts& parts,
                                                         const Contract& contract,
                                                         const CallContext& call) {
  auto process =
      WorkerProcess::start(parts.python.server_spec("reference", contract.reference.text), call);
  if (!process) return process.error();
  auto reference = std::make_unique<PythonReference>(*std::move(process), contract,
                                                     parts.place.job_deadline, parts.oversized);
  if (auto loaded = reference->load(call); !loaded) return loaded.error();
  return std::unique_ptr<Reference>(std::move(reference));
}

bool checks_properties(const Contract& contract) {
  return contract.reference_kind == ReferenceKind::python &&
         contract.reference.text.find("\ndef check_outputs(") != std::string::npos;
}

Result<std::optional<PropertyCheck>> PropertyCheck::open(const ReferenceParts& parts,
                                                         const Contract& contract,
                                                         const CallContext& call) {
  if (!checks_properties(contract)) return std::optional<PropertyCheck>();
  auto process =
      WorkerProcess::start(parts.python.server_spec("reference", contract.reference.text), call);
  if (!process) return process.error();
  const auto& name = contract.reference.file_name;
  auto loaded = answer_of(*process, name, load_request(contract), {}, kLoad, call);
  if (!loaded) return loaded.error();
  return std::optional(PropertyCheck(*std::move(process), name, parts.place.job_deadline));
}

Result<std::string> PropertyCheck::objection(const Dims& dims, const CallPlan& plan,
                                             const MemoryFile& sent, const MemoryFile& returned,
                                             const CallContext& call) {
  const Json request{
      {"layout", encode(plan.layout)}, {"arguments", list_of(plan.arguments)}, {"dims", dims}};
  const std::array descriptors{sent.fd(), returned.fd()};
  auto done = answer_of(process_, file_name_, {{"check", request}}, descriptors, deadline_, call);
  if (!done) return done.error();
  return done->value("objection", "");
}

}  // namespace ratchet
