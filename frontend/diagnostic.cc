// The collector of diagnostics, the table of codes, and suggestions for misspelled names.
//
// Names are compared by Damerau-Levenshtein distance, in which a transposition counts as one
// edit. The permitted distance grows with the length of the name.
#include "frontend/diagnostic.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>
#include <utility>

namespace rml {

namespace {

struct Row {
  Code code;
  std::string_view name;
  std::string_view title;
};

constexpr Row rows[] = {
#define RML_DIAGNOSTIC(code, title) {Code::code, #code, title},
#include "frontend/diagnostics.def"
#undef RML_DIAGNOSTIC
};

const Row& row(Code code) { return rows[static_cast<std::size_t>(code)]; }

// Edit distance in which a change of case costs nothing. Stops and returns limit + 1 if the
// distance exceeds `limit`.
std::size_t distance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t longer = std::max(a.size(), b.size());
  if (longer - std::min(a.size(), b.size()) > limit) return limit + 1;
  const auto same = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) == std::tolower(static_cast<unsigned char>(y));
  };
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      current[j] = std::min({replaced, previous[j] + 1, current[j - 1] + 1});
      if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

}  // namespace

std::string_view code_name(Code code) { return row(code).name; }
std::string_view code_title(Code code) { return row(code).title; }
Severity severity(Code code) { return row(code).name.front() == 'W' ? Severity::warning : Severity::error; }

const std::vector<Code>& all_codes() {
  static const std::vector<Code> codes = [] {
    std::vector<Code> result;
    for (const Row& r : rows) result.push_back(r.code);
    return result;
  }();
  return codes;
}

Diagnostic& Diagnostic::label(Span span, std::string text) {
  secondary.push_back({span, std::move(text)});
  return *this;
}

Diagnostic& Diagnostic::note(std::string text) {
  notes.push_back(std::move(text));
  return *this;
}

Diagnostic& Diagnostic::fix(Span span, std::string replacement, std::string title, bool certain) {
  fixes.push_back({span, std::move(replacement), std::move(title), certain});
  return *this;
}

void Diagnostics::append(const Diagnostics& others) {
  list_.insert(list_.end(), others.list_.begin(), others.list_.end());
  errors_ += others.errors_;
}

void Diagnostics::append_new(const Diagnostics& others) {
  // Diagnostics without a place are compared by message as well.
  const auto said = [](const Diagnostic& d) {
    const Span s = d.primary.span;
    return std::tuple(d.code, s.file, s.begin, s.end, s.file == 0 ? d.message : std::string());
  };
  std::set<decltype(said(std::declval<Diagnostic>()))> seen;
  for (const Diagnostic& d : list_) seen.insert(said(d));
  for (const Diagnostic& d : others.list_) {
    if (!seen.insert(said(d)).second) continue;
    if (severity(d.code) == Severity::error) ++errors_;
    list_.push_back(d);
  }
}

void Diagnostics::append(const Diagnostic& other) {
  if (severity(other.code) == Severity::error) ++errors_;
  list_.push_back(other);
}

Diagnostic& Diagnostics::report(Code code, Span span, std::string message, std::string label) {
  if (severity(code) == Severity::error) ++errors_;
  list_.push_back({code, std::move(message), {span, std::move(label)}, {}, {}, {}});
  return list_.back();
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr std::size_t longest_compared = 200;
  if (name.empty() || name.size() > longest_compared) return {};
  std::size_t limit = std::max<std::size_t>(1, name.size() / 3);
  std::string best;
  for (const std::string& candidate : candidates) {
    if (candidate == name || candidate.empty() || candidate.size() > longest_compared) continue;
    const std::size_t d = distance(name, candidate, limit);
    if (d >= std::max(name.size(), candidate.size())) continue;
    if (d < limit || (d == limit && best.empty())) {
      limit = d;
      best = candidate;
    }
  }
  return best;
}

}  // namespace rml
