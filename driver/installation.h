// Where rmlc's own parts lie: beside the binary, in the build tree as in an installation, or where a host has them.
//
//   PREFIX/bin/rmlc   PREFIX/lib/rmlc/{librmlrt.a, librmllapack.a, librmlmqtt.a, librmlmpi-*.a, runner, stdlib/*.rml,
//   include/rmlrt.h}
#pragma once

#include <filesystem>
#include <string>

#include "compiler/session.h"

namespace rml {

// Once, before anything is asked: where they lie, if not beside the program that runs.
void set_installation(const std::filesystem::path& prefix);
std::filesystem::path own_binary();
std::filesystem::path installation();  // PREFIX
Resources own_resources();             // for sessions of the compiler
std::filesystem::path runtime_archive();
std::filesystem::path runner();          // the runtime as a program that lacks a program; not on every machine
std::filesystem::path lapack_archive();  // what a program with operators of linear algebra needs besides
std::filesystem::path mqtt_archive();    // … one that can speak MQTT
std::filesystem::path mpi_archive(const std::string& mpi);  // … one that mpirun can run, by the name of the MPI

}  // namespace rml
