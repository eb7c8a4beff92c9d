// The MQTT functions, which exist only in programs that are linked with them.
//
// libmosquitto exists as a shared library only, but programs of rmlc build are static and cannot
// load libraries. The part that loads it is therefore a separate archive, librmlmqtt.a. rmlc is
// linked with it, and so are the programs of rmlc build --mqtt.
#pragma once

#include <memory>

#include "runtime/stream_io/address.h"
#include "runtime/stream_io/bytes/byte_stream.h"

namespace rml::rt {

struct MqttLibrary {
  // Each message is a row: JSON (refused if empty), or CSV without a header.
  std::unique_ptr<ByteInput> (*subscribe)(const Address& address, bool csv);
  std::unique_ptr<ByteOutput> (*publish)(const Address& address);
};

}  // namespace rml::rt

// Weak: null in programs without the archive. To link the archive, the linker is made to look for
// this name.
extern "C" [[gnu::weak]] const rml::rt::MqttLibrary rml_mqtt_library;
