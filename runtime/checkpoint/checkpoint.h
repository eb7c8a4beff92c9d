// Checkpoints: a program's state in a safetensors file, with what a run must know to go on.
//
// The metadata names the program and the identity of its state, the cycle and the rows handed out,
// and a checksum over the whole file. A file that is truncated, changed, or of a program that keeps
// something else is refused with what is wrong.
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

// An output file as far as a checkpoint knows it.
struct OutputRecord {
  std::string path;
  std::vector<std::string> ports;
  std::uint64_t bytes = 0;
  std::optional<std::string> classes = {};  // of its ports, with checksums of their lists; none: an older state
};

// Where the streams of a run stand. A run that was loaded begins later than its state.
struct RunRecord {
  std::int64_t first_cycle = 0;  // of the input's first row
  std::int64_t first_row = 0;    // of the outputs
  std::int64_t rows_again = 0;   // next ones that the outputs have had: the schedule that saved them was ahead
  std::uint32_t input_checksum = 0;
  std::vector<OutputRecord> outputs;
  // Of a program whose rows are dealt out to ranks: what all of them have read, up to the end of a step; whole: the
  // step was full; open: the input ended within a micro-batch, whose rows one of the ranks has.
  struct Dealt {
    std::uint64_t micro_batches = 0;
    std::int64_t rows = 0;
    bool whole = true, open = false;
  };
  std::optional<Dealt> dealt;
  std::vector<std::string> led;  // outputs that have had the next row, which was known before its inputs
};

// What every checkpoint says of its run.
Metadata metadata_of_run(const rml_program& program, std::uint64_t seed, std::int64_t cycles, std::int64_t rows,
                         const RunRecord& run);
// … and of a run with keys (keys/keyed_checkpoint.h), how many.
inline constexpr const char* keys_key = "keys";
// A checksum over the bytes of a file, with zeros in its own place: of a beginning and what follows.
std::uint32_t checksum(std::uint32_t sum, std::string_view bytes);
std::uint32_t joined_checksums(std::uint32_t first, std::uint32_t second, std::uint64_t bytes_of_second);
// Puts it into a head.
void seal(std::string& head, std::uint32_t checksum);
// Names of memories, as `memories` in the metadata.
std::string listed(const rml_program& program);
// The file's bytes, with a checksum over all of them; they lie in `head` and where the tensors do.
std::vector<std::string_view> sealed_pieces(std::string& head, std::vector<TensorOut>& tensors,
                                            const Metadata& metadata);

// The file's bytes: the head, then what it points to in the state.
class CheckpointOut {
 public:
  // more: tensors that are no part of the state, such as curves. anchor: that of the run, if it has one.
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
  // Reads and checks everything but what the state is made of.
  static CheckpointIn read_file(const std::string& path);
  CheckpointIn(std::string name, std::string bytes);
  // Of one that stands in another one, which has been checked: its metadata and its tensors.
  CheckpointIn(std::string name, Safetensors content);
  CheckpointIn(const CheckpointIn&) = delete;
  CheckpointIn& operator=(const CheckpointIn&) = delete;

  const std::string& name() const { return name_; }
  const Safetensors& content() const { return content_; }
  bool is_of_keys() const { return content_.metadata.contains(keys_key); }
  // Throws Failure where it is.
  void refuse_keys() const;
  std::int64_t cycles() const { return number<std::int64_t>("cycle"); }
  std::int64_t rows() const { return number<std::int64_t>("rows"); }
  std::uint64_t seed() const { return seed_; }
  const RunRecord& run() const { return run_; }
  // The numbers saved under curve_name(name); none if there is no such curve.
  std::vector<double> curve(const std::string& name) const;
  // What kept_tensors.h has saved; nothing if nothing was kept.
  std::vector<std::string> kept() const;
  // From now on by the names of the program: of the map, and by their places. Returns the latter.
  std::vector<Renamed> rename(const rml_program& program, const std::vector<Renamed>& map);
  // Into a state fresh from init with this seed. Returns the rows_again of the run that goes on.
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

// A path as a checkpoint holds it: bytes that are no text are replaced.
std::string recorded_path(const std::string& path);

// Whether the file says so.
bool is_checkpoint(const Safetensors& content);
// Of a file that says that it is a checkpoint; any other has no checksum.
void check_checksum(const std::string& name, std::string_view bytes, const Safetensors& content);

// Those that a state lists; none where it lists none, or is no state. Throws Failure where it is damaged.
NamedMemories listed_memories(const std::string& name, const Safetensors& content);

// Throws Failure if the program cannot be saved at all; `option` asked for it.
void require_savable(const rml_program& program, const std::string& option);

}  // namespace rml::rt
