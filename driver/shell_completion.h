// Completion scripts for shells, made from the commands and options that exist.
#pragma once

#include <string>
#include <vector>

namespace rml {

struct CompletedCommand {
  std::string name, text;
  std::vector<std::string> options;  // "--node", "-O"
};

// `shell`: bash, zsh or fish.
std::string shell_completion(const std::string& shell, const std::vector<CompletedCommand>& commands);

}  // namespace rml
