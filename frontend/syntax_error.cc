// Words the messages of syntax errors.
//
// The parser supplies the offending token and the set of token kinds that it expected. Known
// mistakes (spellings of other languages, a missing semicolon, `=` for `==`) are tried first.
// Otherwise the set is described: "an expression", "an operator", and other kinds by their
// spelling.
#include "frontend/syntax_error.h"

#include <algorithm>
#include <string>
#include <utility>

#include "frontend/deep_stack.h"
#include "frontend/foreign_syntax.h"

namespace rml {

namespace {

using enum TokenKind;

constexpr TokenKind operators[] = {OR, AND, EQ, NE, LE, GE, LT, GT, PLUS, STAR, SLASH, PERCENT, WHEN, FBY};
constexpr TokenKind starters[] = {ID,  INT,  FLOAT, STRING, TRUE, FALSE, LPAREN, LBRACKET,
                                  NOT, POST, MERGE, IF,     DIFF, MINUS, ITERATE};

bool has(const TokenSet& set, TokenKind kind) { return set.test(static_cast<std::size_t>(kind)); }
void drop(TokenSet& set, TokenKind kind) { set.reset(static_cast<std::size_t>(kind)); }

std::string in_code(std::string_view text) { return "`" + std::string(text) + "`"; }

// Lists words as in "a, b or c".
std::string enumerate(const std::vector<std::string>& words) {
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) result += i + 1 == words.size() ? " or " : ", ";
    result += words[i];
  }
  return result;
}

std::string expected_words(TokenSet set) {
  std::vector<std::string> words;
  const bool operand_ended = has(set, STAR);
  if (has(set, INT)) {
    words.push_back(has(set, IF) ? "an expression" : "a name, a literal or a parenthesised expression");
    for (const TokenKind kind : starters) drop(set, kind);
  }
  if (operand_ended) {
    words.push_back("an operator");
    for (const TokenKind kind : operators) drop(set, kind);
    for (const TokenKind kind : {MINUS, DOT, LPAREN, LBRACKET, TIGHT_LPAREN, TIGHT_LBRACKET}) drop(set, kind);
  }
  if (has(set, LPAREN)) drop(set, TIGHT_LPAREN);
  if (has(set, LBRACKET)) drop(set, TIGHT_LBRACKET);
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (!set.test(i)) continue;
    const auto kind = static_cast<TokenKind>(i);
    const bool in_words = kind == END || kind == ID || kind == STRING;
    words.push_back(in_words ? std::string(spelling(kind)) : in_code(spelling(kind)));
  }
  return enumerate(words);
}

class Reporter {
 public:
  Reporter(const SyntaxError& error, const std::vector<Token>& tokens, std::uint32_t file, const SourceMap& sources,
           Diagnostics& diagnostics)
      : error_(error),
        tokens_(tokens),
        file_(file),
        sources_(sources),
        diagnostics_(diagnostics),
        found_(tokens[error.at]),
        before_(tokens[previous_token(tokens, error.at)]) {}

  void report() {
    if (found_.reported || before_.reported) return;
    if (wrong_import() || lustre() || foreign_beginning() || foreign_prefix_word() || foreign_infix_word() ||
        python() || misused_fby() || unit() || assign_for_equality() || missing_semicolon() || stray_closer() ||
        keyword_as_name())
      return;
    general();
  }

 private:
  Span span(const Token& token) const { return {file_, token.begin, token.end}; }
  std::string_view text(const Token& token) const { return sources_.text(span(token)); }
  Span after_previous() const { return {file_, before_.end, before_.end}; }

  std::string found_words() const {
    constexpr std::size_t longest_shown = 40;
    if (found_.kind == END) return "the end of the file";
    std::string shown(text(found_));
    if (shown.size() > longest_shown) return std::string(spelling(found_.kind));
    return (is_keyword(found_.kind) ? "the keyword " : "") + in_code(shown);
  }

  Diagnostic& say(Span where, std::string message, std::string label = {}) {
    return diagnostics_.report(Code::E0101, where, std::move(message), std::move(label));
  }

