// Chooses between columns and one checkpoint per key. The checkpoints, the texts of the keys and
// the waiting rows are one tensor each; a second tensor says where the part of each key ends.
#include "runtime/keys/keyed_checkpoint.h"

#include <cstring>
#include <string>
#include <utility>

#include "runtime/base/failure.h"
#include "runtime/keys/key_columns.h"
#include "runtime/keys/parts_of_keys.h"

namespace rml::rt {
namespace {

constexpr const char* states_name = "states";
constexpr const char* waiting_name = "waiting rows";

// Holds a whole checkpoint of each key.
class CheckpointsOut {
 public:
  CheckpointsOut(const rml_program& program, const Keys& keys, KeyStates& states, const WaitingRows& waiting,
                 const StateTensors& given, const Memory& memory);
  std::vector<std::string_view> sealed(const Metadata& metadata) { return sealed_pieces(head_, tensors_, metadata); }

 private:
  std::vector<std::string> states_;
  std::string texts_, head_;
  std::vector<std::int64_t> text_ends_, state_ends_, waiting_, waiting_ends_;
  std::vector<TensorOut> tensors_;
};

CheckpointsOut::CheckpointsOut(const rml_program& program, const Keys& keys, KeyStates& states,
                               const WaitingRows& waiting, const StateTensors& given, const Memory& memory) {
  std::uint64_t bytes = 0;
  for (std::uint32_t key = 0; key < states.size(); ++key) {
    states.gather(key);
    const CheckpointOut one(program, states.block(), RunRecord{});
    std::string& state = states_.emplace_back();
    for (const std::string_view piece : one.pieces()) state += piece;
    bytes += state.size();
    state_ends_.push_back(static_cast<std::int64_t>(bytes));
    texts_ += keys.text(key);
    text_ends_.push_back(static_cast<std::int64_t>(texts_.size()));
    waiting.append(key, waiting_);
    waiting_ends_.push_back(static_cast<std::int64_t>(waiting_.size()));
    if (memory.used() > memory.ceiling() || bytes > memory.ceiling() - memory.used())
      throw Failure("too many keys to save: their states take " + std::to_string(bytes >> 20) + " MiB beside the " +
                    std::to_string(memory.used() >> 20) + " MiB of the run, of " +
                    std::to_string(memory.ceiling() >> 20) + " MiB that it may use");
  }
  TensorOut all{states_name, RML_U8, {bytes}, {}};
  for (const std::string& state : states_) all.pieces.emplace_back(state);
  tensors_.push_back(std::move(all));
  tensors_.push_back({texts_of_keys, RML_U8, {texts_.size()}, {texts_}});
  tensors_.push_back({waiting_name, RML_I64, {waiting_.size()}, {bytes_of_numbers(waiting_)}});
  const std::pair<const char*, const std::vector<std::int64_t>*> ends[] = {
      {states_name, &state_ends_}, {texts_of_keys, &text_ends_}, {waiting_name, &waiting_ends_}};
  for (const auto& [name, numbers] : ends)
    tensors_.push_back({ends_of(name), RML_I64, {numbers->size()}, {bytes_of_numbers(*numbers)}});
  tensors_.insert(tensors_.end(), given.tensors.begin(), given.tensors.end());
}

// Restores the first values of new keys from the file. renamed: the renamings, beyond those of
// the map, that the first key needed.
void begin_with_given(const CheckpointIn& saved, const rml_program& program, const std::vector<Renamed>& map,
                      const std::vector<Renamed>& renamed, KeyStates& states, GivenParameters& given) {
  Safetensors content;
  for (const TensorIn& t : saved.content().tensors) {
    if (!t.name.starts_with(given_name(""))) continue;
    content.tensors.push_back(t);
    content.tensors.back().name = by_list(by_map(t.name, map), renamed);
  }
  if (content.tensors.empty()) return;
  StateFile file(program, saved.name(), content);
  file.expect_given();
  file.compare();
  states.leave();
  states.begin_with([&](void* state) { give_again(program, state, file, given); });
}

// Restores a checkpoint of each key. renamed: receives the renamings of the first key.
void restore_checkpoints(const CheckpointIn& saved, const rml_program& program, const std::vector<Renamed>& map,
                         Keys& keys, KeyStates& states, WaitingRows& waiting, GivenParameters& given,
                         std::vector<Renamed>& renamed) {
  PartsOfKeys texts(saved, texts_of_keys, RML_U8, 1), inner(saved, states_name, RML_U8, 1);
  PartsOfKeys rows(saved, waiting_name, RML_I64, sizeof(std::int64_t));
  if (inner.count() != texts.count() || rows.count() != texts.count()) texts.damaged();
  for (std::uint64_t k = 0; k < texts.count(); ++k) {
    const std::string text(texts.next());
    const std::uint32_t key = number_of_saved(saved, text, k, keys);
    const rml_header& header = states.gather(key);
    CheckpointIn one(saved.name() + " (key '" + text + "')", std::string(inner.next()));
    std::vector<Renamed> own = one.rename(program, map);
    if (k == 0) renamed = std::move(own);
    if (one.seed() != header.seed || one.restore(program, states.block(), given) != 0) inner.damaged();
    if (header.fault != RML_OK) inner.damaged();
    states.restored();
    const std::string_view numbers = rows.next();
    if (static_cast<std::int64_t>(numbers.size() / sizeof(std::int64_t)) !=
        (states.may_wait() ? header.pushed - header.popped : 0))
      rows.damaged();
    for (std::size_t at = 0; at < numbers.size(); at += sizeof(std::int64_t)) {
      std::int64_t row = 0;
      std::memcpy(&row, numbers.data() + at, sizeof row);
      waiting.add(key, row);
    }
  }
}

}  // namespace

void save_keys(const rml_program& program, const Keys& keys, KeyStates& states, const WaitingRows& waiting,
               const KeyedStreams& streams, const RunRecord& run, const std::vector<TensorOut>& more,
               const Memory& memory, const PutBytes& put) {
  Metadata metadata = metadata_of_run(program, streams.seed, streams.rows_read, streams.rows_written, run);
  metadata["unbegun"] = "[]";
  metadata[keys_key] = std::to_string(states.size());
  StateTensors given;
  states.each_given([&](const rml_parameter& p, const char* elements) { add_given(given, p, elements); });
  given.tensors.insert(given.tensors.end(), more.begin(), more.end());
  if (write_columns(program, keys, states, given, metadata, put)) return;
  CheckpointsOut checkpoints(program, keys, states, waiting, given, memory);
  put_in_order(checkpoints.sealed(metadata), put);
}

std::vector<std::string> restore_keys(const CheckpointIn& saved, const rml_program& program,
                                      const std::vector<Renamed>& map, Keys& keys, KeyStates& states,
                                      WaitingRows& waiting, GivenParameters& given) {
  if (!saved.is_of_keys()) throw Failure(saved.name() + ": the state of one instance, saved by a run without --key");
  std::vector<Renamed> renamed;
  if (has_columns(saved))
    restore_columns(saved, program, map, keys, states, given, renamed);
  else
    restore_checkpoints(saved, program, map, keys, states, waiting, given, renamed);
  begin_with_given(saved, program, map, renamed, states, given);
  return told(saved.name(), renamed);
}

}  // namespace rml::rt
