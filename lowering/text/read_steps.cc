// Reads the text that steps_text writes.
//
// Tables precede the lines that refer to them, so every number is checked where it occurs. Only units may be mentioned
// before they are defined; these mentions are checked at the end.
#include <utility>

#include "lowering/demand/read_equations.h"
#include "lowering/schedule/form_reader.h"
#include "lowering/steps/find_packs.h"
#include "lowering/steps/find_windows.h"
#include "lowering/text/read_leader.h"
#include "lowering/text/steps_text.h"

namespace rml {

namespace {

constexpr std::size_t most_branches = 2000, most_bodies = 256;  // limits of nesting

class StepsReader : FormReader {
 public:
  // Reads steps. For the body of an iteration, `sites` is the number of sites of the whole program.
  StepsReader(TextLines& lines, std::size_t depth, std::size_t sites)
      : FormReader(lines), depth_(depth), outer_sites_(sites) {}

  // Reads from the line after the current one to the end of the text; for a body, to its `end`.
  std::optional<steps::Program> read() {
    if (!read_core_lines()) return std::nullopt;
    p_.core = shared_core();
    p_.bodies.resize(core().externals.size());
    p_.inlined.resize(values());
    p_.value_sites.assign(values(), UINT32_MAX);
    p_.input_queues.resize(core().inputs.size());
    p_.input_flags.resize(core().inputs.size());
    bool ended = false;
    while (!ended && lines_.next()) {
      ended = depth_ > 0 && lines_.take("end");
      if (!ended && !table_line() && !unit_line()) lines_.fail_expecting("a line of steps");
    }
    if (depth_ > 0 && !ended) lines_.fail("a body lacks its `end`");
    finish();
    if (!lines_.ok()) return std::nullopt;
    return std::move(p_);
  }

 private:
  struct Type {
    DType dtype;
    const Shape& shape;
  };
  Type type_of(ValueId v) const { return {core()[v].dtype, core()[v].shape}; }
  Type type_of(CellId c) const { return {p_.cells[c.index].dtype, p_.cells[c.index].shape}; }
  Type type_of(ArrayId a) const { return {p_.arrays[a.index].dtype, p_.arrays[a.index].shape}; }
  Type type_of(QueueId q) const { return {p_.queues[q.index].dtype, p_.queues[q.index].shape}; }

  template <class A, class B>
  void require_same_type(A a, B b) {
    if (!lines_.ok()) return;
    const Type x = type_of(a), y = type_of(b);
    if (x.dtype != y.dtype || x.shape != y.shape)
      lines_.fail("this is " + type_string(y.dtype, y.shape) + ", not " + type_string(x.dtype, x.shape));
  }
  template <class A, class B>
  B like(A a, B b) {
    require_same_type(a, b);
    return b;
  }
  template <class A>
  void require_truth(A a, const std::string& what) {
    if (!lines_.ok()) return;
    const Type type = type_of(a);
    if (type.dtype != DType::boolean || !type.shape.empty()) lines_.fail(what);
  }
  ValueId truth(ValueId v) {
    require_truth(v, id_text(v) + " is not a Boolean scalar");
    return v;
  }

  // ---- ids

  CellId cell() { return CellId{index("cell", p_.cells.size())}; }
  QueueId queue() { return QueueId{index("queue", p_.queues.size())}; }
  ArrayId array() {
    const ArrayId a{index("array", p_.arrays.size())};
    if (lines_.ok() && !p_.units.empty() && p_.arrays[a.index].unit != p_.units.size() - 1)
      lines_.fail("this array is one of unit " + std::to_string(p_.arrays[a.index].unit));
    return a;
  }
  std::uint32_t site() {
    lines_.expect("site");
    return index("site", p_.sites.size());
  }
  std::uint32_t input() { return index("input", core().inputs.size()); }
  std::uint32_t output() { return index("output", core().outputs.size()); }
  std::uint32_t unit_number() {
    const auto unit = lines_.integer<std::uint32_t>("the number of a unit");
    mentioned_.emplace_back(lines_.place(), unit);
    return unit;
  }
  std::string text() { return lines_.peek() == '"' ? lines_.name() : ""; }

  // ---- tables

