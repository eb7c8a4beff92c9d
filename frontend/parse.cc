// Parses one file: tokens to ANTLR's syntax tree (grammar/Rml.g4), and that tree to the AST.
//
// SLL prediction decides the whole grammar, so no second attempt with LL is needed. After the
// first error in an equation, signature, constant or import, the rest of it is skipped; all that
// was complete before the error is kept. Trees may be deep on the left without limit (a + b + …):
// the builder walks left spines in a loop and recurses only to the depth that check_nesting
// allows. ANTLR's tree is many times as large as the AST, so it exists for one item at a time.
#include <RmlParser.h>
#include <antlr4-runtime.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <utility>

#include "frontend/deep_stack.h"
#include "frontend/grammar_mutex.h"
#include "frontend/mend_headers.h"
#include "frontend/mend_names.h"
#include "frontend/parse.h"
#include "frontend/parse_module.h"
#include "frontend/parse_prediction.h"
#include "frontend/parse_recovery.h"
#include "frontend/token_value.h"

namespace rml {

namespace {

using grammar::RmlParser;
using Context = antlr4::ParserRuleContext;

// ---- syntax tree to AST

// True if the construct was parsed to its end, so that all its children exist.
bool complete(const Context* c) { return c != nullptr && c->exception == nullptr; }

// Casts to an alternative of the grammar. These classes have no subclasses.
template <class C>
C* as(antlr4::tree::ParseTree* tree) {
  return tree != nullptr && typeid(*tree) == typeid(C) ? static_cast<C*>(tree) : nullptr;
}

bool is_comparison(std::size_t op) { return op >= RmlParser::EQ && op <= RmlParser::GT; }

class Builder {
 public:
  Builder(std::uint32_t file, ModuleId id, Program& program, std::vector<Token>& tokens, const SourceMap& sources,
          Diagnostics& diagnostics)
      : id_(id),
        file_(file),
        program_(program),
        tokens_(tokens),
        sources_(sources),
        diagnostics_(diagnostics),
        first_expr_(program.exprs.size()) {
    module_.file = file;
    make_room(program.exprs);
    make_room(program.expr_spans);
  }

  void add_item(RmlParser::ItemContext* item) {
    if (auto* import = item->import_item(); complete(import) || lacks_semicolon(import)) add_import(import);
    if (auto* constant = item->constant()) add_constant(constant);
    if (auto* node = item->node()) add_node(node);
  }
  ast::Module take() { return std::move(module_); }

 private:
  // About every second token yields an expression. For a large file the vectors are reserved,
  // since doubling would touch new pages repeatedly and unused reserved pages cost nothing. For
  // small files they double, since reserving would copy the expressions of all files before.
  template <class T>
  void make_room(std::vector<T>& list) {
    if (const std::size_t needed = list.size() + tokens_.size() / 2; needed > 2 * list.capacity()) list.reserve(needed);
  }

  // Functions that return places and texts.
  Span span(const antlr4::Token* t) const {
    const Token& token = tokens_[t->getTokenIndex()];
    return {file_, token.begin, token.end};
  }
  Span span(antlr4::tree::TerminalNode* t) const { return span(t->getSymbol()); }
  Span span(const Context* c) const {
    const antlr4::Token* stop = c->stop == nullptr ? c->start : c->stop;
    return {file_, span(c->start).begin, std::max(span(stop).end, span(c->start).end)};
  }
  std::string text(Span s) const { return std::string(sources_.text(s)); }
  Symbol symbol(Span s) { return program_.names.intern(text(s)); }
  Symbol symbol(antlr4::tree::TerminalNode* t) { return symbol(span(t)); }

