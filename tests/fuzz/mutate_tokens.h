// Changes one to three tokens of a source; the same seed gives the same changes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/token.h"

namespace rml::fuzz {

// A program to change. Its imports are found in the folder of its path.
struct TokenSource {
  std::filesystem::path path;  // the file; NAME.md.K for program K of a page
  std::string text;
  std::vector<Token> tokens;  // without comments
};

// Returns all .rml files in the folders and all programs in their .md pages, in a fixed order.
std::vector<TokenSource> token_sources(const std::vector<std::string>& folders);

struct TokenMutant {
  const TokenSource* source = nullptr;
  std::string text;
};

TokenMutant mutate_tokens(const std::vector<TokenSource>& sources, std::uint64_t seed);

}  // namespace rml::fuzz
