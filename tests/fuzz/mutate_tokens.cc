// Half of the tokens are replaced by one of the same kind, since only programs that parse reach
// types, clocks and schedules.
#include "fuzz/mutate_tokens.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <utility>

#include "semantics/operators/operator.h"

namespace rml::fuzz {

namespace {

namespace fs = std::filesystem;

// Words that a file may lack, by the kind of token that they replace.
constexpr std::string_view numbers[] = {
    "0",   "1",   "2",     "3",      "7",     "1000", "2147483647", "2147483648", "4294967296", "0.0",
    "1.0", "0.5", "1e308", "1e-320", "1e400", "0xff", "1_000",      "-1",         "(-1.0)",     "9223372036854775808"};
constexpr std::string_view names[] = {"bool", "i8",  "i16",  "i32",  "i64",     "u8",   "f16",  "f32",  "f64",
                                      "x",    "y",   "n",    "map",  "fold",    "scan", "cast", "full", "zeros",
                                      "sum",  "end", "base", "iota", "reshape", "main", "self", "_"};
constexpr std::string_view operators_[] = {"+", "-",  "*",  "/",   "%",  "==",  "!=",   "<",
                                           ">", "<=", ">=", "and", "or", "fby", "when", "when not"};
constexpr std::string_view prefixes[] = {"not", "post", "merge", "if", "-", "diff", "assert"};
constexpr std::string_view others[] = {"(",    ")",    "[",     "]",      ";",  ":",    "=",     "->",    "then",
                                       "else", "node", "const", "import", "as", "true", "false", "\"a\"", "->"};

bool is_name(TokenKind kind) { return kind == TokenKind::ID || kind == TokenKind::UNDERSCORE; }
bool is_number(TokenKind kind) {
  return kind == TokenKind::INT || kind == TokenKind::FLOAT || kind == TokenKind::TRUE || kind == TokenKind::FALSE;
}
bool is_operator(TokenKind kind) {
  return (kind >= TokenKind::EQ && kind <= TokenKind::PERCENT) || kind == TokenKind::FBY || kind == TokenKind::OR ||
         kind == TokenKind::AND || kind == TokenKind::WHEN;
}

// Tokens of one group may replace each other. 0: brackets and keywords.
int group(TokenKind kind) { return is_name(kind) ? 1 : is_number(kind) ? 2 : is_operator(kind) ? 3 : 0; }

class Mutation {
 public:
  Mutation(const std::vector<TokenSource>& sources, std::uint64_t seed)
      : sources_(sources), random_(seed), source_(sources[random_() % sources.size()]) {}

  TokenMutant run() {
    const std::string& text = source_.text;
    std::size_t begin = 0;
    for (const Token& t : source_.tokens) {
      gaps_.push_back(text.substr(begin, t.begin - begin));
      words_.push_back(text.substr(t.begin, t.end - t.begin));
      kinds_.push_back(t.kind);
      begin = t.end;
    }
    // Half of the cases have one edit, because each further edit makes it less likely that a
    // program parses.
    static constexpr int edits[] = {1, 1, 1, 2, 2, 3};
    for (int n = edits[random_() % std::size(edits)]; n > 0 && !words_.empty(); --n) change();
    std::string out;
    for (std::size_t k = 0; k < words_.size(); ++k) {
      const bool apart = !gaps_[k].empty() || out.empty() || words_[k].empty();
      const auto letter = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
      if (!apart && letter(out.back()) && letter(words_[k][0])) out += ' ';
      out += gaps_[k] + words_[k];
    }
    return {&source_, out + text.substr(begin)};
  }

 private:
  std::size_t place() { return random_() % words_.size(); }
  // Returns a token nearby, which is likely to be in the same node.
  std::size_t near(std::size_t at) {
    constexpr std::size_t around = 40;
    const std::size_t first = at < around ? 0 : at - around;
    return first + random_() % (std::min(at + around, words_.size()) - first);
  }

  template <std::size_t n>
  std::string one_of(const std::string_view (&words)[n]) {
    return std::string(words[random_() % n]);
  }

  // Returns a wanted token: mostly one of this file that is near, else one of any file.
  std::string found(std::size_t at, bool (*wanted)(TokenKind)) {
    for (int tries = 0; tries < 20; ++tries) {
      if (random_() % 3 > 0) {
        const std::size_t k = near(at);
        if (wanted(kinds_[k])) return words_[k];
        continue;
      }
      const TokenSource& other = sources_[random_() % sources_.size()];
      if (other.tokens.empty()) continue;
      const Token& t = other.tokens[random_() % other.tokens.size()];
      if (wanted(t.kind)) return other.text.substr(t.begin, t.end - t.begin);
    }
    return "x";
  }

