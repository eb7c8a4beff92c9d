// Two walks over the tokens: the first finds declarations, the second finds uses.
//
// Names of inputs, outputs and variables are valid in their node; names of nodes, constants and
// modules in the file. The neighbours of a token decide between a use and the keyword. An infix
// keyword follows an operand, so a name does not. A keyword that takes an operand precedes one,
// so a name does not.
#include "frontend/mend_names.h"

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "frontend/foreign_syntax.h"
#include "frontend/syntax_error.h"

namespace rml {

namespace {

using enum TokenKind;

// True if the token can follow an operand, so that a keyword before it takes no operand.
bool follows_operand(TokenKind kind) {
  switch (kind) {
    case SEMI:
    case GROUP:
    case COMMA:
    case COLON:
    case ASSIGN:
    case THEN:
    case ELSE:
    case FBY:
    case WHEN:
    case OR:
    case AND:
      return true;
    default:
      return closes(kind) || (kind >= EQ && kind <= PLUS) || (kind >= STAR && kind <= PERCENT);
  }
}

bool ends_operand(TokenKind kind) {
  return closes(kind) || kind == ID || kind == INT || kind == FLOAT || kind == STRING || kind == TRUE || kind == FALSE;
}

bool opens_parameters(TokenKind kind) { return kind == LPAREN || kind == TIGHT_LPAREN; }

bool stands_between_operands(TokenKind keyword) {
  return keyword == AS || keyword == THEN || keyword == ELSE || keyword == FBY || keyword == OR || keyword == AND ||
         keyword == WHEN;
}

class NameMender {
 public:
  NameMender(std::vector<Token>& tokens, std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics)
      : tokens_(tokens), file_(file), sources_(sources), diagnostics_(diagnostics) {}

  void run() {
    find_declared();
    if (declared_.empty()) return;
    std::size_t item = 0;
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (is_comment(tokens_[i].kind)) continue;
      if (begins_item_at(i) || declares_node(i)) item = i;
      if (!is_keyword(tokens_[i].kind)) continue;
      const bool of_file = declared_.contains({whole_file, tokens_[i].kind});
      if ((of_file || declared_.contains({item, tokens_[i].kind})) && is_use(i, of_file)) read_as_name(i);
    }
  }

 private:
  // The scope of a declaration is the index of the first token of its item, or `whole_file`.
  static constexpr std::size_t whole_file = ~std::size_t{0};

  Span span(std::size_t at) const { return {file_, tokens_[at].begin, tokens_[at].end}; }
  std::size_t next(std::size_t at) const { return next_token(tokens_, at); }
  TokenKind kind_before(std::size_t at) const {
    const std::size_t before = previous_token(tokens_, at);
    return before == at ? SEMI : tokens_[before].kind;
  }
  bool names(std::size_t at) const { return tokens_[at].kind == ID || is_keyword(tokens_[at].kind); }

  bool declares_node(std::size_t at) const {
    return tokens_[at].kind == ID && tokens_[at].first_on_line && declares_node_elsewhere(sources_.text(span(at))) &&
           names(next(at)) && opens_parameters(tokens_[next(next(at))].kind);
  }

  // True if the keyword is followed by a name or a path; otherwise it may itself be meant as a
  // name.
  bool begins_item_at(std::size_t at) const {
    if (!begins_item(tokens_[at].kind)) return false;
    const TokenKind behind = tokens_[next(at)].kind;
    if (behind == ID || behind == STRING) return true;
    return is_keyword(behind) && (tokens_[at].first_on_line || kind_before(at) == SEMI);
  }

  void find_declared() {
    std::size_t item = 0;
    int depth = 0;
    bool equation = false;  // true if an equation may begin at this token
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const TokenKind kind = tokens_[i].kind;
      if (is_comment(kind)) continue;
      if (begins_item_at(i) || declares_node(i)) {
        item = i;
        depth = 0;
        i = begin_item(i);
        equation = true;
        continue;
      }
      if (depth == 0 && (equation || tokens_[i].first_on_line)) find_targets(i, item);
      depth += opens(kind) ? 1 : closes(kind) && depth > 0 ? -1 : 0;
      equation = kind == SEMI;
      if (kind == SEMI) depth = 0;
    }
  }

  // Declares the names of an item before its equations. Returns the last token that was examined.
  std::size_t begin_item(std::size_t item) {
    const std::size_t name = next(item);
    const TokenKind behind = tokens_[next(name)].kind;
    switch (tokens_[item].kind) {
      case IMPORT: {
        const std::size_t alias = next(next(name));
        if (behind == AS && tokens_[next(alias)].kind == SEMI) declare(alias, whole_file);
        return name;
      }
      case CONST:
        if (behind == ASSIGN || behind == COLON) declare(name, whole_file);
        return name;
      default:
        if (!opens_parameters(behind)) return item;
        declare(name, whole_file);
        return header(name, item);
    }
  }

