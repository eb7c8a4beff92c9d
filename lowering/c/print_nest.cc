// Combines the elements of a body into one expression if each has one use:
//
//   t0 = load %3[i]  t1 = load %4[i]  t2 = mul f32 t0 t1  store %5[i] t2      y[i] = a[i] * b[i];
//
// An element with several uses gets a variable. So does an element that a store is about to overwrite, and a part of an
// expression that would be too long for a line.
#include "lowering/c/print_nest.h"

#include <algorithm>
#include <cmath>

#include "lowering/c/interface.h"
#include "lowering/c/literals.h"
#include "lowering/c/operations.h"
#include "semantics/values/overloaded.h"

namespace rml::c99 {

using loops::BufferId;

namespace {

constexpr std::size_t longest_operands = 80, worth_a_variable = 24;

class NestWriter {
 public:
  NestWriter(Scope& scope, const loops::Nest& nest)
      : scope_(scope), nest_(nest), dtypes_(loops::dtypes(scope.file.program, nest)), items_(nest.body.size()) {}

  void print();

 private:
  struct Item {
    Expression e;
    std::size_t uses = 0;
    bool waits = false;   // true while the element's text has not been written
    bool within = false;  // true if the element is part of a minimum or maximum, which is printed as a whole
    const char* extremum = nullptr;
  };

  void count_uses();
  void find_extrema();
  bool is_extremum_of(std::uint32_t condition, std::uint32_t a, std::uint32_t b);
  void use(std::uint32_t element) { ++items_[element].uses; }
  void uses_of(const loops::Access& a) {
    for (const auto& [element, step] : a.computed) use(element);
  }
  std::string index_type() const;
  std::string index(const loops::Access&);
  Expression take(std::uint32_t element);
  std::vector<Expression> take_all(std::vector<std::uint32_t> elements);
  void shorten(const std::vector<std::uint32_t>& elements);
  void settle(std::uint32_t element);
  void before_writing(BufferId);
  void set(std::uint32_t at, Expression e);
  void store(std::uint32_t at, const loops::Store&);
  void sum(const loops::Sum&);
  void check(const loops::Check&);
  Expression is_nan(const loops::IsNan&);
  void element(std::uint32_t at);

