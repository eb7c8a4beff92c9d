// Finds rmlc's own parts: beside the binary, in the build tree as in an installation, or where a host keeps them.
//
//   PREFIX/bin/rmlc   PREFIX/lib/rmlc/{librmlrt.a, librmllapack.a, librmlmqtt.a, librmlmpi-*.a, runner, stdlib/*.rml,
//   include/rmlrt.h}
#pragma once

#include <filesystem>
#include <string>

#include "compiler/session.h"

namespace rml {

// Sets the place of the parts, if they are not beside the running program. Must be called before the functions below.
void set_installation(const std::filesystem::path& prefix);
std::filesystem::path own_binary();
std::filesystem::path installation();  // PREFIX
Resources own_resources();             // the files of this installation, for sessions of the compiler
std::filesystem::path runtime_archive();
std::filesystem::path runner();  // the runtime as an executable without a program; not available on every machine
std::filesystem::path lapack_archive();  // library that programs with operators of linear algebra need
std::filesystem::path mqtt_archive();    // library that programs with MQTT need
// Library that programs under mpirun need; `mpi` names the MPI.
std::filesystem::path mpi_archive(const std::string& mpi);

}  // namespace rml
