// Finds repeated blocks by rolling hashes over the equations; blocks with equal hashes are then
// compared (repeated_blocks.h).
#include "onnx/repeated_blocks.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

namespace rml::onnx {

namespace {

constexpr std::size_t shortest = 5, longest = 100;  // limits on the number of equations in a block
constexpr std::size_t most_results = 2;
constexpr int most_kinds = 16;  // maximum number of new nodes

struct Variable {
  std::string type;  // text of the type; "" if it is not written
  bool constant = false, parameter = false;
  bool tensor() const { return constant || parameter; }  // true for a tensor of the model
};

// An equation in pieces: text 0, reference 0, text 1, …
struct Line {
  std::vector<std::string> results;  // defined names with their types
  std::vector<std::string> texts, uses;
  std::size_t kind = 0;  // number of the kind; equal for lines that differ in names only
  bool fixed = false;    // the equation must not move to another node
};

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string name_of(const std::string& port) { return port.substr(0, port.find(':')); }
std::string type_of(const std::string& port) {
  const std::size_t at = port.find(": ");
  return at == std::string::npos ? "" : port.substr(at + 2);
}

// Splits "a: f32[2, 3], b = …" at the commas outside of brackets.
std::vector<std::string> ports_of(const std::string& left) {
  std::vector<std::string> ports(1);
  int depth = 0;
  for (const char c : left) {
    depth += (c == '[') - (c == ']');
    if (c == ',' && depth == 0)
      ports.emplace_back();
    else if (c != ' ' || !ports.back().empty())
      ports.back() += c;
  }
  return ports;
}

class Blocks {
 public:
  Blocks(Scope& main, const std::vector<std::string>& constants,
         const std::function<std::string(const std::string&)>& fresh_node)
      : main_(main), fresh_node_(fresh_node) {
    for (const std::string& c : constants) {
      const std::string port = c.substr(6, c.find(" = ") - 6);
      variables_[name_of(port)] = {type_of(port), true};
    }
    for (const std::string& port : main.inputs) variables_[name_of(port)] = {type_of(port), false};
    for (const Equation& e : main.equations) {
      const bool parameter = e.text.find(" = param(") != std::string::npos;
      for (const std::string& port : ports_of(e.text.substr(0, e.text.find(" = "))))
        variables_[name_of(port)] = {type_of(port), false, parameter};
    }
    for (const Equation& e : main.equations) lines_.push_back(line(e));
  }

  std::vector<Scope> run() {
    for (int round = 0; round < most_kinds; ++round) {
      const std::vector<std::size_t> places = best();
      if (places.empty()) break;
      take_out(places);
    }
    return std::move(nodes_);
  }

 private:
  Line line(const Equation& e) {
    Line l;
    const std::size_t equals = e.text.find(" = ");
    l.results = ports_of(e.text.substr(0, equals));
    const std::string text = e.text.substr(equals);
    std::string part;
    for (std::size_t at = 0; at < text.size();) {
      if (text[at] == '"') {
        const std::size_t begin = at++;
        while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
        part += text.substr(begin, ++at - begin);
        continue;
      }
      std::size_t end = at;
      while (end < text.size() && in_name(text[end])) ++end;
      if (end == at) {
        part += text[at++];
        continue;
      }
      const std::string word = text.substr(at, end - at);
      at = end;
      const bool keyword = end + 1 < text.size() && text[end] == '=' && text[end + 1] != '=';
      if (!variables_.contains(word) || keyword || text[end] == '(') {
        l.fixed = l.fixed || word == "param" || word == "fby";
        part += word;
        continue;
      }
      l.texts.push_back(std::exchange(part, {}));
      l.uses.push_back(word);
    }
    l.texts.push_back(part);
    std::string key;
    for (const std::string& port : l.results) key += type_of(port) + ";";
    for (std::size_t k = 0; k < l.texts.size(); ++k) {
      key += l.texts[k];
      if (k == l.uses.size()) break;
      const Variable& v = variables_.at(l.uses[k]);
      key += (v.tensor() ? "`tensor " : "`") + v.type + "`";
    }
    l.kind = kinds_.emplace(key, kinds_.size()).first->second;
    return l;
  }

  bool begins(std::size_t at) const { return at == lines_.size() || !main_.equations[at].comment.empty(); }

  // Describes how a block uses names, such that blocks with equal forms compute the same. Names
  // are numbered in the order of their first use, values of the block separately from others.
  std::vector<std::size_t> form(std::size_t begin, std::size_t length) const {
    std::unordered_map<std::string, std::size_t> own, others;
    std::vector<std::size_t> found;
    for (std::size_t k = begin; k < begin + length; ++k) {
      found.push_back(lines_[k].kind);
      for (const std::string& use : lines_[k].uses) {
        const auto at = own.find(use);
        found.push_back(at != own.end() ? 2 * at->second : 2 * others.emplace(use, others.size()).first->second + 1);
      }
      for (const std::string& port : lines_[k].results) own.emplace(name_of(port), own.size());
    }
    return found;
  }

