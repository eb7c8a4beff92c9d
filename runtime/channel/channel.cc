// The C functions translate to calls of the core and have no state of their own. No exception
// leaves them.
#include "runtime/channel/channel.h"

#include <chrono>
#include <cstring>
#include <new>
#include <vector>

#include "runtime/channel/core.h"

struct rml_stop {
  std::stop_source source;
};

namespace {

using rml::Outcome;
using rml::channels::Case;
using rml::channels::Chosen;
using rml::channels::Core;
using rml::channels::Patience;

Core* core_of(rml_channel* channel) { return reinterpret_cast<Core*>(channel); }
const Core* core_of(const rml_channel* channel) { return reinterpret_cast<const Core*>(channel); }

rml_channel_status status_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::done:
      return RML_CHANNEL_OK;
    case Outcome::closed:
      return RML_CHANNEL_CLOSED;
    case Outcome::not_ready:
      return RML_CHANNEL_NOT_READY;
    case Outcome::timed_out:
      return RML_CHANNEL_TIMED_OUT;
    case Outcome::stopped:
      return RML_CHANNEL_STOPPED;
    case Outcome::deadlock:
      break;
  }
  return RML_CHANNEL_DEADLOCK;
}

Patience patience_of(std::int64_t nanoseconds, const rml_stop* stop) {
  Patience patience;
  patience.waits = nanoseconds != RML_CHANNEL_TRY;
  if (nanoseconds > 0) patience.deadline = rml::deadline_in(std::chrono::nanoseconds(nanoseconds));
  if (stop != nullptr) patience.stop = stop->source.get_token();
  return patience;
}

// Reads the size of the element before the wait, because the channel may no longer exist
// afterwards.
rml_channel_status wait_for(std::span<const Case> cases, std::int64_t nanoseconds, const rml_stop* stop,
                            std::size_t* chosen) {
  try {
    std::size_t size = 0;
    if (cases.size() == 1 && cases[0].core != nullptr) size = cases[0].core->type().size;
    std::vector<std::size_t> sizes;
    if (cases.size() > 1) {
      for (const Case& c : cases) sizes.push_back(c.core == nullptr ? 0 : c.core->type().size);
    }
    const Chosen result = rml::channels::wait(cases, patience_of(nanoseconds, stop));
    if (result.outcome == Outcome::done || result.outcome == Outcome::closed) *chosen = result.index;
    if (result.outcome == Outcome::closed && !cases[result.index].sends) {
      if (!sizes.empty()) size = sizes[result.index];
      if (size > 0) std::memset(cases[result.index].slot, 0, size);
    }
    return status_of(result.outcome);
  } catch (const std::bad_alloc&) {
    return RML_CHANNEL_NO_MEMORY;
  }
}

}  // namespace

rml_channel_status rml_channel_make(const rml_element* element, std::size_t capacity, const char* name,
                                    rml_channel** channel) {
  try {
    const std::size_t align = element->align == 0 ? alignof(std::max_align_t) : element->align;
    *channel = reinterpret_cast<rml_channel*>(
        Core::make({element->size, align, element->move, element->destroy}, capacity, name == nullptr ? "" : name));
    return RML_CHANNEL_OK;
  } catch (const std::bad_alloc&) {
    return RML_CHANNEL_NO_MEMORY;
  }
}

void rml_channel_retain(rml_channel* channel) {
  if (channel != nullptr) core_of(channel)->retain();
}

void rml_channel_release(rml_channel* channel) {
  if (channel != nullptr) core_of(channel)->release();
}

rml_channel_status rml_channel_send(rml_channel* channel, void* value, std::int64_t patience, const rml_stop* stop) {
  const Case c{core_of(channel), value, true};
  std::size_t chosen = 0;
  return wait_for({&c, 1}, patience, stop, &chosen);
}

rml_channel_status rml_channel_recv(rml_channel* channel, void* value, std::int64_t patience, const rml_stop* stop) {
  const Case c{core_of(channel), value, false};
  std::size_t chosen = 0;
  return wait_for({&c, 1}, patience, stop, &chosen);
}

rml_channel_status rml_channel_close(rml_channel* channel) {
  if (channel == nullptr) return RML_CHANNEL_NIL;
  return core_of(channel)->close() ? RML_CHANNEL_OK : RML_CHANNEL_CLOSED;
}

std::size_t rml_channel_len(const rml_channel* channel) { return channel == nullptr ? 0 : core_of(channel)->size(); }
std::size_t rml_channel_cap(const rml_channel* channel) {
  return channel == nullptr ? 0 : core_of(channel)->capacity();
}
std::size_t rml_channel_waiting(const rml_channel* channel) {
  return channel == nullptr ? 0 : core_of(channel)->waiting();
}
const char* rml_channel_name(const rml_channel* channel) {
  return channel == nullptr ? "nil" : core_of(channel)->name().c_str();
}

rml_channel_status rml_channel_select(const rml_channel_case* cases, std::size_t count, std::int64_t patience,
                                      const rml_stop* stop, std::size_t* chosen) {
  try {
    std::vector<Case> list;
    list.reserve(count);
    for (const rml_channel_case& c : std::span(cases, count)) {
      list.push_back({core_of(c.channel), c.value, c.sends != 0});
    }
    return wait_for(list, patience, stop, chosen);
  } catch (const std::bad_alloc&) {
    return RML_CHANNEL_NO_MEMORY;
  }
}

rml_stop* rml_stop_make() {
  try {
    return new rml_stop;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}
void rml_stop_request(rml_stop* stop) { stop->source.request_stop(); }
void rml_stop_free(rml_stop* stop) { delete stop; }
