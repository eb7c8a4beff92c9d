// Scans source text to tokens with the ANTLR lexer of grammar/Rml.g4.
//
// The lexer reads bytes, so its positions are the byte offsets of Spans. UTF-8 is checked first;
// only comments and strings may contain it. Afterwards an opening bracket directly after another
// token is retyped to TIGHT_*. Tokens that no program can contain are reported once, with the
// spelling to use instead.
#include <RmlLexer.h>
#include <RmlParser.h>
#include <antlr4-runtime.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/foreign_syntax.h"
#include "frontend/grammar_mutex.h"
#include "frontend/token.h"
#include "runtime/base/readable.h"

namespace rml {

namespace {

using grammar::RmlLexer;

// The lexer does not make TIGHT_* tokens. They follow its tokens in the parser's numbering.
#define RML_TOKEN(name, spelling) static_assert(static_cast<std::size_t>(TokenKind::name) == grammar::RmlParser::name);
RML_TOKENS(RML_TOKEN)
#undef RML_TOKEN

// A source text as a stream of bytes.
class ByteStream final : public antlr4::CharStream {
 public:
  explicit ByteStream(const std::string& text) : text_(text) {}
  void consume() override { ++position_; }
  std::size_t LA(ssize_t offset) override {
    const std::size_t at = position_ + static_cast<std::size_t>(offset < 0 ? offset : offset - 1);
    return at < text_.size() ? static_cast<unsigned char>(text_[at]) : antlr4::IntStream::EOF;
  }
  ssize_t mark() override { return -1; }
  void release(ssize_t) override {}
  std::size_t index() override { return position_; }
  void seek(std::size_t position) override { position_ = std::min(position, text_.size()); }
  std::size_t size() override { return text_.size(); }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval&) override { return {}; }
  std::string toString() const override { return {}; }

 private:
  const std::string& text_;
  std::size_t position_ = 0;
};

// Returns the length of the well-formed UTF-8 sequence at the beginning of `text`, or 0.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xF0 && byte(1) < 0x90);
  const bool surrogate = first == 0xED && byte(1) > 0x9F;
  const bool beyond = first == 0xF4 && byte(1) > 0x8F;
  return overlong || surrogate || beyond ? 0 : length;
}

// Returns whether the character is an embedding, override or isolate of Unicode's bidirectional
// algorithm, which make an editor show text in another order. Right-to-left text needs none of them.
bool changes_order(char32_t c) { return (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069); }

struct Replacement {
  std::string_view from, to;
};

constexpr Replacement typographic[] = {{"→", "->"},  {"−", "-"},    {"–", "-"},     {"—", "-"},   {"≤", "<="},
                                       {"≥", ">="},  {"≠", "!="},   {"×", "*"},     {"·", "*"},   {"“", "\""},
                                       {"”", "\""},  {"‘", "\""},   {"’", "\""},    {"∧", "and"}, {"∨", "or"},
                                       {"¬", "not"}, {"∂", "diff"}, {"\u00A0", " "}};

template <std::size_t n>
std::string_view find(const Replacement (&table)[n], std::string_view text) {
  for (const Replacement& row : table) {
    if (row.from == text) return row.to;
  }
  return {};
}

class Scanner {
 public:
  Scanner(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics)
      : file_(file), sources_(sources), text_(sources.text(file)), diagnostics_(diagnostics) {}

  std::vector<Token> run() {
    const std::lock_guard one_at_a_time(grammar_mutex());
    check_encoding();
    ByteStream bytes(text_);
    RmlLexer lexer(&bytes);
    lexer.removeErrorListeners();
    std::uint32_t previous_end = 0;
    while (true) {
      Token token = word_at(previous_end);
      if (token.kind == TokenKind::END) token = read(lexer, bytes, token.begin);
      if (token.kind == TokenKind::END) break;
      place(token, previous_end);
      take_foreign_comment(token);
      previous_end = token.end;
      if (token.kind == TokenKind::OPEN_COMMENT) {
        report_open_comment(token);
        cut_off_ = true;
        break;
      }
      tokens_.push_back(token);
      check(tokens_.back());
    }
    const auto size = static_cast<std::uint32_t>(text_.size());
    Token end{TokenKind::END, TokenRole::plain, true, cut_off_, size, size};
    tokens_.push_back(end);
    for (std::size_t k = 0; k < tokens_.size(); ++k) {
      retype_iteration(k);
      retype_deal(k);
    }
    return std::move(tokens_);
  }