  // True if the block is a sequence of equal shorter blocks.
  bool repeats_itself(std::size_t begin, std::size_t length) const {
    for (std::size_t period = shortest; 2 * period <= length; ++period) {
      if (length % period != 0) continue;
      std::size_t k = period;
      while (k < length && lines_[begin + k].kind == lines_[begin + k - period].kind) ++k;
      if (k == length) return true;
    }
    return false;
  }

  // Returns the positions of the blocks that save most equations; their length is stored in
  // length_.
  std::vector<std::size_t> best() {
    const std::size_t n = lines_.size();
    find_reaches();
    std::vector<std::uint64_t> hash(n + 1, 0), power(n + 1, 1);
    std::vector<std::size_t> fixed(n + 1, 0);
    constexpr std::uint64_t base = 0x9e3779b97f4a7c15u;
    for (std::size_t k = 0; k < n; ++k) {
      hash[k + 1] = hash[k] * base + lines_[k].kind + 1;
      power[k + 1] = power[k] * base;
      fixed[k + 1] = fixed[k] + (lines_[k].fixed ? 1 : 0);
    }
    std::vector<std::size_t> found;
    std::size_t most = 0;
    for (std::size_t length = std::min(longest, n / 2); length >= shortest; --length) {
      std::unordered_map<std::uint64_t, std::vector<std::size_t>> same;
      for (std::size_t k = 0; k + length <= n; ++k)
        if (begins(k) && begins(k + length) && fixed[k] == fixed[k + length])
          same[hash[k + length] - hash[k] * power[length]].push_back(k);
      for (std::size_t k = 0; k + length <= n; ++k) {
        const auto at = same.find(hash[k + length] - hash[k] * power[length]);
        if (at == same.end() || at->second[0] != k || (at->second.size() - 1) * length <= most + at->second.size())
          continue;
        if (work_ < 0) return found;
        work_ -= static_cast<std::int64_t>(length);
        if (results({k}, length).size() > most_results) continue;
        std::vector<std::size_t> places = alike(at->second, length);
        const std::size_t saved = (places.size() - 1) * length;
        if (places.size() < 2 || saved <= most + places.size() || repeats_itself(k, length)) continue;
        const std::size_t told = results(places, length).size(),
                          cost = (told + values_taken(k, length)) * places.size();
        if (told == 0 || told > most_results || saved <= most + cost) continue;
        most = saved - cost;
        found = std::move(places);
        length_ = length;
      }
    }
    return found;
  }

  // Returns the positions whose blocks have the same form as the block at the first position, and do not overlap.
  std::vector<std::size_t> alike(const std::vector<std::size_t>& all, std::size_t length) {
    const std::vector<std::size_t> first = form(all[0], length);
    std::vector<std::size_t> places = {all[0]};
    for (const std::size_t k : all) {
      if (k < places.back() + length) continue;
      work_ -= static_cast<std::int64_t>(length);
      if (form(k, length) == first) places.push_back(k);
    }
    return places;
  }

  // Finds the first and the last line that uses each value. A result of the node is used after
  // all lines.
  void find_reaches() {
    reaches_.clear();
    const auto reach = [&](const std::string& name, std::size_t line) {
      const auto [at, first] = reaches_.try_emplace(name, line, line);
      at->second.first = std::min(at->second.first, line);
      at->second.second = std::max(at->second.second, line);
    };
    for (std::size_t k = 0; k < lines_.size(); ++k)
      for (const std::string& use : lines_[k].uses) reach(use, k);
    for (const std::string& port : main_.outputs) reach(name_of(port), lines_.size());
  }

  // Adds the values of a block that are used outside of it, numbered in order.
  void add_results(std::size_t begin, std::size_t length, std::set<std::size_t>& found) const {
    std::size_t number = 0;
    for (std::size_t k = begin; k < begin + length; ++k)
      for (const std::string& port : lines_[k].results) {
        const auto at = reaches_.find(name_of(port));
        if (at != reaches_.end() && (at->second.first < begin || at->second.second >= begin + length))
          found.insert(number);
        ++number;
      }
  }

  // As the function above, for several blocks together; stops counting after most_results.
  std::set<std::size_t> results(const std::vector<std::size_t>& places, std::size_t length) const {
    std::set<std::size_t> found;
    for (const std::size_t begin : places) {
      add_results(begin, length, found);
      if (found.size() > most_results) break;
    }
    return found;
  }

  // Returns the names that a block uses from outside, in the order of their first use.
  std::vector<std::string> taken(std::size_t begin, std::size_t length) const {
    std::set<std::string> known;
    std::vector<std::string> found;
    for (std::size_t k = begin; k < begin + length; ++k) {
      for (const std::string& use : lines_[k].uses)
        if (known.insert(use).second) found.push_back(use);
      for (const std::string& port : lines_[k].results) known.insert(name_of(port));
    }
    return found;
  }

