// The library stays loaded until the process ends, because its state belongs to the process.
#include "runtime/stream_io/live/mqtt/libmosquitto.h"

#include <dlfcn.h>

#include <string>

#include "runtime/stream_io/bytes/byte_stream.h"

namespace rml::rt {
namespace {

constexpr const char* file_name = "libmosquitto.so.1";

std::string unusable(const std::string& reason) {
  return "MQTT needs the library libmosquitto, 1.6 or later, which cannot be used: " + reason +
         "; install it (Debian: the package libmosquitto1)";
}

Libmosquitto load(const std::string& stream) {
  // RTLD_LOCAL: functions of the program with the same names are not replaced.
  void* const library = dlopen(file_name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    throw LostPeer(stream, unusable(reason != nullptr ? reason : std::string(file_name) + " was not found"));
  }
  Libmosquitto functions;
  const auto find = [&](const char* name) {
    void* const address = dlsym(library, name);
    if (address == nullptr) throw LostPeer(stream, unusable(std::string(file_name) + " has no " + name));
    return address;
  };
#define RML_FIND(name) functions.name = reinterpret_cast<decltype(functions.name)>(find(#name));
  RML_FUNCTIONS_OF_LIBMOSQUITTO(RML_FIND)
#undef RML_FIND
  if (functions.mosquitto_lib_init() != MOSQ_ERR_SUCCESS) throw LostPeer(stream, unusable("it does not start"));
  return functions;
}

}  // namespace

const Libmosquitto& libmosquitto(const std::string& stream) {
  static const Libmosquitto functions = load(stream);
  return functions;
}

}  // namespace rml::rt
