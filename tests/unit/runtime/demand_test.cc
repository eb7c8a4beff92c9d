// Evaluation on demand, with handwritten tables: when rows are known, the order of effects, and
// which values are kept.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <vector>

#include "runtime/demand/evaluator.h"
#include "runtime/demand/table.h"

namespace {

constexpr std::uint32_t none = UINT32_MAX;

// ---- a host that counts its calls

struct Host {
  std::uint64_t calls = 0, bytes = 0;
  static void* grow(void* context, void* old, std::uint64_t old_bytes, std::uint64_t new_bytes) {
    Host& host = *static_cast<Host*>(context);
    ++host.calls;
    host.bytes += new_bytes - (old == nullptr ? 0 : old_bytes);
    if (old != nullptr) std::free(old);
    if (new_bytes == 0) return nullptr;
    void* const block = std::aligned_alloc(64, (new_bytes + 63) / 64 * 64);
    std::memset(block, 0, new_bytes);
    return block;
  }
};

// ---- bodies

std::vector<double> effects;

std::int32_t add(void*, rml_header*, std::int64_t, const void* const* operands, void* const* results) {
  *static_cast<double*>(results[0]) =
      *static_cast<const double*>(operands[0]) + *static_cast<const double*>(operands[1]);
  return RML_OK;
}

std::int32_t note(void*, rml_header*, std::int64_t, const void* const* operands, void* const* results) {
  effects.push_back(*static_cast<const double*>(operands[0]));
  *static_cast<double*>(results[0]) = effects.back();
  return RML_OK;
}

constexpr std::size_t wide = 100;
std::int32_t fill(void*, rml_header*, std::int64_t, const void* const* operands, void* const* results) {
  for (std::size_t k = 0; k < wide; ++k) static_cast<double*>(results[0])[k] = *static_cast<const double*>(operands[0]);
  return RML_OK;
}

std::int32_t first_of(void*, rml_header*, std::int64_t, const void* const* operands, void* const* results) {
  *static_cast<double*>(results[0]) = static_cast<const double*>(operands[0])[0];
  return RML_OK;
}

// ---- a program

class Program {
 public:
  using Run = std::int32_t (*)(void*, rml_header*, std::int64_t, const void* const*, void* const*);

  std::uint32_t input(std::uint32_t clock = 0, std::uint64_t bytes = sizeof(double)) {
    inputs_.push_back(
        put({RML_EQ_INPUT, clock, static_cast<std::uint32_t>(inputs_.size()), 0, 0, none, none, 0, bytes, nullptr}));
    if (clock != 0)
      roots_.push_back({RML_ROOT_INPUT, inputs_.back(), static_cast<std::uint32_t>(inputs_.size() - 1), none});
    return inputs_.back();
  }
  std::uint32_t truth() { return input(0, 1); }
  std::uint32_t constant(double value) {
    return put({RML_EQ_CONSTANT, 0, 0, 0, 0, none, none, 0, sizeof value, &constants_.emplace_back(value)});
  }
  std::uint32_t row(std::uint32_t kind, std::uint32_t a, std::uint32_t b = 0, std::uint32_t c = 0,
                    std::uint32_t clock = 0, std::uint64_t bytes = sizeof(double)) {
    const std::uint32_t v = put({kind, clock, a, b, c, none, none, 0, bytes, nullptr});
    if (kind == RML_EQ_FBY) memories_.push_back(v);
    return v;
  }
  std::uint32_t body(Run run, const std::vector<std::uint32_t>& operands, std::uint32_t clock = 0,
                     std::uint64_t bytes = sizeof(double), bool effect = false) {
    const std::uint32_t v =
        put({RML_EQ_BODY, clock, static_cast<std::uint32_t>(bodies_.size()), 0, 0, none, none, 0, bytes, nullptr});
    const auto& kept = lists_.emplace_back(operands);
    const auto& own = lists_.emplace_back(std::vector<std::uint32_t>{v});
    bodies_.push_back({run, effect ? 1u : 0u, static_cast<std::uint32_t>(kept.size()), 1, kept.data(), own.data()});
    if (effect) roots_.push_back({RML_ROOT_VALUE, v, 0, none});
    return v;
  }
  std::uint32_t on(std::uint32_t condition, bool positive = true, std::uint32_t parent = 0) {
    clocks_.push_back({parent, condition, positive ? 1u : 0u, none});
    return static_cast<std::uint32_t>(clocks_.size() - 1);
  }
  rml_equation& operator[](std::uint32_t v) { return equations_[v]; }
  void output(std::uint32_t v) { outputs_.push_back(v); }

