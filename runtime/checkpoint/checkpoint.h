// Checkpoints: a safetensors file with the state of a program and the facts that a run needs to
// continue.
//
// The metadata names the program, the identity of its state, the cycle, the number of rows handed
// out, and a checksum over the whole file. A file is refused, with the reason, if it is truncated
// or changed, or if it belongs to a program with other memories.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/checkpoint/anchor.h"
#include "runtime/checkpoint/renaming.h"
#include "runtime/checkpoint/state_tensors.h"

namespace rml::rt {

// An output file as recorded in a checkpoint.
struct OutputRecord {
  std::string path;
  std::vector<std::string> ports;
  std::uint64_t bytes = 0;
  // its class columns with checksums of their lists; none in older states
  std::optional<std::string> classes = {};
};

// The positions of a run in its streams. A run with --load begins later than its state.
struct RunRecord {
  std::int64_t first_cycle = 0;  // cycle of the first row of the input
  std::int64_t first_row = 0;    // first row of the outputs
  // next rows that the outputs already have, because the schedule that saved them was ahead
  std::int64_t rows_again = 0;
  std::uint32_t input_checksum = 0;
  std::vector<OutputRecord> outputs;
  // For a program whose rows are dealt out to ranks: what all ranks together have read, up to the
  // end of a step. whole: the step was full. open: the input ended within a micro-batch, whose
  // rows one of the ranks has.
  struct Dealt {
    std::uint64_t micro_batches = 0;
    std::int64_t rows = 0;
    bool whole = true, open = false;
  };
  std::optional<Dealt> dealt;
  std::vector<std::string> led;  // paths of the outputs that already received the next row, before its inputs came
};

// The metadata that every checkpoint has.
Metadata metadata_of_run(const rml_program& program, std::uint64_t seed, std::int64_t cycles, std::int64_t rows,
                         const RunRecord& run);
// The key of the number of keys, in the metadata of a run with keys (keys/keyed_checkpoint.h).
inline constexpr const char* keys_key = "keys";
// The checksum (CRC-32) of a file is computed while its own field holds zeros. These functions
// extend a checksum by further bytes, and join the checksums of two adjacent parts.
std::uint32_t checksum(std::uint32_t sum, std::string_view bytes);
std::uint32_t joined_checksums(std::uint32_t first, std::uint32_t second, std::uint64_t bytes_of_second);
// Writes the checksum into its field in a head.
void seal(std::string& head, std::uint32_t checksum);
// The names of memories, as they are stored under `memories` in the metadata.
std::string listed(const rml_program& program);
// The bytes of the file, sealed with a checksum over all of them. The views point into `head` and
// into the tensors.
std::vector<std::string_view> sealed_pieces(std::string& head, std::vector<TensorOut>& tensors,
                                            const Metadata& metadata);

// The bytes of a checkpoint: the head, followed by views into the state.
class CheckpointOut {
 public:
  // more: tensors that are not part of the state, such as curves. anchor: that of the run; null
  // if it has none.
  CheckpointOut(const rml_program& program, const void* state, const RunRecord& run, std::vector<TensorOut> more = {},
                const Anchor* anchor = nullptr);
  const std::vector<std::string_view>& pieces() const { return pieces_; }

 private:
  StateTensors take(const rml_program& program, const void* state, const Anchor* anchor);

  std::optional<Anchor> own_;
  StateTensors state_;
  std::string head_;
  std::vector<std::string_view> pieces_;
};

class CheckpointIn {
 public:
  // Reads the file and checks everything except the memories of the state.
  static CheckpointIn read_file(const std::string& path);
  CheckpointIn(std::string name, std::string bytes);
  // A checkpoint contained in another one that was already checked: its metadata and its tensors.
  CheckpointIn(std::string name, Safetensors content);
  CheckpointIn(const CheckpointIn&) = delete;
  CheckpointIn& operator=(const CheckpointIn&) = delete;

  const std::string& name() const { return name_; }
  const Safetensors& content() const { return content_; }
  bool is_of_keys() const { return content_.metadata.contains(keys_key); }
  // Throws Failure if the checkpoint is that of a run with keys.
  void refuse_keys() const;
  std::int64_t cycles() const { return number<std::int64_t>("cycle"); }
  std::int64_t rows() const { return number<std::int64_t>("rows"); }
  std::uint64_t seed() const { return seed_; }
  const RunRecord& run() const { return run_; }
  // The numbers saved under curve_name(name); empty if there is no such curve.
  std::vector<double> curve(const std::string& name) const;
  // The lines that KeptTensors has saved (kept_tensors.h); empty if there are none.
  std::vector<std::string> kept() const;
  // Renames the memories to the names of the program: first by the map, then by matching. Returns
  // the renamings found by matching.
  std::vector<Renamed> rename(const rml_program& program, const std::vector<Renamed>& map);
  // Restores into a state fresh from init with this seed. Returns the rows_again of the run that
  // continues.
  [[nodiscard]] std::int64_t restore(const rml_program& program, void* state, GivenParameters& given,
                                     Anchor* anchor = nullptr) const;

 private:
  void read();
  void restore_units(const rml_program& program, void* state, StateFile& file, const CyclesOfState& run,
                     GivenParameters& given) const;
  [[noreturn]] void damaged(const std::string& what) const;
  const std::string& text(const char* key) const;
  std::vector<std::string> names(const char* key) const;
  void rename(const std::function<std::string(std::string)>& to);
  std::vector<std::string> all_names() const;
  bool has_beginning() const { return content_.metadata.contains("begins"); }
  template <class T>
  T number(const char* key) const;

  std::string name_;
  std::string bytes_;
  Safetensors content_;
  std::uint64_t seed_ = 0;
  RunRecord run_;
  std::vector<std::string> unbegun_, open_;
};

// The form in which a checkpoint stores a path: bytes that are not valid text are replaced.
std::string recorded_path(const std::string& path);

// True if the metadata says that the file is a checkpoint.
bool is_checkpoint(const Safetensors& content);
// Checks the checksum, if the file says that it is a checkpoint; other files have none.
void check_checksum(const std::string& name, std::string_view bytes, const Safetensors& content);

// The memories that a state lists; empty if it lists none, or if the file is not a state. Throws
// Failure if the list is damaged.
NamedMemories listed_memories(const std::string& name, const Safetensors& content);

// Throws Failure if the state of the program cannot be saved; `option` requested it.
void require_savable(const rml_program& program, const std::string& option);

}  // namespace rml::rt