  bool table_line() {
    if (!p_.units.empty()) return false;
    if (lines_.take("straight")) return p_.straight = true;
    if (lines_.take("network")) return p_.network = true;
    if (lines_.take("cell")) return cell_line();
    if (lines_.take("queue")) return queue_line();
    if (lines_.take("array")) return array_line();
    if (lines_.take("input")) return input_line();
    if (lines_.take("site")) return site_line();
    if (lines_.take("site_of")) return site_of_line();
    if (lines_.take("cut")) return cut_line();
    if (lines_.take("parameter")) return parameter_line();
    if (lines_.take("watch")) return watch_line();
    if (lines_.take("window")) return window_line();
    if (lines_.take("pack")) return pack_line();
    if (!lines_.take("inlined")) return false;
    for (const ValueId v : value_list()) p_.inlined[v.index] = true;
    return true;
  }

  bool cell_line() {
    next_index("cell", p_.cells.size());
    steps::CellInfo c;
    std::tie(c.dtype, c.shape) = type();
    if (lines_.take("=")) c.initial = read_constant(lines_, c.dtype, c.shape, uniform_bytes_);
    c.local = lines_.take("local");
    if (lines_.take("of")) c.fby = value();
    c.name = text();
    p_.cells.push_back(std::move(c));
    return true;
  }

  bool queue_line() {
    next_index("queue", p_.queues.size());
    steps::QueueInfo q;
    std::tie(q.dtype, q.shape) = type();
    lines_.expect("readers");
    while (lines_.take("+")) q.skips.push_back(lines_.integer<std::uint32_t>("a number of elements"));
    q.readers = static_cast<std::uint32_t>(q.skips.size());
    q.overtaken = lines_.take("overtaken");
    q.passing = lines_.take("passing");
    if (lines_.take("first")) q.first = value();
    if (lines_.ok() && q.first.valid() && !core().is_const(q.first))
      lines_.fail(id_text(q.first) + " is not a constant");
    if (lines_.take("of")) q.fby = value();
    q.name = text();
    p_.queues.push_back(std::move(q));
    if (const ValueId first = p_.queues.back().first; first.valid())
      require_same_type(QueueId{p_.queues.size() - 1}, first);
    return true;
  }

  bool array_line() {
    next_index("array", p_.arrays.size());
    steps::ArrayInfo a;
    std::tie(a.dtype, a.shape) = type();
    lines_.expect("of");
    lines_.expect("unit");
    a.unit = unit_number();
    a.name = text();
    p_.arrays.push_back(std::move(a));
    return true;
  }

  bool input_line() {
    const std::uint32_t i = input();
    lines_.expect("queue");
    p_.input_queues[i] = queue();
    if (!lines_.ok()) return true;
    require_same_type(p_.input_queues[i], core().inputs[i].value);
    if (!lines_.take("flags")) return true;
    p_.input_flags[i] = queue();
    require_truth(p_.input_flags[i], "this queue is not one of Boolean scalars");
    return true;
  }

  bool site_line() {
    next_index("site", p_.sites.size());
    std::string message = lines_.name();
    p_.sites.push_back({read_span(lines_), std::move(message)});
    return true;
  }

  bool site_of_line() {
    const ValueId v = value();
    lines_.expect("=");
    const std::uint32_t of = index("site", std::max(outer_sites_, p_.sites.size()));
    if (lines_.ok()) p_.value_sites[v.index] = of;
    return true;
  }

  bool cut_line() {
    next_index("cut", p_.cuts.size());
    std::string condition = lines_.name();
    p_.cuts.push_back({std::move(condition), read_span(lines_)});
    return true;
  }

  bool parameter_line() {
    steps::ParameterInfo p;
    p.path = lines_.name();
    std::tie(p.dtype, p.shape) = type();
    if (lines_.take("site")) p.site = value();
    if (lines_.take("cell")) p.cell = cell();
    p_.parameters.push_back(std::move(p));
    return true;
  }

  bool watch_line() {
    steps::Watch w;
    if (lines_.take("output")) w.output = output();
    if (lines_.take("memory")) w.fby = value();
    if (lines_.take("cell")) w.cell = cell();
    if (lines_.take("queue")) w.queue = queue();
    if (lines_.take("shows")) w.value = value();
    if (lines_.take("named")) w.named = value();
    p_.watches.push_back(w);
    return true;
  }

  bool window_line() {
    const ValueId v = value();
    const std::optional<Move> move = lines_.ok() ? as_move(core(), v) : std::nullopt;
    if (!move || p_.windows.contains(v)) lines_.fail(id_text(v) + (move ? " is a window already" : " moves no rows"));
    lines_.expect("in");
    lines_.expect("cell");
    const CellId c = like(v, cell());
    if (lines_.ok()) p_.windows[v] = {c, move->entering, move->rows, move->newest_first};
    return true;
  }

