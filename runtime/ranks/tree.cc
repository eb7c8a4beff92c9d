// Every rank processes the nodes in the same order. Therefore the first node that is not done can
// always be computed: all nodes before it are done, and its right child is available or on its
// way. So ranks cannot wait for each other in a circle.
#include "runtime/ranks/tree.h"

#include <bit>
#include <cstring>
#include <utility>

#include "runtime/base/rmlrt.h"
#include "runtime/base/signals.h"
#include "runtime/kernels/half_float.h"
#include "runtime/stream_io/row.h"

namespace rml::rt {
namespace {

template <class T, class Add>
void add_all(std::uint64_t count, void* to, const void* from, Add add) {
  auto* const a = static_cast<char*>(to);
  const auto* const b = static_cast<const char*>(from);
  for (std::uint64_t i = 0; i < count; ++i) {
    T left, right;
    std::memcpy(&left, a + i * sizeof(T), sizeof(T));
    std::memcpy(&right, b + i * sizeof(T), sizeof(T));
    left = add(left, right);
    std::memcpy(a + i * sizeof(T), &left, sizeof(T));
  }
}

// Adds as unsigned integers, so sums that are too large wrap.
template <class T>
void add_integers(std::uint64_t count, void* to, const void* from) {
  add_all<T>(count, to, from, [](T a, T b) { return static_cast<T>(a + b); });
}

}  // namespace

std::vector<TreeShape::Node> TreeShape::nodes() const {
  std::vector<Node> all;
  std::vector<std::uint32_t> summed(slots);
  for (std::uint32_t n = slots; n > 1;) {
    const std::uint32_t half = n / 2 + n % 2;
    for (std::uint32_t k = 0; k + half < n && k + half < present; ++k) {
      all.push_back({k, k + half, summed[k], summed[k + half]});
      ++summed[k];
    }
    n = half;
  }
  return all;
}

std::uint64_t TreeShape::messages() const {
  if (present == 0) return 0;
  std::uint64_t sent = participants() - 1;
  for (const Node& node : nodes())
    if (owner(node.left) != owner(node.right)) ++sent;
  return sent;
}

bool can_be_summed(std::uint8_t dtype) { return dtype > RML_BOOL && dtype <= RML_U64; }

void add_elements(std::uint8_t dtype, std::uint64_t count, void* to, const void* from) {
  switch (dtype) {
    case RML_F32:
      return add_all<float>(count, to, from, [](float a, float b) { return a + b; });
    case RML_F64:
      return add_all<double>(count, to, from, [](double a, double b) { return a + b; });
    case RML_F16:
      return add_all<std::uint16_t>(count, to, from, [](std::uint16_t a, std::uint16_t b) {
        return f16_from_float(float_from_f16(a) + float_from_f16(b));
      });
    case RML_BF16:
      return add_all<std::uint16_t>(count, to, from, [](std::uint16_t a, std::uint16_t b) {
        return bf16_from_float(float_from_bf16(a) + float_from_bf16(b));
      });
    default:
      break;
  }
  switch (dtype_bytes(dtype)) {
    case 1:
      return add_integers<std::uint8_t>(count, to, from);
    case 2:
      return add_integers<std::uint16_t>(count, to, from);
    case 4:
      return add_integers<std::uint32_t>(count, to, from);
    default:
      return add_integers<std::uint64_t>(count, to, from);
  }
}

// In terms of the distance from `from`, rank v receives the value from the rank whose number is v
// without its highest bit.
Spread::Spread(std::uint32_t rank, std::uint32_t participants, std::uint32_t from) {
  const auto at = [&](std::uint32_t distance) { return (from + distance) % participants; };
  const std::uint32_t own = (rank + participants - from) % participants;
  if (own != 0) parent_ = at(own - std::bit_floor(own));
  for (std::uint64_t step = own == 0 ? 1 : std::uint64_t{std::bit_floor(own)} * 2; own + step < participants; step *= 2)
    children_.push_back(at(static_cast<std::uint32_t>(own + step)));
}

TreeSum::TreeSum(Transport& transport, std::uint32_t site, std::uint8_t dtype, std::uint64_t count)
    : transport_(transport), site_(site), dtype_(dtype), count_(count), bytes_(count * dtype_bytes(dtype)) {}

void TreeSum::begin(const TreeShape& shape) {
  if (shape_ != shape) {
    shape_ = shape;
    nodes_ = shape.nodes();
    std::erase_if(nodes_, [&](const TreeShape::Node& node) { return !own(node.left) && !own(node.right); });
  }
  done_.assign(nodes_.size(), false);
  leaves_.assign(shape.slots, {});
  stops_ = false;
}

// If the partner of the value is on this rank and ready, the value is added to it without a copy.
void TreeSum::add(std::uint32_t slot, const void* values) {
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const TreeShape::Node& node = nodes_[i];
    if (node.right != slot || node.right_before != 0) continue;
    if (!own(node.left) || !ready(node.left, node.left_before)) continue;
    add_elements(dtype_, count_, leaves_[node.left].value.data(), values);
    ++leaves_[node.left].summed;
    done_[i] = true;
    return advance();
  }
  Leaf& leaf = leaves_[slot];
  const auto* const from = static_cast<const std::byte*>(values);
  leaf.value.assign(from, from + bytes_);
  leaf.there = true;
  advance();
}

