// `rmlc licenses`: prints NOTICE, which is embedded, and the place of the licenses' texts on this machine.
#include <filesystem>
#include <iostream>

#include "driver/base/installation.h"
#include "driver/commands/commands.h"

namespace rml {

extern const char* const notice_text;

int print_licenses(Invocation&) {
  // Packages of rmlc contain the texts. For a build tree they are in the packages of the libraries.
  const std::filesystem::path texts = installation() / "share/doc/rmlc/third-party";
  std::error_code error;
  std::cout << notice_text << "\nTheir texts are here in "
            << (std::filesystem::is_directory(texts, error) ? texts.string() + "/PACKAGE."
                                                            : "/usr/share/doc/PACKAGE/copyright.")
            << "\n";
  return std::cout.flush() ? exit_success : exit_fault;
}

}  // namespace rml
