// Instantiates the bodies of iterations.
//
// The shape of a state is the broadcast of its initial value and of its next value:
//
//   fold add(0.0; xs)    xs: f32[10, 3]    the state: [], then [3]
#include "semantics/instantiate/iteration.h"

#include <algorithm>

#include "semantics/core/attributes.h"
#include "semantics/core/joint.h"
#include "semantics/core/queries.h"
#include "semantics/instantiate/solve_shapes.h"
#include "semantics/simplify/passes.h"

namespace rml::draft {

namespace {

// Limit on the growth of a state's shape; ranks and extents of 1 allow less.
constexpr int max_growth = 16;

// True for constants that attributes or shapes of the body may depend on, or that are small.
bool stands_in_body(const IteratorOperand& operand) {
  if (operand.constant == nullptr) return false;
  const auto elements = element_count(operand.shape);
  return elements && *elements <= 64;
}

void broadcast_output(Core& core, std::size_t k, const Shape& shape) {
  const rml::Value from = core[core.outputs[k].value];
  if (from.shape == shape) return;
  core::Apply made{operators().require("broadcast_to"), {core.outputs[k].value}, {integers_attribute(shape)}, 0};
  core.values.push_back({std::move(made), from.dtype, shape, from.clock, from.span, from.instance, {}});
  core.outputs[k].value = ValueId{core.values.size() - 1};
}

std::string count_text(std::int64_t n) { return std::to_string(n) + (n == 1 ? " element" : " elements"); }

}  // namespace

Iterator::Iterator(const Program& program, const InstantiateBody& instantiate_body, Depth depth, NodeId node,
                   const ast::Iteration& how, Span call, std::vector<DType> dtypes, CalledAt at)
    : program_(program),
      instantiate_body_(instantiate_body),
      depth_(depth),
      node_(node),
      how_(how),
      call_(call),
      dtypes_(std::move(dtypes)),
      at_(std::move(at)) {}

const std::string& Iterator::name() const { return program_.text(program_[node_].name); }

const IteratorBody& Iterator::body(const std::vector<IteratorOperand>& operands) {
  std::string key;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    const bool fixed = k >= leading();
    key += fixed && stands_in_body(operands[k]) ? constant_key(*operands[k].constant) + ";"
                                                : type_string(operands[k].dtype, operands[k].shape) + ",";
  }
  const auto [known, is_new] = bodies_.try_emplace(std::move(key));
  if (is_new) make(operands, known->second);
  return known->second;
}

bool Iterator::find_length(const std::vector<IteratorOperand>& operands, std::int64_t& length,
                           IteratorBody& out) const {
  const std::string word = ast::iterator_name(how_.kind);
  for (std::size_t k = how_.states; k < leading(); ++k) {
    const Shape& shape = operands[k].shape;
    const bool first = k == how_.states;
    if (!shape.empty() && first) length = shape[0];
    if (!shape.empty() && shape[0] == length) continue;
    out.code = Code::E0303;
    out.about_operands = true;
    out.problem = shape.empty()
                      ? "`" + word + "` iterates over the first axis of its sequences, but a scalar has no axes"
                      : "the sequences of `" + word + "` have " + std::to_string(length) + " and " +
                            count_text(shape[0]) + " along their first axis";
    if (shape.empty())
      out.notes.push_back("arguments that are the same for all elements follow the sequences after a `;`: `" + word +
                          " f(" + (how_.states > 0 ? "states…; " : "") + "sequences…; fixed…)`");
    return false;
  }
  return true;
}

namespace {

bool refuse(IteratorBody& out, const std::string& what, const std::string& because, Span at,
            std::vector<std::string> notes) {
  out.problem = what + " cannot be iterated: it " + because;
  if (at.end > 0) out.places.push_back({at, "here"});
  out.notes = std::move(notes);
  return false;
}

}  // namespace

std::string Iterator::described() const {
  const NodeId origin = program_[node_].derived_from;
  return origin.valid() ? "the gradient of `" + program_.text(program_[origin].name) + "`" : "`" + name() + "`";
}