  bool pack_line() {
    next_index("pack", p_.packs.list.size());
    lines_.expect("of");
    lines_.expect("cell");
    const CellId c = cell();
    const std::uint32_t unit = lines_.take("unit") ? unit_number() : 0;
    lines_.expect("for");
    std::optional<steps::Pack> pack;
    for (const ValueId v : value_list()) {
      std::optional<PackedMatrix> m = lines_.ok() ? packed_matrix(p_, v) : std::nullopt;
      if (!m) lines_.fail(id_text(v) + " is not a product that can have a pack");
      if (!lines_.ok()) return true;
      require_same_type(m->lies, c);
      m->pack.cell = c, m->pack.unit = unit;
      if (pack && *pack != m->pack) lines_.fail(id_text(v) + " reads its matrix in another order");
      if (!p_.packs.of.emplace(v, p_.packs.list.size()).second) lines_.fail(id_text(v) + " has a pack already");
      pack = m->pack;
    }
    if (!pack) lines_.fail_expecting("a product");
    p_.packs.list.push_back(pack.value_or(steps::Pack{}));
    return true;
  }

  // ---- units

  bool unit_line() {
    if (equations_)
      return lines_.take("equation") && equations_->equation([&](const Core& like, const std::string& whose) {
        return inner_steps(like, p_.sites.size(), whose);
      });
    if (lines_.take("on")) return on_demand_line();
    if (lines_.take("unit")) return begin_unit();
    if (lines_.take("rows")) return in_rows_ = true;
    if (lines_.take("body")) return body_line();
    if (lines_.take("leader")) return leader_line();
    if (in_rows_) return row_line();
    if (p_.units.empty()) return false;
    steps::Unit& u = p_.units.back();
    if (lines_.take("operand")) {
      u.operands.push_back(operand());
    } else if (lines_.take("raw_input")) {
      u.raw_inputs.push_back(input());
      if (lines_.ok() && !p_.input_flags[u.raw_inputs.back()].valid()) lines_.fail("this input has no flags");
    } else if (lines_.take("after")) {
      u.after.push_back(unit_number());
    } else if (p_.straight && lines_.take("lead")) {
      block(p_.lead);
    } else if (lines_.take("instant")) {
      block(u.instant);
    } else {
      return u.segmented && segment_line(u);
    }
    return true;
  }

  bool on_demand_line() {
    lines_.expect("demand");
    if (!p_.units.empty() || p_.straight || p_.network || depth_ > 0)
      lines_.fail("only a program without a schedule has equations");
    if (lines_.ok()) equations_.emplace(lines_, shared_core(), p_.sites.size(), p_.cuts.size());
    if (equations_) p_.on_demand = equations_->made();
    return true;
  }

  // Reads a straight program within this one, whose ports are those of `like`.
  std::shared_ptr<steps::Program> inner_steps(const Core& like, std::size_t sites, const std::string& whose) {
    const std::size_t begin = lines_.place();
    auto inner = lines_.ok() ? StepsReader(lines_, depth_ + 1, sites).read() : std::nullopt;
    if (!inner) return nullptr;
    if (!inner->straight || !alike_ports(like, like.inputs, *inner->core, inner->core->inputs) ||
        !alike_ports(like, like.outputs, *inner->core, inner->core->outputs))
      lines_.fail_at(begin, "this is not the body of " + whose);
    return std::make_shared<steps::Program>(std::move(*inner));
  }

  bool begin_unit() {
    if (in_rows_) lines_.fail("units come before the rows");
    next_index("unit", p_.units.size());
    steps::Unit u;
    u.segmented = lines_.take("segmented");
    if (!u.segmented) lines_.expect("forward");
    lines_.expect("on");
    u.clock = clock();
    if (u.segmented) {
      lines_.expect("cut");
      u.cut_index = index("cut", p_.cuts.size());
    }
    u.name = text();
    p_.units.push_back(std::move(u));
    return true;
  }

  bool segment_line(steps::Unit& u) {
    if (lines_.take("before")) {
      block(u.before);
    } else if (lines_.take("sweep")) {
      const bool backward = lines_.take("backward");
      if (!backward) lines_.expect("forward");
      u.sweeps.emplace_back();
      u.sweeps.back().backward = backward;
    } else if (lines_.take("commit")) {
      block(u.commit);
    } else if (u.sweeps.empty()) {
      return false;
    } else if (lines_.take("prologue")) {
      block(u.sweeps.back().prologue);
    } else if (lines_.take("loop")) {
      block(u.sweeps.back().body);
    } else {
      return false;
    }
    return true;
  }