  void set_role(const antlr4::Token* t, TokenRole role) { tokens_[t->getTokenIndex()].role = role; }
  void set_role(antlr4::tree::TerminalNode* t, TokenRole role) {
    if (t != nullptr) set_role(t->getSymbol(), role);
  }
  template <class C>
  void attach_paren(C* c) {
    set_role(c->TIGHT_LPAREN(), TokenRole::attached);
    set_role(c->LPAREN(), TokenRole::attached);
  }
  template <class C>
  void attach_bracket(C* c) {
    set_role(c->TIGHT_LBRACKET(), TokenRole::attached);
    set_role(c->LBRACKET(), TokenRole::attached);
  }

  // Adds an expression with the given operands, unless the tree would become too deep.
  ExprId add(ast::Expr e, Span s, const std::vector<ExprId>& operands = {}) {
    int depth = 0;
    for (const ExprId o : operands) {
      if (o.valid()) depth = std::max(depth, depth_[o.index - first_expr_]);
    }
    if (++depth > max_nesting) {
      if (!too_deep_reported_) {
        diagnostics_.report(Code::E0104, s, "expression nested deeper than " + std::to_string(max_nesting))
            .note("give parts of the expression names, in equations of their own");
      }
      too_deep_reported_ = true;
      e = ast::Error{};
      depth = 1;
    }
    depth_.push_back(depth);
    return program_.add(std::move(e), s);
  }

  ExprId missing(Span s) { return add(ast::Error{}, s); }

  std::vector<ExprId> exprs(const std::vector<RmlParser::ExprContext*>& contexts) {
    std::vector<ExprId> result;
    for (RmlParser::ExprContext* c : contexts) result.push_back(expr(c));
    return result;
  }

  // Returns the operand with which a construct begins, or null.
  static RmlParser::ExprContext* left_operand(RmlParser::ExprContext* e) {
    if (auto* binary = as<RmlParser::BinaryContext>(e)) return binary->expr(0);
    if (auto* when = as<RmlParser::WhenContext>(e)) return when->expr();
    if (auto* fby = as<RmlParser::FbyContext>(e)) return fby->expr(0);
    return nullptr;
  }

  ExprId expr(RmlParser::ExprContext* e) {
    std::vector<RmlParser::ExprContext*> spine;
    while (RmlParser::ExprContext* left = left_operand(e)) {
      spine.push_back(e);
      e = left;
    }
    ExprId result = without_left_operand(e);
    for (; !spine.empty(); spine.pop_back()) result = extend(result, spine.back());
    return result;
  }

  ExprId extend(ExprId left, RmlParser::ExprContext* e) {
    if (auto* binary = as<RmlParser::BinaryContext>(e)) {
      check_chain(binary);
      const ExprId right = expr(binary->expr(1));
      return add(ast::Binary{binary_op(static_cast<TokenKind>(binary->op->getType())), left, right}, span(e),
                 {left, right});
    }
    if (auto* when = as<RmlParser::WhenContext>(e)) {
      const ExprId condition = atom(when->atom());
      return add(ast::When{left, when->NOT() == nullptr, condition}, span(e), {left, condition});
    }
    const ExprId next = expr(static_cast<RmlParser::FbyContext*>(e)->expr(1));
    return add(ast::Fby{left, next}, span(e), {left, next});
  }

  // Returns the comparison that is the left operand of a comparison, or null.
  static RmlParser::BinaryContext* compared(RmlParser::BinaryContext* e) {
    auto* left = as<RmlParser::BinaryContext>(e->expr(0));
    const bool chained = left != nullptr && is_comparison(e->op->getType()) && is_comparison(left->op->getType());
    return chained ? left : nullptr;
  }

  // Reports `a < b < c`; of a chain only the first two, as further fixes would quote all of it.
  void check_chain(RmlParser::BinaryContext* e) {
    auto* left = compared(e);
    if (left == nullptr || compared(left) != nullptr) return;
    const std::string middle = text(span(left->expr(1)));
    Diagnostic& d = diagnostics_.report(Code::E0101, span(e->op), "comparisons do not chain", "second comparison");
    d.label(span(left->op), "first comparison");
    d.note("write `" + text(span(left)) + " and " + middle + " " + text(span(e->op)) + " " + text(span(e->expr(1))) +
           "`");
  }

