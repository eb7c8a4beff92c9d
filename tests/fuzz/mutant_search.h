// What searches among mutants do alike, those that tests/soak/readers calls: their arguments, the cases one by one, and
// the counts that they print.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "fuzz/guard.h"

namespace rml::fuzz {

// KIND --from CASE --count N --folder FOLDER FILE …
struct SearchArguments {
  std::string kind, folder;
  std::uint64_t from = 0, count = 0;
  std::vector<std::string> files;
};

// False where the kind or the folder is missing.
inline bool take_arguments(int argc, char** argv, SearchArguments& arguments) {
  for (int k = 1; k < argc; ++k) {
    const std::string option = argv[k];
    if (take_seeds(arguments, argc, argv, k)) continue;
    if (option == "--folder" && k + 1 < argc)
      arguments.folder = argv[++k];
    else if (arguments.kind.empty())
      arguments.kind = option;
    else
      arguments.files.push_back(option);
  }
  return !arguments.kind.empty() && !arguments.folder.empty();
}

struct SearchCounts {
  unsigned long long read = 0, refused = 0, wrong = 0;
};

// FOLDER/case holds the number of the case that runs, for a reader who finds that this process has ended; a case that
// takes ten seconds ends it. The exit status: of some fifty cases one at least is read.
template <class Judge>
int search_cases(const SearchArguments& arguments, const SearchCounts& counts, const Judge& judge) {
  const int note = open((arguments.folder + "/case").c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  for (std::uint64_t k = arguments.from; k < arguments.from + arguments.count; ++k) {
    constexpr unsigned most_seconds = 10;
    if (pwrite(note, &k, sizeof k, 0) != sizeof k) return 2;
    alarm(most_seconds);
    judge(k);
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  std::printf("read=%llu refused=%llu wrong=%llu mib=%ld\n", counts.read, counts.refused, counts.wrong,
              used.ru_maxrss >> 10);
  return counts.wrong == 0 && (counts.read > 0 || arguments.count < 50) ? 0 : 1;
}

}  // namespace rml::fuzz