  // Reports `import "lib/x.rml" as f;` and `import lib/x;`. A module with a name is written with
  // dots and without suffix.
  bool wrong_import() {
    if (tokens_[error_.statement].kind != IMPORT || !has(error_.expected, SEMI)) return false;
    const bool file = before_.kind == STRING && found_.kind == AS;
    if (!file && found_.kind != SLASH) return false;
    const std::size_t first = next_token(tokens_, error_.statement);
    std::size_t last = first;
    while (!file &&
           (tokens_[next_token(tokens_, last)].kind == ID || tokens_[next_token(tokens_, last)].kind == SLASH ||
            tokens_[next_token(tokens_, last)].kind == DOT))
      last = next_token(tokens_, last);
    const Span written{file_, tokens_[first].begin, tokens_[last].end};
    std::string module(sources_.text(written));
    if (file) module = module.substr(1, module.size() - 2);
    if (module.ends_with(".rml")) module.resize(module.size() - 4);
    std::ranges::replace(module, '/', '.');
    Diagnostic& d = file ? say(span(found_), "only a module that is imported by its name can have an alias",
                               "names from a file that is imported by its path have no prefix")
                         : say(span(found_), "folders of a module are separated by `.`", "not by `/`");
    if (is_module_name(module))
      d.fix(written, module, "write `import " + module + "`", true);
    else
      d.note(
          "`import filters.audio as f;` imports the file filters/audio.rml, next to this file or in a folder of `-I`");
    return true;
  }

