#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kbs/knowledge.h"
#include "kernels/lab.h"
#include "server/core/background_calls.h"
#include "server/core/roots.h"
#include "server/core/storage.h"
#include "server/core/tool.h"
#include "server/runs/runs.h"
#include "tests/support/temp_folder.h"
#include "tools/all.h"
#include "tools/services.h"

namespace ratchet::test {

/// All tools with real services: a lab with the built workers, runs in a temporary state folder,
/// the shipped knowledge base. What a client gets, without a transport.
class Workbench {
 public:
  Workbench();

  /// Calls a tool; the answer may be an error. Without `wait_s`, waits until the work is done.
  ToolAnswer call(const std::string& tool, const Json& arguments);
  /// Calls a tool that must succeed and returns its structured answer; on error the test fails.
  Json must(const std::string& tool, const Json& arguments);

  [[nodiscard]] const std::vector<Tool>& tools() const { return tools_; }
  [[nodiscard]] Services services() {
    return {*lab_, *runs_, *knowledge_, jobs_, *storage_, *roots_};
  }
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_.path(); }

  /// Starts a run on the shipped vector_add problem on the host; returns its id.
  std::string start_run(const Json& more = Json::object());
  /// Takes the open version from `built` to `evidenced`; returns the id of the page it cited.
  std::string measure_and_cite(const std::string& run);
  /// Takes the open version from `built` through the gate, with a hypothesis about `change`.
  void pass(const std::string& run, const std::string& change);

 private:
  TempFolder folder_;
  std::unique_ptr<Roots> roots_;
  std::unique_ptr<Lab> lab_;
  std::unique_ptr<Runs> runs_;
  std::unique_ptr<Knowledge> knowledge_;
  std::unique_ptr<Storage> storage_;
  BackgroundCalls jobs_;
  std::vector<Tool> tools_;
};

/// A correct vector_add kernel for the host; `index` names its loop variable, which makes two of
/// them differ.
std::string good_kernel(const std::string& index);

}  // namespace ratchet::test
