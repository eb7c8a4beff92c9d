// Where rmlc's own parts lie: beside the binary, in the build tree as in an installation.
//
//   PREFIX/bin/rmlc   PREFIX/lib/rmlc/{librmlrt.a, stdlib/*.rml, include/rmlrt.h}
#pragma once

#include <filesystem>

namespace rml {

std::filesystem::path own_binary();
std::filesystem::path stdlib_folder();
std::filesystem::path runtime_archive();

}  // namespace rml