 private:
  Span span(const Token& token) const { return {file_, token.begin, token.end}; }

  // Skips blanks and returns a keyword or a name as Rml.g4 defines them, or END if something else
  // follows. These are the most common tokens, and the lexer takes a hundred times as long for
  // them.
  Token word_at(std::uint32_t at) const {
    const auto size = static_cast<std::uint32_t>(text_.size());
    while (at < size && is_blank(text_[at])) ++at;
    std::uint32_t end = at;
    while (end < size && is_letter(text_[end], end > at)) ++end;
    Token token{TokenKind::END, TokenRole::plain, false, false, at, end};
    if (end == at) return token;
    const auto keyword = words().find(std::string_view(text_).substr(at, end - at));
    token.kind = keyword == words().end() ? TokenKind::ID : keyword->second;
    return token;
  }
  static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f'; }
  static bool is_letter(char c, bool or_digit) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (or_digit && c >= '0' && c <= '9');
  }
  // The words that cannot be names.
  static const std::unordered_map<std::string_view, TokenKind>& words() {
    static const std::unordered_map<std::string_view, TokenKind> table = [] {
      std::unordered_map<std::string_view, TokenKind> found = {
          {spelling(TokenKind::UNDERSCORE), TokenKind::UNDERSCORE}};
      for (auto kind = TokenKind::NODE; is_keyword(kind);
           kind = static_cast<TokenKind>(static_cast<std::uint8_t>(kind) + 1))
        found.emplace(spelling(kind), kind);
      return found;
    }();
    return table;
  }

  static Token read(RmlLexer& lexer, ByteStream& bytes, std::uint32_t at) {
    bytes.seek(at);
    const std::unique_ptr<antlr4::Token> found = lexer.nextToken();
    if (found->getType() == antlr4::Token::EOF) return {};
    return {static_cast<TokenKind>(found->getType()),
            TokenRole::plain,
            false,
            false,
            static_cast<std::uint32_t>(found->getStartIndex()),
            static_cast<std::uint32_t>(found->getStopIndex() + 1)};
  }

  void place(Token& token, std::uint32_t previous_end) {
    const std::string_view gap = std::string_view(text_).substr(previous_end, token.begin - previous_end);
    token.first_on_line = tokens_.empty() || gap.find_first_of("\r\n") != std::string_view::npos;
    if (!gap.empty() || tokens_.empty()) return;
    const TokenKind before = tokens_.back().kind;
    if (token.kind == TokenKind::LPAREN && before == TokenKind::ID) token.kind = TokenKind::TIGHT_LPAREN;
    const bool indexable = before == TokenKind::ID || before == TokenKind::RBRACKET || before == TokenKind::RPAREN;
    if (token.kind == TokenKind::LBRACKET && indexable) token.kind = TokenKind::TIGHT_LBRACKET;
  }

  // Retypes the word of an iteration, `scan f(h; x; w)` or `map[reverse] m.f(x)`, and the
  // semicolons between its groups. The condition of `merge` is one Boolean, so of these only
  // `fold f(h; x)` may follow `merge`; otherwise the word is a variable.
  void retype_iteration(std::size_t k) {
    const std::string_view word = sources_.text(span(tokens_[k]));
    if (tokens_[k].kind != TokenKind::ID || (word != "map" && word != "fold" && word != "scan")) return;
    const std::optional<std::size_t> arguments = behind_callee(k + 1);
    const auto separators = arguments ? separators_of(*arguments) : std::nullopt;
    if (!separators) return;
    if (k > 0 && tokens_[k - 1].kind == TokenKind::MERGE && (word != "fold" || separators->empty())) return;
    tokens_[k].kind = TokenKind::ITERATE;
    for (const std::size_t s : *separators) tokens_[s].kind = TokenKind::GROUP;
  }

  // Retypes the words of `x: f32[8] dealt end by 4` in the inputs of a node, where no name may
  // follow.
  void retype_deal(std::size_t k) {
    const TokenKind kind = tokens_[k].kind;
    if (kind == TokenKind::NODE || kind == TokenKind::ARROW || kind == TokenKind::ASSIGN)
      in_inputs_ = kind == TokenKind::NODE;
    if (!in_inputs_ || kind != TokenKind::ID || k < 2) return;
    const std::string_view word = sources_.text(span(tokens_[k]));
    const TokenKind before = tokens_[k - 1].kind;
    if (word == "dealt" && (before == TokenKind::ID || before == TokenKind::RBRACKET) &&
        tokens_[k - 2].kind != TokenKind::NODE)
      tokens_[k].kind = TokenKind::DEALT;
    if (word == "by" && tokens_[k - 2].kind == TokenKind::DEALT) tokens_[k].kind = TokenKind::BY;
  }

  // Returns the index after `[reverse] m.f(`, or nothing if other tokens are there.
  std::optional<std::size_t> behind_callee(std::size_t at) const {
    const auto next_is = [&](TokenKind kind) { return tokens_[at].kind == kind && ++at < tokens_.size(); };
    if (next_is(TokenKind::LBRACKET) || next_is(TokenKind::TIGHT_LBRACKET)) {
      if (!next_is(TokenKind::ID) || !next_is(TokenKind::RBRACKET)) return std::nullopt;
    }
    do {
      if (!next_is(TokenKind::ID)) return std::nullopt;
    } while (next_is(TokenKind::DOT));
    if (!next_is(TokenKind::LPAREN) && !next_is(TokenKind::TIGHT_LPAREN)) return std::nullopt;
    return at;
  }

  // Returns the semicolons between the groups of arguments, or nothing if the parenthesis is
  // never closed.
  std::optional<std::vector<std::size_t>> separators_of(std::size_t at) const {
    std::vector<std::size_t> separators;
    for (int depth = 1; depth > 0; ++at) {
      const TokenKind kind = tokens_[at].kind;
      if (kind == TokenKind::END || begins_item(kind)) return std::nullopt;
      if (kind == TokenKind::SEMI && depth == 1) separators.push_back(at);
      depth += opens(kind) ? 1 : closes(kind) ? -1 : 0;
    }
    return separators;
  }

  void check(Token& token) {
    switch (token.kind) {
      case TokenKind::FOREIGN:
        return report_foreign(token);
      case TokenKind::BAD_FLOAT:
        return report_bad_float(token);
      case TokenKind::BAD_NUMBER:
        return report_bad_number(token);
      case TokenKind::OPEN_STRING:
        return report_open_string(token);
      case TokenKind::INVALID:
        return report_invalid(token);
      case TokenKind::COMMENT:
      case TokenKind::LINE_COMMENT:
      case TokenKind::STRING:
        return warn_about_order(token);
      default:
        return;
    }
  }

  // Gives one warning for each comment or string that has such a character.
  void warn_about_order(const Token& token) {
    const std::string_view text = sources_.text(span(token));
    for (std::size_t i = text.find('\xE2'); i < text.size(); i = text.find('\xE2', i + 1)) {
      const CodePoint c = first_code_point(text.substr(i));
      if (!c.valid || !changes_order(c.value)) continue;
      const std::uint32_t at = token.begin + static_cast<std::uint32_t>(i);
      const Span where{file_, at, at + static_cast<std::uint32_t>(c.bytes)};
      const std::string of = token.kind == TokenKind::STRING ? "string" : "comment";
      const std::string shown = readable_character(text.substr(i), c);
      diagnostics_
          .report(Code::W0101, where,
                  "this " + of + " has the character `" + shown + "`, which changes the order of text",
                  "what follows may be shown in another order")
          .note("an editor may show this line as other code than the compiler reads")
          .fix(where, "", "remove the character");
      return;
    }
  }

  // Whether the statement of the newest token begins with a word of another language: the parser reports that word, so
  // its operators are not reported as well.
  bool in_foreign_statement() const {
    std::size_t first = tokens_.size() - 1;
    while (first > 0 && !tokens_[first].first_on_line) --first;
    if (tokens_[first].kind != TokenKind::ID || first + 1 >= tokens_.size()) return false;
    const TokenKind next = tokens_[first + 1].kind;
    const bool defines = next == TokenKind::ASSIGN || next == TokenKind::COMMA || next == TokenKind::COLON;
    return !defines && foreign_statement(sources_.text(span(tokens_[first]))) != nullptr;
  }

  // Whether a word of another language stands before an operand on the line, as in `match m {`: the parser reports it.
  bool foreign_word_before() const {
    for (std::size_t k = tokens_.size() - 1; k > 0 && !tokens_[k].first_on_line; --k)
      if (tokens_[k].kind == TokenKind::ID && tokens_[k - 1].kind == TokenKind::ID &&
          foreign_prefix(sources_.text(span(tokens_[k - 1]))) != nullptr)
        return true;
    return false;
  }

  // Whether an operator of another language stands before on the line: the parser skips everything after it.
  bool foreign_before_on_line() const {
    for (std::size_t k = tokens_.size() - 1; k > 0 && !tokens_[k].first_on_line; --k)
      if (tokens_[k - 1].kind == TokenKind::FOREIGN) return true;
    return false;
  }

  // Operators whose meaning depends on their neighbours; the note names the form to write. Empty: none of these.
  std::string_view note_by_neighbours(const Token& token, std::string_view written) const {
    const Token* const before = tokens_.size() > 1 ? &tokens_[tokens_.size() - 2] : nullptr;
    const bool touches = before != nullptr && before->end == token.begin;
    const bool behind_operand = before != nullptr && (before->kind == TokenKind::ID || before->kind == TokenKind::INT ||
                                                      before->kind == TokenKind::FLOAT || closes(before->kind));
    if (written == "|" && !behind_operand) return "the absolute value is `abs(x)`";
    if (written == "#") return "Lustre's `#(a, b)` (at most one is true) is written `not (a and b)`";
    if (written == "<<" && touches && before->kind == TokenKind::ID)
      return "static arguments are ordinary arguments: `f(3, x)`";
    return {};
  }

  // If another token is meant for certain, it is read instead; otherwise the parser skips the rest of the equation
  // without a message.
  void report_foreign(Token& token) {
    const std::string written(sources_.text(span(token)));
    token.reported = true;
    if (in_foreign_statement() || foreign_word_before() || foreign_before_on_line()) return;
    if (const std::string_view note = note_by_neighbours(token, written); !note.empty()) {
      diagnostics_.report(Code::E0101, span(token), "`" + written + "` is not an operator of R(ML)²")
          .note(std::string(note));
      return;
    }
    const ForeignOperator* known = foreign_operator(written);
    if (known == nullptr) return;
    Diagnostic& d = diagnostics_.report(Code::E0101, span(token), "`" + written + "` is not an operator of R(ML)²");
    if (known->read_as == TokenKind::FOREIGN) {
      d.note(std::string(known->note));
      return;
    }
    token.kind = known->read_as;
    const std::string meant(spelling(token.kind));
    const bool spaced = token.kind == TokenKind::NOT;
    const bool certain = token.kind != TokenKind::AND && token.kind != TokenKind::OR;
    d.primary.text = "write `" + meant + "`";
    d.fix(span(token), spaced ? "not " : meant, "write `" + meant + "`", certain);
  }

  // Reads a comment of another language as a comment. `//` is a division if it follows an operand
  // and a `;` follows on the line.
  void take_foreign_comment(Token& token) {
    if (token.kind != TokenKind::FOREIGN) return;
    const std::string written(sources_.text(span(token)));
    if (written != "#" && written != "//" && written != "/*") return;
    // "#(" begins a comment of Lustre.
    if (written == "#" && !token.first_on_line && text_.compare(token.begin, 2, "#(") == 0) return;
    const std::size_t line_end = std::min(text_.find('\n', token.begin), text_.size());
    const std::string_view rest = std::string_view(text_).substr(token.begin, line_end - token.begin);
    const TokenKind before = token.first_on_line ? TokenKind::SEMI : tokens_.back().kind;
    const bool behind_operand =
        before == TokenKind::ID || before == TokenKind::INT || before == TokenKind::FLOAT || closes(before);
    if (written == "//" && behind_operand && rest.find(';') != std::string_view::npos) return;
    const std::size_t close = written == "/*" ? text_.find("*/", token.begin + 2) : std::string::npos;
    const bool closed = close != std::string::npos;
    const std::string opens = closed ? "(*" : "--";
    const Span mark = span(token);
    Diagnostic& d = diagnostics_.report(Code::E0101, mark, "a comment does not begin with `" + written + "`",
                                        closed ? "write `(*` and `*)`" : "write `--`");
    d.fix(mark, opens, "write `" + opens + "`", true);
    if (closed) {
      const auto at = static_cast<std::uint32_t>(close);
      d.fix({file_, at, at + 2}, "*)", "write `*)`", true);
    }
    token.kind = closed ? TokenKind::COMMENT : TokenKind::LINE_COMMENT;
    token.reported = true;
    token.end = static_cast<std::uint32_t>(closed ? close + 2 : line_end);
  }

  // Detects a range such as `0..3`, which the scanner reads as two numbers with dots.
  bool is_range(const Token& token) const {
    const bool ends_in_dot = text_[token.end - 1] == '.' && token.end < text_.size() && text_[token.end] == '.';
    const bool follows_dot = text_[token.begin] == '.' && token.begin > 0 && text_[token.begin - 1] == '.';
    return ends_in_dot || follows_dot;
  }

  void report_bad_float(Token& token) {
    if (is_range(token)) {
      const bool first = text_[token.begin] != '.' && !in_foreign_statement();
      token.kind = TokenKind::FOREIGN;
      token.reported = true;
      if (first && !foreign_before_on_line())
        diagnostics_.report(Code::E0101, {file_, token.end - 1, token.end + 1}, "`..` is not an operator of R(ML)²")
            .note("a slice is `v[0:3]`; `map`, `fold` and `scan` apply a node along an axis");
      return;
    }
    std::string meant(sources_.text(span(token)));
    if (meant.front() == '.') {
      meant.insert(0, "0");
    } else {
      meant.insert(meant.find('.') + 1, "0");
    }
    diagnostics_
        .report(Code::E0101, span(token), "a float needs a digit on both sides of its point", "write `" + meant + "`")
        .fix(span(token), meant, "write `" + meant + "`", true);
    token.reported = true;
    token.kind = TokenKind::FLOAT;
  }

  void report_bad_number(Token& token) {
    diagnostics_.report(Code::E0101, span(token), "this is neither a number nor a name", "names begin with a letter")
        .note("numbers are written `42`, `1_000`, `0xff`, `1.5`, `1e-3`");
    token.reported = true;
    token.kind = TokenKind::INT;
  }

  void report_open_string(Token& token) {
    diagnostics_.report(Code::E0105, span(token), "this string is not closed on its line", "the string opens here");
    token.reported = true;
    token.kind = TokenKind::STRING;
  }

  void report_open_comment(const Token& token) {
    diagnostics_
        .report(Code::E0105, {file_, token.begin, token.begin + 2}, "this comment is not closed",
                "the comment opens here")
        .note("comments nest: every `(*` inside needs a `*)` of its own")
        .note("`(*` always opens a comment; write `( *` for a parenthesis before `*`");
  }

  // Reports adjacent invalid bytes once. Ill-formed UTF-8 has been reported before.
  void report_invalid(Token& token) {
    token.reported = true;
    const std::size_t length = sequence_length(std::string_view(text_).substr(token.begin));
    const unsigned char first = static_cast<unsigned char>(text_[token.begin]);
    const bool continues = tokens_.size() > 1 && tokens_[tokens_.size() - 2].end == token.begin &&
                           tokens_[tokens_.size() - 2].kind == TokenKind::INVALID;
    const bool continuation_byte = (first & 0xC0) == 0x80;
    if (length == 0 || (continues && (continuation_byte || first < 0x80)) || ++invalid_reports_ > max_invalid_reports)
      return;
    const Span where{file_, token.begin, token.begin + static_cast<std::uint32_t>(length)};
    const std::string written(sources_.text(where));
    const bool brace = written == "{" || written == "}";
    if (in_foreign_statement() || foreign_word_before() || (brace && std::exchange(braces_reported_, true))) return;
    const bool printable = first >= 0x80 || (first >= 0x20 && first != 0x7F);
    std::string name = "`" + written + "`";
    if (!printable) name = "the control character with code " + std::to_string(static_cast<int>(first));
    add_hint(diagnostics_.report(Code::E0102, where, name + " has no meaning here"), where, written);
  }

  // The newest token is a character without meaning. Adds a hint about the intended form.
  void add_hint(Diagnostic& d, Span where, const std::string& written) const {
    const std::string_view meant = find(typographic, written);
    const bool brace = written == "{" || written == "}";
    const auto before = [&](std::size_t k) {
      return tokens_.size() > k ? tokens_[tokens_.size() - 1 - k].kind : TokenKind::END;
    };
    if (!meant.empty()) {
      d.fix(where, std::string(meant), meant == " " ? "write a plain space" : "write `" + std::string(meant) + "`");
    } else if (written == "^" && before(2) == TokenKind::COLON) {
      d.note("a vector of three is written `f64[3]`");
    } else if (written == "^") {
      d.note("for a power, write `pow(a, b)`; for the bits of integers, `bitwise_xor(a, b)`");
    } else if (written == "@") {
      d.note("the product of matrices is `matmul(a, b)`");
    } else if (brace && before(1) == TokenKind::ASSIGN) {
      d.note(
          "R(ML)² has no records: a node can have several outputs, and streams of one type can form a vector `[a, b]`");
    } else if (brace) {
      d.note("the equations of a node follow its header, without braces");
    } else if (static_cast<unsigned char>(written.front()) >= 0x80) {
      d.note(
          "names consist of the letters a–z and A–Z, digits and `_`; other characters are allowed in comments and "
          "strings");
    }
  }

  void check_encoding() {
    int reports = 0;
    for (std::size_t i = 0; i < text_.size();) {
      const std::size_t length = sequence_length(std::string_view(text_).substr(i));
      if (length > 0) {
        i += length;
        continue;
      }
      const auto at = static_cast<std::uint32_t>(i);
      if (++reports <= max_invalid_reports) diagnostics_.report(Code::E0102, {file_, at, at + 1}, "this is not UTF-8");
      while (i < text_.size() && sequence_length(std::string_view(text_).substr(i)) == 0) ++i;
    }
  }

  static constexpr int max_invalid_reports = 10;

  std::uint32_t file_;
  const SourceMap& sources_;
  const std::string& text_;
  Diagnostics& diagnostics_;
  std::vector<Token> tokens_;
  int invalid_reports_ = 0;
  bool braces_reported_ = false;
  bool cut_off_ = false;
  bool in_inputs_ = false;  // true within the inputs of a node header, while words are retyped
};

}  // namespace

std::string_view spelling(TokenKind kind) {
  switch (kind) {
    case TokenKind::END:
      return "the end of the file";
#define RML_TOKEN(name, text) \
  case TokenKind::name:       \
    return text;
      RML_TOKENS(RML_TOKEN)
#undef RML_TOKEN
  }
  return {};
}

std::vector<Token> scan(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics) {
  return Scanner(file, sources, diagnostics).run();
}

}  // namespace rml
