#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/core/background_calls.h"
#include "server/core/tool.h"
#include "tests/support/temp_folder.h"
#include "tools/all.h"

namespace ratchet::test {

/// All tools over real parts: a laboratory with the built workers, runs in a temporary state
/// folder, the shipped wiki. What a client would have, without a transport.
class Workbench {
 public:
  Workbench();

  /// Calls a tool; the answer may be an error. Without `wait_s` it waits for the end.
  ToolAnswer call(const std::string& tool, const Json& arguments);
  /// Calls a tool that must succeed (else the test fails with its text); gives its structure.
  Json must(const std::string& tool, const Json& arguments);

  [[nodiscard]] const std::vector<Tool>& tools() const { return tools_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

  /// Starts a run on the shipped vector_add problem on the host; returns its id.
  std::string start_run(const Json& more = Json::object());
  /// From `built` to `evidenced` for the open version; gives the id of the page it cited.
  std::string measure_and_cite(const std::string& run);
  /// From `built` through the gate, with a hypothesis whose one change is `change`.
  void pass(const std::string& run, const std::string& change);

 private:
  TempFolder folder_;
  std::unique_ptr<Lab> lab_;
  std::unique_ptr<Runs> runs_;
  std::unique_ptr<Knowledge> knowledge_;
  BackgroundCalls jobs_;
  std::vector<Tool> tools_;
};

/// A correct vector_add kernel for the host device; `index` names its loop variable, so that two of
/// them differ.
std::string good_kernel(const std::string& index);

}  // namespace ratchet::test