// Rejects operations that no iteration may contain.
bool Iterator::stays_inside(const Core& body, IteratorBody& out) const {
  for (std::size_t v = 0; v < body.values.size(); ++v) {
    const core::Apply* apply = apply_of(body, ValueId{v});
    const Span at = body.values[v].span;
    if (apply != nullptr && is_joint(apply->op) && how_.kind != ast::Iteration::map)
      return refuse(out, described(), "sums over parameters", at,
                    {"compute the sum before the iteration and pass it as an argument"});
    const auto* call = std::get_if<rml::core::Call>(&body.values[v].rhs);
    if (call != nullptr && body.externals[call->external].in_c())
      return refuse(out, described(), "calls the external node `" + body.externals[call->external].symbol + "`", at,
                    {"the compiler does not know what a C function does"});
  }
  return true;
}

// A fold or scan starts from its initial states at every cycle, so its body may have no memory.
bool Iterator::stands_outside_time(const Core& body, IteratorBody& out) const {
  const std::string taken = "`map` accepts it: each element then has a memory of its own";
  for (const rml::Value& v : body.values) {
    const auto* apply = std::get_if<core::Apply>(&v.rhs);
    if (apply != nullptr && operators()[apply->op].random)
      return refuse(out, described(), "draws random numbers", v.span,
                    {"draw the numbers before the iteration and pass them as a sequence"});
    if (apply != nullptr && mapped::is_over_elements(apply->op))
      return refuse(out, described(), "sums over elements", v.span, {"only `map` has all elements at the same time"});
  }
  const auto held = std::ranges::find_if_not(body.parameters, &Parameter::is_stopped);
  if (held != body.parameters.end())
    return refuse(out, described(), "has a `param`", body[held->value].span, {"pass the parameter as an argument"});
  for (const rml::Value& v : body.values) {
    if (std::holds_alternative<core::Fby>(v.rhs))
      return refuse(out, described(), "keeps a value from cycle to cycle", v.span,
                    {"pass the value as a state", taken});
    if (std::holds_alternative<core::Post>(v.rhs))
      return refuse(out, described(), "reads the next cycle", v.span, {"iterate in reverse: `scan[reverse]`"});
  }
  if (!body.asserts.empty())
    return refuse(out, described(), "contains an assert", body.asserts[0].span,
                  {"move the assert to the result of the iteration"});
  return true;
}

// True if the memory of the body can be spread over the elements.
bool Iterator::spreads(const Core& body, IteratorBody& out) const {
  const mapped::Elements elements(body, how_.sequences);
  const auto obstacle = mapped::find_obstacle(body, elements);
  if (obstacle) return refuse(out, described(), obstacle->because, obstacle->at, {obstacle->note});
  // A value that differs between elements gets one more axis outside the map.
  for (std::size_t k = 0; k < body.values.size(); ++k) {
    const rml::Value& v = body.values[k];
    if (v.shape.size() < max_rank || body.is_const(ValueId{k}) || !elements.differs(ValueId{k})) continue;
    out.code = Code::E0305;
    out.problem = "the result of this `map` has more than " + std::to_string(max_rank) + " axes";
    if (v.span.end > 0) out.places.push_back({v.span, "each element has shape " + to_string(v.shape)});
    return false;
  }
  return true;
}