  ExprId without_left_operand(RmlParser::ExprContext* e) {
    if (auto* atomic = as<RmlParser::AtomicContext>(e)) return atom(atomic->atom());
    if (auto* prefix = as<RmlParser::PrefixContext>(e)) {
      if (prefix->op->getType() == RmlParser::MINUS) set_role(prefix->op, TokenRole::prefix);
      const ExprId operand = expr(prefix->expr());
      if (prefix->op->getType() == RmlParser::POST) return add(ast::Post{operand}, span(e), {operand});
      const bool negates = prefix->op->getType() == RmlParser::MINUS;
      return add(ast::Unary{negates ? UnaryOp::negate : UnaryOp::logical_not, operand}, span(e), {operand});
    }
    if (auto* merge = as<RmlParser::MergeContext>(e)) {
      const ExprId condition = operand(merge->operand(0));
      const ExprId on_true = operand(merge->operand(1));
      const ExprId on_false = operand(merge->operand(2));
      return add(ast::Merge{condition, on_true, on_false}, span(e), {condition, on_true, on_false});
    }
    auto* conditional = static_cast<RmlParser::ConditionalContext*>(e);
    const ExprId condition = expr(conditional->expr(0));
    const ExprId then_branch = expr(conditional->expr(1));
    const ExprId else_branch = expr(conditional->expr(2));
    return add(ast::If{condition, then_branch, else_branch}, span(e), {condition, then_branch, else_branch});
  }

  ExprId atom(RmlParser::AtomContext* a) {
    auto* name = a->reference();
    return indexed(name != nullptr ? reference(name) : plain(a->plain()), a);
  }

  ExprId operand(RmlParser::OperandContext* o) {
    auto* name = o->tight_reference();
    return indexed(name != nullptr ? reference(name) : plain(o->plain()), o);
  }

  // Applies the bracketed index lists that follow an atom. Each ends with its own `]`.
  ExprId indexed(ExprId base, Context* a) {
    if (a->children.size() == 1) return base;
    std::vector<ast::IndexItem> items;
    for (antlr4::tree::ParseTree* child : a->children) {
      if (auto* item = as<RmlParser::IndexContext>(child)) items.push_back(index_item(item));
      auto* terminal = dynamic_cast<antlr4::tree::TerminalNode*>(child);
      if (terminal == nullptr) continue;
      const std::size_t kind = terminal->getSymbol()->getType();
      if (kind == RmlParser::LBRACKET || kind == RmlParser::TIGHT_LBRACKET) set_role(terminal, TokenRole::attached);
      if (kind != RmlParser::RBRACKET) continue;
      std::vector<ExprId> operands = {base};
      for (const ast::IndexItem& item : items)
        operands.insert(operands.end(), {item.at, item.lower, item.upper, item.step});
      const Span s{file_, program_.span(base).begin, span(terminal).end};
      base = add(ast::Index{base, std::exchange(items, {})}, s, operands);
    }
    return base;
  }

  ast::IndexItem index_item(RmlParser::IndexContext* c) {
    ast::IndexItem item;
    item.span = span(c);
    RmlParser::RangedContext* ranged = c->ranged();
    item.is_range = ranged != nullptr;
    if (c->expr() != nullptr) (item.is_range ? item.lower : item.at) = expr(c->expr());
    if (ranged == nullptr) return item;
    for (antlr4::tree::TerminalNode* colon : ranged->COLON()) set_role(colon, TokenRole::inside);
    if (ranged->upper != nullptr) item.upper = expr(ranged->upper);
    if (ranged->step != nullptr) item.step = expr(ranged->step);
    return item;
  }

