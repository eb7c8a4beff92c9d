// Checkpoints: refused files and their messages. `rmlc test` and the differential fuzzer test
// with compiled programs that nothing is lost.
#include "runtime/checkpoint/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "runtime/base/failure.h"
#include "runtime/run/program_state.h"
#include "tests/unit/runtime/programs.h"
#include "tests/unit/runtime/run_in_child.h"

namespace rml::rt::test {
namespace {

const char* const five = "x\n1\n2\n3\n4\n5\n";

std::string saved_bytes(const Folder& folder) {
  EXPECT_EQ(run(sums_program(), {"--save", folder.path("state")}, five).status, 0);
  return folder.read("state");
}

// Returns an empty text if the file was loaded.
std::string complaint(const rml_program& program, const std::string& bytes) {
  try {
    ProgramState state(program, 0, 0);
    GivenParameters given;
    static_cast<void>(CheckpointIn("f", bytes).restore(program, state.block(), given));
    return "";
  } catch (const Failure& failure) {
    return failure.what();
  }
}

TEST(Checkpoint, goes_on_where_it_was_saved) {
  const Folder folder;
  saved_bytes(folder);
  const Outcome outcome = run(sums_program(), {"--load", folder.path("state")}, "x\n10\n20\n");
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(outcome.out, "sum\n25\n45\n");
}

TEST(Checkpoint, cycles_count_from_where_the_streams_begin) {
  const Folder folder;
  const std::string state = folder.path("state");
  EXPECT_EQ(run(count_program(), {"--cycles", "3", "--save", state}).out, "n\n0\n1\n2\n");
  EXPECT_EQ(run(count_program(), {"--cycles", "2", "--load", state, "--save", state}).out, "n\n3\n4\n");
  EXPECT_EQ(run(count_program(), {"--cycles", "1", "--load", state}).out, "n\n5\n");
}

TEST(Checkpoint, who_may_read_a_state_stays_as_it_was) {
  const Folder folder;
  saved_bytes(folder);
  const std::string state = folder.path("state");
  ASSERT_EQ(chmod(state.c_str(), 0600), 0);
  saved_bytes(folder);
  struct stat status{};
  ASSERT_EQ(stat(state.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600u);
}

TEST(Checkpoint, pipes_and_folders_are_refused_at_once) {
  const Folder folder;
  const std::string pipe = folder.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const char* option : {"--load", "--load-params"}) {
    for (const std::string& path : {pipe, std::string("/dev/zero"), folder.path("")}) {
      const Outcome outcome = run(sums_program(), {option, path}, five);
      EXPECT_NE(outcome.status, 0) << option << " " << path;
      EXPECT_NE(outcome.err.find("not a regular file"), std::string::npos) << outcome.err;
    }
  }
}

TEST(Checkpoint, every_truncation_is_refused) {
  const Folder folder;
  const std::string bytes = saved_bytes(folder);
  ASSERT_EQ(complaint(sums_program(), bytes), "");
  for (std::size_t length = 0; length < bytes.size(); ++length)
    ASSERT_NE(complaint(sums_program(), bytes.substr(0, length)), "") << length;
  EXPECT_NE(complaint(sums_program(), bytes + "x"), "");
}

TEST(Checkpoint, every_changed_byte_is_refused) {
  const Folder folder;
  const std::string bytes = saved_bytes(folder);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const char flip : {'\x01', '\x20', '\x80'}) {
      std::string changed = bytes;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      ASSERT_NE(complaint(sums_program(), changed), "") << at;
    }
  }
  std::string changed = bytes;
  changed.back() = static_cast<char>(changed.back() ^ 1);
  EXPECT_EQ(complaint(sums_program(), changed),
            "f: damaged: some of its bytes have changed since it was written (checksum)");
}

TEST(Checkpoint, other_programs_are_refused_with_what_differs) {
  const Folder folder;
  const std::string bytes = saved_bytes(folder);
  const std::string differs = "f: saved by a program whose state differs from that of 'sums':\n  ";
  EXPECT_EQ(complaint(sums_that_differ(Differing::name), bytes),
            differs +
                "'total' (f32) is not in the file\n  'sum' (f32) is only in the file\n"
                "  if 'sum' of the file is 'total' here: --map 'sum=total'");
  EXPECT_EQ(complaint(sums_that_differ(Differing::dtype), bytes), differs + "'sum' is i32 here, f32 in the file");
  EXPECT_EQ(complaint(sums_that_differ(Differing::shape), bytes), differs + "'sum' is f32[1] here, f32 in the file");
  EXPECT_EQ(complaint(sums_that_differ(Differing::more), bytes), differs + "'product' (f32) is not in the file");
}

