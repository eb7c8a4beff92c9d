// `rmlc explain`: the page of a word of the language, of a diagnostic's code, of an operator, of all operators, of a
// node of the standard library or of the user's own modules; an index of all these; or a search in all of them.
#include <algorithm>
#include <iostream>
#include <utility>

#include "driver/commands/commands.h"
#include "driver/show/library_pages.h"
#include "frontend/explain.h"
#include "runtime/base/readable.h"
#include "semantics/operators/operator.h"

namespace rml {
namespace {

std::string usage(const OperatorInfo& op) {
  std::string text = std::string(op.name) + "(";
  for (std::size_t i = 0; i < op.parameters.size(); ++i) {
    const OperatorParameter& p = op.parameters[i];
    text += (i == 0 ? "" : ", ") + std::string(p.name) + (p.variadic ? "…" : "");
    if (!p.default_value.empty()) text += "=" + std::string(p.default_value);
  }
  return text + ")";
}

void print(const OperatorInfo& op) {
  std::cout << usage(op) << "\n\n" << op.doc << "\n";
  if (!op.aliases.empty()) {
    std::cout << "\nAlso written:";
    for (const std::string_view alias : op.aliases) std::cout << " " << alias;
    std::cout << "\n";
  }
  if (!op.example.empty()) std::cout << "\nExample:\n  " << op.example << "\n";
  std::size_t operand = 0;
  for (const OperatorParameter& p : op.parameters) {
    if (p.kind != ParameterKind::operand || operand >= op.vjp.size()) continue;
    std::cout << (operand == 0 ? "\nDerivative:\n" : "") << "  d" << p.name << ": " << op.vjp[operand] << "\n";
    ++operand;
  }
  if (!op.onnx.empty()) std::cout << "\nONNX: " << op.onnx << "\n";
}

// Prints words in lines of at most 100 columns.
void print_words(const std::vector<std::string>& words) {
  constexpr std::size_t longest = 100;
  std::string line;
  for (const std::string& word : words) {
    if (line.size() + 2 + word.size() > longest) {
      std::cout << line << "\n";
      line.clear();
    }
    line += "  " + word;
  }
  std::cout << line << "\n";
}

void print_entry(const std::string& topic, const std::string& title) {
  constexpr std::size_t longest = 100;
  std::string line = "  " + topic + (title.empty() ? "" : "  " + title);
  if (line.size() > longest) {
    const std::size_t cut = line.rfind(' ', longest - 3);
    line = line.substr(0, cut) + " …";
  }
  std::cout << line << "\n";
}

std::string joined(const std::vector<std::string_view>& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

std::vector<std::string> operator_names() {
  std::vector<std::string> names;
  for (const std::string& name : operators().names()) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

void print_index(const LibraryPages& library) {
  std::cout
      << "rmlc explain TOPIC explains one of these topics; rmlc explain -k WORD searches all of them.\n\nLanguage:\n";
  for (const LanguagePage& page : all_language_pages()) print_entry(joined(page.names), std::string(page.title));
  std::cout << "\nMessages:\n";
  for (const Code code : all_codes()) std::cout << "  " << code_name(code) << "  " << code_title(code) << "\n";
  std::cout << "\nOperators (`rmlc explain operators`: all of them):\n";
  print_words(operator_names());
  std::cout << "\nNodes of the standard library:\n";
  print_words(library.topics_of_stdlib());
  if (const std::vector<std::string> own = library.topics_of_user(); !own.empty()) {
    std::cout << "\nNodes of your modules here and in the folders of -I and RMLC_PATH:\n";
    print_words(own);
  }
}

int print_topic(const LibraryPages& library, const std::string& topic) {
  if (const auto code = code_from_name(topic)) {
    std::cout << explain(*code);
    return exit_success;
  }
  if (topic == "operators") {
    std::cout << operator_reference();
    return exit_success;
  }
  if (const LanguagePage* page = language_page(topic)) {
    std::cout << page->text;
    return exit_success;
  }
  if (const auto op = operators().find(topic)) {
    print(operators()[*op]);
    return exit_success;
  }
  if (const auto page = library.page(topic)) {
    std::cout << *page;
    return exit_success;
  }
  std::vector<std::string> known = operators().names();
  for (const LanguagePage& page : all_language_pages()) known.insert(known.end(), page.names.begin(), page.names.end());
  for (std::string& node : library.topics_of_stdlib()) known.push_back(std::move(node));
  for (std::string& node : library.topics_of_user()) known.push_back(std::move(node));
  for (const Code code : all_codes()) known.emplace_back(code_name(code));
  const std::string near = did_you_mean(topic, known);
  std::cerr << readable_message("rmlc: unknown topic '" + topic + "'")
            << (near.empty() ? "; `rmlc explain` lists the topics, `rmlc explain -k WORD` searches them"
                             : "; did you mean '" + readable_message(near) + "'?")
            << "\n";
  return exit_usage;
}

int search_topics(const LibraryPages& library, const std::string& word) {
  std::size_t count = 0;
  const auto consider = [&](bool found, const std::string& topic, const std::string& title) {
    if (found) print_entry(topic, title);
    count += found ? 1 : 0;
  };
  for (const LanguagePage& page : all_language_pages())
    consider(mentions(page.text, word), joined(page.names), std::string(page.title));
  for (const Code code : all_codes())
    consider(mentions(explain(code), word), std::string(code_name(code)), std::string(code_title(code)));
  for (const std::string& name : operator_names()) {
    const OperatorInfo& op = operators()[*operators().find(name)];
    const bool by_alias =
        std::ranges::any_of(op.aliases, [&](std::string_view alias) { return mentions(alias, word); });
    consider(by_alias || mentions(name, word) || mentions(op.doc, word), name, first_sentence(op.doc));
  }
  for (const LibraryPages::Found& found : library.search(word)) consider(true, found.topic, found.title);
  if (count > 0) return exit_success;
  std::cerr << readable_message("rmlc: no topic mentions '" + word + "'") << "\n";
  return exit_usage;
}

}  // namespace

int explain_topic(Invocation& invocation, const ExplainRequest& request) {
  const Session& session = invocation.session;
  std::vector<std::filesystem::path> folders = {"."};
  for (const auto& folder : session.options.import_folders) folders.push_back(folder);
  for (const auto& folder : session.resources.import_folders) folders.push_back(folder);
  const LibraryPages library(session.resources.stdlib, folders);
  if (!request.word.empty()) return search_topics(library, request.word);
  if (!request.topic.empty()) return print_topic(library, request.topic);
  print_index(library);
  return exit_success;
}

}  // namespace rml
