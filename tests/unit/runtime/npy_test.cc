// Reads and writes NumPy files, and compares with NumPy where it is installed.
#include <gtest/gtest.h>

#include "runtime/stream_io/npy_array.h"
#include "tests/unit/runtime/programs.h"
#include "tests/unit/runtime/run_in_child.h"

namespace rml::rt::test {
namespace {

#define NEEDS_NUMPY() \
  if (!has_numpy()) GTEST_SKIP() << "no /usr/bin/python3 with NumPy"

std::string npy(const std::string& descr, std::uint64_t rows, const std::vector<std::uint64_t>& dims,
                const std::string& data) {
  return npy_header_text(descr, rows, dims.data(), static_cast<std::uint32_t>(dims.size())) + data;
}

// Returns the output of a run over one .npy file, or its message without the folder.
std::string answer(const PortSpec& port, const std::string& file) {
  const CopyProgram copy({port});
  const Folder folder;
  const Outcome outcome = run(copy.table(), {"--input", folder.write("a.npy", file)});
  if (outcome.status == 0) return outcome.out;
  EXPECT_EQ(outcome.status, 1);
  std::string text = outcome.err;
  const std::size_t at = text.find(folder.path(""));
  return at == text.npos ? text : text.erase(at, folder.path("").size());
}

TEST(Npy, reads_what_numpy_writes) {
  NEEDS_NUMPY();
  const Folder folder;
  python("np.save('" + folder.path("x.npy") + "', np.arange(6, dtype=np.float32).reshape(2,3) / 4)\n" + "np.savez('" +
         folder.path("a.npz") + "', v=np.arange(6, dtype=np.int64).reshape(3,2), b=np.array([True,False,True]))\n" +
         "np.savez_compressed('" + folder.path("c.npz") +
         "', v=np.arange(6, dtype=np.int64).reshape(3,2), b=np.array([True,False,True]))\n");
  const CopyProgram vector({{"x", RML_F32, {3}}});
  EXPECT_EQ(run(vector.table(), {"--input", folder.path("x.npy")}).out, "x[0],x[1],x[2]\n0,0.25,0.5\n0.75,1,1.25\n");
  const CopyProgram both({{"v", RML_I64, {2}}, {"b", RML_BOOL}});
  for (const char* name : {"a.npz", "c.npz"}) {
    const Outcome outcome = run(both.table(), {"--input", folder.path(name)});
    EXPECT_EQ(outcome.out, "v[0],v[1],b\n0,1,true\n2,3,false\n4,5,true\n") << outcome.err;
  }
}

TEST(Npy, numpy_reads_what_we_write) {
  NEEDS_NUMPY();
  const Folder folder;
  const CopyProgram copy({{"c", RML_BOOL}, {"x", RML_F32, {2}, 0}, {"h", RML_F16}});
  const std::string in = folder.write("in.csv", "c,x[0],x[1],h\nT,1.5,2,0.5\nF,,,1\nT,3,4,2\n");
  Outcome outcome = run(copy.table(), {"--input", in, "--output", folder.path("o.npz"), "--quiet"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(python("z = np.load('" + folder.path("o.npz") + "')\n" +
                   "print(sorted(z.files)); print(z['x'].tolist(), z['x'].dtype, z['x.present'].tolist())\n" +
                   "print(z['c'].tolist(), z['h'].tolist(), z['h'].dtype)\n"),
            "['c', 'h', 'x', 'x.present']\n[[1.5, 2.0], [3.0, 4.0]] float32 [True, False, True]\n"
            "[True, False, True] [0.5, 1.0, 2.0] float16\n");
  outcome = run(copy.table(),
                {"--input", in, "--output", "h=" + folder.path("h.npy"), "--output", "c=" + folder.path("c.npy.gz")});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(python("import gzip\nprint(np.load('" + folder.path("h.npy") + "').tolist())\n" +
                   "print(np.load(gzip.open('" + folder.path("c.npy.gz") + "')).tolist())\n"),
            "[0.5, 1.0, 2.0]\n[True, False, True]\n");
}

TEST(Npy, every_safe_conversion_agrees_with_numpy) {
  NEEDS_NUMPY();
  const Folder folder;
  python(
      "for t in 'b1 i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 >i2 >u4 >i8 >f2 >f4 >f8'.split():\n"
      "  np.save('" +
      folder.path("") + "' + t.replace('>','big_') + '.npy', np.array([0, 1, 1], dtype=t))\n");
  const std::vector<std::pair<std::string, std::string>> safe = {
      {"b1", "bool i8 u8 i16 i32 i64 u16 u32 u64 f16 f32 f64"},
      {"i1", "i8 i16 i32 i64 f16 f32 f64"},
      {"u1", "u8 i16 i32 i64 u16 u32 u64 f16 f32 f64"},
      {"i2", "i16 i32 i64 f32 f64"},
      {"big_i2", "i16 i32 i64 f32 f64"},
      {"u2", "i32 i64 u16 u32 u64 f32 f64"},
      {"i4", "i32 i64 f64"},
      {"u4", "i64 u32 u64 f64"},
      {"big_u4", "i64 u32 u64 f64"},
      {"i8", "i64"},
      {"u8", "u64"},
      {"big_i8", "i64"},
      {"f2", "f16 f32 f64"},
      {"big_f2", "f16 f32 f64"},
      {"f4", "f32 f64"},
      {"big_f4", "f32 f64"},
      {"f8", "f64"},
      {"big_f8", "f64"}};
  for (const auto& [file, targets] : safe) {
    for (std::uint8_t dtype = RML_BOOL; dtype <= RML_U64; ++dtype) {
      if (dtype == RML_BF16) continue;
      const std::string name(dtype_name(dtype));
      const CopyProgram copy({{"x", dtype}});
      const Outcome outcome = run(copy.table(), {"--input", folder.path(file + ".npy")});
      const bool expected = (" " + targets + " ").find(" " + name + " ") != std::string::npos;
      EXPECT_EQ(outcome.status == 0, expected) << file << " as " << name << ": " << outcome.err;
      if (expected) {
        EXPECT_EQ(outcome.out, dtype == RML_BOOL ? "x\nfalse\ntrue\ntrue\n" : "x\n0\n1\n1\n");
      }
    }
  }
}

TEST(Npy, numpy_versions_two_and_three) {
  NEEDS_NUMPY();
  const Folder folder;
  python("from numpy.lib import format\nfor v in (1, 2, 3):\n  with open('" + folder.path("") +
         "%d.npy' % v, 'wb') as f: format.write_array(f, np.array([7, 8], dtype='i4'), version=(v, 0))\n");
  for (const char* name : {"1.npy", "2.npy", "3.npy"}) {
    const CopyProgram copy({{"x", RML_I32}});
    EXPECT_EQ(run(copy.table(), {"--input", folder.path(name)}).out, "x\n7\n8\n");
  }
}

TEST(Npy, refuses_objects_fortran_order_and_records_of_numpy) {
  NEEDS_NUMPY();
  const Folder folder;
  python("np.save('" + folder.path("o.npy") + "', np.array([{}, 1], dtype=object))\n" + "np.save('" +
         folder.path("f.npy") + "', np.asfortranarray(np.zeros((3,2), np.float32)))\n" + "np.save('" +
         folder.path("r.npy") + "', np.zeros(3, dtype=[('a','f4'),('b','f4')]))\n");
  const CopyProgram copy({{"x", RML_F32, {2}}});
  EXPECT_NE(run(copy.table(), {"--input", folder.path("o.npy")}).err.find("Python objects ('|O'), which is never read"),
            std::string::npos);
  EXPECT_NE(run(copy.table(), {"--input", folder.path("f.npy")}).err.find("Fortran order"), std::string::npos);
  EXPECT_NE(run(copy.table(), {"--input", folder.path("r.npy")}).err.find("an array of records"), std::string::npos);
}

TEST(NpyErrors, type_and_shape) {
  EXPECT_EQ(answer({"x", RML_F32}, npy("<f8", 1, {}, std::string(8, '\0'))),
            "a.npy: elements are float64, but input 'x' is f32, which does not hold every float64; convert the array "
            "first (astype)\n");
  EXPECT_EQ(answer({"x", RML_F32, {3}}, npy("<f4", 1, {2}, std::string(8, '\0'))),
            "a.npy: the array's shape is (1, 2), but input 'x' (f32[3]) needs (cycles, 3)\n");
  EXPECT_EQ(answer({"x", RML_F32}, npy("<c8", 1, {}, std::string(8, '\0'))),
            "a.npy: element type '<c8' is not supported; use bool, (u)int8 to (u)int64, float16, float32 or float64\n");
}

TEST(NpyErrors, truncated) {
  EXPECT_EQ(answer({"x", RML_F32}, npy("<f4", 3, {}, std::string(9, '\0'))),
            "a.npy: truncated at cycle 2: 3 rows of 4 bytes promised (12 bytes), 9 bytes there\n");
  EXPECT_EQ(answer({"x", RML_F32}, npy("<f4", 3, {}, "").substr(0, 60)), "a.npy: truncated inside the .npy header\n");
  EXPECT_EQ(answer({"x", RML_F32}, "PK\x03\x04"), "a.npy: not a .npy array (it does not begin with \\x93NUMPY)\n");
}

TEST(NpyErrors, impossible_sizes) {
  std::string file = npy("<f4", 0xffffffffffffffffull, {}, "");
  EXPECT_EQ(answer({"x", RML_F32}, file), "a.npy: the array's shape (18446744073709551615,) is impossibly large\n");
  file = npy("<f4", 0x0fffffffffffffffull, {}, "abcd");
  EXPECT_EQ(answer({"x", RML_F32}, file),
            "a.npy: truncated at cycle 1: 1152921504606846975 rows of 4 bytes promised (4611686018427387900 bytes), 4 "
            "bytes there\n");
}

TEST(NpyErrors, damaged_headers) {
  const auto with_header = [](std::string text) {
    text.resize(117, ' ');
    return std::string("\x93NUMPY\x01\x00\x76\x00", 10) + text + "\n";
  };
  for (const std::string text :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'fortran_order': 1, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "{'descr': '<f4, 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': __import__('os'), 'fortran_order': False, 'shape': (1,)}"}) {
    EXPECT_EQ(answer({"x", RML_F32}, with_header(text)).rfind("a.npy: damaged .npy header: ", 0), 0u) << text;
  }
  EXPECT_EQ(answer({"x", RML_F32}, std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12)),
            "a.npy: a .npy header of 4294967295 bytes is refused\n");
  EXPECT_EQ(answer({"x", RML_F32}, std::string("\x93NUMPY\x09\x00\x10\x00", 10)),
            "a.npy: .npy version 9 is not supported (1 to 3 are)\n");
}

TEST(Npy, through_pipes) {
  const CopyProgram copy({{"x", RML_I32}});
  const std::string file = npy("<i4", 2, {}, std::string("\x01\0\0\0\x02\0\0\0", 8));
  EXPECT_EQ(run(copy.table(), {"--format", "npy"}, file).out, file);
}

TEST(NpyErrors, streams_that_may_be_absent) {
  const CopyProgram copy({{"c", RML_BOOL}, {"x", RML_F32, {}, 0}});
  Outcome outcome = run(copy.table(), {"--input", "x=x.npy", "--input", "c=c.csv"});
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(
      outcome.err,
      "--input x.npy: 'x' is absent at some cycles (clock base on c), which a NumPy file cannot express; use .csv, "
      ".jsonl or .chron\n");
  outcome = run(copy.table(), {"--output", "x=x.npy"});
  EXPECT_EQ(outcome.err,
            "--output x.npy: 'x' is absent at some cycles (clock base on c), which a .npy cannot express; use .npz or "
            ".csv\n");
  outcome = run(copy.table(), {"--output", "all.npy"});
  EXPECT_EQ(outcome.err,
            "--output all.npy: a .npy holds one stream, not 2 ('c', 'x'); name one each (c=FILE.npy) or use .npz\n");
}

class NpzErrors : public testing::Test {
 protected:
  // An archive of x = [1, 2, 3, …] that the runtime wrote.
  std::string archive() {
    std::string csv = "x\n";
    for (int k = 0; k < 100; ++k) csv += std::to_string(k) + "\n";
    const Outcome outcome =
        run(copy_.table(), {"--input", folder_.write("in.csv", csv), "--output", folder_.path("o.npz")});
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    return folder_.read("o.npz");
  }
  std::string answer(const std::string& file) {
    const Outcome outcome = run(copy_.table(), {"--input", folder_.write("a.npz", file)});
    if (outcome.status == 0) return outcome.out;
    EXPECT_EQ(outcome.status, 1);
    return outcome.err.substr(folder_.path("").size());
  }
  CopyProgram copy_{{{"x", RML_I64}}};
  Folder folder_;
};

TEST_F(NpzErrors, round_trip) { EXPECT_EQ(answer(archive()).substr(0, 10), "x\n0\n1\n2\n3\n"); }

TEST_F(NpzErrors, truncated_and_damaged) {
  const std::string good = archive();
  EXPECT_EQ(answer(good.substr(0, good.size() - 1)),
            "a.npz: not a zip archive, or truncated (no directory at its end)\n");
  EXPECT_EQ(answer(good.substr(10)).rfind("a.npz: damaged zip archive: ", 0), 0u);
  std::string flipped = good;
  flipped[60] = static_cast<char>(flipped[60] ^ 0x55);
  EXPECT_NE(answer(flipped).find("damaged"), std::string::npos);
  std::string crc = good;
  const std::size_t directory = crc.find("PK\x01\x02");
  crc[directory + 16] = static_cast<char>(crc[directory + 16] ^ 1);
  EXPECT_EQ(answer(crc),
            "a.npz: damaged zip archive: the content of 'x.npy' does not have the size and checksum recorded for it\n");
}

TEST_F(NpzErrors, bomb) {
  std::string bomb = archive();
  const std::size_t directory = bomb.find("PK\x01\x02");
  bomb[directory + 10] = 8;       // marks the entry of the archive as deflated
  bomb[directory + 27] = '\x70';  // changes the size of the entry to 1.9 GB
  const std::string text = answer(bomb);
  EXPECT_NE(text.find("more than deflate can hold"), std::string::npos) << text;
}

TEST_F(NpzErrors, missing_array) {
  std::string renamed = archive();
  for (std::size_t at = 0; (at = renamed.find("x.npy", at)) != renamed.npos;) renamed[at] = 'X';
  EXPECT_EQ(answer(renamed), "a.npz: no array 'x' for input 'x' (i64); did you mean 'X'?\n");
}

TEST_F(NpzErrors, a_name_that_comes_twice_is_refused) {
  EXPECT_EQ(python("import io, warnings, zipfile\nwarnings.simplefilter('ignore')\n"
                   "with zipfile.ZipFile('" +
                   folder_.path("twice.npz") +
                   "', 'w') as z:\n"
                   "  for k in (1, 2):\n"
                   "    with z.open('x.npy', 'w') as f: np.save(f, np.array([k], dtype=np.int64))\n"),
            "");
  EXPECT_EQ(answer(folder_.read("twice.npz")), "a.npz: holds 'x.npy' twice; keep only one of them\n");
}

}  // namespace
}  // namespace rml::rt::test
