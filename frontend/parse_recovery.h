// Recovery from syntax errors: the first error of a statement is reported, and the rest of the
// statement is skipped (see parse.cc).
#pragma once

#include <RmlParser.h>
#include <antlr4-runtime.h>

#include <algorithm>
#include <exception>
#include <string>
#include <vector>

#include "frontend/foreign_syntax.h"
#include "frontend/syntax_error.h"

namespace rml {

class Recovery final : public antlr4::DefaultErrorStrategy {
 public:
  Recovery(const std::vector<Token>& tokens, std::uint32_t file, const SourceMap& sources, Diagnostics& diagnostics)
      : tokens_(tokens), file_(file), sources_(sources), diagnostics_(diagnostics) {}

  // ANTLR calls this once per enclosing rule while the exception propagates. Only the innermost
  // call reports.
  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& e) override {
    if (failed_) return;
    failed_ = true;
    SyntaxError error;
    error.at = e.getOffendingToken()->getTokenIndex();
    error.statement = statement_of(parser);
    const antlr4::misc::IntervalSet expected = parser->getExpectedTokens();
    for (const antlr4::misc::Interval& interval : expected.getIntervals()) {
      for (ssize_t kind = std::max<ssize_t>(interval.a, 0); kind <= interval.b; ++kind) {
        error.expected.set(static_cast<std::size_t>(kind));
      }
      if (interval.a < 0) error.expected.set(0);
    }
    // ANTLR leaves an expression at a token that cannot continue it, so the operators that could
    // continue it are added.
    if (ends_in_expression(parser->getContext())) error.expected |= continuations();
    within_statement_ = !error.expected[static_cast<std::size_t>(TokenKind::SEMI)];
    report_syntax_error(error, tokens_, file_, sources_, diagnostics_);
  }

  void recover(antlr4::Parser* parser, std::exception_ptr e) override {
    switch (parser->getContext()->getRuleIndex()) {
      case grammar::RmlParser::RuleSignature:
        skip_until(parser, [&](std::size_t at) { return tokens_[at].first_on_line && begins_equation(tokens_, at); });
        break;
      case grammar::RmlParser::RuleEquation:
      case grammar::RmlParser::RuleConstant:
      case grammar::RmlParser::RuleImport_item:
        skip_statement(parser);
        break;
      default:
        std::rethrow_exception(e);
    }
    failed_ = false;
  }

  antlr4::Token* recoverInline(antlr4::Parser* parser) override { throw antlr4::InputMismatchException(parser); }

  // Before each equation: reports and skips tokens that cannot begin one.
  void sync(antlr4::Parser* parser) override {
    if (parser->getContext()->getRuleIndex() != grammar::RmlParser::RuleNode) return;
    while (true) {
      const std::size_t at = index(parser);
      const TokenKind kind = tokens_[at].kind;
      if (kind == TokenKind::END || begins_item(kind)) return;
      if (kind == TokenKind::ID || kind == TokenKind::UNDERSCORE || kind == TokenKind::ASSERT) return;
      report_misplaced(at, true);
      skip_statement(parser);
    }
  }

  // Moves to the next item and returns true if there is one. Reports and skips tokens that cannot
  // begin one.
  bool find_item(antlr4::Parser* parser) {
    const std::size_t at = index(parser);
    if (tokens_[at].kind != TokenKind::END && !begins_item(tokens_[at].kind)) report_misplaced(at, false);
    while (tokens_[index(parser)].kind != TokenKind::END) {
      if (begins_item(tokens_[index(parser)].kind)) return true;
      parser->getInputStream()->consume();
    }
    return false;
  }

 private:
  static std::size_t index(antlr4::Parser* parser) { return parser->getCurrentToken()->getTokenIndex(); }

  static bool ends_in_expression(antlr4::tree::ParseTree* tree) {
    while (tree != nullptr && !tree->children.empty()) {
      tree = tree->children.back();
      if (dynamic_cast<grammar::RmlParser::ExprContext*>(tree) != nullptr) return true;
    }
    return false;
  }

