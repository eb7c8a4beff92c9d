// Lays out the tokens of a file that parses.
//
// The text is split into statements (imports, constants, node headers, equations) and the
// comments between them. A statement becomes a list of pieces. A piece is a token with flags for
// a space and a line break before it. A line longer than 100 columns is broken where the fewest
// brackets are open and the operator has the lowest precedence. The layout depends on the old one
// only in blank lines and positions of comments, and these are reproduced, so formatting twice
// changes nothing. Every token is kept, so the meaning does not change.
#include "frontend/format.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/deep_stack.h"
#include "frontend/parse.h"
#include "frontend/parse_module.h"
#include "frontend/syntax_error.h"

namespace rml {

namespace {

using enum TokenKind;

constexpr std::size_t widest_line = 100;
constexpr std::size_t body_indent = 2;
constexpr std::size_t continuation_indent = 4;

std::size_t columns(std::string_view text) {
  const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; };
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins));
}

// Removes carriage returns and trailing blanks from a comment.
std::string tidied(std::string_view comment) {
  std::string result;
  const auto trim = [&] {
    while (!result.empty() && (result.back() == ' ' || result.back() == '\t' || result.back() == '\r'))
      result.pop_back();
  };
  for (const char c : comment) {
    if (c == '\n') trim();
    result += c;
  }
  trim();
  return result;
}

constexpr int never = 1 << 30;

struct Piece {
  std::string text;
  bool space = false;           // a space precedes the piece
  bool glued = false;           // the line may not break before it
  bool must_break = false;      // the line must break before it
  bool comment_at_end = false;  // a comment at the end of the line, which does not count towards the width
  int cost = never;             // cost of a line break before it: open brackets, then precedence
};

bool is_binary(const Token& t) {
  if (t.kind == MINUS) return t.role != TokenRole::prefix;
  return t.kind == OR || t.kind == AND || t.kind == FBY || t.kind == PLUS || (t.kind >= EQ && t.kind <= GT) ||
         (t.kind >= STAR && t.kind <= PERCENT);
}

bool space_between(const Token& before, const Token& t) {
  if (is_comment(before.kind) || is_comment(t.kind)) return true;
  if (t.kind == RPAREN || t.kind == RBRACKET || t.kind == COMMA || t.kind == SEMI || t.kind == GROUP || t.kind == DOT)
    return false;
  if (before.kind == COMMA || before.kind == GROUP) return true;
  if (opens(before.kind) || before.kind == DOT) return false;
  if (opens(t.kind) && t.role == TokenRole::attached) return false;
  if (t.role == TokenRole::inside || before.role == TokenRole::inside) return false;
  if (t.kind == COLON) return false;
  // Two adjacent minus signs would open a comment.
  if (before.role == TokenRole::prefix) return t.kind == MINUS;
  return true;
}

// Ranks a break before t among those with equally many open brackets; smaller is better.
// Operators of lower precedence have smaller ranks.
std::optional<int> break_rank(const Token& before, const Token& t) {
  if (before.kind == COMMA || before.kind == GROUP || t.kind == THEN || t.kind == ELSE || t.kind == FBY ||
      t.kind == ARROW)
    return 0;
  if (t.kind == OR) return 1;
  if (t.kind == AND) return 2;
  if (is_binary(t)) return t.kind <= GT ? 3 : t.kind <= MINUS ? 4 : 5;
  if (t.kind == WHEN) return 6;
  if (before.kind == ASSIGN) return 7;
  return std::nullopt;
}

class Formatter {
 public:
  Formatter(std::uint32_t file, const SourceMap& sources, std::vector<Token> tokens)
      : file_(file), sources_(sources), tokens_(std::move(tokens)) {}

  std::string run() {
    std::size_t at = 0;
    while (tokens_[at].kind != END) {
      if (is_comment(tokens_[at].kind) && !leads_statement(at)) {
        own_line_comment(at++);
      } else {
        at = statement(at);
      }
    }
    return std::move(out_);
  }

 private:
  std::string_view text(const Token& t) const { return sources_.text({file_, t.begin, t.end}); }
  bool on_line_of_next(std::size_t at) const { return tokens_[at + 1].kind != END && !tokens_[at + 1].first_on_line; }

  // True if the comment is followed by code on its line, to which it then belongs.
  bool leads_statement(std::size_t at) const {
    while (is_comment(tokens_[at].kind) && on_line_of_next(at)) ++at;
    return !is_comment(tokens_[at].kind);
  }

  bool blank_line_before(std::size_t at) const {
    if (at == 0) return false;
    const std::string_view gap = sources_.text({file_, tokens_[at - 1].end, tokens_[at].begin});
    const auto breaks = std::count(gap.begin(), gap.end(), '\n');
    return (breaks > 0 ? breaks : std::count(gap.begin(), gap.end(), '\r')) > 1;
  }

  void begin_line(std::size_t indent, bool blank_line) {
    if (!out_.empty() && out_.back() != '\n') out_ += '\n';
    if (!out_.empty() && blank_line) out_ += '\n';
    out_.append(indent, ' ');
  }

  // Returns the kind of the first token at or after `at` that is not a comment.
  TokenKind following(std::size_t at) const {
    while (is_comment(tokens_[at].kind)) ++at;
    return tokens_[at].kind;
  }

  // Between two nodes, a comment in the first column belongs to the next node.
  void own_line_comment(std::size_t at) {
    const TokenKind next = following(at);
    const bool between_items = next == END || begins_item(next);
    const bool in_first_column = sources_.line_column(file_, tokens_[at].begin).column == 1;
    if (between_items && (in_first_column || !in_body_)) {
      const bool leaves_body = in_body_ || after_item_;
      begin_line(0, blank_line_before(at) || (leaves_body && (next == NODE || in_body_)));
      item_separated_ = true;
      in_body_ = after_item_ = false;
    } else {
      begin_line(in_body_ ? body_indent : 0, blank_line_before(at) && !after_header_);
    }
    out_ += tidied(text(tokens_[at])) + "\n";
    after_header_ = false;
  }

