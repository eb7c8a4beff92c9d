// Where rmlc's own parts lie: beside the binary, in the build tree as in an installation.
//
//   PREFIX/bin/rmlc   PREFIX/lib/rmlc/{librmlrt.a, librmllapack.a, librmlmqtt.a, runner, stdlib/*.rml, include/rmlrt.h}
#pragma once

#include <filesystem>

#include "compiler/session.h"

namespace rml {

std::filesystem::path own_binary();
Resources own_resources();  // for sessions of the compiler
std::filesystem::path runtime_archive();
std::filesystem::path runner();          // the runtime as a program that lacks a program; not on every machine
std::filesystem::path lapack_archive();  // what a program with operators of linear algebra needs besides
std::filesystem::path mqtt_archive();    // … one that can speak MQTT

}  // namespace rml