  // A name, or a constant of an imported module: `m.k`.
  ExprId constant_name(Context* r, const std::vector<antlr4::tree::TerminalNode*>& names) {
    if (names.size() == 1) return add(ast::Name{symbol(names[0])}, span(r));
    std::string rest;
    for (std::size_t k = 1; k < names.size(); ++k) rest += (rest.empty() ? "" : ".") + text(span(names[k]));
    return add(ast::Name{program_.names.intern(rest), symbol(names[0])}, span(r));
  }

  template <class Reference>
  ExprId reference(Reference* r) {
    auto* path = r->path();
    const std::vector<antlr4::tree::TerminalNode*> names = path->ID();
    auto* arguments = r->arguments();
    if (arguments == nullptr) return constant_name(r, names);
    ast::Call call;
    for (antlr4::tree::TerminalNode* name : names) call.callee.push_back(symbol(name));
    call.callee_span = span(path);
    return finish_call(std::move(call), {arguments}, r);
  }

  void attach_call(RmlParser::ReferenceContext* r) { attach_paren(r); }
  void attach_call(RmlParser::Tight_referenceContext* r) { set_role(r->TIGHT_LPAREN(), TokenRole::attached); }
  void attach_call(RmlParser::DifferentialContext* r) { attach_paren(r); }
  void attach_call(RmlParser::IterationContext* r) { attach_paren(r); }

  template <class C>
  ExprId finish_call(ast::Call call, const std::vector<RmlParser::ArgumentsContext*>& groups, C* whole) {
    attach_call(whole);
    std::vector<ExprId> operands;
    if (call.diff) operands = call.diff->optimizer_arguments;
    std::vector<RmlParser::ArgumentContext*> list;
    for (RmlParser::ArgumentsContext* group : groups)
      for (RmlParser::ArgumentContext* a : group->argument()) list.push_back(a);
    for (RmlParser::ArgumentContext* a : list) {
      ast::Argument argument;
      if (a->ID() != nullptr) {
        argument.name = symbol(a->ID());
        argument.name_span = span(a->ID());
        set_role(a->ASSIGN(), TokenRole::inside);
      }
      argument.value = expr(a->expr());
      operands.push_back(argument.value);
      call.arguments.push_back(argument);
    }
    return add(std::move(call), span(whole), operands);
  }

  ExprId plain(RmlParser::PlainContext* p) {
    if (auto* literal_context = as<RmlParser::LiteralContext>(p)) return literal(literal_context);
    if (auto* group = as<RmlParser::ParenthesisedContext>(p)) {
      // The place includes the parentheses, because code that follows applies to the whole group.
      const ExprId inner = expr(group->expr());
      program_.expr_spans[inner.index] = span(p);
      return inner;
    }
    if (auto* array = as<RmlParser::ArrayContext>(p)) {
      std::vector<ExprId> elements = exprs(array->expr());
      return add(ast::Array{elements}, span(p), elements);
    }
    if (auto* repeated = as<RmlParser::IterationContext>(p)) return iteration(repeated);
    auto* differential = static_cast<RmlParser::DifferentialContext*>(p);
    ast::Call call;
    for (antlr4::tree::TerminalNode* name : differential->path()->ID()) call.callee.push_back(symbol(name));
    call.callee_span = span(differential->path());
    call.diff.emplace();
    call.diff->span = span(differential->DIFF());
    if (RmlParser::OptimizerContext* optimizer = differential->optimizer()) {
      attach_paren(optimizer);
      attach_bracket(optimizer);
      for (antlr4::tree::TerminalNode* name : optimizer->path()->ID()) call.diff->optimizer.push_back(symbol(name));
      call.diff->optimizer_arguments = exprs(optimizer->expr());
      call.diff->span = join(call.diff->span, span(optimizer));
    }
    return finish_call(std::move(call), {differential->arguments()}, differential);
  }

