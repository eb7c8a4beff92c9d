// Damaged texts of cores, schedules, segments and steps: each is read, or refused at a line and a column.
//
//   form_mutants FORM --from CASE --count N --folder FOLDER GOLDEN …
//
// FORM is core, schedule, segments or steps; GOLDEN are folders with whole texts to begin with (tests/golden).
// FOLDER/case holds the number of the case that runs, for whoever finds that this process has ended. A case that takes
// ten seconds ends it. What is read must be written as a text that reads back.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/damage.h"
#include "fuzz/form_texts.h"
#include "fuzz/guard.h"

namespace rml::fuzz {
namespace {

struct Arguments {
  std::string form, folder;
  std::uint64_t from = 0, count = 0;
  std::vector<std::string> golden;
};

// The whole texts of a form in the folders, in the order of their paths.
std::vector<std::string> bases(const Arguments& arguments) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& folder : arguments.golden)
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
      if (entry.is_regular_file() && entry.path().extension() != ".rml") paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<std::string> found;
  for (const auto& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    TextFault fault;
    if (reads_back(arguments.form, text, fault) && fault.message.empty()) found.push_back(std::move(text));
  }
  return found;
}

// One to four numbers, which are ids mostly, become others of the text.
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

int search(const Arguments& arguments) {
  const std::vector<std::string> texts = bases(arguments);
  if (texts.empty()) {
    std::fprintf(stderr, "form_mutants: no text of the form %s\n", arguments.form.c_str());
    return 2;
  }
  const int note = open((arguments.folder + "/case").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  unsigned long long read = 0, refused = 0, wrong = 0;
  for (std::uint64_t k = arguments.from; k < arguments.from + arguments.count; ++k) {
    constexpr unsigned most_seconds = 10;
    if (pwrite(note, &k, sizeof k, 0) != sizeof k) return 2;
    alarm(most_seconds);
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
    const bool well = reads_back(arguments.form, text, fault);
    ++(fault.message.empty() ? read : refused);
    if (well && fault.offset <= text.size()) continue;
    ++wrong;
    std::printf("%s %llu: %s\n", arguments.form.c_str(), static_cast<unsigned long long>(k),
                well ? "a fault beyond the text" : "what is written does not read back");
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("read=%llu refused=%llu wrong=%llu mib=%ld\n", read, refused, wrong, used.ru_maxrss >> 10);
  return wrong == 0 && (read > 0 || arguments.count < 50) ? 0 : 1;
}

}  // namespace
}  // namespace rml::fuzz

int main(int argc, char** argv) {
  rml::fuzz::Arguments arguments;
  for (int k = 1; k < argc; ++k) {
    const std::string option = argv[k];
    if (rml::fuzz::take_seeds(arguments, argc, argv, k)) continue;
    if (option == "--folder" && k + 1 < argc)
      arguments.folder = argv[++k];
    else if (arguments.form.empty())
      arguments.form = option;
    else
      arguments.golden.push_back(option);
  }
  if (arguments.form.empty() || arguments.folder.empty()) {
    std::fprintf(stderr, "usage: form_mutants FORM --from CASE --count N --folder FOLDER GOLDEN ...\n");
    return 2;
  }
  return rml::fuzz::search(arguments);
}
