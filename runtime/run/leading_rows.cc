// Tracks for each peer whether it already received the next row, so that the row is not sent to
// it twice.
#include "runtime/run/leading_rows.h"

#include <algorithm>

#include "runtime/checkpoint/checkpoint.h"

namespace rml::rt {

void LeadingRows::begin(const std::vector<Endpoint>& outputs, const std::vector<std::string>& led) {
  had_.assign(outputs.size(), false);
  known_.assign(program_.n_outputs, 0);
  for (std::size_t k = 0; k < outputs.size(); ++k) {
    // An output with cells copied from the input needs the input row, so it cannot be sent early.
    if (!outputs[k].peer || outputs[k].kept != nullptr) continue;
    peers_.push_back({k, recorded_path(outputs[k].path), outputs[k].ports});
    had_[k] = std::find(led.begin(), led.end(), peers_.back().path) != led.end();
    any_ = any_ || had_[k];
  }
}

void LeadingRows::send(void* state, const FiniteCheck* finite) {
  if (any_) return;
  program_.lead(state, row_.pointers(), row_.present(), known_.data());
  for (std::uint32_t i = 0; i < program_.n_outputs; ++i)
    if (program_.outputs[i].always) row_.set_present(i, true);
  for (const Peer& peer : peers_) {
    if (!known(peer, finite)) continue;
    had_[peer.sink] = any_ = true;
    sinks_.write_early(peer.sink);
  }
}

bool LeadingRows::known(const Peer& peer, const FiniteCheck* finite) const {
  return std::all_of(peer.ports.begin(), peer.ports.end(),
                     [&](std::uint32_t i) { return known_[i] != 0 && (finite == nullptr || finite->is_finite(i)); });
}

void LeadingRows::write_rest() {
  any_ = false;
  sinks_.write_but(had_);
  had_.assign(had_.size(), false);
}

std::vector<std::string> LeadingRows::led() const {
  std::vector<std::string> paths;
  for (const Peer& peer : peers_)
    if (had_[peer.sink]) paths.push_back(peer.path);
  return paths;
}

std::vector<std::string> LeadingRows::warnings() const {
  std::vector<std::string> lines;
  for (const Peer& peer : peers_)
    for (const std::uint32_t i : peer.ports)
      if (program_.outputs[i].late != 0)
        lines.push_back(
            std::string("output '") + program_.outputs[i].name +
            "' may be known before the inputs of its cycle, but is written after them: if the peer that feeds "
            "the program waits for it, both wait forever; rmlc run without --parallel writes it early");
  return lines;
}

}  // namespace rml::rt