  // Counts the arguments in the groups before the fixed ones; resolve_names checks the counts.
  ExprId iteration(RmlParser::IterationContext* r) {
    ast::Call call;
    for (antlr4::tree::TerminalNode* name : r->path()->ID()) call.callee.push_back(symbol(name));
    call.callee_span = span(r->path());
    ast::Iteration& how = call.iteration.emplace();
    how.span = span(r->ITERATE());
    const std::string word = text(how.span);
    how.kind = word == "map" ? ast::Iteration::map : word == "fold" ? ast::Iteration::fold : ast::Iteration::scan;
    if (RmlParser::OptionContext* option = r->option()) {
      attach_bracket(option);
      how.reverse = text(span(option->ID())) == "reverse";
      if (!how.reverse)
        diagnostics_.report(Code::E0209, span(option->ID()),
                            "`" + word + "` has no option `" + text(span(option->ID())) + "`",
                            "the only one is `reverse`");
    }
    const std::vector<RmlParser::ArgumentsContext*> groups = r->arguments();
    const std::size_t leading = how.kind == ast::Iteration::map ? 1 : 2;
    const auto size = [&](std::size_t k) {
      return k < groups.size() ? static_cast<std::uint32_t>(groups[k]->argument().size()) : 0;
    };
    how.states = leading == 2 ? size(0) : 0;
    how.sequences = size(leading - 1);
    if (groups.size() < leading || groups.size() > leading + 1 || how.sequences == 0) {
      diagnostics_
          .report(Code::E0209, span(r), "the arguments of `" + word + "` are not in the right groups",
                  leading == 1 ? "write `map f(sequences; fixed)`" : "write `" + word + " f(states; sequences; fixed)`")
          .note("the fixed arguments and the `;` before them are optional");
      return missing(span(r));
    }
    return finish_call(std::move(call), groups, r);
  }

  ExprId literal(RmlParser::LiteralContext* l) {
    const Span s = span(l->value);
    switch (l->value->getType()) {
      case RmlParser::TRUE:
        return add(ast::BoolLiteral{true}, s);
      case RmlParser::FALSE:
        return add(ast::BoolLiteral{false}, s);
      case RmlParser::STRING:
        return add(ast::TextLiteral{string_value(l->STRING())}, s);
      case RmlParser::INT:
        return number(l->INT());
      default:
        return add(read_float(text(s), s, diagnostics_), s);
    }
  }

  ExprId number(antlr4::tree::TerminalNode* t) {
    const Span s = span(t);
    const bool reported = tokens_[t->getSymbol()->getTokenIndex()].reported;
    return reported ? missing(s) : add(read_integer(text(s), s, diagnostics_), s);
  }

  std::string string_value(antlr4::tree::TerminalNode* t) {
    const bool closed = !tokens_[t->getSymbol()->getTokenIndex()].reported;
    return read_string(text(span(t)), closed, span(t), diagnostics_);
  }

  std::optional<ast::TypeAnnotation> type(RmlParser::TypeContext* t) {
    if (!complete(t)) return std::nullopt;
    ast::TypeAnnotation result;
    result.span = span(t);
    result.dtype_span = span(t->dtype);
    result.dtype = symbol(result.dtype_span);
    attach_bracket(t);
    result.has_shape = t->RBRACKET() != nullptr;
    result.shape = exprs(t->expr());
    if (t->clock != nullptr) {
      result.clock_span = span(t->clock);
      result.clock = symbol(result.clock_span);
      result.clock_positive = t->NOT() == nullptr;
    }
    return result;
  }

  // True if a token that is not R(ML)² follows; the parsed part is then not the intended one.
  bool cut_off(const Context* e) const {
    const TokenKind behind = tokens_[next_token(tokens_, e->stop->getTokenIndex())].kind;
    return behind == TokenKind::FOREIGN || behind == TokenKind::INVALID;
  }

