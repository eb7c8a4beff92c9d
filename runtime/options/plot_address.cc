// The fields begin at the last question mark.
#include "runtime/options/plot_address.h"

#include <charconv>
#include <string_view>

#include "runtime/base/failure.h"
#include "runtime/base/percent_code.h"
#include "runtime/stream_io/spelling.h"

namespace rml::rt {
namespace {

constexpr unsigned least_side = 200, most_side = 20'000;

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  PlotAddress parse() {
    const std::size_t question = text_.rfind('?');
    address_.path = text_.substr(0, question);
    if (address_.path.empty()) fail("the file is missing: FILE?scale=log");
    std::string_view rest = question == std::string::npos ? "" : std::string_view(text_).substr(question + 1);
    while (!rest.empty()) {
      const std::string_view item = rest.substr(0, rest.find('&'));
      rest.remove_prefix(std::min(rest.size(), item.size() + 1));
      const std::size_t equals = item.find('=');
      const std::string name(item.substr(0, equals));
      if (equals != item.npos && equals + 1 < item.size())
        field(name, decoded(item.substr(equals + 1)));
      else
        fail("'" + name + "' needs a value: " + name + "=…");
    }
    return std::move(address_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Failure("--plot " + text_ + ": " + what, exit_usage); }

  std::string decoded(std::string_view value) const {
    const PercentDecoded result = percent_decoded(value);
    if (!result.complaint.empty()) fail(result.complaint);
    return result.text;
  }

  void field(const std::string& name, const std::string& value) {
    if (name == "scale")
      scale(value);
    else if (name == "size")
      size(value);
    else if (name == "title")
      address_.title = value;
    else
      fail("unknown field '" + name + "' (the fields are scale, size and title)" +
           did_you_mean(name, {"scale", "size", "title"}));
  }

  void scale(const std::string& value) {
    if (value != "log" && value != "linear") fail("'scale=" + value + "': the scale is log or linear");
    address_.scale = value == "log" ? PlotAddress::Scale::logarithmic : PlotAddress::Scale::linear;
  }

  void size(const std::string& value) {
    PlotAddress::Size size;
    const char* const end = value.data() + value.size();
    const auto width = std::from_chars(value.data(), end, size.width);
    const bool crossed = width.ec == std::errc() && width.ptr != end && *width.ptr == 'x';
    const auto height = crossed ? std::from_chars(width.ptr + 1, end, size.height) : width;
    const auto fits = [](unsigned side) { return side >= least_side && side <= most_side; };
    if (!crossed || height.ec != std::errc() || height.ptr != end || !fits(size.width) || !fits(size.height))
      fail("'size=" + value + "': the size is WIDTHxHEIGHT in pixels, each from " + std::to_string(least_side) +
           " to " + std::to_string(most_side) + ", such as size=900x500");
    address_.size = size;
  }

  const std::string& text_;
  PlotAddress address_;
};

}  // namespace

PlotAddress parse_plot_address(const std::string& text) { return text.empty() ? PlotAddress() : Parser(text).parse(); }

}  // namespace rml::rt
