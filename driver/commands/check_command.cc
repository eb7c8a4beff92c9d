// `rmlc check`: names, dtypes and clocks node by node, then instances (driver/checks/check_instances.h).
#include <iostream>

#include "driver/checks/check_instances.h"
#include "driver/commands/commands.h"

namespace rml {
namespace {

bool has_errors(const Front& front, NodeId n) {
  const Checked& checked = front.checked;
  return checked.names.nodes[n.index].has_errors || checked.types.nodes[n.index].has_errors ||
         checked.clocks.nodes[n.index].has_errors;
}

}  // namespace

int check_files(Invocation& invocation, const CheckRequest& request) {
  Session& session = invocation.session;
  Diagnostics all;
  for (const std::string& file : request.files) {
    session.diagnostics = {};
    const Front front = check(session, file);
    std::string said;
    if (request.signatures) {
      for (const NodeId n : front.program->modules[0].nodes) {
        if (!has_errors(front, n)) said += signature(front.checked, n) + "\n";
      }
    }
    check_instances(session, front, said);
    std::cout << said;
    all.append(session.diagnostics);
  }
  session.diagnostics = std::move(all);
  return exit_success;
}

}  // namespace rml
