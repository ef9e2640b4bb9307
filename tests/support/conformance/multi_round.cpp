// Fixture tools that need several rounds of one request in the stateless era.

#include <fmt/format.h>

#include <utility>

#include "tests/support/conformance/fixtures.h"

namespace ratchet::test::conformance {
namespace {

/// A placeholder while a question is open; the server replaces it.
Outcome waiting() {
  return text_result("waiting for the client");
}

std::optional<Json> ask_name(Interaction& interaction) {
  return interaction.ask("user_name", "elicitation/create",
                         form("What is your name?", "name", "string"));
}

Json sampling(const char* prompt) {
  return {{"messages", Json::array({{{"role", "user"}, {"content", text_content(prompt)}}})},
          {"maxTokens", 100}};
}

Outcome greet(const Json&, Interaction& interaction) {
  const Json name = entered(ask_name(interaction), "name");
  if (name.is_string()) return text_result(fmt::format("Hello, {}!", name.get<std::string>()));
  interaction.ask_again("user_name", "elicitation/create",
                        form("What is your name?", "name", "string"));
  return waiting();
}

Outcome sample(const Json&, Interaction& interaction) {
  const auto answer = interaction.ask("capital_question", "sampling/createMessage",
                                      sampling("What is the capital of France?"));
  if (!answer) return waiting();
  return text_result("Sampling response: " +
                     answer->value("content", Json::object()).value("text", ""));
}

Outcome list_roots(const Json&, Interaction& interaction) {
  const auto answer = interaction.ask("client_roots", "roots/list", nullptr);
  if (!answer) return waiting();
  std::string text = "Roots:";
  for (const auto& root : answer->value("roots", Json::array()))
    text += fmt::format(" {}", root.value("uri", ""));
  return text_result(text);
}

/// Answers `text` once the user confirmed and the state came back unchanged.
RawCall confirms(std::string text) {
  return [text = std::move(text)](const Json&, Interaction& interaction) -> Outcome {
    const auto answer =
        interaction.ask("confirm", "elicitation/create", form("Please confirm", "ok", "boolean"));
    if (answer && !interaction.state().is_null()) return text_result(text);
    interaction.keep({{"asked", true}});
    if (answer)
      interaction.ask_again("confirm", "elicitation/create",
                            form("Please confirm", "ok", "boolean"));
    return waiting();
  };
}

Outcome several_inputs(const Json&, Interaction& interaction) {
  const Json name = entered(ask_name(interaction), "name");
  const auto greeting =
      interaction.ask("greeting", "sampling/createMessage", sampling("Generate a greeting"));
  const auto roots = interaction.ask("client_roots", "roots/list", nullptr);
  if (!name.is_string() || !greeting || !roots) {
    interaction.keep({{"asked", true}});
    return waiting();
  }
  return text_result(
      fmt::format("{} {}, {} root(s)", greeting->value("content", Json::object()).value("text", ""),
                  name.get<std::string>(), roots->value("roots", Json::array()).size()));
}

Outcome two_rounds(const Json&, Interaction& interaction) {
  const Json& state = interaction.state();
  const int round = state.is_object() ? state.value("round", 0) : 0;
  if (round == 0) {
    interaction.keep({{"round", 1}});
    interaction.ask("step1", "elicitation/create",
                    form("Step 1: What is your name?", "name", "string"));
    return waiting();
  }
  if (round == 1) {
    const Json name = entered(interaction.ask("step1", "elicitation/create",
                                              form("Step 1: What is your name?", "name", "string")),
                              "name");
    if (!name.is_string()) {
      interaction.keep({{"round", 1}});
      return waiting();
    }
    interaction.keep({{"round", 2}, {"name", name}});
    interaction.ask("step2", "elicitation/create",
                    form("Step 2: What is your favorite color?", "color", "string"));
    return waiting();
  }
  const Json color =
      entered(interaction.ask("step2", "elicitation/create",
                              form("Step 2: What is your favorite color?", "color", "string")),
              "color");
  if (!color.is_string()) {
    interaction.keep(state);
    return waiting();
  }
  return text_result(fmt::format("{} likes {}", state.value("name", ""), color.get<std::string>()));
}

Outcome what_the_client_can(const Json&, Interaction& interaction) {
  bool complete = true;
  if (interaction.client_can("elicitation")) complete &= ask_name(interaction).has_value();
  if (interaction.client_can("sampling"))
    complete &=
        interaction.ask("greeting", "sampling/createMessage", sampling("Generate a greeting"))
            .has_value();
  if (interaction.client_can("roots"))
    complete &= interaction.ask("client_roots", "roots/list", nullptr).has_value();
  return complete ? text_result("all that the client can give was given") : waiting();
}

Outcome needs_sampling(const Json&, Interaction& interaction) {
  const auto answer = interaction.ask("llm_answer", "sampling/createMessage", sampling("Say pong"));
  return answer ? text_result("sampling done") : waiting();
}

}  // namespace

void add_multi_round_tools(std::vector<RawTool>& tools) {
  const auto add = [&](const char* name, const char* description, RawCall call) {
    tools.push_back(raw_tool(name, description, Pace::interactive, std::move(call)));
  };
  add("test_missing_capability", "Needs the sampling capability.", needs_sampling);
  add("test_input_required_result_elicitation", "Asks for a name.", greet);
  add("test_input_required_result_sampling", "Asks the client's model.", sample);
  add("test_input_required_result_list_roots", "Asks for roots.", list_roots);
  add("test_input_required_result_request_state", "Carries state.", confirms("state-ok"));
  add("test_input_required_result_tampered_state", "Guards its state.", confirms("integrity-ok"));
  add("test_input_required_result_multiple_inputs", "Asks for several things.", several_inputs);
  add("test_input_required_result_multi_round", "Asks twice.", two_rounds);
  add("test_input_required_result_capabilities", "Asks for what the client can give.",
      what_the_client_can);
}

}  // namespace ratchet::test::conformance
