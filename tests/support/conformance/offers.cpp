// Fixture prompts and resources.

#include <utility>

#include "server/core/hash.h"
#include "tests/support/conformance/fixtures.h"

namespace ratchet::test::conformance {
namespace {

Json message(Json content) {
  return {{"role", "user"}, {"content", std::move(content)}};
}

Json messages(std::vector<Json> contents) {
  Json list = Json::array();
  for (auto& content : contents) list.push_back(message(std::move(content)));
  return {{"messages", std::move(list)}};
}

Outcome asks_for_context(const Json&, Interaction& interaction) {
  const Json request = form("What context should the prompt use?", "context", "string");
  const Json context =
      entered(interaction.ask("user_context", "elicitation/create", request), "context");
  if (context.is_string())
    return prompt_text("", "Use the following context: " + context.get<std::string>());
  interaction.ask_again("user_context", "elicitation/create", request);
  return prompt_text("", "waiting for the client");
}

Prompt prompt_with_arguments() {
  const Complete complete = [](const std::string& typed, const auto&) {
    std::vector<std::string> values;
    for (const char* value : {"paris", "park", "party"})
      if (std::string_view(value).starts_with(typed)) values.emplace_back(value);
    return values;
  };
  return {
      "test_prompt_with_arguments",
      "Prompt with arguments",
      "Has two arguments.",
      {{"arg1", "First test argument", true, complete}, {"arg2", "Second test argument", true, {}}},
      [](const Json& arguments, Interaction&) -> Outcome {
        return prompt_text("", "Prompt with arguments: arg1='" + arguments.value("arg1", "") +
                                   "', arg2='" + arguments.value("arg2", "") + "'");
      }};
}

Result<std::vector<ResourceContents>> read(const std::string& uri) {
  constexpr std::string_view kStart = "test://template/";
  constexpr std::string_view kEnd = "/data";
  if (uri == "test://static-text")
    return std::vector<ResourceContents>{
        {uri, "text/plain", "This is the content of the static text resource."}};
  if (uri == "test://static-binary")
    return std::vector<ResourceContents>{{uri, "image/png", *from_base64(kPng), true}};
  if (uri == "test://watched-resource")
    return std::vector<ResourceContents>{{uri, "text/plain", "Watched resource content"}};
  if (uri.starts_with(kStart) && uri.ends_with(kEnd) && uri.size() > kStart.size() + kEnd.size()) {
    const auto id = uri.substr(kStart.size(), uri.size() - kStart.size() - kEnd.size());
    const Json data{{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}};
    return std::vector<ResourceContents>{{uri, "application/json", data.dump()}};
  }
  return Error{ErrorCode::not_found, "Resource not found: " + uri, ""};
}

}  // namespace

void add_prompts(std::vector<Prompt>& prompts) {
  prompts.push_back({"test_simple_prompt",
                     "Simple prompt",
                     "Has no arguments.",
                     {},
                     [](const Json&, Interaction&) -> Outcome {
                       return prompt_text("", "This is a simple prompt for testing.");
                     }});
  prompts.push_back(prompt_with_arguments());
  prompts.push_back({"test_prompt_with_embedded_resource",
                     "Prompt with resource",
                     "Embeds a resource.",
                     {{"resourceUri", "URI of the resource to embed", true, {}}},
                     [](const Json& arguments, Interaction&) -> Outcome {
                       return messages(
                           {{{"type", "resource"},
                             {"resource",
                              {{"uri", arguments.value("resourceUri", "")},
                               {"mimeType", "text/plain"},
                               {"text", "Embedded resource content for testing."}}}},
                            text_content("Please process the embedded resource above.")});
                     }});
  prompts.push_back({"test_prompt_with_image",
                     "Prompt with image",
                     "Has an image.",
                     {},
                     [](const Json&, Interaction&) -> Outcome {
                       return messages(
                           {{{"type", "image"}, {"data", kPng}, {"mimeType", "image/png"}},
                            text_content("Please analyze the image above.")});
                     }});
  prompts.push_back({"test_input_required_result_prompt",
                     "Prompt that asks",
                     "Asks for context.",
                     {},
                     asks_for_context});
}

void add_resources(std::vector<ResourceProvider>& providers) {
  ResourceProvider provider;
  provider.scheme = "test";
  provider.templates = {{"test://template/{id}/data",
                         "template",
                         "Template",
                         "Has one variable.",
                         "application/json",
                         {}}};
  provider.list = []() -> Result<std::vector<Resource>> {
    return std::vector<Resource>{
        {"test://static-text", "static-text", "Static text", "Text.", "text/plain", {}},
        {"test://static-binary", "static-binary", "Static binary", "An image.", "image/png", {}},
        {"test://watched-resource",
         "watched-resource",
         "Watched",
         "For subscriptions.",
         "text/plain",
         {}}};
  };
  provider.read = read;
  providers.push_back(std::move(provider));
}

}  // namespace ratchet::test::conformance
