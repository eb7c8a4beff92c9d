// The safetensors format: handwritten bytes, damage of every kind, and Python's own reader.
#include "runtime/checkpoint/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "runtime/base/failure.h"
#include "runtime/base/rmlrt.h"
#include "tests/unit/runtime/run_in_child.h"

namespace rml::rt::test {
namespace {

std::string file_of(const std::string& header, const std::string& data) {
  const std::uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header + data;
}

std::string complaint(const std::string& bytes) {
  try {
    read_safetensors("f", bytes);
    return "";
  } catch (const Failure& failure) {
    return failure.what();
  }
}

TEST(Safetensors, reads_what_others_write) {
  const std::string bytes =
      file_of(R"({"b":{"dtype":"U8","shape":[2,1],"data_offsets":[4,6]},"a.w":{"dtype":"F32","shape":[],)"
              R"("data_offsets":[0,4]},"__metadata__":{"k":"v"},"q":{"dtype":"F8_E4M3","shape":[0],)"
              R"("data_offsets":[6,6]}}   )",
              std::string("\0\0\x80\x3f\x07\x08", 6));
  const Safetensors file = read_safetensors("f", bytes);
  EXPECT_EQ(file.metadata, (Metadata{{"k", "v"}}));
  ASSERT_EQ(file.tensors.size(), 3u);
  const TensorIn& w = *file.find("a.w");
  EXPECT_EQ(w.dtype, RML_F32);
  EXPECT_EQ(w.shape, std::vector<std::uint64_t>{});
  EXPECT_EQ(w.data, std::string_view("\0\0\x80\x3f", 4));
  EXPECT_EQ(tensor_type_text(*file.find("b")), "u8[2,1]");
  EXPECT_EQ(file.find("q")->dtype, foreign_dtype);
  EXPECT_EQ(tensor_type_text(*file.find("q")), "f8_e4m3[0]");
  EXPECT_EQ(file.find("nothing"), nullptr);
}

TEST(Safetensors, writes_what_it_reads) {
  const std::string flags("\1\0\1", 3), numbers("12345678abcdefgh", 16);
  std::vector<TensorOut> tensors = {{"flags", RML_BOOL, {3}, {flags}},
                                    {"n", RML_I64, {2}, {std::string_view(numbers).substr(0, 8), "abcdefgh"}}};
  std::string bytes = safetensors_head(tensors, {{"who", "\"me\""}});
  EXPECT_EQ(bytes.size() % 8, 0u);
  EXPECT_EQ(tensors[0].name, "n");  // tensors with larger elements come first
  bytes += numbers + flags;
  const Safetensors file = read_safetensors("f", bytes);
  EXPECT_EQ(file.metadata.at("who"), "\"me\"");
  EXPECT_EQ(file.find("n")->data, numbers);
  EXPECT_EQ(file.find("flags")->data, flags);
}

TEST(Safetensors, damage_is_told) {
  const auto one = [](const std::string& entry) { return "{\"x\":" + entry + "}"; };
  const std::string good = R"({"dtype":"F32","shape":[1],"data_offsets":[0,4]})";
  EXPECT_EQ(complaint(file_of(one(good), "1234")), "");
  EXPECT_EQ(complaint("abc"), "f: not a safetensors file: too short for a header");
  EXPECT_EQ(complaint("n,x\n1,2\n3,4\n5,6\n"),
            "f: not a safetensors file: it does not begin with the length of a JSON header");
  EXPECT_EQ(complaint(file_of(one(good), "1234").substr(0, 30)), "f: truncated: 30 bytes, but its header alone has 54");
  EXPECT_EQ(complaint(file_of(one(good), "123")),
            "f: truncated: tensor 'x' ends at byte 4 of the elements, of which 3 are there");
  EXPECT_EQ(complaint(file_of(one(good), "12345")), "f: damaged: there are bytes after the last tensor");
  EXPECT_EQ(complaint(file_of("{\"x\":", "")), "f: damaged: the header is not a JSON object");
  EXPECT_EQ(complaint(file_of(one("3"), "")), "f: damaged: tensor 'x' has no dtype");
  EXPECT_EQ(complaint(file_of(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,4]})"), "1234")),
            "f: damaged: tensor 'x' (f32[2]) has 4 bytes");
  EXPECT_EQ(complaint(file_of(one(R"({"dtype":"F32","shape":[-1],"data_offsets":[0,4]})"), "1234")),
            "f: damaged: shape of tensor 'x' are not sizes");
  EXPECT_EQ(complaint(file_of(one(R"({"dtype":"F32","shape":[1],"data_offsets":[4,0]})"), "1234")),
            "f: damaged: data_offsets of tensor 'x'");
  EXPECT_EQ(complaint(file_of(one(R"({"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,4]})"), "1234")),
            "f: damaged: tensor 'x' is impossibly large");
  EXPECT_EQ(complaint(file_of(R"({"x":)" + good + R"(,"y":)" + good + "}", "1234")),
            "f: damaged: its tensors overlap or leave a gap");
  EXPECT_EQ(complaint(file_of(R"({"__metadata__":{"a":1}})", "")),
            "f: damaged: the value of 'a' in __metadata__ is not a string");
}

}  // namespace
}  // namespace rml::rt::test
