// Indices (of sites, inputs, cuts) are checked, so that a damaged table does not cause a second
// error while a fault is reported.
#include "runtime/base/faults.h"

namespace rml::rt {
namespace {

std::string site_text(const rml_site& site) {
  return std::string(site.file ? site.file : "?") + ":" + std::to_string(site.line) + ":" + std::to_string(site.column);
}

std::string presence_text(const rml_program& program, const rml_header& header,
                          const std::function<std::string(std::uint32_t)>& place) {
  const std::string cycle = "cycle " + std::to_string(header.fault_cycle) + ": ";
  if (header.value < 0 || header.value >= program.n_inputs) return cycle + "an input is present against its clock";
  const auto input = static_cast<std::uint32_t>(header.value);
  const rml_port& port = program.inputs[input];
  const std::string where = place ? place(input) + ": " : "";
  const std::string name = std::string("'") + port.name + "'";
  if (header.bound == 1) {
    return where + cycle + "column " + name + " has a value, but its clock (" + port.clock +
           ") says that it is absent at this cycle";
  }
  return where + cycle + "column " + name + " is empty, but its clock (" + port.clock +
         ") says that it is present at this cycle";
}

std::string memory_named(const rml_program& program, std::int64_t equation) {
  for (std::uint32_t k = 0; k < program.n_memories && equation >= 0; ++k) {
    const rml_memory& m = program.memories[k];
    if (m.kind == RML_LOOKS_BACK && m.offset == static_cast<std::uint64_t>(equation))
      return std::string(": '") + m.name + "'";
  }
  return "";
}

// The details that the compiler's text for the site does not contain.
std::string detail(const rml_program& program, const rml_header& header) {
  switch (header.fault) {
    case RML_FAULT_INDEX:
      return ": " + std::to_string(header.value) + " is not in [0, " + std::to_string(header.bound) + ")";
    case RML_FAULT_HORIZON:
      return ": the segment that began at cycle " + std::to_string(header.value) + " is longer than --horizon " +
             std::to_string(header.horizon);
    case RML_FAULT_MEMORY:
      return ": " + std::to_string(header.value) + " more bytes are needed";
    case RML_FAULT_STATE:
      return memory_named(program, header.value);
    default:
      return "";
  }
}

const char* general_text(std::int32_t fault) {
  switch (fault) {
    case RML_FAULT_DIVISION:
      return "division by zero";
    case RML_FAULT_INDEX:
      return "index out of bounds";
    case RML_FAULT_ASSERT:
      return "assertion failed";
    case RML_FAULT_HORIZON:
      return "segment too long";
    case RML_FAULT_MEMORY:
      return "out of memory";
    case RML_FAULT_NUMERIC:
      return "a numerical operation failed";
    case RML_FAULT_SIDE:
      return "a value needs itself";
    case RML_FAULT_STATE:
      return "the state that this run started with lacks a value that is needed";
    default:
      return "the program stopped";
  }
}

}  // namespace

std::string fault_text(const rml_program& program, const rml_header& header,
                       const std::function<std::string(std::uint32_t)>& place) {
  if (header.fault == RML_FAULT_PRESENCE) return presence_text(program, header, place);
  std::string where = std::string(program.source) + ": ";
  std::string message;
  if (header.site < program.n_sites) {
    const rml_site& site = program.sites[header.site];
    where = site_text(site) + ": ";
    if (site.message) message = site.message;
  }
  if (message.empty()) message = general_text(header.fault);
  return where + "cycle " + std::to_string(header.fault_cycle) + ": " + message + detail(program, header);
}

std::string window_text(const rml_program& program, const rml_header& header) {
  const std::string text = "warning: after " + std::to_string(header.pushed) + " cycles " +
                           std::to_string(header.pushed - header.popped) + " rows are not known yet, and " +
                           std::to_string(header.buffer_bytes >> 20) + " MiB are buffered";
  if (header.waiting < 0 || static_cast<std::uint32_t>(header.waiting) >= program.n_cuts) return text;
  const rml_cut& cut = program.cuts[header.waiting];
  return text + ": the condition '" + cut.condition + "' (" + site_text(cut.site) + ") has not come true";
}

std::string undetermined_text(const rml_program& program, const rml_header& header) {
  const std::int64_t rows = header.pushed - header.popped;
  std::string text = std::to_string(rows) + (rows == 1 ? " row is" : " rows are") + " undetermined, from cycle " +
                     std::to_string(header.popped) + " on: ";
  if (header.waiting >= 0 && static_cast<std::uint32_t>(header.waiting) < program.n_cuts) {
    const rml_cut& cut = program.cuts[header.waiting];
    return text + "the condition '" + cut.condition + "' (" + site_text(cut.site) + ") has not come true since";
  }
  const std::int64_t itself = -2 - std::int64_t{header.waiting};
  if (itself >= 0 && itself < program.n_sites) {
    const rml_site& site = program.sites[itself];
    return text + "'" + site.message + "' (" + site_text(site) +
           ") needs its own value, so no further input can determine it";
  }
  return text + "the input ended before the values that they need";
}

}  // namespace rml::rt