void Iterator::make(const std::vector<IteratorOperand>& operands, IteratorBody& out) const {
  Iteration it;
  it.states = how_.states;
  it.sequences = how_.sequences;
  it.reverse = how_.reverse;
  if (!find_length(operands, it.length, out)) return;
  Given given = given_in_a_round(operands, out);
  std::optional<Core> body = with_states_that_hold(operands, given, out);
  if (!body) return;
  it.body = std::move(*body);
  // The next value of a state may be smaller than the state: broadcasts it.
  for (std::size_t k = 0; k < how_.states; ++k) broadcast_output(it.body, k, given.operands[k].shape);
  if (!stays_inside(it.body, out)) return;
  // The `map` of a gradient computes forward and backward results, and the latter may depend on
  // the former. So it must be split even if shapes and constants have left no memory in it.
  const bool is_called_in_time = how_.kind == ast::Iteration::map && !at_.path.empty();
  const bool lives = is_called_in_time || mapped::lives_in_time(it.body);
  if (lives && !(how_.kind == ast::Iteration::map ? spreads(it.body, out) : stands_outside_time(it.body, out))) return;
  it.body.entry = name();
  for (std::size_t v = 0; v < it.body.values.size(); ++v)
    it.can_fail = it.can_fail || rml::can_fail(it.body, ValueId(v));
  if (!find_interface(it, out)) return;
  out.external.symbol = name();
  out.external.span = call_;
  if (lives) {
    out.spreading = {std::make_shared<const Core>(std::move(it.body)), how_.sequences, it.length, it.reverse, name()};
    return;
  }
  it.body.watches.clear();
  out.external.iteration = std::make_shared<const Iteration>(std::move(it));
}

// The operands in one round: an element of each sequence, everything else as a whole.
Given Iterator::given_in_a_round(const std::vector<IteratorOperand>& operands, IteratorBody& out) const {
  Given given{dtypes_, {}, call_, at_};
  for (std::uint32_t k = 0; k < operands.size(); ++k) {
    Given::Operand o{operands[k].shape, nullptr};
    if (k >= how_.states && k < leading()) o.shape.erase(o.shape.begin());
    if (k >= leading() && stands_in_body(operands[k]))
      o.constant = operands[k].constant;
    else
      out.passed.push_back(k);
    given.operands.push_back(std::move(o));
  }
  return given;
}

// The body, with states large enough that no round yields a larger one.
std::optional<Core> Iterator::with_states_that_hold(const std::vector<IteratorOperand>& operands, Given& given,
                                                    IteratorBody& out) const {
  for (int growth = 0;; ++growth) {
    std::optional<Core> body = instantiate_body_(node_, given, depth_, out.diagnostics);
    if (!body) return std::nullopt;
    bool grown = false;
    for (std::size_t k = 0; k < how_.states; ++k) {
      const Shape& next = (*body)[body->outputs[k].value].shape;
      Shape& state = given.operands[k].shape;
      const auto both = broadcast(state, next);
      if (!both || growth == max_growth) {
        const ast::Parameter& port = program_[node_].inputs[k];
        out.code = Code::E0303;
        out.problem = "the state `" + program_.text(port.name) + "` of `" + name() + "` is " +
                      type_string(operands[k].dtype, state) + ", but becomes " + type_string(operands[k].dtype, next);
        out.places.push_back({port.span, "the state"});
        return std::nullopt;
      }
      grown = grown || *both != state;
      state = *both;
    }
    if (!grown) return body;
  }
}

// The types of the call: sequences as a whole, results other than states stacked.
bool Iterator::find_interface(const Iteration& it, IteratorBody& out) const {
  const auto whole = [&](const Port& port, bool is_stacked) {
    Shape shape = it.body[port.value].shape;
    if (is_stacked) shape.insert(shape.begin(), it.length);
    return std::pair(it.body[port.value].dtype, std::move(shape));
  };
  for (std::size_t k = 0; k < it.body.inputs.size(); ++k)
    out.external.inputs.push_back(whole(it.body.inputs[k], k >= how_.states && k < leading()));
  for (std::size_t k = 0; k < it.body.outputs.size(); ++k) {
    out.external.outputs.push_back(whole(it.body.outputs[k], k >= how_.states));
    const Shape& shape = out.external.outputs.back().second;
    if (element_count(shape) && shape.size() <= max_rank) continue;
    out.code = Code::E0305;
    out.problem = too_large(shape);
    return false;
  }
  out.outputs = out.external.outputs;
  return true;
}

}  // namespace rml::draft
