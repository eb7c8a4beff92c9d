// Every code has its page, and every example of a page parses.
#include "frontend/explain.h"

#include <gtest/gtest.h>

#include <set>

#include "frontend/token.h"
#include "tests/unit/frontend/parsed.h"

namespace rml::test {
namespace {

struct Example {
  std::string text;
  bool right = false;
};

// The R(ML)² blocks of a page; `right` is true from the line that begins with "Right" on.
std::vector<Example> examples(std::string_view page) {
  static constexpr std::string_view fence = "\n```rml\n";
  std::vector<Example> result;
  const std::size_t right = page.find("\nRight");
  for (std::size_t at = page.find(fence); at != std::string_view::npos; at = page.find(fence, at + 1)) {
    const std::size_t begin = at + fence.size();
    result.push_back({std::string(page.substr(begin, page.find("\n```\n", begin) + 1 - begin)), at > right});
  }
  return result;
}

TEST(Explain, every_code_has_a_page_with_a_mistake_and_its_correction) {
  for (const Code code : all_codes()) {
    const std::string_view page = explain(code);
    const std::string title = "# " + std::string(code_name(code)) + ": " + std::string(code_title(code)) + "\n";
    EXPECT_TRUE(page.starts_with(title)) << code_name(code);
    EXPECT_NE(page.find("\nWrong"), std::string_view::npos) << code_name(code);
    EXPECT_NE(page.find("\nRight"), std::string_view::npos) << code_name(code);
  }
}

TEST(Explain, examples_parse_but_for_those_of_syntax_errors) {
  for (const Code code : all_codes()) {
    for (const Example& example : examples(explain(code))) {
      const Parsed p(example.text);
      std::string own;  // text of the first report with the code of this page
      for (const Diagnostic& d : p.diagnostics.all()) {
        // True for errors of imports, which examples have because they are single files.
        const bool import = d.code == Code::E0802;
        if (d.code == code) own = d.message;
        EXPECT_TRUE(import || (d.code == code && !example.right)) << code_name(code) << ": " << d.message;
      }
      const bool syntax = code_name(code).starts_with("E01") && code != Code::E0104;
      if (syntax && !example.right) {
        EXPECT_NE(own, "") << code_name(code);
      }
    }
  }
}

TEST(Explain, every_word_sign_and_type_of_the_language_has_a_page) {
  std::vector<std::string_view> words = {"map",   "fold",  "scan", "dealt", "by",
                                         "param", "clock", "main", "int",   "float"};
  for (auto kind = TokenKind::NODE; kind <= TokenKind::UNDERSCORE;
       kind = static_cast<TokenKind>(static_cast<std::uint8_t>(kind) + 1))
    words.push_back(spelling(kind));
  for (const std::string_view dtype :
       {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64"})
    words.push_back(dtype);
  for (const std::string_view word : words) EXPECT_NE(language_page(word), nullptr) << word;
  EXPECT_EQ(language_page("fbx"), nullptr);
}

TEST(Explain, each_name_of_the_language_is_on_one_page) {
  std::set<std::string_view> names;
  for (const LanguagePage& page : all_language_pages()) {
    EXPECT_FALSE(page.title.empty()) << page.text;
    for (const std::string_view name : page.names) EXPECT_TRUE(names.insert(name).second) << name;
  }
}

TEST(Explain, codes_are_found_by_name) {
  EXPECT_EQ(code_from_name("E0401"), Code::E0401);
  EXPECT_EQ(code_from_name("w0201"), Code::W0201);
  EXPECT_EQ(code_from_name("E9999"), std::nullopt);
  EXPECT_EQ(code_from_name(""), std::nullopt);
}

}  // namespace
}  // namespace rml::test