  std::size_t header(std::size_t name, std::size_t item) {
    const std::optional<std::size_t> inputs = find_parameters(next(name), item);
    if (!inputs) return name;
    const std::size_t open = next(next(*inputs));  // position after the `->`, or after the token that stands for it
    if (!opens_parameters(tokens_[open].kind)) return *inputs;
    return find_parameters(open, item).value_or(*inputs);
  }

  // Declares the keywords of a parameter list. Returns the closing token, or nothing if it is
  // missing.
  std::optional<std::size_t> find_parameters(std::size_t open, std::size_t item) {
    std::vector<std::size_t> found;
    int depth = 0;
    for (std::size_t i = open; tokens_[i].kind != END; i = next(i)) {
      const TokenKind kind = tokens_[i].kind;
      if (kind == ASSIGN || (i != open && (begins_item_at(i) || declares_node(i)))) return std::nullopt;
      if (depth == 1 && is_keyword(kind) && is_parameter(i)) found.push_back(i);
      depth += opens(kind) ? 1 : closes(kind) ? -1 : 0;
      if (depth > 0) continue;
      for (const std::size_t at : found) declare(at, item);
      return i;
    }
    return std::nullopt;
  }

  bool is_parameter(std::size_t at) const {
    const TokenKind before = kind_before(at);
    const TokenKind behind = tokens_[next(at)].kind;
    return (opens(before) || before == COMMA || before == SEMI) &&
           (behind == COLON || behind == COMMA || behind == SEMI || behind == RPAREN);
  }

  // Declares the keywords before the `=` of an equation, if an equation begins here.
  void find_targets(std::size_t at, std::size_t item) {
    std::vector<std::size_t> found;
    for (; names(at) || tokens_[at].kind == UNDERSCORE; at = next(at)) {
      if (is_keyword(tokens_[at].kind)) found.push_back(at);
      at = next(at);
      if (tokens_[at].kind == COLON) at = behind_type(at);
      if (tokens_[at].kind == COMMA) continue;
      if (tokens_[at].kind != ASSIGN) return;
      for (const std::size_t keyword : found) declare(keyword, item);
      return;
    }
  }

  std::size_t behind_type(std::size_t at) const {
    int depth = 0;
    for (;; at = next(at)) {
      const TokenKind kind = tokens_[at].kind;
      if (kind == END || kind == SEMI || kind == ASSIGN || (depth == 0 && kind == COMMA)) return at;
      depth += opens(kind) ? 1 : closes(kind) ? -1 : 0;
    }
  }

  void declare(std::size_t at, std::size_t where) {
    if (!is_keyword(tokens_[at].kind)) return;
    if (declared_.emplace(where, tokens_[at].kind).second)
      report_keyword_as_name(tokens_[at].kind, span(at), diagnostics_);
    read_as_name(at);
  }

  void read_as_name(std::size_t at) {
    tokens_[at].kind = ID;
    tokens_[at].reported = true;
  }

  bool is_use(std::size_t at, bool of_file) const {
    const TokenKind keyword = tokens_[at].kind;
    if (ends_operand(kind_before(at))) return false;
    if (begins_item(keyword)) return !begins_item_at(at);
    if (stands_between_operands(keyword) || follows_operand(tokens_[next(at)].kind)) return true;
    // A node is called. After the closing parenthesis follows no operand, and for `if` no `then`.
    if (!of_file || !opens_parameters(tokens_[next(at)].kind) || tokens_[next(at)].begin != tokens_[at].end)
      return false;
    int depth = 0;
    std::size_t i = next(at);
    do {
      depth += opens(tokens_[i].kind) ? 1 : closes(tokens_[i].kind) ? -1 : 0;
      i = next(i);
    } while (depth > 0 && tokens_[i].kind != END);
    return tokens_[i].kind != THEN && (follows_operand(tokens_[i].kind) || tokens_[i].kind == MINUS);
  }

  std::vector<Token>& tokens_;
  std::uint32_t file_;
  const SourceMap& sources_;
  Diagnostics& diagnostics_;
  std::set<std::pair<std::size_t, TokenKind>> declared_;
};

}  // namespace

void mend_names(std::vector<Token>& tokens, std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics) {
  NameMender(tokens, file, sources, diagnostics).run();
}

}  // namespace rml