  bool row_line() {
    steps::Emitter& e = p_.emitter;
    if (lines_.take("operand")) {
      e.operands.push_back(operand());
    } else if (lines_.take("output")) {
      const std::uint32_t of = output();
      lines_.expect("=");
      lines_.expect("operand");
      e.outputs.emplace_back(of, index("operand", e.operands.size()));
    } else {
      return false;
    }
    return true;
  }

  steps::Operand operand() {
    steps::Operand o;
    o.value = value();
    lines_.expect("=");
    lines_.expect("queue");
    o.queue = queue();
    if (!lines_.ok()) return o;
    require_same_type(o.queue, o.value);
    const std::uint32_t readers = p_.queues[o.queue.index].readers;
    if (lines_.take("reader"))
      o.reader = index("reader", readers);
    else if (readers == 0)
      lines_.fail("this queue has no readers");
    while (lines_.take("if")) o.when.push_back(condition());
    while (lines_.take("needed")) o.needed.push_back(condition());
    o.belated = lines_.take("belated");
    o.once = lines_.take("once");
    return o;
  }
  std::pair<ValueId, bool> condition() {
    const Literal l = literal();
    return {truth(l.condition), l.positive};
  }

  bool body_line() {
    if (depth_ + 1 == most_bodies) lines_.fail("the bodies are nested too deeply");
    const std::uint32_t k = index("external", p_.bodies.size());
    if (!lines_.ok()) return true;
    const Iteration* it = core().externals[k].iteration.get();
    if (it == nullptr || p_.bodies[k] != nullptr) {
      lines_.fail(it == nullptr ? "external " + std::to_string(k) + " is not an iteration" : "it has a body already");
      return true;
    }
    p_.bodies[k] = inner_steps(it->body, std::max(outer_sites_, p_.sites.size()), "external " + std::to_string(k));
    return true;
  }

  bool leader_line() {
    if (p_.straight || depth_ > 0) lines_.fail("only a program with units has a leader");
    p_.leader = read_leader(lines_, p_,
                            [&](const Core& like, const std::string& whose) { return inner_steps(like, 0, whose); });
    return true;
  }

  // ---- statements

  // Reads lines up to `end`.
  void block(steps::Block& into) {
    if (!into.statements.empty()) lines_.fail("this block occurs twice");
    if (statements(into)) lines_.fail("`else` belongs to an `if`");
  }
  // Reads lines up to `end` or `else`; returns true for `else`.
  bool statements(steps::Block& into) {
    while (lines_.next()) {
      if (lines_.take("end")) return false;
      if (lines_.take("else")) return true;
      if (lines_.take("if"))
        into.statements.emplace_back(branch());
      else
        into.statements.push_back(statement());
    }
    lines_.fail("a block lacks its `end`");
    return false;
  }

  steps::Branch branch() {
    steps::Branch b;
    b.test.positive = !lines_.take("not");
    if (lines_.next_is("first") || lines_.next_is("last")) {
      require_segment();
      b.test.kind = lines_.take("first") ? steps::Test::first : steps::Test::last;
      lines_.take("last");
    } else {
      b.test.condition = truth(value());
    }
    b.then_block = std::make_unique<steps::Block>();
    b.else_block = std::make_unique<steps::Block>();
    if (++branches_ > most_branches) lines_.fail("more than " + std::to_string(most_branches) + " nested branches");
    if (statements(*b.then_block) && statements(*b.else_block)) lines_.fail("this branch has an `else` already");
    --branches_;
    return b;
  }
  void require_segment() {
    if (!p_.units.back().segmented) lines_.fail_at(lines_.next_place(), "this unit has no segments");
  }

  steps::Statement statement() {
    if (lines_.peek() == '%') return definition();
    if (lines_.take("cell")) return to_cell();
    if (lines_.take("array")) return to_array();
    if (lines_.take("push")) return push();
    if (lines_.take("output")) return store_output();
    if (lines_.take("expect")) return expect();
    if (lines_.take("assert")) return steps::Assert{truth(value()), site()};
    if (lines_.take("assume")) return assume();
    if (lines_.next_is("last")) {
      require_segment();
      lines_.take("last");
      lines_.expect(":=");
      const auto [v, positive] = condition();
      return steps::MarkLast{v, positive};
    }
    lines_.fail_expecting("a statement");
    return steps::Compute{};
  }