void TreeSum::take(const TreeShape::Node& node, const Message& right) {
  add_elements(dtype_, count_, leaves_[node.left].value.data(), right.data());
  ++leaves_[node.left].summed;
}

void TreeSum::send(std::uint32_t to, Talk talk, Message value) {
  value.push_back(std::byte{stops_ || (talk == Talk::sum && interrupt_signal() != 0)});
  transport_.send(to, {talk, site_}, std::move(value));
}

Message TreeSum::opened(Message message, std::uint32_t from) {
  if (message.size() != bytes_ + 1)
    throw LostRank(rank_text(from) + " has sent " + std::to_string(message.size()) + " bytes of a sum, but " +
                   std::to_string(bytes_ + 1) + " were expected: it does not run the same program");
  stops_ = stops_ || message.back() != std::byte{0};
  message.pop_back();
  return message;
}

// Returns false if a child is not available yet.
bool TreeSum::compute(const TreeShape::Node& node) {
  const std::uint32_t from = shape_.owner(node.right), to = shape_.owner(node.left);
  if (own(node.right) && !ready(node.right, node.right_before)) return false;
  if (!own(node.left)) {
    send(to, Talk::sum, std::exchange(leaves_[node.right].value, {}));
    return true;
  }
  if (!ready(node.left, node.left_before)) return false;
  if (own(node.right)) {
    take(node, std::exchange(leaves_[node.right].value, {}));
    return true;
  }
  auto right = transport_.try_receive(from, {Talk::sum, site_});
  if (!right) return false;
  take(node, opened(std::move(*right), from));
  return true;
}

// Messages of one rank are received in the order of the nodes, which is the order in which they
// were sent.
void TreeSum::advance() {
  std::vector<bool> held(transport_.ranks());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (done_[i]) continue;
    const bool comes = !own(nodes_[i].right), leaves = !own(nodes_[i].left);
    const std::uint32_t other = shape_.owner(comes ? nodes_[i].right : nodes_[i].left);
    if ((comes || leaves) && held[other]) continue;
    done_[i] = compute(nodes_[i]);
    if (!done_[i] && (comes || leaves)) held[other] = true;
  }
}

void TreeSum::wait(void* total) {
  advance();
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    if (done_[i]) continue;
    const TreeShape::Node& node = nodes_[i];
    if (own(node.left) && !own(node.right)) {
      const std::uint32_t from = shape_.owner(node.right);
      take(node, opened(transport_.receive(from, {Talk::sum, site_}, "its part of a sum"), from));
      done_[i] = true;
    } else {
      done_[i] = compute(node);
    }
    advance();
  }
  hand_down(total);
}

// The interruptions that rank 0 knows of when the sum is complete count for all ranks.
void TreeSum::hand_down(void* total) {
  const Spread spread(transport_.rank(), shape_.participants(), 0);
  Message value;
  if (transport_.rank() == 0) {
    stops_ = stops_ || interrupt_signal() != 0;
    value = std::move(leaves_[0].value);
  } else {
    stops_ = false;
    const std::uint32_t from = spread.parent();
    value = opened(transport_.receive(from, {Talk::total, site_}, "a sum"), from);
  }
  if (bytes_ > 0) std::memcpy(total, value.data(), bytes_);
  for (const std::uint32_t child : spread.children()) send(child, Talk::total, value);
}

}  // namespace rml::rt
