// --resume: an interrupted and resumed run leaves the same files as an uninterrupted one.
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>

#include "tests/unit/runtime/programs.h"
#include "tests/unit/runtime/run_in_child.h"

namespace rml::rt::test {
namespace {

const char* const five = "x\n1\n2\n3\n4\n5\n";
const char* const five_sums = "sum\n1\n3\n6\n10\n15\n";

TEST(Resume, the_same_command_goes_on) {
  for (const char* name : {"o.csv", "o.jsonl", "o.npy", "o.csv.gz", "o.jsonl.gz"}) {
    const Folder folder;
    const std::string in = folder.write("in.csv", five), out = folder.path(name), state = folder.path("state");
    EXPECT_EQ(run(sums_program(), {"--input", in, "--output", out}).status, 0);
    const std::string whole = folder.read(name);
    for (int stop = 0; stop <= 5; ++stop) {
      std::filesystem::remove(state);
      const std::vector<std::string> command = {"--input", in, "--output", out, "--resume", state};
      std::vector<std::string> stopped = command;
      stopped.insert(stopped.end(), {"--cycles", std::to_string(stop)});
      EXPECT_EQ(run(sums_program(), stopped).status, 0);
      // Two more runs; the second has nothing left to do.
      for (int again = 0; again < 2; ++again) {
        const Outcome outcome = run(sums_program(), command);
        EXPECT_EQ(outcome.status, 0) << outcome.err;
        if (std::string(name).find(".gz") != std::string::npos) continue;
        ASSERT_EQ(folder.read(name), whole) << name << " stopped after " << stop;
      }
      if (std::string(name) == "o.csv.gz") {
        ASSERT_EQ(std::system(("gunzip -c " + out + " > " + folder.path("plain")).c_str()), 0);
        ASSERT_EQ(folder.read("plain"), five_sums) << stop;
      }
    }
  }
}

// A killed run leaves rows that follow the last saved state.
TEST(Resume, rows_beyond_the_state_are_taken_back) {
  const Folder folder;
  const std::string in = folder.write("in.csv", five), out = folder.path("o.csv"), state = folder.path("state");
  const std::vector<std::string> command = {"--input", in, "--output", out, "--resume", state};
  std::vector<std::string> stopped = command;
  stopped.insert(stopped.end(), {"--cycles", "2"});
  EXPECT_EQ(run(sums_program(), stopped).status, 0);
  EXPECT_EQ(folder.read("o.csv"), "sum\n1\n3\n");
  folder.write("o.csv", "sum\n1\n3\n6\n1");
  EXPECT_EQ(run(sums_program(), command).err, "");
  EXPECT_EQ(folder.read("o.csv"), five_sums);
}

TEST(Resume, saved_every_few_cycles_and_killed) {
  const Folder folder;
  const std::string out = folder.path("o.csv"), state = folder.path("state");
  const std::vector<std::string> command = {"--output", out, "--resume", state, "--save-every", "2"};
  {
    Conversation killed(sums_program(), command);
    killed.send("x\n1\n2\n3\n");
    for (int k = 0; k < 3000 && !std::filesystem::exists(state); ++k) usleep(20000);
    killed.interrupt(SIGKILL);
    EXPECT_EQ(killed.wait().status, 1000 + SIGKILL);
  }
  const Outcome outcome = run(sums_program(), command, five);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(folder.read("o.csv"), five_sums);
}

TEST(Resume, an_interrupted_run_saves) {
  const Folder folder;
  const std::string out = folder.path("o.csv"), state = folder.path("state");
  const std::vector<std::string> command = {"--output", out, "--resume", state};
  Conversation talk(sums_program(), command);
  talk.send("x\n1\n2\n3\n");
  talk.wait_until_it_waits();
  talk.interrupt(SIGTERM);
  EXPECT_EQ(talk.wait().status, 128 + SIGTERM);
  EXPECT_EQ(folder.read("o.csv"), "sum\n1\n3\n6\n");
  EXPECT_EQ(run(sums_program(), command, five).err, "");
  EXPECT_EQ(folder.read("o.csv"), five_sums);
}

class Resumed : public testing::Test {
 protected:
  void SetUp() override {
    in = folder.write("in.csv", five);
    out = folder.path("o.csv");
    state = folder.path("state");
    run(sums_program(), {"--input", in, "--output", out, "--resume", state, "--cycles", "3"});
  }
  std::string complaint(const std::vector<std::string>& arguments) {
    const std::string before = folder.read("o.csv");
    const Outcome outcome = run(sums_program(), arguments);
    EXPECT_NE(outcome.status, 0);
    EXPECT_EQ(folder.read("o.csv"), before);
    return outcome.err;
  }
  Folder folder;
  std::string in, out, state;
};

TEST_F(Resumed, other_input_is_refused) {
  const std::string other = folder.write("other.csv", "x\n1\n2\n4\n4\n5\n");
  EXPECT_EQ(complaint({"--input", other, "--output", out, "--resume", state}),
            "the first 3 rows of " + other + " are not those that '" + state +
                "' was saved after; to continue with other rows, use --load\n");
  const std::string shorter = folder.write("short.csv", "x\n1\n2\n");
  EXPECT_EQ(complaint({"--input", shorter, "--output", out, "--resume", state}),
            shorter + " ends after 2 rows, but '" + state + "' was saved after 3\n");
}

TEST_F(Resumed, other_outputs_are_refused) {
  const std::string other = folder.path("p.csv");
  EXPECT_EQ(complaint({"--input", in, "--output", other, "--resume", state}),
            "'" + other + "' was not an output of the run that saved '" + state + "'\n");
  EXPECT_EQ(complaint({"--input", in, "--output", "sum=" + out, "--output", other, "--resume", state}).substr(0, 8),
            "--output");
  folder.write("o.csv", "sum\n1\n");
  EXPECT_EQ(complaint({"--input", in, "--output", out, "--resume", state}),
            "cannot continue '" + out + "': it has 6 bytes, but 10 had been written when the state was saved\n");
  std::filesystem::remove(out);
  EXPECT_EQ(complaint({"--input", in, "--output", out, "--resume", state}),
            "cannot write '" + out + "': No such file or directory\n");
}

TEST(Resume, outputs_that_cannot_be_taken_back) {
  const Folder folder;
  const std::string state = folder.path("state");
  EXPECT_EQ(run(sums_program(), {"--resume", state}, five).err,
            "--resume: rows in standard output cannot be removed after a crash: give a file, --output FILE\n");
  EXPECT_EQ(run(sums_program(), {"--resume", state, "--output", "/dev/null"}, five).status, 2);
  for (const char* name : {"o.chron", "o.npz", "o.npy.gz"}) {
    const Outcome outcome = run(sums_program(), {"--resume", state, "--output", folder.path(name)}, five);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find("use .csv, .jsonl or .npy"), std::string::npos);
    EXPECT_FALSE(std::filesystem::exists(folder.path(name)));
  }
}

// A run that was loaded and then saved is resumed with its own random streams.
TEST(Resume, after_load) {
  const Folder folder;
  const std::string first = folder.path("first"), state = folder.path("state"), out = folder.path("o.csv");
  EXPECT_EQ(run(sums_program(), {"--save", first}, "x\n100\n").status, 0);
  const std::string in = folder.write("in.csv", five);
  EXPECT_EQ(
      run(sums_program(), {"--load", first, "--input", in, "--output", out, "--save", state, "--cycles", "2"}).err, "");
  EXPECT_EQ(run(sums_program(), {"--input", in, "--output", out, "--resume", state}).err, "");
  EXPECT_EQ(folder.read("o.csv"), "sum\n101\n103\n106\n110\n115\n");
}

}  // namespace
}  // namespace rml::rt::test