TEST(Checkpoint, other_files_are_refused) {
  const Folder folder;
  const std::string text = folder.write("text", "n,x\n1,2\n3,4\n5,6\n7,8\n");
  EXPECT_EQ(run(sums_program(), {"--load", text}, five).err,
            text + ": not a safetensors file: it does not begin with the length of a JSON header\n");
  EXPECT_EQ(run(sums_program(), {"--load", folder.path("none")}, five).err,
            "cannot read '" + folder.path("none") + "': No such file or directory\n");
  const std::string plain = folder.write("plain", std::string("\x02\0\0\0\0\0\0\0{}", 10));
  EXPECT_EQ(run(sums_program(), {"--load", plain}, five).err,
            plain + ": a safetensors file, but not the state of a program; to load its tensors, use --load-params\n");
}

TEST(Checkpoint, a_wrong_state_leaves_the_output_alone) {
  const Folder folder;
  const std::string bad = folder.write("bad", "no state at all"), out = folder.write("o.csv", "precious");
  EXPECT_EQ(run(sums_program(), {"--load", bad, "--output", out}, five).status, 1);
  EXPECT_EQ(folder.read("o.csv"), "precious");
}

TEST(Checkpoint, the_seed_is_that_of_the_state) {
  const Folder folder;
  const std::string state = folder.path("state");
  EXPECT_EQ(run(sums_program(), {"--save", state, "--seed", "18446744073709551615"}, five).status, 0);
  EXPECT_EQ(run(sums_program(), {"--load", state, "--seed", "18446744073709551615"}, five).status, 0);
  const Outcome outcome = run(sums_program(), {"--load", state, "--seed", "4"}, five);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "--seed 4: '" + state + "' was saved by a run with seed 18446744073709551615\n");
}

TEST(Checkpoint, files_that_must_not_be_replaced) {
  const Folder folder;
  const std::string in = folder.write("in.csv", five), out = folder.path("out.csv");
  EXPECT_EQ(run(sums_program(), {"--input", in, "--save", in}).err,
            "--save " + in + ": the file is an input or output of this run\n");
  EXPECT_EQ(run(sums_program(), {"--input", in, "--output", out, "--save", out}).status, 2);
  EXPECT_EQ(run(sums_program(), {"--save", "/dev/null"}, five).err, "--save /dev/null: not a regular file\n");
  EXPECT_EQ(folder.read("in.csv"), five);
}

TEST(Checkpoint, a_folder_that_is_not_there) {
  const Outcome outcome = run(sums_program(), {"--save", "/nowhere/state"}, five);
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "cannot write '/nowhere/state': No such file or directory\n");
  EXPECT_EQ(outcome.out, "");
}

TEST(Checkpoint, engines_that_cannot_save_say_so) {
  for (const char* option : {"--save", "--load", "--resume"}) {
    const Outcome outcome = run(evens_program(), {option, "/tmp/state"}, "x\n1\n");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.err, std::string(option) + ": the reference engine cannot save or load its state\n");
  }
}

TEST(Checkpoint, options_that_contradict_each_other) {
  EXPECT_EQ(run(sums_program(), {"--save-every", "3"}).err,
            "--save-every: give the file to save to, --save FILE or --resume FILE\n");
  for (const std::vector<std::string>& pair : {std::vector<std::string>{"--load", "a", "--resume", "b"},
                                               {"--save", "a", "--resume", "b"},
                                               {"--load", "a", "--load-params", "b"},
                                               {"--save", "a", "--save-every", "0"}})
    EXPECT_EQ(run(sums_program(), pair).status, 2) << pair[0] << pair[2];
}

// Returns a file with one tensor, as any tool may write it.
std::string parameter_file(const Folder& folder, const std::string& entry, const std::string& data) {
  std::string header = "{" + entry + "}";
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  return folder.write("w.safetensors", bytes + header + data);
}

