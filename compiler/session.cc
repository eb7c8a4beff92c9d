// Source 0 is no file, so the list of files begins with source 1.
#include "compiler/session.h"

namespace rml {

std::vector<std::string> Session::files_read() const {
  std::vector<std::string> all = files->paths();
  for (std::uint32_t file = 1; file < sources.size(); ++file) all.push_back(sources.path(file));
  return all;
}

}  // namespace rml
