// A channel whose element type is known only at run time. Using a holder without a channel, or
// with another element type than that of the channel, is an error of the caller and throws
// HolderError. A holder stays initialised after a close.
#ifndef RML_RUNTIME_CHANNEL_CHANNEL_HOLDER_H
#define RML_RUNTIME_CHANNEL_CHANNEL_HOLDER_H

#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

#include "runtime/channel/typed_channel.h"

namespace rml {

class HolderError : public ChannelError {
 public:
  using ChannelError::ChannelError;
};

class ChannelHolder {
 public:
  ChannelHolder() = default;
  template <typename T>
  explicit ChannelHolder(Channel<T> channel) : held_(std::make_shared<HeldOf<T>>(std::move(channel))) {}

  // Replaces the held channel by a new one.
  template <typename T>
  void reset(std::size_t capacity, std::string_view name = {}) {
    *this = ChannelHolder(make_channel<T>(capacity, name));
  }
  void reset() { held_.reset(); }

  bool is_initialized() const { return held_ != nullptr; }
  const std::type_info& type() const { return any().type(); }
  std::size_t cap() const { return any().handle().cap(); }
  std::size_t len() const { return any().handle().len(); }
  std::size_t waiting() const { return any().handle().waiting(); }
  void close() const { any().close(); }

  // A handle of the held channel.
  template <typename T>
  Channel<T> get() const {
    return of<T>();
  }
  template <typename T>
  bool send(T value, const std::stop_token& stop = {}) const {
    return of<T>().send(std::move(value), stop);
  }
  template <typename T>
  Received<T> recv(const std::stop_token& stop = {}) const {
    return of<T>().recv(stop);
  }

 private:
  struct Held {
    virtual ~Held() = default;
    virtual const std::type_info& type() const = 0;
    virtual const channels::Handle& handle() const = 0;
    virtual void close() const = 0;
  };
  template <typename T>
  struct HeldOf : Held {
    explicit HeldOf(Channel<T> c) : channel(std::move(c)) {}
    const std::type_info& type() const override { return typeid(T); }
    const channels::Handle& handle() const override { return channel; }
    void close() const override { channel.close(); }
    Channel<T> channel;
  };

  const Held& any() const {
    if (held_ == nullptr) throw HolderError("a channel holder that holds no channel is used");
    return *held_;
  }
  template <typename T>
  const Channel<T>& of() const {
    const auto* const held = dynamic_cast<const HeldOf<T>*>(&any());
    if (held == nullptr) {
      throw HolderError(std::string("a channel of ") + type().name() + " is used as one of " + typeid(T).name());
    }
    return held->channel;
  }

  std::shared_ptr<const Held> held_;
};

}  // namespace rml

#endif