  void start() {
    const auto count = [](const auto& list) { return static_cast<std::uint32_t>(list.size()); };
    table_ = {count(equations_),  count(clocks_),
              count(bodies_),     count(roots_),
              count(inputs_),     count(outputs_),
              count(memories_),   0,
              equations_.data(),  clocks_.data(),
              bodies_.data(),     roots_.data(),
              inputs_.data(),     outputs_.data(),
              memories_.data(),   nullptr,
              sizeof(rml_header), sizeof(rml_header) + sizeof(void*)};
    state_.assign(64, 0);
    header().grow = Host::grow;
    header().context = &host;
    rml_demand_init(state_.data(), &table_);
  }
  ~Program() {
    if (!state_.empty()) rml_demand_destroy(state_.data(), &table_);
    EXPECT_EQ(host.bytes, 0u);
  }

  rml_header& header() { return *reinterpret_cast<rml_header*>(state_.data()); }

  // Runs one cycle; absent inputs are nullopt. Appends the rows that become known to `rows`.
  std::int32_t push(const std::vector<std::optional<double>>& values) {
    std::vector<double> numbers(values.size());
    std::vector<std::uint8_t> truths(values.size()), present(values.size() + outputs_.size());
    std::vector<const void*> in;
    for (std::size_t k = 0; k < values.size(); ++k) {
      present[k] = values[k] ? 1 : 0;
      numbers[k] = values[k].value_or(0), truths[k] = numbers[k] != 0 ? 1 : 0;
      in.push_back(equations_[inputs_[k]].bytes == 1 ? static_cast<const void*>(&truths[k]) : &numbers[k]);
    }
    const std::int32_t fault = rml_demand_push(state_.data(), &table_, in.data(), present.data());
    std::vector<double> row(outputs_.size());
    std::vector<void*> out;
    for (double& x : row) out.push_back(&x);
    while (rml_demand_pop(state_.data(), &table_, out.data(), present.data()) == 1) rows.push_back(row);
    return fault;
  }
  void finish() { rml_demand_finish(state_.data(), &table_); }

  // Copies the state of this program into another one with the same equations.
  void hand_over(Program& other) {
    auto& from = rml::rt::demand::evaluator_of(state_.data(), table_);
    auto& to = rml::rt::demand::evaluator_of(other.state_.data(), other.table_);
    const std::int64_t begins = from.take();
    to.begin(begins, from.cycles(), from.rows());
    for (const std::uint32_t m : memories_)
      if (const auto* cell = begins > 0 ? from.memory(m) : nullptr)
        to.put_memory(m, cell->present() ? cell->data() : nullptr);
    std::vector<std::uint32_t> outside = inputs_;
    for (const rml_body& body : bodies_)
      if (body.effect != 0) outside.push_back(body.results[0]);
    for (const std::uint32_t v : outside)
      for (std::int64_t n = begins; n < from.cycles(); ++n)
        if (const auto* cell = from.given(v, n); cell != nullptr && cell->present()) to.put(v, n, cell->data());
    to.resume();
  }

  Host host;
  std::vector<std::vector<double>> rows;

 private:
  std::uint32_t put(const rml_equation& row) {
    equations_.push_back(row);
    return static_cast<std::uint32_t>(equations_.size() - 1);
  }