  // True for a name that consists of names separated by dots.
  static bool is_module_name(std::string_view text) {
    bool begins = true;
    for (const char c : text) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
      if (begins ? !letter : !letter && !(c >= '0' && c <= '9') && c != '.') return false;
      begins = c == '.';
    }
    return !begins;
  }

  bool lustre() {
    if (has(error_.expected, ARROW) && found_.kind == COLON) {
      say(span(found_), "expected `->` and the outputs of the node in parentheses, found `:`");
      return true;
    }
    if (found_.kind == ARROW && has(error_.expected, STAR)) {
      Diagnostic& d = say(span(found_), "`->` is not an operator of R(ML)²");
      if (is_in_merge())
        d.note(
            "`merge c y z` joins the two streams of a Boolean `c`; for more cases, write `if a then x else if b then y "
            "else "
            "z`");
      else
        d.note("Lustre's `a -> pre b` is written `a fby b`");
      return true;
    }
    return false;
  }

  // Returns the token before the found one if it is a name.
  std::string_view word_before() const { return before_.kind == ID ? text(before_) : std::string_view{}; }

  bool foreign_beginning() {
    const std::size_t at = previous_token(tokens_, error_.at);
    if (at != error_.statement) return false;
    const std::string_view word = word_before();
    if (word == "let" || word == "tel") {
      const std::uint32_t end = tokens_[at + 1].kind == END ? before_.end : tokens_[at + 1].begin;
      say(span(before_), "R(ML)² has no " + in_code(word), "leave it out")
          .fix({file_, before_.begin, end}, "", "leave it out", true)
          .note("a node's equations follow its header and end at the next item");
      return true;
    }
    const ForeignPhrase* known = foreign_statement(word);
    if (known == nullptr) return false;
    say(span(before_), std::string(known->message)).note(std::string(known->note));
    return true;
  }

  bool foreign_prefix_word() {
    if (!has(error_.expected, STAR)) return false;
    const ForeignPhrase* known = foreign_prefix(word_before());
    if (known == nullptr) return false;
    say(span(before_), std::string(known->message)).note(std::string(known->note));
    return true;
  }

  // `x if c else y`, `[f(v) for v in xs]`, `(a, b) = f(x)`.
  bool python() {
    if (!has(error_.expected, STAR)) return false;
    if (found_.kind == IF) {
      say(span(found_), "a choice begins with `if`").note("`x if c else y` is written `if c then x else y`");
      return true;
    }
    if (found_.kind != ID || text(found_) != "for") return false;
    say(span(found_), "R(ML)² has no comprehensions")
        .note("operators work on whole tensors, `2.0 * xs`; `map f(xs)` calls the node `f` for each element of `xs`");
    return true;
  }

  // Reports `fby x` and `fby(0, x)`, which lack an operand before `fby`.
  bool misused_fby() {
    if (found_.kind != FBY || !has(error_.expected, INT)) return false;
    const bool as_call = opens(tokens_[next_token(tokens_, error_.at)].kind);
    say(span(found_), "`fby` needs a first value before it")
        .note(as_call ? "`fby` is an operator between the first value and the stream: `0.0 fby x`"
                      : "the first value is the one of the first cycle: `0.0 fby x`");
    return true;
  }

  // `5 m/s`.
  bool unit() {
    const bool number = before_.kind == INT || before_.kind == FLOAT;
    if (!number || found_.kind != ID || found_.first_on_line || !has(error_.expected, STAR)) return false;
    say(span(found_), "a number is followed by a name")
        .note("a product is written `5.0 * x`; R(ML)² has no units of measurement");
    return true;
  }

  bool is_in_merge() const {
    for (std::size_t i = error_.statement; i < error_.at; ++i)
      if (tokens_[i].kind == MERGE) return true;
    return false;
  }

  bool foreign_infix_word() {
    if (found_.kind != ID || !has(error_.expected, STAR)) return false;
    const ForeignWord* known = foreign_infix(text(found_));
    if (known == nullptr) return false;
    const std::string mend = "write " + in_code(known->meant);
    say(span(found_), in_code(known->written) + " is not a word of R(ML)²", mend)
        .fix(span(found_), std::string(known->meant), mend, known->certain);
    return true;
  }

  bool assign_for_equality() {
    if (found_.kind != ASSIGN || !has(error_.expected, STAR)) return false;
    say(span(found_), "`=` defines; a comparison is written `==`", "write `==`").fix(span(found_), "==", "write `==`");
    return true;
  }

  bool missing_semicolon() {
    const bool ends = found_.kind == END || begins_item(found_.kind) || found_.first_on_line;
    if (!ends || !has(error_.expected, SEMI)) return false;
    say(after_previous(), "expected `;`", "the equation ends here").fix(after_previous(), ";", "insert `;`", true);
    return true;
  }

  bool stray_closer() {
    if (!closes(found_.kind) || open_bracket() != nullptr) return false;
    say(span(found_), in_code(text(found_)) + " has no opening bracket", "no bracket is open here");
    return true;
  }

  bool keyword_as_name() {
    if (!is_keyword(found_.kind) || begins_item(found_.kind)) return false;
    const bool first_parameter = opens(before_.kind) && has(error_.expected, RPAREN);
    const bool name_wanted = has(error_.expected, ID) || first_parameter;
    if (!name_wanted || has(error_.expected, INT)) return false;
    report_keyword_as_name(found_.kind, span(found_), diagnostics_);
    return true;
  }

  // Returns the innermost bracket of the statement that is still open before the offending token.
  const Token* open_bracket() const {
    std::vector<const Token*> open;
    for (std::size_t i = error_.statement; i < error_.at; ++i) {
      if (opens(tokens_[i].kind)) open.push_back(&tokens_[i]);
      if (closes(tokens_[i].kind) && !open.empty()) open.pop_back();
    }
    return open.empty() ? nullptr : open.back();
  }

  void add_hint_about_header(Diagnostic& d) const {
    const bool in_header = tokens_[error_.statement].kind == NODE;
    if (found_.kind == ID && (before_.kind == ARROW || in_header))
      d.note("inputs and outputs are in parentheses: `node f(x: f64) -> (y: f64)`");
    if (found_.kind == LT && in_header) d.note("a node without types works for every type: `node f(x) -> (y)`");
  }

  void general() {
    const bool at_end = found_.kind == END || (found_.first_on_line && begins_item(found_.kind));
    const Span where = at_end && before_.end > 0 ? after_previous() : span(found_);
    const std::string expected = before_.kind == DEALT ? "the input that ends a micro-batch, as in `dealt end by 4`"
                                                       : expected_words(error_.expected);
    Diagnostic& d = say(where, "expected " + expected + ", found " + found_words());
    const Token* open = open_bracket();
    const bool wants_close = has(error_.expected, RPAREN) || has(error_.expected, RBRACKET);
    if (open != nullptr && wants_close && found_.kind != COMMA) d.label(span(*open), "this bracket is open");
    if (has(error_.expected, LPAREN)) add_hint_about_header(d);
    if (has(error_.expected, ELSE)) d.note("an `if` needs an `else`: `if c then a else b`");
    if (found_.kind == COMMA && has(error_.expected, SEMI))
      d.note("an equation has one expression on its right; several variables on the left take the results of one call");
    const bool operand = has(error_.expected, INT) && !has(error_.expected, IF);
    if (operand && before_.kind != WHEN && before_.kind != NOT)
      d.note("`merge` takes three operands: `merge c y z`; put anything longer than a name or a call in parentheses");
    const bool in_parentheses = open != nullptr && open->kind == LPAREN;
    if (in_parentheses && found_.kind == COMMA && has(error_.expected, STAR))
      d.note("R(ML)² has no tuples; a vector is written `[a, b]`");
  }

  const SyntaxError& error_;
  const std::vector<Token>& tokens_;
  std::uint32_t file_;
  const SourceMap& sources_;
  Diagnostics& diagnostics_;
  const Token& found_;
  const Token& before_;
};

bool ends_operand(TokenKind kind) {
  return closes(kind) || kind == ID || kind == TRUE || kind == FALSE || (kind >= INT && kind <= STRING);
}