  std::size_t statement(std::size_t at) {
    const TokenKind kind = following(at);
    const std::size_t end = statement_end(at);
    bool blank_line = blank_line_before(at);
    if (begins_item(kind)) {
      const bool apart = kind == NODE || last_item_ == NODE;
      if (apart && !item_separated_) blank_line = true;
      in_body_ = kind == NODE;
      last_item_ = kind;
    } else if (after_header_) {
      blank_line = false;
    }
    const std::size_t indent = begins_item(kind) ? 0 : body_indent;
    begin_line(indent, blank_line);
    lay_out(pieces(at, end), indent);
    item_separated_ = false;
    after_item_ = begins_item(kind);
    after_header_ = kind == NODE;
    at = end;
    for (; is_comment(tokens_[at].kind) && !tokens_[at].first_on_line; ++at) out_ += " " + tidied(text(tokens_[at]));
    out_ += '\n';
    return at;
  }

  // Returns the index after the `;`, or after the `)` that closes the outputs of a node.
  std::size_t statement_end(std::size_t at) const {
    const bool header = following(at) == NODE;
    bool outputs = false;
    int depth = 0;
    for (;; ++at) {
      const TokenKind kind = tokens_[at].kind;
      depth += opens(kind) ? 1 : closes(kind) ? -1 : 0;
      outputs = outputs || kind == ARROW;
      if (kind == SEMI || kind == END || (header && outputs && depth == 0 && kind == RPAREN)) return at + 1;
    }
  }

  std::vector<Piece> pieces(std::size_t begin, std::size_t end) const {
    std::vector<Piece> result;
    int depth = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Token& t = tokens_[i];
      Piece piece;
      const bool comment = is_comment(t.kind);
      piece.text = comment ? tidied(text(t)) : std::string(text(t));
      if (closes(t.kind)) --depth;
      if (i > begin) {
        const bool before_ends_line = is_comment(tokens_[i - 1].kind) && t.first_on_line;
        piece.space = space_between(tokens_[i - 1], t);
        constexpr int ranks = 8;
        if (const auto rank = break_rank(tokens_[i - 1], t)) piece.cost = depth * ranks + *rank;
        piece.glued = is_comment(tokens_[i - 1].kind) && !t.first_on_line;
        piece.must_break = before_ends_line || (comment && t.first_on_line && !on_line_of_next(i));
        piece.comment_at_end = comment && !on_line_of_next(i);
        if (piece.comment_at_end && !t.first_on_line) piece.glued = true;
      }
      if (opens(t.kind)) ++depth;
      result.push_back(std::move(piece));
    }
    return result;
  }

  void lay_out(const std::vector<Piece>& pieces, std::size_t indent) {
    std::size_t begin = 0;
    std::size_t column = indent;
    while (begin < pieces.size()) {
      const std::size_t end = line_end(pieces, begin, column);
      for (std::size_t i = begin; i < end; ++i) {
        if (i > begin && pieces[i].space) out_ += ' ';
        out_ += pieces[i].text;
      }
      begin = end;
      if (begin == pieces.size()) return;
      column = indent + continuation_indent;
      out_ += "\n" + std::string(column, ' ');
    }
  }

  // Returns the index after the last piece of the line that begins with piece `begin`.
  static std::size_t line_end(const std::vector<Piece>& pieces, std::size_t begin, std::size_t column) {
    constexpr std::size_t shortest_line = widest_line / 3;
    std::size_t best = 0, any = 0;
    bool best_is_short = true;
    for (std::size_t i = begin; i < pieces.size(); ++i) {
      const Piece& piece = pieces[i];
      if (i > begin && piece.must_break) return i;
      if (i > begin && piece.space && !piece.glued) {
        any = i;
        const bool at_least_as_good = best == 0 || best_is_short || piece.cost <= pieces[best].cost;
        if (piece.cost != never && at_least_as_good) {
          best = i;
          best_is_short = column < shortest_line;
        }
      }
      column += (i > begin && piece.space ? 1 : 0) + columns(piece.text);
      if (column > widest_line && !piece.comment_at_end && (best != 0 || any != 0)) return best != 0 ? best : any;
    }
    return pieces.size();
  }

  std::uint32_t file_;
  const SourceMap& sources_;
  std::vector<Token> tokens_;
  std::string out_;
  bool in_body_ = false;         // true after the header of a node
  bool after_header_ = false;    // true directly after the header
  bool after_item_ = false;      // true directly after an import, a constant or a header
  bool item_separated_ = false;  // true if a comment for the next item is already preceded by a blank line
  TokenKind last_item_ = END;
};

}  // namespace

std::optional<std::string> format(std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics) {
  struct Task {
    std::uint32_t file;
    const SourceMap& sources;
    Diagnostics& diagnostics;
    std::optional<std::string> result;
  } task{file, sources, diagnostics, {}};
  const auto run = [](void* argument) {
    Task& t = *static_cast<Task*>(argument);
    Program program;
    const std::size_t errors = t.diagnostics.error_count();
    ParsedModule parsed = parse_module(t.file, ModuleId{0}, program, t.sources, t.diagnostics);
    if (t.diagnostics.error_count() > errors) return;
    t.result = Formatter(t.file, t.sources, std::move(parsed.tokens)).run();
  };
  run_with_deep_stack(run, &task);
  return std::move(task.result);
}

}  // namespace rml
