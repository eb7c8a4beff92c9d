// Chooses between lines and messages by the kind of the address.
#include "runtime/stream_io/live/peer_streams.h"

#include <utility>

#include "runtime/stream_io/live/lines.h"
#include "runtime/stream_io/live/mqtt/library.h"

namespace rml::rt {
namespace {

using Kind = Address::Kind;

const MqttLibrary& mqtt(const Address& address) {
  if (&rml_mqtt_library != nullptr) return rml_mqtt_library;
  throw Failure("'" + address.name + "': this program was built without MQTT; rmlc build --mqtt adds it", exit_usage);
}

class WithCycles final : public RowSource {
 public:
  explicit WithCycles(std::unique_ptr<RowSource> source) : source_(std::move(source)) {}

  bool read() override {
    try {
      const bool there = source_->read();
      if (there) ++cycle_;
      return there;
    } catch (const LostPeer& failure) {
      throw failure.at_cycle(cycle_);
    }
  }
  void drop() override {
    source_->drop();
    --cycle_;
  }
  std::string_view text() const override { return source_->text(); }
  Place where(std::uint32_t port) const override { return source_->where(port); }
  const std::string& file(std::uint32_t port) const override { return source_->file(port); }
  double fraction() const override { return source_->fraction(); }
  const std::string& name() const override { return source_->name(); }

 private:
  std::unique_ptr<RowSource> source_;
  std::int64_t cycle_ = 0;
};

}  // namespace

std::unique_ptr<ByteInput> peer_input(const Address& address, bool csv) {
  return address.kind == Kind::mqtt ? mqtt(address).subscribe(address, csv) : read_lines(address, csv);
}

std::unique_ptr<ByteOutput> peer_output(const Address& address, bool csv) {
  return address.kind == Kind::mqtt ? mqtt(address).publish(address) : write_lines(address, csv);
}

std::unique_ptr<RowSource> with_cycles(std::unique_ptr<RowSource> source) {
  return std::make_unique<WithCycles>(std::move(source));
}

void refuse_clash(const Address& one, const Address& other) {
  const auto fail = [&](const std::string& why) {
    throw Failure("'" + one.name + "' and '" + other.name + "': " + why, exit_usage);
  };
  const bool same_place = one.host == other.host && one.port == other.port && one.path == other.path;
  if (one.kind == Kind::mqtt && other.kind == Kind::mqtt) {
    if (same_place) fail("a topic can be given once only");
    if (!one.client.empty() && one.client == other.client && one.host == other.host && one.port == other.port) {
      fail("a broker serves one connection for each client; give another ?client=");
    }
    return;
  }
  if (one.kind == Kind::timer || other.kind == Kind::timer) return;
  // Over TCP and Unix sockets every connection has its own peer; any other address can be used
  // only once.
  const bool connects = one.kind == Kind::tcp || one.kind == Kind::local;
  if (one.kind == other.kind && same_place && !connects) fail("it can be given once only");
}

}  // namespace rml::rt