  // Whether the import is complete but for its `;`, so that its names are known.
  bool lacks_semicolon(RmlParser::Import_itemContext* i) const {
    if (i == nullptr || i->SEMI() != nullptr || (i->file == nullptr && !complete(i->path()))) return false;
    if (i->AS() != nullptr && i->alias == nullptr) return false;
    const antlr4::Token* last = i->alias != nullptr ? i->alias : i->file != nullptr ? i->file : i->path()->stop;
    const Token& behind = tokens_[next_token(tokens_, last->getTokenIndex())];
    return behind.kind == TokenKind::END || behind.first_on_line;
  }

  void add_import(RmlParser::Import_itemContext* i) {
    ast::Import import;
    import.span = span(i);
    import.is_path = i->file != nullptr;
    if (import.is_path) {
      import.target_span = span(i->file);
      import.target = string_value(i->STRING());
    } else {
      const std::vector<antlr4::tree::TerminalNode*> names = i->path()->ID();
      import.target_span = span(i->path());
      for (antlr4::tree::TerminalNode* name : names)
        import.target += (import.target.empty() ? "" : ".") + text(span(name));
      import.alias = symbol(i->alias != nullptr ? span(i->alias) : span(names.back()));
    }
    module_.imports.push_back(std::move(import));
  }

  void add_constant(RmlParser::ConstantContext* c) {
    if (c->ID() == nullptr) return;
    ast::Const constant;
    constant.name_span = span(c->ID());
    constant.name = symbol(constant.name_span);
    constant.span = span(c);
    constant.module = id_;
    constant.type = type(c->type());
    constant.value = complete(c->expr()) && !cut_off(c->expr()) ? expr(c->expr()) : missing(constant.name_span);
    module_.consts.push_back(ConstId{program_.consts.size()});
    program_.consts.push_back(std::move(constant));
  }

  void add_node(RmlParser::NodeContext* n) {
    RmlParser::SignatureContext* signature = n->signature();
    if (signature == nullptr || signature->ID() == nullptr) return;
    ast::Node node;
    node.name_span = span(signature->ID());
    node.name = symbol(node.name_span);
    node.span = span(n);
    node.module = id_;
    node.broken_header = !complete(signature);
    if (signature->inputs != nullptr) {
      attach_paren(signature->inputs);
      node.inputs = parameters(signature->inputs);
    }
    if (signature->outputs != nullptr) node.outputs = parameters(signature->outputs);
    for (RmlParser::EquationContext* equation : n->equation()) add_equation(equation, node);
    module_.nodes.push_back(NodeId{program_.nodes.size()});
    program_.nodes.push_back(std::move(node));
  }

  std::vector<ast::Parameter> parameters(RmlParser::ParametersContext* p) {
    std::vector<ast::Parameter> result;
    for (RmlParser::ParameterContext* parameter : p->parameter()) {
      if (parameter->ID() == nullptr) continue;
      const Span s = span(parameter->ID());
      result.push_back({symbol(s), s, type(parameter->type()), deal(parameter->deal())});
    }
    return result;
  }

  std::optional<ast::Deal> deal(RmlParser::DealContext* d) {
    if (!complete(d)) return std::nullopt;
    ast::Deal result;
    result.span = span(d);
    result.end_span = span(d->end);
    result.end = symbol(result.end_span);
    if (d->INT() != nullptr) result.count = number(d->INT());
    if (d->path() != nullptr) result.count = constant_name(d->path(), d->path()->ID());
    return result;
  }

  void add_equation(RmlParser::EquationContext* e, ast::Node& node) {
    if (auto* assertion = as<RmlParser::AssertionContext>(e)) {
      if (!complete(assertion->expr())) return;
      ast::Assert result{expr(assertion->expr()), std::nullopt, span(e)};
      if (assertion->STRING() != nullptr) result.message = string_value(assertion->STRING());
      node.asserts.push_back(std::move(result));
      return;
    }
    auto* definition = as<RmlParser::DefinitionContext>(e);
    if (definition == nullptr) return;
    ast::Equation equation;
    equation.span = span(e);
    for (RmlParser::TargetContext* target : definition->target()) {
      auto* name = target->ID() != nullptr ? target->ID() : target->UNDERSCORE();
      if (name == nullptr) continue;
      const bool named = name->getSymbol()->getType() == RmlParser::ID;
      const Span s = span(name);
      equation.targets.push_back({named ? symbol(s) : Symbol{}, s, type(target->type())});
    }
    if (equation.targets.empty()) return;
    auto* value = definition->expr();
    equation.value = complete(value) && !cut_off(value) ? expr(value) : missing(equation.span);
    node.equations.push_back(std::move(equation));
  }