  static std::size_t statement_of(antlr4::Parser* parser) {
    const antlr4::ParserRuleContext* statement = parser->getContext();
    for (const antlr4::ParserRuleContext* c = statement; c != nullptr;
         c = static_cast<const antlr4::ParserRuleContext*>(c->parent)) {
      const std::size_t rule = c->getRuleIndex();
      if (rule <= grammar::RmlParser::RuleNode) break;
      statement = c;
      if (rule == grammar::RmlParser::RuleEquation || rule == grammar::RmlParser::RuleSignature) break;
    }
    return statement->start->getTokenIndex();
  }

  void report_misplaced(std::size_t at, bool in_node) {
    const Token& token = tokens_[at];
    if (token.reported) return;
    const Span span{file_, token.begin, token.end};
    const std::string found = is_keyword(token.kind) ? "the keyword `" + std::string(spelling(token.kind)) + "`"
                                                     : "`" + std::string(sources_.text(span)).substr(0, 40) + "`";
    const ForeignPhrase* foreign = token.kind == TokenKind::ID ? foreign_statement(sources_.text(span)) : nullptr;
    if (foreign != nullptr && !in_node && !begins_equation(tokens_, at)) {
      diagnostics_.report(Code::E0101, span, std::string(foreign->message)).note(std::string(foreign->note));
    } else if (in_node && report_tuple_of_targets(at, tokens_, file_, sources_, diagnostics_)) {
      return;
    } else if (token.kind == TokenKind::SEMI) {
      diagnostics_.report(Code::E0101, span, "unexpected `;`").fix(span, "", "leave it out", true);
    } else if (in_node && is_keyword(token.kind) && tokens_[next_token(tokens_, at)].kind == TokenKind::ASSIGN) {
      report_keyword_as_name(token.kind, span, diagnostics_);
    } else if (in_node) {
      Diagnostic& d = diagnostics_.report(Code::E0101, span, "expected an equation, found " + found);
      if (token.kind == TokenKind::IF)
        d.note("`if` belongs on the right side of an equation: `y = if c then a else b;`");
    } else {
      Diagnostic& d = diagnostics_.report(Code::E0101, span, "expected `node`, `const` or `import`, found " + found);
      if (begins_equation(tokens_, at)) d.note("equations follow the header of a node: `node f(x) -> (y)`");
    }
  }

  template <class Stop>
  void skip_until(antlr4::Parser* parser, Stop stop) {
    while (true) {
      const std::size_t at = index(parser);
      if (tokens_[at].kind == TokenKind::END || begins_item(tokens_[at].kind) || stop(at)) return;
      parser->consume();
    }
  }

  // Skips to the token after the next `;`, or to a line that begins like an equation. A keyword
  // such as `node` in the place of an operand (`x when node`) does not begin an item.
  void skip_statement(antlr4::Parser* parser) {
    const std::size_t first = index(parser);
    const bool for_operand = within_statement_ && !tokens_[first].first_on_line && begins_item(tokens_[first].kind);
    within_statement_ = false;
    if (for_operand) parser->consume();
    const std::size_t begun =
        parser->getContext()->start == nullptr ? first : parser->getContext()->start->getTokenIndex();
    if (tokens_[begun].kind == TokenKind::ID && !begins_equation(tokens_, begun) &&
        opens_foreign_block(sources_.text({file_, tokens_[begun].begin, tokens_[begun].end})))
      return skip_until(parser, [](std::size_t) { return false; });
    bool past_semicolon = false;
    skip_until(parser, [&](std::size_t at) {
      if (past_semicolon) return true;
      past_semicolon = tokens_[at].kind == TokenKind::SEMI;
      const std::size_t before = previous_token(tokens_, at);
      const bool after_let =
          before == begun && sources_.text({file_, tokens_[before].begin, tokens_[before].end}) == "let";
      return at > begun && (tokens_[at].first_on_line || after_let) && begins_equation(tokens_, at);
    });
  }

  const std::vector<Token>& tokens_;
  std::uint32_t file_;
  const SourceMap& sources_;
  Diagnostics& diagnostics_;
  bool failed_ = false;
  bool within_statement_ = false;  // the last error was at a place where its statement could not end
};

}  // namespace rml