// Counts the recursion depth of a parser at every token: the open brackets and, within each, the
// incomplete prefix operators, conditionals and fbys.
class NestingCount {
 public:
  void feed(TokenKind kind) {
    if (kind == SEMI || begins_item(kind)) {
      levels_.assign(1, {});
      total_ = run_ = 0;
    } else if (opens(kind)) {
      levels_.push_back({run_ + 1, 0});
      total_ += run_ + 1;
      run_ = 0;
    } else if (closes(kind)) {
      total_ -= levels_.back().entered + levels_.back().held;
      levels_.pop_back();
      if (levels_.empty()) levels_.push_back({});
      run_ = 0;
    } else if (kind == COMMA) {
      total_ -= levels_.back().held;
      levels_.back().held = run_ = 0;
    } else if (kind == IF || kind == FBY) {
      levels_.back().held += run_ + 1;
      total_ += run_ + 1;
      run_ = 0;
    } else if (kind == NOT || kind == POST || (kind == MINUS && !ends_operand(previous_))) {
      ++run_;
    } else if (ends_operand(kind)) {
      run_ = 0;
    }
    previous_ = kind;
  }
  int depth() const { return total_ + run_; }

 private:
  struct Level {
    int entered = 0;  // levels of nesting by the bracket and the prefix operators before it
    int held = 0;     // levels of nesting that conditionals and fbys after it have begun
  };
  std::vector<Level> levels_ = {{}};
  int total_ = 0;  // levels of nesting of the whole stack
  int run_ = 0;    // number of prefix operators directly before this token
  TokenKind previous_ = SEMI;
};

}  // namespace

std::size_t previous_token(const std::vector<Token>& tokens, std::size_t at) {
  for (std::size_t i = at; i > 0; --i) {
    if (!is_comment(tokens[i - 1].kind)) return i - 1;
  }
  return at;
}

std::size_t next_token(const std::vector<Token>& tokens, std::size_t at) {
  do {
    if (at + 1 >= tokens.size()) return tokens.size() - 1;
    ++at;
  } while (is_comment(tokens[at].kind));
  return at;
}

TokenSet continuations() {
  TokenSet result;
  for (const TokenKind kind : operators) result.set(static_cast<std::size_t>(kind));
  return result.set(static_cast<std::size_t>(MINUS));
}

bool begins_equation(const std::vector<Token>& tokens, std::size_t at) {
  if (tokens[at].kind == ASSERT) return true;
  if (tokens[at].kind != ID && tokens[at].kind != UNDERSCORE) return false;
  const TokenKind next = tokens[next_token(tokens, at)].kind;
  return next == ASSIGN || next == COMMA || next == COLON;
}

bool report_tuple_of_targets(std::size_t at, const std::vector<Token>& tokens, std::uint32_t file,
                             const SourceMap& sources, Diagnostics& diagnostics) {
  if (tokens[at].kind != LPAREN && tokens[at].kind != TIGHT_LPAREN) return false;
  std::size_t close = next_token(tokens, at);
  while (tokens[close].kind == ID || tokens[close].kind == UNDERSCORE || tokens[close].kind == COMMA)
    close = next_token(tokens, close);
  if (tokens[close].kind != RPAREN || tokens[next_token(tokens, close)].kind != ASSIGN) return false;
  const Span inside{file, tokens[at].end, tokens[close].begin};
  const Span whole{file, tokens[at].begin, tokens[close].end};
  const std::string targets(sources.text(inside));
  diagnostics
      .report(Code::E0101, whole, "the variables of an equation are written without parentheses",
              "write " + in_code(targets))
      .fix(whole, targets, "write " + in_code(targets), true);
  return true;
}

void report_keyword_as_name(TokenKind keyword, Span span, Diagnostics& diagnostics) {
  diagnostics.report(Code::E0101, span, in_code(spelling(keyword)) + " is a keyword and cannot be a name",
                     "choose another name, such as " + in_code(std::string(spelling(keyword)) + "_"));
}

void report_syntax_error(const SyntaxError& error, const std::vector<Token>& tokens, std::uint32_t file,
                         const SourceMap& sources, Diagnostics& diagnostics) {
  Reporter(error, tokens, file, sources, diagnostics).report();
}

bool check_nesting(const std::vector<Token>& tokens, std::uint32_t file, Diagnostics& diagnostics) {
  NestingCount count;
  for (const Token& token : tokens) {
    if (is_comment(token.kind)) continue;
    count.feed(token.kind);
    if (count.depth() <= max_nesting) continue;
    diagnostics
        .report(Code::E0104, {file, token.begin, token.end},
                "expression nested deeper than " + std::to_string(max_nesting), "one level too many")
        .note("give parts of the expression names, in equations of their own");
    return false;
  }
  return true;
}

}  // namespace rml
