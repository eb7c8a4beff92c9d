// Messages that quote hostile input. The expected texts are written by hand; code points are
// classified by the Unicode Standard.
#include "runtime/base/readable.h"

#include <gtest/gtest.h>

#include <chrono>

namespace rml {
namespace {

std::string many(std::size_t count, const std::string& text) {
  std::string result;
  for (std::size_t k = 0; k < count; ++k) result += text;
  return result;
}

TEST(Readable, text_stays) {
  for (const char* text :
       {"", "plain", "naïve Ωmega 漢字 🙂", "two\nlines\tand a tab", "R(ML)²: 'x' and `y` aren't z"}) {
    EXPECT_EQ(readable(text), text);
    EXPECT_EQ(readable_message(text), text);
  }
}

TEST(Readable, what_a_terminal_would_obey) {
  EXPECT_EQ(readable("\x1b[2J"), "\\u{1b}[2J");
  EXPECT_EQ(readable("a\rb\x07\x08\x7f"), "a\\u{d}b\\u{7}\\u{8}\\u{7f}");
  EXPECT_EQ(readable(std::string("\0", 1)), "\\u{0}");
  EXPECT_EQ(readable("\u009b2J"), "\\u{9b}2J");  // CSI, the beginning of a control sequence, as one character
  EXPECT_EQ(readable("\u202eabc\u202c\u2066\u2069\u200f"), "\\u{202e}abc\\u{202c}\\u{2066}\\u{2069}\\u{200f}");
  EXPECT_EQ(readable("\u2028\ufeff\U000e0041"), "\\u{2028}\\u{feff}\\u{e0041}");
}

TEST(Readable, bytes_that_are_no_text) {
  EXPECT_EQ(readable("\x9b\xff"), "\\x9b\\xff");
  EXPECT_EQ(readable("\xc1\x81\xe0\x80\x9b\xf0\x80\x80\x9b"),
            "\\xc1\\x81\\xe0\\x80\\x9b\\xf0\\x80\\x80\\x9b");  // sequences that are longer than necessary
  EXPECT_EQ(readable("\xed\xa0\x80\xf4\x90\x80\x80"),
            "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80");  // a surrogate, and a code point that is too large
  EXPECT_EQ(readable("\xe2\x80"), "\\xe2\\x80");
}

TEST(Readable, quotations_are_short_and_on_one_line) {
  const std::string x = many(200, "x");
  EXPECT_EQ(readable_message("'" + x + "' is bad"), "'" + x + "' is bad");
  EXPECT_EQ(readable_message("'" + x + "y' is bad"), "'" + x + "…' is bad");
  EXPECT_EQ(readable_message("`" + many(1000, "é é") + "` is bad"), "`" + many(66, "é é") + "é …` is bad");
  EXPECT_EQ(readable_message("in " + many(300, "w") + " or so"), "in " + many(200, "w") + "… or so");
  EXPECT_EQ(readable_message("file 'a\nerror: b' is bad"), "file 'a\\u{a}error: b' is bad");
  EXPECT_EQ(readable_message("a\nb", Lines::one), "a\\u{a}b");
  // Linkers quote names like this.
  EXPECT_EQ(readable_message("undefined `f'\nundefined `g'"), "undefined `f'\nundefined `g'");
  // Text outside of quotations is not escaped, but very long lines are cut.
  const std::string words = many(1000, "a ");
  EXPECT_EQ(readable_message(words + "\nb"), words.substr(0, 1000) + "…\nb");
}

TEST(Readable, is_cut_before_a_character) {
  EXPECT_EQ(cut_before_character("abcd", 2), 2u);
  EXPECT_EQ(cut_before_character("a\u00e9b", 2), 1u);
  EXPECT_EQ(cut_before_character("\u00e9\u00e9", 2), 2u);
  // Bytes that are no text.
  EXPECT_EQ(cut_before_character("\x80\x80\x80\x80", 3), 3u);
}

TEST(Readable, takes_time_as_the_text_is_long) {
  for (const char* piece : {" 'x", " `x", "'", "` '", "x\n`", "\x1b"}) {
    const auto begin = std::chrono::steady_clock::now();
    readable_message(many(1 << 20, piece));
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << piece;
  }
}

}  // namespace
}  // namespace rml
