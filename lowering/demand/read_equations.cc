// Reads the bodies in the order in which build_on_demand makes them.
#include "lowering/demand/read_equations.h"

namespace rml {

EquationsReader::EquationsReader(TextLines& lines, std::shared_ptr<const Core> core, std::size_t sites,
                                 std::size_t cuts)
    : FormReader(lines), made_(std::make_shared<steps::OnDemand>()) {
  speak_of(core);
  const steps::Program built = build_on_demand(std::move(core));
  *made_ = *built.on_demand;
  if (sites < built.sites.size() || cuts < built.cuts.size())
    lines_.fail("the equations refer to " + std::to_string(built.sites.size()) + " sites and " +
                std::to_string(built.cuts.size()) + " cuts");
}

bool EquationsReader::equation(const ReadBody& read_body) {
  if (read_ == made_->bodies.size()) lines_.fail("no further equation has a body");
  if (!lines_.ok()) return true;
  steps::DemandBody& body = made_->bodies[read_++];
  const auto expect = [&](const std::vector<ValueId>& values) {
    if (value_list() != values) lines_.fail("these values differ from those in the core");
  };
  if (value() != body.value) lines_.fail("expected " + id_text(body.value) + ", the next equation with a body");
  lines_.expect("of");
  expect(body.operands);
  lines_.expect("gives");
  expect(body.results);
  if (lines_.take("effect") != body.effect) lines_.fail("the mark `effect` differs from the core");
  if (lines_.take("by")) {
    body.steps = read_body(*body.core, id_text(body.value));
    return true;
  }
  const std::size_t begin = lines_.place();
  const std::optional<Core> core = read_inner_core(lines_);
  if (core && inner_core_text(*core) != inner_core_text(*body.core))
    lines_.fail_at(begin, "this body differs from the one in the core");
  return true;
}

void EquationsReader::finish() {
  if (read_ < made_->bodies.size()) lines_.fail("the bodies of further equations are missing");
}

}  // namespace rml