  // Counts the outside values that a block uses and that are not tensors of the model.
  std::size_t values_taken(std::size_t begin, std::size_t length) const {
    const std::vector<std::string> all = taken(begin, length);
    return static_cast<std::size_t>(
        std::ranges::count_if(all, [&](const std::string& name) { return !variables_.at(name).tensor(); }));
  }

  std::vector<std::string> made(std::size_t begin) const {
    std::vector<std::string> ports;
    for (std::size_t k = begin; k < begin + length_; ++k)
      ports.insert(ports.end(), lines_[k].results.begin(), lines_[k].results.end());
    return ports;
  }

  void take_out(const std::vector<std::size_t>& places) {
    const std::size_t first = places[0];
    std::vector<std::vector<std::string>> arguments;
    for (const std::size_t place : places) arguments.push_back(taken(place, length_));
    const std::set<std::size_t> told = results(places, length_);

    Scope node{fresh_node_("block"), {}, {}, {}, {}, {}};
    while (variables_.contains(node.name)) node.name = fresh_node_("block");
    for (const std::string& port : made(first)) node.names.insert(name_of(port));
    std::unordered_map<std::string, std::string> renamed;
    std::vector<std::size_t> ports;  // indices of the taken names that become inputs of the node
    for (std::size_t k = 0; k < arguments[0].size(); ++k) {
      const std::string& name = arguments[0][k];
      const Variable& v = variables_.at(name);
      const auto same = [&](const std::vector<std::string>& a) { return a[k] == name; };
      if (v.constant && std::ranges::all_of(arguments, same)) continue;
      const std::string as = free(node, v.tensor() ? "w" : name);
      renamed[name] = as;
      node.inputs.push_back(as + (v.type.empty() ? "" : ": " + v.type));
      ports.push_back(k);
    }
    for (std::size_t k = first; k < first + length_; ++k) {
      std::string text;
      for (const std::string& port : lines_[k].results) text += (text.empty() ? "" : ", ") + port;
      for (std::size_t part = 0; part < lines_[k].texts.size(); ++part) {
        text += lines_[k].texts[part];
        if (part == lines_[k].uses.size()) break;
        const auto at = renamed.find(lines_[k].uses[part]);
        text += at == renamed.end() ? lines_[k].uses[part] : at->second;
      }
      const std::string& comment = main_.equations[k].comment;
      node.equations.push_back({comment.substr(0, comment.find(" '")), text});
    }
    for (const std::size_t number : told) node.outputs.push_back(made(first)[number]);

    std::vector<Equation> equations;
    std::vector<Line> lines;
    std::size_t at = 0;
    for (std::size_t block = 0; block < places.size(); ++block) {
      for (; at < places[block]; ++at) {
        equations.push_back(std::move(main_.equations[at]));
        lines.push_back(std::move(lines_[at]));
      }
      const std::vector<std::string> values = made(at);
      std::string left, call = node.name + "(";
      for (const std::size_t number : told) left += (left.empty() ? "" : ", ") + values[number];
      for (const std::size_t k : ports) call += (call.ends_with('(') ? "" : ", ") + arguments[block][k];
      const std::string &begin = main_.equations[at].comment, &end = last_comment(at);
      equations.push_back({begin == end ? begin : begin + " … " + end, left + " = " + call + ");"});
      lines.push_back(line(equations.back()));
      at += length_;
    }
    for (; at < lines_.size(); ++at) {
      equations.push_back(std::move(main_.equations[at]));
      lines.push_back(std::move(lines_[at]));
    }
    main_.equations = std::move(equations);
    lines_ = std::move(lines);
    nodes_.push_back(std::move(node));
  }

  // Returns a free name of the node that is not the name of a constant.
  std::string free(Scope& node, const std::string& wanted) const {
    std::string name = wanted;
    int& k = node.counts.try_emplace(wanted, 1).first->second;
    while (node.names.contains(name) || (variables_.contains(name) && variables_.at(name).constant))
      name = wanted + std::to_string(++k);
    node.names.insert(name);
    return name;
  }

  const std::string& last_comment(std::size_t begin) const {
    std::size_t k = begin + length_ - 1;
    while (main_.equations[k].comment.empty()) --k;
    return main_.equations[k].comment;
  }

  Scope& main_;
  const std::function<std::string(const std::string&)>& fresh_node_;
  std::unordered_map<std::string, Variable> variables_;
  std::unordered_map<std::string, std::size_t> kinds_;
  std::vector<Line> lines_;
  std::vector<Scope> nodes_;
  std::unordered_map<std::string, std::pair<std::size_t, std::size_t>> reaches_;
  std::size_t length_ = 0;
  std::int64_t work_ = 50'000'000;  // lines that may still be compared; then the best block so far is used
};

}  // namespace

std::vector<Scope> take_out_repeated_blocks(Scope& main, const std::vector<std::string>& constants,
                                            const std::function<std::string(const std::string&)>& fresh_node) {
  return Blocks(main, constants, fresh_node).run();
}

}  // namespace rml::onnx
