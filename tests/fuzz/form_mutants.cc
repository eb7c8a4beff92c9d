// Reads damaged texts of forms. Each must be read, or refused with a line and a column.
//
//   form_mutants FORM --from CASE --count N --folder FOLDER GOLDEN …
//
// FORM is core, schedule, segments, steps or loops. GOLDEN are folders with valid texts
// (tests/golden). FOLDER/case contains the number of the current case, for a caller that finds
// this process dead. A case may take ten seconds. If a text is read, printing it must give a text
// that reads back.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/damage.h"
#include "fuzz/form_texts.h"
#include "fuzz/mutant_search.h"

namespace rml::fuzz {
namespace {

// Returns the valid texts of a form in the folders, in the order of their paths.
std::vector<std::string> bases(const SearchArguments& arguments) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& folder : arguments.files)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.is_regular_file() && entry.path().extension() != ".rml") paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> found;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    TextFault fault;
    if (reads_back(arguments.kind, text, fault) && fault.message.empty()) found.push_back(std::move(text));
  }
  return found;
}

// Replaces one to four numbers, which are mostly ids, by other numbers of the text.
void exchange_numbers(std::string& text, Random& random) {
  const auto number = [&](std::size_t& length) {
    std::size_t at = text.find_first_of("0123456789", below(random, text.size()));
    if (at == std::string::npos) at = text.find_first_of("0123456789");
    const std::size_t end = text.find_first_not_of("0123456789", at);
    length = (end == std::string::npos ? text.size() : end) - at;
    return at;
  };
  for (std::uint64_t k = below(random, 4) + 1; k > 0; --k) {
    std::size_t length = 0;
    const std::size_t from = number(length);
    const std::string digits = text.substr(from, length);
    const std::size_t to = number(length);
    text.replace(to, length, digits);
  }
}

int search(const SearchArguments& arguments) {
  const std::vector<std::string> texts = bases(arguments);
  if (texts.empty()) {
    std::fprintf(stderr, "form_mutants: no text of the form %s\n", arguments.kind.c_str());
    return 2;
  }
  SearchCounts counts;
  return search_cases(arguments, counts, [&](std::uint64_t k) {
    Random random(k);
    std::string text = texts[below(random, texts.size())];
    const std::uint64_t way = below(random, 4);
    if (way == 0)
      damage_bytes(text, texts[below(random, texts.size())], random);
    else if (way == 1)
      damage_text(text, random);
    else
      exchange_numbers(text, random);
    TextFault fault;
    const bool well = reads_back(arguments.kind, text, fault);
    ++(fault.message.empty() ? counts.read : counts.refused);
    if (well && fault.offset <= text.size()) return;
    ++counts.wrong;
    std::printf("%s %llu: %s\n", arguments.kind.c_str(), static_cast<unsigned long long>(k),
                well ? "a fault beyond the text" : "what is written does not read back");
  });
}

}  // namespace
}  // namespace rml::fuzz

int main(int argc, char** argv) {
  rml::fuzz::SearchArguments arguments;
  if (!rml::fuzz::take_arguments(argc, argv, arguments)) {
    std::fprintf(stderr, "usage: form_mutants FORM --from CASE --count N --folder FOLDER GOLDEN ...\n");
    return 2;
  }
  return rml::fuzz::search(arguments);
}
