// `rmlc licenses`: NOTICE, which is embedded, and where the texts of the licenses are on this machine.
#include <filesystem>
#include <iostream>

#include "driver/installation.h"
#include "driver/licenses.h"

namespace rml {

extern const char* const notice_text;

int print_licenses(Invocation&, const std::string&) {
  // Packages of rmlc bring the texts; a build tree was made where the libraries' own packages are.
  const std::filesystem::path texts = installation() / "share/doc/rmlc/third-party";
  std::error_code error;
  std::cout << notice_text << "\nTheir texts are here in "
            << (std::filesystem::is_directory(texts, error) ? texts.string() + "/PACKAGE."
                                                            : "/usr/share/doc/PACKAGE/copyright.")
            << "\n";
  return std::cout.flush() ? exit_success : exit_fault;
}

}  // namespace rml