  ModuleId id_;
  std::uint32_t file_;
  Program& program_;
  std::vector<Token>& tokens_;
  const SourceMap& sources_;
  Diagnostics& diagnostics_;
  ast::Module module_;
  std::size_t first_expr_;
  std::vector<int> depth_;  // indexed by expression of this file: depth of its tree
  bool too_deep_reported_ = false;
};

void parse_tokens(ParsedModule& result, std::uint32_t file, ModuleId id, Program& program, const SourceMap& sources,
                  Diagnostics& diagnostics) {
  std::vector<std::unique_ptr<antlr4::Token>> input;
  for (const Token& token : result.tokens) {
    const bool end = token.kind == TokenKind::END;
    auto fed = std::make_unique<antlr4::CommonToken>(end ? antlr4::Token::EOF : static_cast<std::size_t>(token.kind));
    if (is_comment(token.kind)) fed->setChannel(antlr4::Token::HIDDEN_CHANNEL);
    input.push_back(std::move(fed));
  }
  const std::lock_guard one_at_a_time(grammar_mutex());
  antlr4::ListTokenSource source(std::move(input));
  antlr4::CommonTokenStream stream(&source);
  RmlParser parser(&stream);
  parser.removeErrorListeners();
  parser.setInterpreter(new Prediction(parser));  // the parser deletes this simulator and its first one
  const auto recovery = std::make_shared<Recovery>(result.tokens, file, sources, diagnostics);
  parser.setErrorHandler(recovery);
  Builder builder(file, id, program, result.tokens, sources, diagnostics);
  while (recovery->find_item(&parser)) {
    parser.setState(antlr4::atn::ATNState::INVALID_STATE_NUMBER);  // marks the parser as not inside a rule
    builder.add_item(parser.item());
    parser.getTreeTracker().reset();
  }
  result.module = builder.take();
}

// Scanning and parsing each report errors in the order of the text; this merges both lists. At
// most 100 errors are shown, since a file with more is probably not a program.
void append_in_order(const Diagnostics& found, Diagnostics& diagnostics) {
  constexpr std::size_t most_reported = 100;
  std::vector<const Diagnostic*> list;
  for (const Diagnostic& d : found.all()) list.push_back(&d);
  std::ranges::sort(list, {}, [](const Diagnostic* d) { return std::pair(d->primary.span.begin, d); });
  const std::size_t reported = std::min(list.size(), most_reported);
  for (std::size_t i = 0; i < reported; ++i) diagnostics.report(list[i]->code, {}, {}) = *list[i];
  if (reported == list.size()) return;
  diagnostics.report(Code::E0101, list[reported]->primary.span, "too many syntax errors in this file")
      .note(std::to_string(list.size() - reported) + " more are not shown");
}

}  // namespace

ParsedModule parse_module(std::uint32_t file, ModuleId id, Program& program, const SourceMap& sources,
                          Diagnostics& diagnostics) {
  ParsedModule result;
  result.module.file = file;
  Diagnostics found;
  result.tokens = scan(file, sources, found);
  mend_names(result.tokens, file, sources, found);
  mend_headers(result.tokens, file, sources, found);
  if (check_nesting(result.tokens, file, found)) parse_tokens(result, file, id, program, sources, found);
  append_in_order(found, diagnostics);
  return result;
}

}  // namespace rml
