// Completion scripts for shells, generated from the commands and options of rmlc.
#pragma once

#include <string>
#include <vector>

namespace rml {

struct CompletedCommand {
  std::string name, text;
  std::vector<std::string> options;  // for example "--node", "-O"
};

// Writes the completion script for a shell: bash, zsh or fish.
std::string shell_completion(const std::string& shell, const std::vector<CompletedCommand>& commands);

}  // namespace rml
