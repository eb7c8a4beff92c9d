// Destinations of output, and errors while writing.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "tests/unit/runtime/programs.h"
#include "tests/unit/runtime/run_in_child.h"

namespace rml::rt::test {
namespace {

TEST(Output, some_outputs_by_name) {
  const Folder folder;
  const Outcome outcome = run(evens_program(), {"--output", "y=" + folder.path("y.csv"), "--output", "-"}, "x\n4\n5\n");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "c\ntrue\nfalse\n");
  EXPECT_EQ(folder.read("y.csv"), "y\n4\n\"\"\n");
}

TEST(Output, outputs_not_asked_for_are_not_written) {
  const Folder folder;
  const Outcome outcome = run(evens_program(), {"--output", "c=" + folder.path("c.jsonl")}, "x\n4\n");
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(folder.read("c.jsonl"), "{\"c\":true}\n");
}

TEST(Output, full_disk) {
  for (const char* format : {"csv", "jsonl", "chron", "npy"}) {
    const Outcome outcome = run(count_program(), {"--cycles", "3", "--format", format, "--output", "/dev/full"});
    EXPECT_EQ(outcome.status, 1) << format;
    EXPECT_EQ(outcome.err, "cannot write '/dev/full': No space left on device\n") << format;
  }
  const Outcome many = run(count_program(), {"--cycles", "1000000", "--output", "/dev/full"});
  EXPECT_EQ(many.status, 1);
  EXPECT_EQ(many.err, "cannot write '/dev/full': No space left on device\n");
}

TEST(Output, closed_pipe) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{}, {"--output", "/dev/stdout"}, {"--output", "sum=/dev/fd/1"}}) {
    Conversation talk(sums_program(), options);
    talk.send("x\n1\n");
    EXPECT_EQ(talk.receive_line(), "sum");
    EXPECT_EQ(talk.receive_line(), "1");
    talk.close_output();
    talk.send("2\n");
    talk.end_input();
    const Outcome outcome = talk.wait();
    EXPECT_EQ(outcome.status, 128 + SIGPIPE);
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(Output, closed_pipe_that_is_not_standard_output) {
  const Folder folder;
  const std::string pipe = folder.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::thread reader([&] { close(open(pipe.c_str(), O_RDONLY)); });
  const Outcome outcome = run(count_program(), {"--cycles", "1000000", "--output", pipe});
  reader.join();
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "cannot write '" + pipe + "': Broken pipe\n");
}

TEST(Output, unwritable_path) {
  const Outcome outcome = run(count_program(), {"--cycles", "3", "--output", "/nonexistent/folder/a.csv"});
  EXPECT_EQ(outcome.status, 1);
  EXPECT_EQ(outcome.err, "cannot write '/nonexistent/folder/a.csv': No such file or directory\n");
}

TEST(Output, never_over_an_input) {
  const Folder folder;
  const std::string in = folder.write("in.csv", "x\n1\n");
  std::filesystem::create_symlink(in, folder.path("alias.csv"));
  Outcome outcome = run(sums_program(), {"--input", in, "--output", folder.path("alias.csv")});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.err, "output '" + folder.path("alias.csv") + "' is the same file as input '" + in + "'\n");
  EXPECT_EQ(folder.read("in.csv"), "x\n1\n");
  outcome = run(evens_program(), {"--output", "y=" + folder.path("o.csv"), "--output", "c=" + folder.path("o.csv")});
  EXPECT_EQ(outcome.err, "two outputs go to the same file '" + folder.path("o.csv") + "'\n");
}

TEST(Output, a_wrong_input_leaves_an_old_output_alone) {
  const Folder folder;
  folder.write("old.csv", "precious\n");
  EXPECT_EQ(run(sums_program(), {"--output", folder.path("old.csv")}, "y\n1\n").status, 1);
  EXPECT_EQ(folder.read("old.csv"), "precious\n");
}

// A row is written before the next one is requested, even if the buffer is not full.
TEST(Output, rows_answer_rows) {
  for (const char* format : {"csv", "jsonl"}) {
    const bool csv = std::string(format) == "csv";
    Conversation talk(sums_program(), {"--format", format});
    if (csv) {
      talk.send("x\n");
      EXPECT_EQ(talk.receive_line(), "sum");
    }
    for (int n = 1; n <= 3; ++n) {
      talk.send(csv ? "1\n" : "{\"x\":1}\n");
      const std::string sum = std::to_string(n);
      EXPECT_EQ(talk.receive_line(), csv ? sum : "{\"sum\":" + sum + "}");
    }
    // Half a row is incomplete; complete rows must be written while the runtime waits for the
    // rest.
    talk.send(csv ? "1\n2" : "{\"x\":1}\n{\"x\":");
    EXPECT_EQ(talk.receive_line(), csv ? "4" : "{\"sum\":4}");
    talk.send(csv ? "0\n" : "20}\n");
    EXPECT_EQ(talk.receive_line(), csv ? "24" : "{\"sum\":24}");
    talk.end_input();
    EXPECT_EQ(talk.wait().status, 0);
  }
}

TEST(Output, interrupted_while_waiting) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    Conversation talk(sums_program(), {});
    talk.send("x\n1\n2\n7");
    EXPECT_EQ(talk.receive_line(), "sum");
    EXPECT_EQ(talk.receive_line(), "1");
    EXPECT_EQ(talk.receive_line(), "3");
    talk.interrupt(signal);
    const Outcome outcome = talk.wait();
    EXPECT_EQ(outcome.status, 128 + signal);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "interrupted after 2 cycles\n");
  }
}

TEST(Output, interrupted_while_computing) {
  const Folder folder;
  Conversation talk(count_program(), {"--cycles", "1000000000000", "--output", "/dev/null"});
  ::usleep(300000);
  talk.interrupt(SIGTERM);
  const Outcome outcome = talk.wait();
  EXPECT_EQ(outcome.status, 143);
  EXPECT_EQ(outcome.err.rfind("interrupted after ", 0), 0u);
}

TEST(Output, interrupted_output_is_complete) {
  const Folder folder;
  Conversation talk(segment_max_program(),
                    {"--input", "-", "--output", folder.path("o.chron"), "--format", "csv", "--quiet"});
  talk.send("end,x\nF,1\nT,5\nF,2\n");
  talk.wait_until_it_waits();
  talk.interrupt(SIGINT);
  const Outcome outcome = talk.wait();
  EXPECT_EQ(outcome.status, 130);
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(folder.read("o.chron"), "m | 5 5 ?\n");
}

}  // namespace
}  // namespace rml::rt::test
