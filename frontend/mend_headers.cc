// Walks over the tokens once, from node to node.
#include "frontend/mend_headers.h"

#include <optional>
#include <string>

#include "frontend/foreign_syntax.h"
#include "frontend/syntax_error.h"

namespace rml {

namespace {

using enum TokenKind;

class HeaderMender {
 public:
  HeaderMender(std::vector<Token>& tokens, std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics)
      : tokens_(tokens), file_(file), sources_(sources), diagnostics_(diagnostics) {}

  void run() {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind == NODE || declares_node(i)) i = header(i);
    }
  }

 private:
  Span span(std::size_t at) const { return {file_, tokens_[at].begin, tokens_[at].end}; }
  std::string text(std::size_t at) const { return std::string(sources_.text(span(at))); }
  std::size_t next(std::size_t at) const { return next_token(tokens_, at); }

  bool declares_node(std::size_t at) const {
    return tokens_[at].kind == ID && tokens_[at].first_on_line && declares_node_elsewhere(text(at)) &&
           tokens_[next(at)].kind == ID && opens(tokens_[next(next(at))].kind);
  }

  // Takes the first token of a node and returns the last token that was examined.
  std::size_t header(std::size_t at) {
    const std::optional<std::size_t> inputs = close_of(next(next(at)));
    if (tokens_[at].kind != NODE) declare_with_node(at, inputs && tokens_[next(*inputs)].kind == ARROW);
    if (!inputs) return at;
    mend_list(next(next(at)), *inputs);
    const std::size_t arrow = next(*inputs);
    if (tokens_[arrow].kind == ID && text(arrow) == "returns") {
      diagnostics_.report(Code::E0101, span(arrow), "R(ML)² writes `->` before the outputs", "not `returns`")
          .fix(span(arrow), "->", "write `->`", true);
      read_as(arrow, ARROW);
    }
    if (tokens_[arrow].kind != ARROW) return *inputs;
    const std::optional<std::size_t> outputs = close_of(next(arrow));
    if (!outputs) return arrow;
    mend_list(next(arrow), *outputs);
    return *outputs;
  }

  void declare_with_node(std::size_t at, bool complete) {
    diagnostics_.report(Code::E0101, span(at), "a node is declared with `node`", "not `" + text(at) + "`")
        .fix(span(at), "node", "write `node`", complete);
    read_as(at, NODE);
  }

  void read_as(std::size_t at, TokenKind kind) {
    tokens_[at].kind = kind;
    tokens_[at].reported = true;
  }

  // Returns the token that closes the parenthesis of a parameter list, or nothing.
  std::optional<std::size_t> close_of(std::size_t open) const {
    if (tokens_[open].kind != LPAREN && tokens_[open].kind != TIGHT_LPAREN) return std::nullopt;
    int depth = 1;
    for (std::size_t i = open + 1; i < tokens_.size(); ++i) {
      const TokenKind kind = tokens_[i].kind;
      if (kind == ASSIGN || begins_item(kind) || declares_node(i)) return std::nullopt;
      depth += opens(kind) ? 1 : closes(kind) ? -1 : 0;
      if (depth == 0) return i;
    }
    return std::nullopt;
  }

  void mend_list(std::size_t open, std::size_t close) {
    std::vector<std::size_t> wrong;
    int depth = 0;
    for (std::size_t i = next(open); i < close; i = next(i)) {
      const TokenKind kind = tokens_[i].kind;
      const bool trailing = next(i) == close && previous_token(tokens_, i) != open;
      depth += opens(kind) ? 1 : closes(kind) ? -1 : 0;
      if (depth != 0) continue;
      if (kind == SEMI || (kind == COMMA && trailing)) wrong.push_back(i);
    }
    if (!wrong.empty()) mend_separators(wrong, close);
  }

  // Reports one message and one fix for all wrong separators of a list.
  void mend_separators(const std::vector<std::size_t>& wrong, std::size_t close) {
    bool semicolon = false;
    std::string mended;
    std::uint32_t end = tokens_[wrong.front()].begin;
    for (const std::size_t at : wrong) {
      const bool trailing = next(at) == close;
      semicolon = semicolon || tokens_[at].kind == SEMI;
      mended += std::string(sources_.text({file_, end, tokens_[at].begin})) + (trailing ? "" : ",");
      end = tokens_[at].end;
      read_as(at, trailing ? COMMENT : COMMA);
    }
    const bool one = wrong.size() == 1 && mended.empty();
    diagnostics_
        .report(Code::E0101, span(wrong.front()),
                semicolon && !one ? "parameters are separated by `,`" : "no parameter follows here")
        .fix({file_, tokens_[wrong.front()].begin, end}, mended,
             one ? "leave it out" : "write `" + mended.substr(0, mended.find('\n')) + "`", true);
  }

  std::vector<Token>& tokens_;
  std::uint32_t file_;
  const SourceMap& sources_;
  Diagnostics& diagnostics_;
};

}  // namespace

void mend_headers(std::vector<Token>& tokens, std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics) {
  HeaderMender(tokens, file, sources, diagnostics).run();
}

}  // namespace rml