  std::vector<rml_equation> equations_;
  std::vector<rml_sampled> clocks_ = {{0, 0, 0, none}, {0, 0, 0, none}};
  std::vector<rml_body> bodies_;
  std::vector<rml_root> roots_;
  std::vector<std::uint32_t> inputs_, outputs_, memories_;
  std::deque<std::vector<std::uint32_t>> lists_;
  std::deque<double> constants_;
  rml_demand table_{};
  std::vector<std::uint64_t> state_;
};

// The program y = if e then x else post y.
std::uint32_t next_end(Program& p, std::uint32_t e, std::uint32_t x) {
  const std::uint32_t at_end = p.on(e), before = p.on(e, false);
  const std::uint32_t y = p.row(RML_EQ_MERGE, e);
  const std::uint32_t post = p.row(RML_EQ_POST, y);
  p[y].b = p.row(RML_EQ_SAMPLE, x, 0, 0, at_end);
  p[y].c = p.row(RML_EQ_SAMPLE, post, 0, 0, before);
  return y;
}

TEST(Demand, a_row_is_known_as_soon_as_its_end_is_there) {
  Program p;
  const std::uint32_t e = p.truth(), x = p.input();
  p.output(next_end(p, e, x));
  p.start();
  const std::vector<std::size_t> after = {0, 0, 3, 4, 4};
  for (std::size_t n = 0; n < after.size(); ++n) {
    p.push({n == 2 || n == 3 ? 1.0 : 0.0, static_cast<double>(n)});
    EXPECT_EQ(p.rows.size(), after[n]) << n;
  }
  EXPECT_EQ(p.rows, (std::vector<std::vector<double>>{{2}, {2}, {2}, {3}}));
}

TEST(Demand, a_chain_of_a_million_instants) {
  Program p;
  const std::uint32_t e = p.truth(), x = p.input();
  p.output(next_end(p, e, x));
  p.start();
  constexpr std::size_t length = 1'000'000;
  for (std::size_t n = 0; n + 1 < length; ++n) p.push({0.0, 1.0});
  EXPECT_TRUE(p.rows.empty());
  p.push({1.0, 7.0});
  ASSERT_EQ(p.rows.size(), length);
  EXPECT_EQ(p.rows.front(), std::vector<double>{7});
  EXPECT_EQ(p.rows.back(), std::vector<double>{7});
}

// If segments are short, no more memory is requested from the host.
TEST(Demand, memory_is_that_of_the_window) {
  Program p;
  const std::uint32_t e = p.truth(), x = p.input();
  const std::uint32_t tensor = p.body(fill, {x}, 0, wide * sizeof(double));
  const std::uint32_t y = next_end(p, e, tensor);
  for (const std::uint32_t v : {y, p[y].b, p[y].c, p[p[y].c].a}) p[v].bytes = wide * sizeof(double);
  p.output(p.body(first_of, {y}));
  p.start();
  std::uint64_t calls = 0;
  for (int n = 0; n < 100'000; ++n) {
    p.push({n % 5 == 4 ? 1.0 : 0.0, static_cast<double>(n)});
    if (n == 20'000) calls = p.host.calls;
  }
  EXPECT_EQ(p.rows.size(), 100'000u);
  EXPECT_EQ(p.rows[99'990][0], 99'994);
  EXPECT_EQ(p.host.calls, calls);
  EXPECT_LT(p.header().longest_segment, 40);
}

// A branch that is never taken is not evaluated, and its operands are not kept.
TEST(Demand, what_nobody_needs_is_not_waited_for) {
  Program p;
  const std::uint32_t c = p.truth(), e = p.truth(), x = p.input();
  const std::uint32_t late = next_end(p, e, x);
  const std::uint32_t y = p.row(RML_EQ_MERGE, c);
  p[y].b = p.row(RML_EQ_SAMPLE, late, 0, 0, p.on(c));
  p[y].c = p.constant(0.5);
  p.output(y);
  p.start();
  for (int n = 0; n < 100'000; ++n) p.push({0.0, 0.0, 1.0});
  EXPECT_EQ(p.rows.size(), 100'000u);
  EXPECT_LT(p.host.bytes, 1u << 20);
  EXPECT_LT(p.header().longest_segment, 1000);
}

// s = 0 fby (s + x) on a clock that rarely ticks: its memory is found after many cycles.
TEST(Demand, memories_of_sampled_clocks) {
  Program p;
  const std::uint32_t c = p.truth();
  const std::uint32_t clock = p.on(c);
  const std::uint32_t x = p.input(clock);
  const std::uint32_t before = p.row(RML_EQ_FBY, p.constant(0), 0, 0, clock);
  const std::uint32_t sum = p.body(add, {before, x}, clock);
  p[before].b = sum;
  const std::uint32_t y = p.row(RML_EQ_MERGE, c, sum, p.constant(-1));
  p.output(y);
  p.start();
  for (int n = 0; n < 100'000; ++n) {
    const bool here = n % 10'000 == 0;
    p.push({here ? 1.0 : 0.0, here ? std::optional(2.0) : std::nullopt});
  }
  ASSERT_EQ(p.rows.size(), 100'000u);
  EXPECT_EQ(p.rows[0][0], 2);
  EXPECT_EQ(p.rows[1][0], -1);
  EXPECT_EQ(p.rows[90'000][0], 20);
  EXPECT_LT(p.host.bytes, 1u << 20);
}

TEST(Demand, an_input_against_its_clock) {
  Program p;
  const std::uint32_t c = p.truth();
  const std::uint32_t x = p.input(p.on(c));
  p.output(x);
  p.start();
  EXPECT_EQ(p.push({1.0, 2.0}), RML_OK);
  EXPECT_EQ(p.push({1.0, std::nullopt}), RML_FAULT_PRESENCE);
  EXPECT_EQ(p.header().fault_cycle, 1);
  EXPECT_EQ(p.header().value, 1);
  EXPECT_EQ(p.header().pushed, 1);
  EXPECT_EQ(p.rows.size(), 1u);
}

// The effect of the first instant waits for its argument, and the effects of later instants wait
// for it.
TEST(Demand, effects_come_in_the_order_of_their_instants) {
  Program p;
  const std::uint32_t e = p.truth(), x = p.input();
  const std::uint32_t argument = p.row(RML_EQ_MERGE, e);
  const std::uint32_t post = p.row(RML_EQ_POST, x);
  p[argument].b = p.row(RML_EQ_SAMPLE, x, 0, 0, p.on(e));
  p[argument].c = p.row(RML_EQ_SAMPLE, p.row(RML_EQ_POST, post), 0, 0, p.on(e, false));
  p.output(p.body(note, {argument}, 0, sizeof(double), true));
  p.start();
  effects.clear();
  p.push({0.0, 1.0});
  p.push({1.0, 2.0});
  EXPECT_TRUE(effects.empty());
  p.push({1.0, 3.0});
  EXPECT_EQ(effects, (std::vector<double>{3, 2, 3}));
  EXPECT_EQ(p.rows.size(), 3u);
}

// Cycles without a tick in between are not visited again.
TEST(Demand, effects_on_a_clock_that_is_seldom_there) {
  Program p;
  const std::uint32_t c = p.truth(), x = p.input();
  const std::uint32_t clock = p.on(c);
  const std::uint32_t noted = p.body(note, {p.row(RML_EQ_SAMPLE, x, 0, 0, clock)}, clock, sizeof(double), true);
  p.output(p.row(RML_EQ_MERGE, c, noted, p.constant(-1)));
  p.start();
  effects.clear();
  for (int n = 0; n < 50'001; ++n) p.push({n % 25'000 == 24'999 ? 1.0 : 0.0, static_cast<double>(n)});
  EXPECT_EQ(effects, (std::vector<double>{24'999, 49'999}));
  EXPECT_EQ(p.rows.size(), 50'001u);
}

// Results of effects are part of a state as long as they may be requested.
TEST(Demand, effects_are_not_repeated) {
  const auto build = [](Program& p) {
    const std::uint32_t e = p.truth(), x = p.input();
    const std::uint32_t noted = p.body(note, {x}, 0, sizeof(double), true);
    p.output(next_end(p, e, noted));
    p.output(p.body(add, {noted, p.row(RML_EQ_FBY, p.constant(0), x)}));
    p.start();
  };
  effects.clear();
  std::vector<std::vector<double>> rows;
  std::deque<Program> programs;
  for (int n = 0; n < 12; ++n) {
    Program& p = programs.emplace_back();
    build(p);
    if (n > 0) programs[static_cast<std::size_t>(n) - 1].hand_over(p);
    p.push({n % 4 == 3 ? 1.0 : 0.0, static_cast<double>(n)});
    rows.insert(rows.end(), p.rows.begin(), p.rows.end());
  }
  EXPECT_EQ(effects, (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  ASSERT_EQ(rows.size(), 12u);
  EXPECT_EQ(rows[4], (std::vector<double>{7, 4 + 3}));
  EXPECT_EQ(rows[11], (std::vector<double>{11, 11 + 10}));
}

// y = x + post (0 fby y), and a value that waits for it, are never known. This is reported with
// the place.
TEST(Demand, what_needs_itself) {
  Program p;
  const std::uint32_t x = p.input();
  const std::uint32_t memory = p.row(RML_EQ_FBY, p.constant(0));
  const std::uint32_t post = p.row(RML_EQ_POST, memory);
  const std::uint32_t y = p.body(add, {x, post});
  p[memory].b = y;
  p[post].site = 5;
  p.output(y);
  p.start();
  p.push({1.0});
  EXPECT_EQ(p.header().waiting, -1);
  for (int n = 0; n < 3; ++n) p.push({1.0});
  EXPECT_TRUE(p.rows.empty());
  EXPECT_EQ(p.header().waiting, -2 - 5);
  p.finish();
  EXPECT_EQ(p.header().waiting, -2 - 5);
}

TEST(Demand, what_a_row_waits_for) {
  Program p;
  const std::uint32_t e = p.truth(), x = p.input();
  const std::uint32_t y = next_end(p, e, x);
  p[p[y].c].cut = 3;
  p.output(y);
  p.start();
  for (int n = 0; n < 4; ++n) p.push({0.0, 1.0});
  p.finish();
  EXPECT_EQ(p.header().waiting, 3);
  p.push({1.0, 1.0});
  p.finish();
  EXPECT_EQ(p.header().waiting, -1);
}

TEST(Demand, memory_that_is_refused) {
  Program p;
  const std::uint32_t e = p.truth(), x = p.input();
  p.output(next_end(p, e, x));
  p.start();
  p.push({1.0, 1.0});
  p.header().grow = [](void* context, void* old, std::uint64_t old_bytes, std::uint64_t new_bytes) -> void* {
    return new_bytes == 0 ? Host::grow(context, old, old_bytes, 0) : nullptr;
  };
  std::int32_t fault = RML_OK;
  for (int n = 0; n < 100 && fault == RML_OK; ++n) fault = p.push({0.0, 1.0});
  EXPECT_EQ(fault, RML_FAULT_MEMORY);
  EXPECT_GT(p.header().value, 0);
  EXPECT_EQ(p.rows.size(), 1u);
}

}  // namespace
