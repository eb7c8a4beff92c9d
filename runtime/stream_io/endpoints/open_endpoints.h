// Opens the inputs and outputs of a run, after their ports and formats have been planned
// (endpoints.h).
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "runtime/stream_io/bytes/waiting.h"
#include "runtime/stream_io/endpoints/endpoint.h"
#include "runtime/stream_io/formats/readers.h"
#include "runtime/stream_io/formats/writers.h"

namespace rml::rt {

// Null if there are no endpoints. skipped: receives rows that are not valid; null: the first of them is a failure.
std::unique_ptr<RowSource> open_sources(const std::vector<Endpoint>& inputs, Row& row, const Waiting& waiting,
                                        BadRows* skipped = nullptr);
// before: what an earlier run had settled of the file, which is then continued. An output with
// `append` continues after the last whole row that its file has.
std::unique_ptr<RowSink> open_sink(const Endpoint& output, const Row& row, const std::optional<Settled>& before = {});
}  // namespace rml::rt
