// Collects missing and extra tensors and those of another type, and reports the first few in one
// message.
#include "runtime/checkpoint/state_file.h"

#include <algorithm>
#include <cstring>

#include "runtime/base/failure.h"
#include "runtime/checkpoint/kept_tensors.h"

namespace rml::rt {

namespace {

constexpr int most_told = 16;
constexpr std::int64_t most_instants = std::int64_t{1} << 62;

constexpr const char* of_another = " (of ";

std::ptrdiff_t common_end(const std::string& a, const std::string& b) {
  return std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin();
}

// Removes the parts that two names have in common: for "before low.m" and "before smooth.m", the
// --map only needs low and smooth.
void keep_difference(std::string& a, std::string& b) {
  const std::size_t word = a.find(' ');
  if (word != a.npos && b.compare(0, word + 1, a, 0, word + 1) == 0) a.erase(0, word + 1), b.erase(0, word + 1);
  const std::string end = a.substr(a.size() - static_cast<std::size_t>(common_end(a, b)));
  const std::size_t dot = end.find('.');
  if (dot == end.npos || end.size() - dot >= std::min(a.size(), b.size())) return;
  a.resize(a.size() - (end.size() - dot)), b.resize(b.size() - (end.size() - dot));
}

}  // namespace

std::string curve_name(const std::string& output) { return "curve " + output; }
std::string given_name(const std::string& path) { return "given " + path; }
std::string name_elsewhere(const std::string& name, const std::string& variable) {
  return name + of_another + variable + ")";
}

StateFile::StateFile(const rml_program& program, const std::string& name, const Safetensors& content)
    : program_(program), name_(name) {
  for (const TensorIn& t : content.tensors) tensors_[t.name] = &t;
}

void StateFile::damaged(const std::string& what) const { throw Failure(name_ + ": damaged: " + what); }

void StateFile::too_large(std::uint64_t bytes) const {
  throw Failure(name_ + ": its buffers need " + std::to_string(bytes) + " bytes more than this run may use");
}

std::vector<std::int64_t> StateFile::counts(const std::string& tensor) const {
  const TensorIn& t = this->tensor(tensor);
  std::vector<std::int64_t> values(t.data.size() / 8);
  if (!values.empty()) std::memcpy(values.data(), t.data.data(), 8 * values.size());
  for (const std::int64_t value : values)
    if (value < 0 || value > most_instants) damaged("'" + tensor + "' counts " + std::to_string(value));
  return values;
}

void StateFile::expect(const std::string& tensor, std::uint8_t dtype, std::vector<std::uint64_t> shape, bool many) {
  expected_.insert(tensor);
  const auto found = tensors_.find(tensor);
  const std::string type = tensor_type_text(dtype, shape.data(), shape.size());
  if (found == tensors_.end()) {
    missing_.emplace_back(tensor, type);
    return differs("'" + tensor + "' (" + type + ") is not in the file");
  }
  std::vector<std::uint64_t> have = found->second->shape;
  if (many && !have.empty()) have.erase(have.begin());
  if (found->second->dtype == dtype && have == shape && (!many || !found->second->shape.empty())) return;
  differs("'" + tensor + "' is " + type + " here, " + tensor_type_text(*found->second) + " in the file");
}

void StateFile::expect_given() {
  for (std::uint32_t p = 0; p < program_.n_parameters; ++p) {
    const rml_parameter& row = program_.parameters[p];
    if (has(given_name(row.path))) expect(given_name(row.path), row.dtype, {row.dims, row.dims + row.rank}, false);
  }
}

void StateFile::differs(const std::string& line) {
  if (++differences_ <= most_told) text_ += "\n  " + line;
}

void StateFile::compare() {
  for (const auto& [name, tensor] : tensors_) {
    if (expected_.contains(name) || name.starts_with(curve_name("")) || is_kept_name(name)) continue;
    extra_.emplace_back(name, tensor_type_text(*tensor));
    differs("'" + name + "' (" + extra_.back().second + ") is only in the file");
  }
  if (differences_ > most_told) text_ += "\n  and " + std::to_string(differences_ - most_told) + " more";
  if (differences_ > 0)
    throw Failure(name_ + ": saved by a program whose state differs from that of '" + program_.name + "':" + text_ +
                  proposal() + note_);
  check_truths();
}

// Proposes a renaming: among missing and extra tensors of one type, the two names with the
// longest common end.
std::string StateFile::proposal() const {
  std::string here, there;
  std::ptrdiff_t alike = -1;
  for (const auto& [name, type] : missing_) {
    for (const auto& [other, other_type] : extra_) {
      const std::ptrdiff_t same = common_end(name, other);
      if (type != other_type || same <= alike) continue;
      alike = same;
      here = name, there = other;
    }
  }
  if (alike < 0) return "";
  there.resize(std::min(there.size(), there.find(of_another)));
  const std::string text = "\n  if '" + there + "' of the file is '" + here + "' here: --map '";
  keep_difference(there, here);
  return text + there + "=" + here + "'";
}

// Programs rely on Booleans being 0 or 1.
void StateFile::check_truths() const {
  for (const auto& [name, tensor] : tensors_) {
    if (tensor->dtype != RML_BOOL) continue;
    for (const char c : tensor->data)
      if (c != 0 && c != 1) damaged("'" + name + "' holds a Boolean that is neither true nor false");
  }
}

}  // namespace rml::rt