  Scope& scope_;
  const loops::Nest& nest_;
  const std::vector<DType> dtypes_;
  std::vector<Item> items_;
};

void NestWriter::count_uses() {
  for (const loops::Element& e : nest_.body) {
    std::visit(Overloaded{
                   [](const loops::Number&) {},
                   [](const loops::Index&) {},
                   [&](const loops::Load& l) { uses_of(l.from); },
                   [&](const loops::Operation& o) { std::ranges::for_each(o.operands, [&](auto x) { use(x); }); },
                   [&](const loops::Convert& c) { use(c.operand); },
                   [&](const loops::LibraryCall& c) { std::ranges::for_each(c.operands, [&](auto x) { use(x); }); },
                   [&](const loops::IsNan& n) { use(n.operand); },
                   [&](const loops::Store& s) { uses_of(s.to), use(s.element); },
                   [&](const loops::Sum& s) { uses_of(s.onto), uses_of(s.onto), use(s.element); },
                   [&](const loops::Check& c) {
                     use(c.bad);
                     if (c.value != UINT32_MAX) use(c.value);
                     if (c.bound != UINT32_MAX) use(c.bound);
                   },
               },
               e);
  }
}

template <class T>
const T* as(const loops::Nest& nest, std::uint32_t element) {
  return std::get_if<T>(&nest.body[element]);
}

// True for a <= b; for floats the condition must also hold if a is NaN.
bool NestWriter::is_extremum_of(std::uint32_t condition, std::uint32_t a, std::uint32_t b) {
  const auto* either = as<loops::Operation>(nest_, condition);
  if (either == nullptr || items_[condition].uses != 1) return false;
  std::uint32_t compares = condition;
  if (either->op == ScalarOp::logical_or) {
    compares = either->operands[0];
    const std::uint32_t nothing = either->operands[1];
    const auto* is_nan = as<loops::IsNan>(nest_, nothing);
    if (is_nan == nullptr || is_nan->operand != a || items_[nothing].uses != 1 || items_[compares].uses != 1)
      return false;
  }
  const auto* compared = as<loops::Operation>(nest_, compares);
  if (compared == nullptr || (compared->op != ScalarOp::le && compared->op != ScalarOp::ge)) return false;
  if (compared->operands[0] != a || compared->operands[1] != b) return false;
  return compares == condition ? is_integer(compared->dtype) : has_gradient(compared->dtype);
}

// Finds patterns select (le a b or isnan a) a b.
void NestWriter::find_extrema() {
  for (std::uint32_t at = 0; at < nest_.body.size(); ++at) {
    const auto* select = as<loops::Operation>(nest_, at);
    if (select == nullptr || select->op != ScalarOp::select) continue;
    const std::uint32_t condition = select->operands[0], a = select->operands[1], b = select->operands[2];
    if (!is_extremum_of(condition, a, b)) continue;
    std::uint32_t compares = condition;
    const auto* either = as<loops::Operation>(nest_, condition);
    if (either->op == ScalarOp::logical_or) {
      compares = either->operands[0];
      items_[either->operands[1]].within = true;
      --items_[a].uses;
    }
    items_[condition].within = items_[compares].within = true;
    --items_[a].uses, --items_[b].uses;
    items_[at].extremum = as<loops::Operation>(nest_, compares)->op == ScalarOp::le ? "minimum" : "maximum";
  }
}

// The type of loop variables: a 32-bit type if it holds every index.
std::string NestWriter::index_type() const {
  double most = 0;
  const auto look = [&](const loops::Access& a) {
    double reach = static_cast<double>(std::abs(a.start));
    for (std::size_t k = 0; k < a.steps.size(); ++k)
      reach += static_cast<double>(std::abs(a.steps[k])) * static_cast<double>(nest_.axes[k].extent);
    most = std::max(most, reach);
  };
  for (const loops::Axis& axis : nest_.axes) most = std::max(most, static_cast<double>(axis.extent));
  for (const loops::Element& e : nest_.body) {
    if (const auto* load = std::get_if<loops::Load>(&e)) look(load->from);
    if (const auto* store = std::get_if<loops::Store>(&e)) look(store->to);
    if (const auto* sum = std::get_if<loops::Sum>(&e)) look(sum->onto);
  }
  return most < INT32_MAX ? "int32_t" : "int64_t";
}

std::string NestWriter::index(const loops::Access& a) {
  std::string text, taken_off;
  const auto term = [](std::int64_t step, const std::string& of) {
    return step == 1 ? of : std::to_string(step) + " * " + of;
  };
  const auto add = [&](std::int64_t step, const std::string& of) {
    if (step > 0) text += (text.empty() ? "" : " + ") + term(step, of);
    if (step < 0) taken_off += " - " + term(-step, of);
  };
  for (const auto& [element, step] : a.computed) add(step, bound(take(element), Binding::product));
  for (std::size_t k = 0; k < a.steps.size(); ++k) add(a.steps[k], scope_.letter(scope_.depth + k));
  if (a.start > 0) text += (text.empty() ? "" : " + ") + std::to_string(a.start);
  if (a.start < 0) taken_off += " - " + std::to_string(-a.start);
  if (text.empty()) return taken_off.empty() ? "0" : "0" + taken_off;
  return text + taken_off;
}

Expression NestWriter::take(std::uint32_t element) {
  Item& item = items_[element];
  if (item.uses > 0) --item.uses;
  if (item.uses == 0) item.waits = false;
  return item.e;
}

// Turns the element into a variable.
void NestWriter::settle(std::uint32_t element) {
  Item& item = items_[element];
  item.e = name_of(scope_.temporary(dtypes_[element], item.e));
  item.waits = false;
}

void NestWriter::shorten(const std::vector<std::uint32_t>& elements) {
  for (;;) {
    std::size_t all = 0;
    std::uint32_t longest = elements[0];
    for (const std::uint32_t x : elements) {
      all += items_[x].e.text.size();
      if (items_[x].e.text.size() > items_[longest].e.text.size()) longest = x;
    }
    if (all <= longest_operands || items_[longest].e.text.size() < worth_a_variable || !items_[longest].waits) return;
    settle(longest);
  }
}

std::vector<Expression> NestWriter::take_all(std::vector<std::uint32_t> elements) {
  shorten(elements);
  std::vector<Expression> result;
  for (const std::uint32_t x : elements) result.push_back(take(x));
  return result;
}

void NestWriter::before_writing(BufferId b) {
  const BufferId root = scope_.plan.root(b);
  for (std::uint32_t k = 0; k < items_.size(); ++k)
    if (items_[k].waits && items_[k].e.reads.contains(root)) settle(k);
}

void NestWriter::set(std::uint32_t at, Expression e) {
  Item& item = items_[at];
  item.e = std::move(e);
  const bool simple =
      item.e.reads.empty() && item.e.binding >= Binding::sign && item.e.text.find_first_of("([") == std::string::npos;
  item.waits = !simple && item.uses > 0;
  if (!item.waits || item.uses == 1) return;
  // If the next element is stored, later uses may read it from where it is stored.
  const auto* store = at + 1 < nest_.body.size() ? std::get_if<loops::Store>(&nest_.body[at + 1]) : nullptr;
  if (store != nullptr && store->element == at && scope_.plan.of(store->to.buffer).at_definition) return;
  settle(at);
}

void NestWriter::store(std::uint32_t, const loops::Store& s) {
  const BufferId b = s.to.buffer;
  const loops::Buffer& buffer = scope_.file[b];
  const bool more = items_[s.element].uses > 1;
  const Expression value = take(s.element);
  const std::string at = buffer.shape.empty() ? "" : index(s.to);
  before_writing(b);
  if (!buffer.shape.empty()) return scope_.code.line(scope_.place(b, at) + " = " + value.text + ";");
  scope_.define(b, value);
  if (more && items_[s.element].waits) {
    items_[s.element].e = name_of(scope_.variable(b));
    items_[s.element].waits = false;
  }
}

void NestWriter::sum(const loops::Sum& s) {
  const bool scalar = scope_.file[s.onto.buffer].shape.empty();
  const std::string place = scope_.place(s.onto.buffer, scalar ? "" : index(s.onto));
  const Expression value = take(s.element);
  before_writing(s.onto.buffer);
  if (is_float(s.dtype) && (s.op == ScalarOp::add || s.op == ScalarOp::mul))
    return scope_.code.line(place + (s.op == ScalarOp::add ? " += " : " *= ") + value.text + ";");
  const Expression combined = operation(scope_.file.helpers, {s.op, s.dtype, {0, 0}}, {name_of(place), value});
  scope_.code.line(place + " = " + combined.text + ";");
}

void NestWriter::check(const loops::Check& c) {
  const std::string value = c.value == UINT32_MAX ? "0" : take(c.value).text;
  const std::string limit = c.bound == UINT32_MAX ? "0" : take(c.bound).text;
  if (never_holds(nest_, c)) return;
  scope_.fail(take(c.bad).text, c.kind, scope_.file.site(scope_.file.program, scope_.body, c.site), value, limit);
}

Expression NestWriter::is_nan(const loops::IsNan& n) {
  const std::vector<Expression> x = take_all({n.operand});
  const auto* given = as<loops::Number>(nest_, n.operand);
  return given != nullptr && x[0].text != "NAN" ? name_of("false") : call("isnan", x);
}

void NestWriter::element(std::uint32_t at) {
  Helpers& helpers = scope_.file.helpers;
  if (items_[at].within) return;
  if (items_[at].extremum != nullptr) {
    const std::vector<std::uint32_t>& operands = as<loops::Operation>(nest_, at)->operands;
    return set(at, call(helpers.of(items_[at].extremum, dtypes_[at]), take_all({operands[1], operands[2]})));
  }
  std::visit(Overloaded{
                 [&](const loops::Number& n) { set(at, number(n.value)); },
                 [&](const loops::Index& i) { set(at, name_of(scope_.letter(scope_.depth + i.axis))); },
                 [&](const loops::Load& l) {
                   const bool scalar = scope_.file[l.from.buffer].shape.empty();
                   std::set<BufferId> of_index;
                   for (const auto& [element, step] : l.from.computed)
                     of_index.insert(items_[element].e.reads.begin(), items_[element].e.reads.end());
                   Expression e = scope_.read(l.from.buffer, scalar ? "" : index(l.from));
                   e.reads.insert(of_index.begin(), of_index.end());
                   set(at, std::move(e));
                 },
                 [&](const loops::Operation& o) { set(at, operation(helpers, o, take_all(o.operands))); },
                 [&](const loops::Convert& c) { set(at, conversion(helpers, c.to, c.from, take_all({c.operand})[0])); },
                 [&](const loops::LibraryCall& c) { set(at, library_call(c.function, c.dtype, take_all(c.operands))); },
                 [&](const loops::IsNan& n) { set(at, is_nan(n)); },
                 [&](const loops::Store& s) { store(at, s); },
                 [&](const loops::Sum& s) { sum(s); },
                 [&](const loops::Check& c) { check(c); },
             },
             nest_.body[at]);
}

void NestWriter::print() {
  count_uses();
  find_extrema();
  scope_.explain(nest_.of);
  const std::string type = index_type();
  for (std::size_t k = 0; k < nest_.axes.size(); ++k) {
    const std::string& letter = scope_.letter(scope_.depth + k);
    scope_.code.open("for (" + type + " " + letter + " = 0; " + letter + " < " + std::to_string(nest_.axes[k].extent) +
                     "; ++" + letter + ")");
  }
  for (std::uint32_t at = 0; at < nest_.body.size(); ++at) element(at);
  for (std::size_t k = 0; k < nest_.axes.size(); ++k) scope_.code.close();
  scope_.done();
}

}  // namespace

void print_nest(Scope& scope, const loops::Nest& nest) { NestWriter(scope, nest).print(); }

}  // namespace rml::c99
