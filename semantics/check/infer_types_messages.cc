// Messages about dtypes: both types, the places that determined them, and a fix-it if there is
// one.
#include "semantics/check/infer_types_messages.h"

#include <algorithm>

#include "semantics/check/foreign_names.h"
#include "semantics/check/signature_text.h"
#include "semantics/check/syntax.h"

namespace rml {

namespace {

// A set in the user's words: "numbers", "floats", "bool", "i32 or i64".
std::string set_text(DTypeSet set, bool plural) {
  if (decided(set)) return std::string(name(only(set)));
  if ((set & dtypes::boolean) == 0) {
    if ((set & dtypes::integer) == 0) return plural ? "floats" : "a float";
    if ((set & dtypes::floating) == 0) return plural ? "integers" : "an integer";
    return plural ? "numbers" : "a number";
  }
  return plural ? "values" : "any type";
}

// True for integers as they are written: 2, -1, [3, 2].
bool is_written_integer(const Program& program, ExprId e) {
  if (const auto* list = std::get_if<ast::Array>(&program[e]))
    return std::ranges::all_of(list->elements, [&](ExprId x) { return is_written_integer(program, x); });
  const auto* negated = std::get_if<ast::Unary>(&program[e]);
  return std::holds_alternative<ast::IntLiteral>(program[negated != nullptr ? negated->operand : e]);
}

// The place of the `-D` that defines a constant in the expression, directly or through other
// constants; empty if there is none. Such a constant is in the file of no module.
Span option_in(const Program& program, const Resolved& names, ExprId e, int depth = 0) {
  constexpr int deep = 20;
  if (!e.valid() || depth > deep) return {};
  Span found;
  const auto search = [&](ExprId part) {
    if (found.end == 0) found = option_in(program, names, part, depth + 1);
  };
  if (const auto* referent = std::get_if<ConstRef>(&names.references[e.index])) {
    const ast::Const& constant = program.consts[referent->constant.index];
    if (std::ranges::find(program.modules, constant.name_span.file, &ast::Module::file) == program.modules.end())
      return constant.name_span;
    search(constant.value);
    return found;
  }
  for_each_child(program[e], search);
  return found;
}

}  // namespace

Diagnostic& TypeMessages::report(Code code, Span span, std::string message, std::string label) {
  any_ = true;
  return diagnostics_.report(code, span, std::move(message), std::move(label));
}

std::string TypeMessages::describe(TypeId t) { return set_text(solver_.set(t), false); }

// Adds the place that narrowed t, unless the message shows it already.
void TypeMessages::explain(Diagnostic& d, TypeId t, const std::string& subject, Span shown) {
  Reason reason = solver_.reason(t);
  if (reason.span == shown) return;
  for (const Label& l : d.secondary)
    if (l.span == reason.span) return;
  const char* because = nullptr;
  switch (reason.why) {
    case Why::unknown:
      return;
    case Why::annotation:
      because = "this annotation";
      break;
    case Why::literal:
      because = "this literal";
      break;
    case Why::use:
      because = "this use";
      break;
    case Why::condition:
      because = "this condition";
      break;
    case Why::call:
      because = "this call";
      break;
    case Why::constant:
      because = "this constant";
      break;
  }
  d.label(reason.span, subject + " is " + describe(t) + " because of " + because);
}

bool TypeMessages::told_of_option(ExprId e) {
  const Span option = option_in(program_, names_, e);
  const auto in_option = [&](Span span) { return span.file == option.file; };
  if (option.end == 0) return false;
  const bool told = std::ranges::any_of(diagnostics_.all(), [&](const Diagnostic& d) {
    return in_option(d.primary.span) || std::ranges::any_of(d.secondary, in_option, &Label::span);
  });
  any_ = any_ || told;
  return told;
}

void TypeMessages::show_option(Diagnostic& d, ExprId e) {
  const Span option = option_in(program_, names_, e);
  if (option.end == 0 || std::ranges::any_of(d.secondary, [&](const Label& l) { return l.span.file == option.file; }))
    return;
  d.label(option, "its value comes from the command line");
}

bool TypeMessages::stored_only(ExprId at, TypeId found, DTypeSet allowed, const std::string& who) {
  const DTypeSet set = solver_.set(found);
  if ((set & ~dtypes::half) != 0 || (allowed & dtypes::half) != 0) return false;
  const Span span = program_.span(at);
  const std::string type = set_text(set, true);
  Diagnostic& d = report(Code::E0311, span, who + " does not compute with " + type,
                         "this is " + type + ", a type for storage only");
  explain(d, found, "`" + short_text(program_, at) + "`", span);
  const std::string text = expression_text(program_, at);
  if (text.size() > 200 || (allowed & bit(DType::f32)) == 0) {
    d.note("convert with `cast`");
    return true;
  }
  d.fix(span, "cast(f32, " + text + ")", "write `cast(f32, " + text + ")`");
  return true;
}

Diagnostic& TypeMessages::mismatch(ExprId at, TypeId found, TypeId wanted, const std::string& message, ExprId other,
                                   const std::string& wanted_name) {
  if (told_of_option(at) || told_of_option(other)) return unsaid_ = {};
  Span span = program_.span(at);
  Diagnostic& d = report(Code::E0301, span, message, "this is " + describe(found));
  if (other.valid()) d.label(program_.span(other), "this is " + describe(wanted));
  explain(d, found, "`" + short_text(program_, at) + "`", span);
  explain(d, wanted, other.valid() ? "`" + short_text(program_, other) + "`" : wanted_name, span);
  show_option(d, at);
  show_option(d, other);
  suggest_cast(d, at, found, other, wanted);
  return d;
}

void TypeMessages::suggest_order(Diagnostic& d, ExprId call, ExprId at, TypeId found, TypeId wanted) {
  const auto* c = call.valid() ? std::get_if<ast::Call>(&program_[call]) : nullptr;
  if (c == nullptr || c->arguments.size() < 2 || c->iteration || c->arguments[0].value != at) return;
  if ((solver_.set(found) & ~dtypes::floating) != 0 || (solver_.set(wanted) & ~dtypes::integer) != 0) return;
  std::string order;
  for (std::size_t k = 1; k < c->arguments.size(); ++k) {
    if (c->arguments[k].name.valid() || !is_written_integer(program_, c->arguments[k].value)) return;
    order += expression_text(program_, c->arguments[k].value) + ", ";
  }
  order += expression_text(program_, at);
  if (c->arguments[0].name.valid() || order.size() > 200) return;
  d.fixes.clear();
  d.note("the tensor is the last argument here; in NumPy it is the first");
  d.fix(join(program_.span(at), program_.span(c->arguments.back().value)), order, "write `" + order + "`");
}

Diagnostic* TypeMessages::refuse(ExprId at, TypeId found, DTypeSet allowed, const std::string& who, bool stream) {
  if (stored_only(at, found, allowed, who) || told_of_option(at)) return nullptr;
  Span span = program_.span(at);
  Diagnostic& d = report(Code::E0302, span, who + " needs " + set_text(allowed, true) + ", found " + describe(found),
                         "this is " + describe(found));
  explain(d, found, "`" + short_text(program_, at) + "`", span);
  show_option(d, at);
  // A cast cannot be inserted around a static value, but a literal without a fraction can be
  // rewritten.
  if (stream || std::holds_alternative<ast::FloatLiteral>(program_[at]))
    suggest_cast(d, at, found, {}, solver_.fresh(allowed), stream);
  return &d;
}

// Offers a cast of the integer if it meets a float; if only the float can be changed, a cast of
// the float.
void TypeMessages::suggest_cast(Diagnostic& d, ExprId a, TypeId type_a, ExprId b, TypeId type_b, bool stream) {
  DTypeSet sa = solver_.set(type_a), sb = solver_.set(type_b);
  auto within = [](DTypeSet set, DTypeSet kind) { return set != 0 && (set & ~kind) == 0; };
  bool a_float = within(sa, dtypes::floating), b_float = within(sb, dtypes::floating);
  bool a_integer = within(sa, dtypes::integer), b_integer = within(sb, dtypes::integer);
  if (!(a_float && b_integer) && !(a_integer && b_float)) return;
  // Two operands at the same place are not written in the source: `diff` made them at its call.
  if (b.valid() && program_.span(a) == program_.span(b)) {
    d.note("`diff` computes a gradient for each input without a declared type, but integers have no gradient");
    d.note("declare the type in the node, such as `n: i32`: then `diff` computes no gradient for this input");
    return;
  }
  const auto* literal = std::get_if<ast::FloatLiteral>(&program_[a]);
  if (literal && literal->value >= 0 && literal->value < 1e15 &&
      literal->value == static_cast<double>(static_cast<std::uint64_t>(literal->value))) {
    std::string whole = std::to_string(static_cast<std::uint64_t>(literal->value));
    d.fix(program_.span(a), whole, "write `" + whole + "`");
    return;
  }
  if (!stream) return;
  bool change_a = a_integer || !b.valid();
  ExprId changed = change_a ? a : b;
  if (within(defined_, dtypes::integer)) {
    d.note("the result is " + set_text(defined_, false) + ": `cast(" +
           std::string(name(solver_.fallback(solver_.fresh(defined_)))) +
           ", …)` converts a float to an integer, rounded towards zero");
    return;
  }
  const TypeId other = change_a ? type_b : type_a;
  const auto together = static_cast<DTypeSet>(solver_.set(other) & defined_);
  const DType to = decided(together) ? only(together) : solver_.fallback(other);
  std::string text = expression_text(program_, changed);
  if (text.size() > 200) {
    d.note("convert with `cast(" + std::string(name(to)) + ", …)`");
    return;
  }
  const std::string cast = "cast(" + std::string(name(to)) + ", ";
  std::string replacement = cast + text + ")";
  // The quotient of integers is truncated before it could be cast.
  if (const auto* quotient = std::get_if<ast::Binary>(&program_[changed]);
      quotient != nullptr && quotient->op == BinaryOp::div) {
    replacement = cast + expression_text(program_, quotient->left) + ") / " + cast +
                  expression_text(program_, quotient->right) + ")";
    const bool in_parentheses = program_.span(changed).begin < program_.span(quotient->left).begin;
    if (in_parentheses) replacement = "(" + replacement + ")";
    d.note("integer division truncates: `" + cast + text + ")` would be a whole number");
  }
  d.fix(program_.span(changed), replacement, "write `" + replacement + "`");
}

void TypeMessages::not_accepted(ExprId at, TypeId found, DTypeSet allowed, const std::string& who, bool stream,
                                ExprId condition_of) {
  Diagnostic* d = refuse(at, found, allowed, who, stream);
  if (d != nullptr && condition_of.valid()) suggest_condition(*d, at, condition_of, false);
}

void TypeMessages::condition_too_short(ExprId sampled, TypeId found, ExprId whole) {
  const auto& when = std::get<ast::When>(program_[sampled]);
  const Span span = program_.span(when.condition);
  Diagnostic& d = report(
      Code::E0301, span,
      "the condition of `when` must be bool, but `" + short_text(program_, when.condition) + "` is " + describe(found),
      "this is " + describe(found));
  suggest_condition(d, sampled, whole, true);
}

void TypeMessages::suggest_condition(Diagnostic& d, ExprId sampled, ExprId whole, bool certain) {
  const auto& when = std::get<ast::When>(program_[sampled]);
  d.note("`when` binds tighter than operators: write its condition as a name, a call, or in parentheses");
  const std::string behind = expression_text(program_, whole).substr(expression_text(program_, sampled).size());
  const std::string condition = "(" + atom_text(program_, when.condition) + behind + ")";
  const Span span = program_.span(when.condition);
  const Span last = program_.span(std::get<ast::Binary>(program_[whole]).right);
  if (condition.size() <= 200)
    d.fix(join(span, last), condition, "write `when " + std::string(when.positive ? "" : "not ") + condition + "`",
          certain);
}

void TypeMessages::no_static_integer(ExprId at, TypeId found, const std::string& who, ExprId call,
                                     const std::string& of) {
  Diagnostic* d = refuse(at, found, dtypes::index, who, false);
  const auto op = operators().find(of);
  if (d == nullptr || !op) return;
  const OperatorInfo& row = operators()[*op];
  if (row.lowering == Lowering::reduce_max || row.lowering == Lowering::reduce_min) {
    d->fixes.clear();
    const std::string pair = of + "imum(a, b)";
    d->note("`" + of + "` reduces one tensor; to compare two tensors element by element, write `" + pair + "`");
    return;
  }
  std::string list;
  for (const OperatorParameter& p : row.parameters) list += (list.empty() ? "" : ", ") + std::string(p.name);
  d->note("the parameters are, in order: " + list);
  suggest_order(*d, call, at, found, solver_.fresh(dtypes::index));
}

void TypeMessages::advise(Diagnostic& d, ExprId call, NodeId callee, const std::string& parameter) {
  const ast::Node& node = program_[callee];
  const std::string advice = advice_on(program_.text(node.name), parameter);
  if (advice.empty() || !program_.modules[node.module.index].of_library) return;
  d.fixes.clear();
  d.note(advice);
  if (program_.text(node.name) != "cross_entropy") return;
  const auto& written = std::get<ast::Call>(program_[call]);
  std::string soft;
  for (std::size_t k = 0; k + 1 < written.callee.size(); ++k) soft += program_.text(written.callee[k]) + ".";
  d.fix(written.callee_span, soft + "soft_cross_entropy", "write `" + soft + "soft_cross_entropy`");
}

void TypeMessages::unknown_dtype(const ast::TypeAnnotation& type) {
  const std::string& word = program_.text(type.dtype);
  const std::string meant = dtype_meant(word);
  Diagnostic& d = report(Code::E0309, type.dtype_span, "unknown type `" + word + "`", "not a type");
  if (!meant.empty())
    d.note("did you mean `" + meant + "`?").fix(type.dtype_span, meant, "write `" + meant + "`");
  else
    d.note("the types are bool, i8, i16, i32 (int), i64, u8, u16, u32, u64, f16, bf16, f32 (float) and f64");
}

void TypeMessages::declared_twice(const Variable& variable, const ast::TypeAnnotation& again) {
  report(Code::E0301, again.dtype_span, "`" + program_.text(variable.name) + "` is declared with two types", "this one")
      .label(variable.type->dtype_span, "and this one");
}

void TypeMessages::clock_condition(const ast::TypeAnnotation& type, TypeId found) {
  const std::string name = "`" + program_.text(type.clock) + "`";
  Diagnostic& d = report(Code::E0301, type.clock_span,
                         "the condition of a clock must be bool, but " + name + " is " + describe(found),
                         "this is " + describe(found));
  explain(d, found, name, type.clock_span);
}

}  // namespace rml
