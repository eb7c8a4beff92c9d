// Sources with one to three tokens changed, the same for the same seed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/token.h"

namespace rml::fuzz {

// A program to be changed. Its imports are found beside it.
struct TokenSource {
  std::filesystem::path path;  // of the file; of a program in a page, NAME.md.K beside the page
  std::string text;
  std::vector<Token> tokens;  // without comments
};

// Those of all .rml files in the folders, and of all programs in their .md pages, in a fixed order.
std::vector<TokenSource> token_sources(const std::vector<std::string>& folders);

struct TokenMutant {
  const TokenSource* source = nullptr;
  std::string text;
};

TokenMutant mutate_tokens(const std::vector<TokenSource>& sources, std::uint64_t seed);

}  // namespace rml::fuzz