  // Returns a similar token; a name that is called is replaced by another such name.
  std::string like(std::size_t at) {
    const TokenKind kind = kinds_[at];
    const bool fresh = random_() % 3 == 0;
    if (is_number(kind)) return fresh ? one_of(numbers) : found(at, is_number);
    if (is_operator(kind)) return fresh ? one_of(operators_) : found(at, is_operator);
    if (!is_name(kind)) return one_of(others);
    if (at + 1 < kinds_.size() && kinds_[at + 1] == TokenKind::TIGHT_LPAREN && random_() % 4 > 0)
      return std::string(operators()[static_cast<OperatorId>(random_() % operators().size())].name);
    return fresh ? one_of(names) : found(at, is_name);
  }

  std::string any() {
    switch (random_() % 6) {
      case 0:
        return one_of(numbers);
      case 1:
        return one_of(names);
      case 2:
        return one_of(operators_);
      case 3:
        return one_of(prefixes);
      case 4:
        return one_of(others);
      default:
        return found(place(), [](TokenKind) { return true; });
    }
  }

  void insert(std::size_t at, std::string word) {
    words_.insert(words_.begin() + static_cast<std::ptrdiff_t>(at), std::move(word));
    gaps_.insert(gaps_.begin() + static_cast<std::ptrdiff_t>(at), " ");
    kinds_.insert(kinds_.begin() + static_cast<std::ptrdiff_t>(at), TokenKind::INVALID);
  }

  bool defines(std::size_t at) const {
    return at + 1 < kinds_.size() && (kinds_[at + 1] == TokenKind::ASSIGN || kinds_[at + 1] == TokenKind::COLON);
  }
  // Returns the position of a token, mostly a name, number or operator; changed brackets and
  // keywords rarely parse.
  std::size_t word() {
    std::size_t at = place();
    for (int tries = 0; tries < 10 && (group(kinds_[at]) == 0 || defines(at)); ++tries) at = place();
    return at;
  }

  void change() {
    const std::size_t at = place();
    switch (random_() % 16) {
      case 0:
        words_[at].clear();
        break;
      case 1:
        insert(at, words_[at]);
        break;
      case 2:
        std::swap(words_[at], words_[std::min(at + 1, words_.size() - 1)]);
        break;
      case 3:
        insert(at, any());
        break;
      case 4:
        words_[at] = any();
        break;
      case 5:
      case 6: {
        const std::size_t a = word(), b = word();
        if (group(kinds_[a]) == group(kinds_[b])) std::swap(words_[a], words_[b]);
        break;
      }
      default: {
        const std::size_t k = word();
        words_[k] = like(k);
      }
    }
  }

  const std::vector<TokenSource>& sources_;
  std::mt19937_64 random_;
  const TokenSource& source_;
  std::vector<std::string> gaps_, words_;
  std::vector<TokenKind> kinds_;
};

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void add_source(std::vector<TokenSource>& sources, const fs::path& path, std::string text) {
  SourceMap map;
  Diagnostics ignored;
  TokenSource source{path, std::move(text), {}};
  for (const Token& t : scan(map.add(path.string(), source.text), map, ignored))
    if (!is_comment(t.kind) && t.kind != TokenKind::END) source.tokens.push_back(t);
  if (!source.tokens.empty()) sources.push_back(std::move(source));
}

// Adds the programs between ```rml and ``` in a page.
void add_page(std::vector<TokenSource>& sources, const fs::path& path) {
  std::istringstream page(content(path));
  std::string line, text;
  bool inside = false;
  for (int k = 0; std::getline(page, line);) {
    const bool fence = line.starts_with("```");
    if (inside && fence) add_source(sources, path.string() + "." + std::to_string(++k), std::exchange(text, {}));
    if (inside && !fence) text += line + "\n";
    inside = fence ? !inside && line.starts_with("```rml") : inside;
  }
}

}  // namespace

std::vector<TokenSource> token_sources(const std::vector<std::string>& folders) {
  std::vector<fs::path> paths;
  for (const std::string& folder : folders)
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.path().extension() == ".rml" || entry.path().extension() == ".md") paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::vector<TokenSource> sources;
  for (const fs::path& path : paths) {
    if (path.extension() == ".md")
      add_page(sources, path);
    else
      add_source(sources, path, content(path));
  }
  return sources;
}

TokenMutant mutate_tokens(const std::vector<TokenSource>& sources, std::uint64_t seed) {
  return Mutation(sources, seed).run();
}

}  // namespace rml::fuzz
