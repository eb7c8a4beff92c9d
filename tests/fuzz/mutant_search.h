// Common parts of the searches among mutants that tests/soak/readers calls: their arguments, the
// loop over the cases, and the printed counts.
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

// The arguments: KIND --from CASE --count N --folder FOLDER FILE …
struct SearchArguments {
  std::string kind, folder;
  std::uint64_t from = 0, count = 0;
  std::vector<std::string> files;
};

// Returns false if the kind or the folder is missing.
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

// Runs the cases. FOLDER/case contains the number of the current case, for a caller that finds
// this process dead. A case may take ten seconds. The exit status is 0 only if at least one in
// fifty cases could be read.
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