  steps::Statement definition() {
    const ValueId v = value();
    if (!lines_.ok()) return steps::Compute{};
    if (!lines_.take(":=")) {
      const core::Rhs& rhs = core()[v].rhs;
      if (!std::holds_alternative<core::Const>(rhs) && !std::holds_alternative<core::Apply>(rhs) &&
          !std::holds_alternative<core::Call>(rhs))
        lines_.fail("its equation is not computed, but is " + equation_text(core(), v));
      if (!lines_.next_is("=")) lines_.fail_expecting("'=' or ':='");
      equation_of(v);
      return steps::Compute{v};
    }
    if (lines_.take("input")) return load_input(v);
    if (lines_.take("cell")) return steps::LoadCell{v, like(v, cell())};
    if (lines_.take("array")) return steps::LoadArray{v, like(v, array())};
    return steps::Copy{v, like(v, value())};
  }

  steps::Statement load_input(ValueId v) {
    const auto* i = std::get_if<core::Input>(&core()[v].rhs);
    if (i == nullptr)
      lines_.fail(id_text(v) + " is not an input");
    else if (!p_.straight && !p_.input_flags[i->index].valid())
      lines_.fail("this input comes through a queue");
    return steps::LoadInput{v};
  }

  steps::Statement to_cell() {
    const CellId to = cell();
    lines_.expect(":=");
    if (!lines_.ok()) return steps::StoreCell{};
    if (lines_.take("cell")) return steps::MoveCell{to, like(to, cell())};
    if (lines_.peek() != '(') return steps::StoreCell{to, like(to, value())};
    steps::SegmentProduct s = product();
    s.sum = to;
    if (!lines_.take("onto")) return s;
    lines_.expect("cell");
    s.onto = cell();
    return s;
  }

  steps::Statement to_array() {
    const ArrayId to = array();
    lines_.expect(":=");
    if (!lines_.ok()) return steps::StoreArray{};
    if (lines_.peek() != '(') return steps::StoreArray{to, like(to, value())};
    steps::SegmentProduct s = product();
    s.rows = to;
    return s;
  }

  steps::SegmentProduct product() {
    require_segment();
    steps::SegmentProduct s;
    extents(s.m, s.inner, s.n);
    s.a = matrix();
    lines_.expect("times");
    s.b = matrix();
    lines_.expect("of");
    s.value = value();
    return s;
  }
  steps::SegmentMatrix matrix() {
    steps::SegmentMatrix x;
    if (lines_.take("array"))
      x.array = array();
    else
      x.held = value();
    extents(x.row, x.column);
    return x;
  }

  steps::Statement push() {
    lines_.expect("queue");
    const QueueId q = queue();
    return steps::Push{q, like(q, value())};
  }

  steps::Statement store_output() {
    if (!p_.straight) lines_.fail("only straight programs store outputs");
    const std::uint32_t o = output();
    lines_.expect(":=");
    return steps::StoreOutput{o, lines_.ok() ? like(core().outputs[o].value, value()) : ValueId{}};
  }

  steps::Statement expect() {
    lines_.expect("input");
    const std::uint32_t i = input();
    if (lines_.ok() && !p_.straight && !p_.input_flags[i].valid()) lines_.fail("this input has no flags");
    const bool present = lines_.take("present");
    if (!present) lines_.expect("absent");
    return steps::Expect{i, present};
  }

  steps::Statement assume() {
    const bool positive = !lines_.take("not");
    lines_.expect("cell");
    const CellId c = cell();
    require_truth(c, "this cell is not a Boolean scalar");
    return steps::SideCell{c, positive, site()};
  }

  void finish() {
    for (const auto& [place, unit] : mentioned_)
      if (unit >= p_.units.size()) lines_.fail_at(place, "there is no unit " + std::to_string(unit));
    if (equations_) equations_->finish();
    if (!p_.straight || !lines_.ok()) return;
    if (p_.units.size() != 1 || p_.units[0].segmented || p_.units[0].clock != base_clock || in_rows_)
      lines_.fail("a straight program has one unit, forward on base, and no rows");
  }

  steps::Program p_;
  std::size_t depth_, outer_sites_;
  std::size_t uniform_bytes_ = 0, branches_ = 0;
  bool in_rows_ = false;
  std::optional<EquationsReader> equations_;                      // for a program that runs on demand
  std::vector<std::pair<std::size_t, std::uint32_t>> mentioned_;  // units, and the positions of the mentions
};

}  // namespace

std::optional<steps::Program> read_steps(std::string_view text, TextFault& fault) {
  TextLines lines(text);
  if (!lines.next()) lines.fail_expecting("'form steps'");
  lines.expect_form("steps");
  auto program = lines.ok() ? StepsReader(lines, 0, 0).read() : std::nullopt;
  fault = lines.fault();
  return program;
}

}  // namespace rml
