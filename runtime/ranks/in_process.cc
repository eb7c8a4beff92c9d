// A single mutex suffices: messages are few and large, and they are moved, not copied.
#include "runtime/ranks/in_process.h"

#include <chrono>

namespace rml::rt {
namespace {

std::uint64_t key(Tag tag) { return std::uint64_t{tag.site} * talks + static_cast<std::uint64_t>(tag.talk); }

// A message ends a pause. A signal or the end of the patience is noticed after this time at the
// latest.
constexpr std::chrono::milliseconds longest_pause(20);

}  // namespace

Meeting::Meeting(std::uint32_t ranks) {
  for (std::uint32_t rank = 0; rank < ranks; ++rank) places_.push_back(std::make_unique<Place>());
}

void Meeting::vanish(std::uint32_t rank) {
  const std::lock_guard lock(mutex_);
  places_[rank]->vanished = true;
  for (const auto& place : places_) place->changed.notify_all();
}

InProcess::InProcess(std::shared_ptr<Meeting> meeting, std::uint32_t rank)
    : Transport(rank, meeting->ranks()), meeting_(std::move(meeting)) {}

void InProcess::do_leave(const std::string& reason) {
  const std::lock_guard lock(meeting_->mutex_);
  meeting_->places_[rank()]->left = true;
  meeting_->places_[rank()]->reason = reason;
  for (const auto& place : meeting_->places_) place->changed.notify_all();
}

void InProcess::do_send(std::uint32_t to, Tag tag, Message message) {
  if (on_send && !on_send(to, tag)) return;
  const std::lock_guard lock(meeting_->mutex_);
  Meeting::Place& place = *meeting_->places_[to];
  place.box[{rank(), key(tag)}].push_back(std::move(message));
  place.changed.notify_one();
}

std::optional<Message> InProcess::do_receive(std::uint32_t from, Tag tag) {
  const std::lock_guard lock(meeting_->mutex_);
  auto& box = meeting_->places_[rank()]->box;
  const auto at = box.find({from, key(tag)});
  if (at == box.end() || at->second.empty()) return std::nullopt;
  Message message = std::move(at->second.front());
  at->second.pop_front();
  return message;
}

Transport::Standing InProcess::standing(std::uint32_t other) {
  const std::lock_guard lock(meeting_->mutex_);
  const Meeting::Place& place = *meeting_->places_[other];
  if (place.vanished) return {Standing::gone, "it has vanished"};
  if (!place.left) return {};
  return place.reason.empty() ? Standing{Standing::ended, ""} : Standing{Standing::failed, place.reason};
}

void InProcess::pause(unsigned) {
  std::unique_lock lock(meeting_->mutex_);
  meeting_->places_[rank()]->changed.wait_for(lock, longest_pause);
}

}  // namespace rml::rt
