// All passes of scheduling, in their order.
#include "lowering/schedule/passes.h"

namespace rml {

std::optional<Schedule> schedule(const Core& input, Diagnostics& diagnostics, Grain grain) {
  Core core = give_constants_streams(undo_delays(prune_undemanded(input)));
  if (!check_order(core, diagnostics)) return std::nullopt;
  const auto retimed = std::make_shared<const Core>(prune_undemanded(retime(std::move(core))));
  const ScheduleFacts facts(*retimed);
  std::optional<Schedule> grouped = group_units(retimed, facts, diagnostics);
  if (!grouped) return std::nullopt;
  Schedule s = absorb(std::move(*grouped), facts);
  s = split_units(std::move(s), facts);
  s = sort_units(std::move(s), facts);
  s = complete_units(std::move(s), facts);
  s = order_values(std::move(s), facts);
  if (grain == Grain::op || grain == Grain::stage) {
    s = partition(std::move(s), facts, grain);
    s = complete_units(std::move(s), facts);
  }
  if (grain == Grain::none) s = mark_straight(std::move(s));
  return add_cuts(add_zeros(std::move(s)));
}

}  // namespace rml
