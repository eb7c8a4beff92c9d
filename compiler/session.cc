// See session.h.
#include "compiler/session.h"

namespace rml {

std::vector<std::string> Session::files_read() const {
  std::vector<std::string> all = files->paths();
  for (std::uint32_t file = 1; file < sources.size(); ++file) all.push_back(sources.path(file));
  return all;
}

}  // namespace rml
