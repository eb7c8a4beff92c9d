// What a program that can speak MQTT has, and another has not.
//
// libmosquitto exists as a shared library only, while programs of rmlc build are static, need nothing and can load
// nothing. So the part that loads it is an archive of its own, librmlmqtt.a; rmlc is linked with it, and so are the
// programs of rmlc build --mqtt.
#pragma once

#include <memory>

#include "runtime/stream_io/live/address.h"
#include "runtime/stream_io/live/byte_stream.h"

namespace rml::rt {

struct MqttLibrary {
  // Each message a row: JSON (refused if empty) or CSV without a header.
  std::unique_ptr<ByteInput> (*subscribe)(const Address& address, bool csv);
  std::unique_ptr<ByteOutput> (*publish)(const Address& address);
};

}  // namespace rml::rt

// Weak: null in programs without the archive. With it, the linker is told to look for this name.
extern "C" [[gnu::weak]] const rml::rt::MqttLibrary rml_mqtt_library;