TEST(LoadParameters, take_the_place_of_the_initial_value) {
  const Folder folder;
  EXPECT_EQ(run(scale_program(), {}, "x\n1\n2\n").out, "y\n2\n4\n");
  const std::string f64 = parameter_file(folder, R"("w":{"dtype":"F64","shape":[],"data_offsets":[0,8]})",
                                         std::string("\0\0\0\0\0\0\x14\x40", 8));
  EXPECT_EQ(run(scale_program(), {"--load-params", f64}, "x\n1\n2\n").out, "y\n5\n10\n");
  const std::string f32 =
      parameter_file(folder, R"("w":{"dtype":"F32","shape":[],"data_offsets":[0,4]})", std::string("\0\0\x20\x41", 4));
  EXPECT_EQ(run(scale_program(), {"--load-params", f32}, "x\n1\n2\n").out, "y\n10\n20\n");
  const std::string bf16 =
      parameter_file(folder, R"("w":{"dtype":"BF16","shape":[],"data_offsets":[0,2]})", "\x40\x40");
  EXPECT_EQ(run(scale_program(), {"--load-params", bf16}, "x\n1\n").out, "y\n3\n");
}

TEST(LoadParameters, from_a_checkpoint) {
  const Folder folder;
  const std::string state = folder.path("state");
  const std::string file = parameter_file(folder, R"("w":{"dtype":"F64","shape":[],"data_offsets":[0,8]})",
                                          std::string("\0\0\0\0\0\0\x14\x40", 8));
  // Before the parameter is used for the first time, and after.
  for (const char* cycles : {"0", "1"}) {
    EXPECT_EQ(run(scale_program(), {"--load-params", file, "--save", state, "--cycles", cycles}, "x\n1\n").status, 0);
    EXPECT_EQ(run(scale_program(), {"--load", state}, "x\n1\n").out, "y\n5\n");
    EXPECT_EQ(run(scale_program(), {"--load-params", state}, "x\n1\n").out, "y\n5\n");
  }
  std::string damaged = folder.read("state");
  damaged.back() = static_cast<char>(damaged.back() ^ 1);
  const std::string bad = folder.write("damaged", damaged);
  EXPECT_EQ(run(scale_program(), {"--load-params", bad}, "x\n1\n").err,
            bad + ": damaged: some of its bytes have changed since it was written (checksum)\n");
  // A parameter that has no value yet is not saved.
  EXPECT_EQ(run(scale_program(), {"--save", state, "--cycles", "0"}, "x\n1\n").status, 0);
  EXPECT_EQ(run(scale_program(), {"--load", state}, "x\n1\n").out, "y\n2\n");
  EXPECT_EQ(run(scale_program(), {"--load-params", state}, "x\n1\n").err,
            state +
                ": not the parameters of 'scale':\n  no parameter 'w' (f64) in the file\n"
                "  --map OLD=NEW loads OLD of the file as NEW of the program\n");
}

TEST(LoadParameters, what_does_not_fit_is_named) {
  const Folder folder;
  const std::string shape =
      parameter_file(folder, R"("w":{"dtype":"F64","shape":[1],"data_offsets":[0,8]})", "12345678");
  EXPECT_EQ(run(scale_program(), {"--load-params", shape}, "x\n1\n").err,
            shape + ": not the parameters of 'scale':\n  'w' is f64 here, f64[1] in the file\n");
  const std::string dtype =
      parameter_file(folder, R"("w":{"dtype":"I64","shape":[],"data_offsets":[0,8]})", "12345678");
  EXPECT_EQ(run(scale_program(), {"--load-params", dtype}, "x\n1\n").err,
            dtype +
                ": not the parameters of 'scale':\n  'w' is f64 here, i64 in the file, which does not convert "
                "exactly: convert the file first\n");
  const std::string name = parameter_file(folder, R"("W":{"dtype":"F64","shape":[],"data_offsets":[0,8]})", "12345678");
  EXPECT_EQ(run(scale_program(), {"--load-params", name}, "x\n1\n").err,
            name +
                ": not the parameters of 'scale':\n  no parameter 'w' (f64) in the file; did you mean 'W'?\n  --map "
                "OLD=NEW loads OLD of the file as NEW of the program\n");
  EXPECT_EQ(run(sums_program(), {"--load-params", name}, five).err,
            "--load-params " + name + ": 'sums' has no parameters\n");
}

}  // namespace
}  // namespace rml::rt::test
