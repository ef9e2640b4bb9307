#include "kernels/python_reference.h"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <utility>

#include "kernels/expression.h"

namespace ratchet {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kStart(60'000);  // a cold import of torch takes seconds
constexpr milliseconds kImport(120'000);

Error failed(const std::string& file_name, const std::string& message, int line) {
  return Error{ErrorCode::invalid_argument,
               line > 0 ? fmt::format("the reference failed at {}:{}: {}", file_name, line, message)
                        : fmt::format("the reference {} failed: {}", file_name, message),
               "Mend the reference and create the run again."};
}

class PythonReference : public Reference {
 public:
  PythonReference(WorkerProcess process, const Contract& contract, milliseconds deadline)
      : process_(std::move(process)), contract_(contract), deadline_(deadline) {}

  Status load(const CallContext& call) {
    const auto& source = contract_.reference;
    auto loaded =
        ask({{"load",
              {{"file_name", source.file_name}, {"text", source.text}, {"folder", source.folder}}}},
            {}, kImport, call);
    if (!loaded) return loaded.error();
    framework_ = loaded->value("framework", "");
    if (loaded->contains("atol")) atol_ = (*loaded)["atol"].get<double>();
    if (loaded->contains("rtol")) rtol_ = (*loaded)["rtol"].get<double>();
    return {};
  }

  Result<MemoryFile> answer(const Dims& dims, const CallPlan& plan, const MemoryFile& arena,
                            const CallContext& call) override {
    auto expected = MemoryFile::create("expected", plan.layout.bytes);
    if (!expected) return expected.error();
    auto request = case_of(dims, plan);
    if (!request) return request.error();
    const std::array descriptors{arena.fd(), expected->fd()};
    auto done = ask({{"run", *std::move(request)}}, descriptors, deadline_, call);
    if (!done) return done.error();
    return expected;
  }

  [[nodiscard]] std::optional<double> atol() const override { return atol_; }
  [[nodiscard]] std::optional<double> rtol() const override { return rtol_; }

  Result<std::vector<double>> time_framework(const Dims& dims, const CallPlan& plan,
                                             const MemoryFile& arena, int warmup, int samples,
                                             std::int64_t flush_bytes,
                                             const CallContext& call) override {
    if (framework_ != "torch")
      return Error{ErrorCode::unavailable, "the reference does not use torch",
                   "A ref.py that imports torch gives this baseline."};
    auto request = case_of(dims, plan);
    if (!request) return request.error();
    (*request)["warmup"] = warmup;
    (*request)["samples"] = samples;
    (*request)["flush_bytes"] = flush_bytes;
    const std::array descriptors{arena.fd()};
    auto timed =
        ask({{"time", *std::move(request)}}, descriptors, deadline_ * (warmup + samples + 1), call);
    if (!timed) return timed.error();
    return decode_stored<std::vector<double>>(timed->value("elapsed_ns", Json::array()));
  }

 private:
  /// Layout, shapes and parameter values of one case, as the adapter reads them.
  Result<Json> case_of(const Dims& dims, const CallPlan& plan) const {
    Json shapes = Json::object();
    for (const auto& tensor : contract_.tensors) {
      Json shape = Json::array();
      for (const auto& extent : tensor.shape) {
        auto value = evaluate_integer(extent, dims);
        if (!value) return value.error();
        shape.push_back(*value);
      }
      shapes[tensor.name] = std::move(shape);
    }
    Json parameters = Json::array();
    for (std::size_t i = 0; i < contract_.parameters.size(); ++i) {
      const auto& parameter = contract_.parameters[i];
      const auto& argument = plan.arguments[i];
      Json value = is_floating(argument.dtype) ? Json(argument.real) : Json(argument.integer);
      parameters.push_back({{"name", parameter.name},
                            {"kind", name_of(parameter.kind)},
                            {"value", std::move(value)}});
    }
    return Json{{"layout", encode(plan.layout)},
                {"shapes", std::move(shapes)},
                {"parameters", std::move(parameters)},
                {"dims", dims}};
  }

  Result<Json> ask(const Json& question, std::span<const int> descriptors, milliseconds deadline,
                   const CallContext& call) {
    auto answer = process_.ask(question, descriptors, deadline, call);
    if (!answer) return answer.error();
    const auto& name = contract_.reference.file_name;
    if (answer->fault)
      return failed(name, fmt::format("{}: {}", answer->fault->kind, answer->fault->message), 0);
    if (const auto failure = answer->body.find("failed"); failure != answer->body.end())
      return failed(name, failure->value("message", ""), failure->value("line", 0));
    return std::move(answer->body);
  }

  WorkerProcess process_;
  Contract contract_;
  milliseconds deadline_;
  std::string framework_;
  std::optional<double> atol_;
  std::optional<double> rtol_;
};

}  // namespace

Result<std::unique_ptr<Reference>> open_python_reference(const ReferenceParts& parts,
                                                         const Contract& contract,
                                                         const CallContext& call) {
  WorkerSpec spec;
  // Isolated from the user's settings and paths, and leaving no byte code behind.
  spec.argv = {parts.python, "-I", "-B", (parts.data_dir / "python" / "reference.py").string()};
  spec.start_deadline = kStart;
  auto process = WorkerProcess::start(spec, call);
  if (!process) return process.error();
  auto reference =
      std::make_unique<PythonReference>(*std::move(process), contract, parts.place.job_deadline);
  if (auto loaded = reference->load(call); !loaded) return loaded.error();
  return std::unique_ptr<Reference>(std::move(reference));
}

}  // namespace ratchet
