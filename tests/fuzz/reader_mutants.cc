// Reads damaged files of rows, states and parameters. Each must be read, or refused with a
// message.
//
//   reader_mutants KIND --from CASE --count N --folder FOLDER [PROGRAM.so …]
//
// KIND is csv, jsonl, texts, chron, npy, npz, gz, state or safetensors; the last two need
// programs (states.rml). FOLDER is for temporary files. FOLDER/case contains the number of the
// current case, for a caller that finds this process dead. A case may take ten seconds. An
// exception other than Failure, which would end a program with status 70, is reported.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "fuzz/damage.h"
#include "fuzz/mutant_search.h"
#include "fuzz/state_mutants.h"
#include "runtime/base/failure.h"
#include "runtime/stream_io/formats/readers.h"
#include "runtime/stream_io/formats/writers.h"

namespace rml::fuzz {

namespace {

using rt::ByteSink;
using rt::ByteSource;
using rt::Row;

constexpr std::uint64_t dims[] = {2, 3}, none[] = {0, 2}, deep[] = {2, 1, 2};
constexpr rml_port ports[] = {
    {"x", "base", RML_F32, 1, 0, 0, nullptr, 1}, {"b", "base", RML_BOOL, 1, 0, 0, nullptr, 1},
    {"m", "base", RML_F64, 1, 0, 2, dims, 6},    {"h", "base", RML_F16, 1, 0, 0, nullptr, 1},
    {"u", "base", RML_U64, 1, 0, 0, nullptr, 1}, {"e", "base", RML_I8, 1, 0, 2, none, 0},
    {"t", "base", RML_I32, 1, 0, 3, deep, 4},    {"k", "base on b", RML_I16, 0, 0, 0, nullptr, 1}};
constexpr std::uint32_t port_count = std::size(ports);
// Number of ports that are written as arrays; the last port may be absent.
constexpr std::uint32_t written_ports = port_count - 1;
constexpr int row_count[] = {0, 1, 3, 9};

// Ports whose cells are texts: classes of an input and an output, and times.
constexpr rml_port text_ports[] = {{"c", "base", RML_I32, 1, 0, 0, nullptr, 1},
                                   {"t", "base", RML_F64, 1, 0, 0, nullptr, 1},
                                   {"x", "base", RML_F32, 1, 0, 0, nullptr, 1}};
const char* const time_pieces[] = {"%Y", "%m", "%d", "%H", "%M", "%S", "%T", "%F", "%j",   "%b",      "%B",  "%a",
                                   "%y", "%e", "%D", "%I", "%p", "%R", "%s", "%Z", "%z",   "%U",      "%Ey", "%Od",
                                   "%%", "%",  "-",  " ",  ":",  "T",  ".",  "Z",  "unix", "\xc3\xa4"};
const char* const time_formats[] = {"%Y-%m-%d %H:%M:%S", "%FT%TZ", "%d.%m.%Y", "%d %b %y, %R", "%Y %j", "unix"};

std::string file_bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The output of rmlc's own writers for a few rows.
std::string written(const std::string& folder, int rows, bool gzip,
                    const std::function<std::unique_ptr<rt::RowSink>(ByteSink, const Row&)>& open) {
  const std::string path = folder + "/rows";
  Row row(ports, port_count);
  const auto sink = open(ByteSink::open(path, gzip), row);
  for (int k = 0; k < rows; ++k) {
    for (std::uint32_t i = 0; i < port_count; ++i) {
      row.set_present(i, ports[i].always != 0 || k % 2 == 0);
      for (std::uint64_t e = 0; e < ports[i].elements * rt::dtype_bytes(ports[i].dtype); ++e)
        static_cast<unsigned char*>(row.data(i))[e] = static_cast<unsigned char>(
            ports[i].dtype == RML_BOOL ? (k + 1) % 2 : (k * 7 + static_cast<int>(e) * 13) % 64);
    }
    sink->write();
  }
  sink->close();
  return file_bytes(path);
}

std::string array_file(int version, std::string header, const std::string& data) {
  header.resize((header.size() + 16) / 16 * 16, ' ');
  header.back() = '\n';
  std::string bytes("\x93NUMPY", 6);
  bytes += {static_cast<char>(version), '\0'};
  const auto length = static_cast<std::uint32_t>(header.size());
  bytes.append(reinterpret_cast<const char*>(&length), version == 1 ? 2 : 4);
  return bytes + header + data;
}

struct Bases {
  std::string folder;
  rt::Ports all;
  std::vector<std::string> csv, jsonl, chron, npy, npz;
};

Bases make_bases(const std::string& folder) {
  Bases b;
  b.folder = folder;
  for (std::uint32_t i = 0; i < port_count; ++i) b.all.push_back(i);
  for (const int rows : row_count) {
    const auto with = [&](auto write) {
      return written(folder, rows, false,
                     [&](ByteSink bytes, const Row& row) { return write(std::move(bytes), row, b.all); });
    };
    b.csv.push_back(
        with([](ByteSink s, const Row& r, const rt::Ports& p) { return rt::write_csv(std::move(s), r, p); }));
    b.jsonl.push_back(
        with([](ByteSink s, const Row& r, const rt::Ports& p) { return rt::write_jsonl(std::move(s), r, p); }));
    b.chron.push_back(with(rt::write_chron));
    b.npz.push_back(
        with([](ByteSink s, const Row& r, const rt::Ports& p) { return rt::write_npz(std::move(s), r, p); }));
    for (std::uint32_t i = 0; i < written_ports; ++i)
      b.npy.push_back(written(folder, rows, false,
                              [&](ByteSink bytes, const Row& row) { return rt::write_npy(std::move(bytes), row, i); }));
  }
  // Archives as other programs write them.
  const std::string data(96, '\1');
  for (const int version : {1, 2, 3})
    for (const char* type : {"<f4", ">f4", "|b1", "<f8", "<i8", "|i1", "<u8", "<f2", "|O", "<U4"})
      for (const char* order : {"False", "True"})
        for (const char* shape : {"(2,)", "(2, 2, 3)", "(2, 0, 2)", "(2, 2, 1, 2)", "()"})
          b.npy.push_back(array_file(
              version,
              std::string("{'descr': '") + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }",
              data));
  return b;
}

class Case {
 public:
  Case(const Bases& bases, std::uint64_t seed) : bases_(bases), random_(seed) {}

  void csv() {
    const bool headed = below(random_, 8) != 0;
    const auto reader = [&](ByteSource bytes, Row& row, const rt::Ports& ports_wanted) {
      return rt::read_csv(std::move(bytes), row, ports_wanted, {.headed = headed});
    };
    read(reader, text(bases_.csv));
  }
  void jsonl() {
    read([](ByteSource s, Row& r, const rt::Ports& p) { return rt::read_jsonl(std::move(s), r, p); },
         text(bases_.jsonl));
  }
  void chron() {
    const auto missing = static_cast<rt::Missing>(below(random_, 3));
    const auto reader = [&](ByteSource bytes, Row& row, const rt::Ports& ports_wanted) {
      return rt::read_chron(std::move(bytes), row, ports_wanted, missing);
    };
    read(reader, text(bases_.chron));
  }

  // Damages the list of classes, the format of times, the rows, or several of these.
  void texts() {
    const std::string list = bases_.folder + "/classes", format = time_format();
    std::ofstream(list, std::ios::binary) << class_list();
    const Row outputs(text_ports, 1);
    Row row(text_ports, std::size(text_ports));
    const rt::Reading reading{.classes = {"c=" + list}, .times = {"t=" + format}};
    const rt::ColumnTexts columns(reading, row, outputs);
    const std::string time = rt::TimeFormat("--time", format).example();
    const bool lines = below(random_, 3) == 0;
    std::string bytes = lines ? "" : "c,t,x\n";
    for (std::uint64_t k = below(random_, 4); k > 0; --k)
      bytes += lines ? R"({"c": "red", "t": ")" + time + "\", \"x\": 1.5}\n"
                     : "dark green,\"" + time + "\",2\nred," + time + ",3\n";
    if (below(random_, 4) != 0) damage_text(bytes, random_);
    auto source = ByteSource::memory("mutant", bytes);
    const rt::Ports all{0, 1, 2};
    exhaust(*(lines ? rt::read_jsonl(std::move(source), row, all, {&columns})
                    : rt::read_csv(std::move(source), row, all, {.reading = reading, .texts = &columns})));
  }

  void npy() {
    const auto port = static_cast<std::uint32_t>(below(random_, port_count));
    const std::string bytes = array(port);
    Row row(ports, port_count);
    exhaust(*rt::read_npy(ByteSource::memory("mutant.npy", bytes), row, port));
  }

  void npz() {
    rt::Ports of = wanted();
    const std::string bytes = archive(of);
    Row row(ports, port_count);
    exhaust(*rt::read_npz(ByteSource::memory("mutant.npz", bytes), row, of));
  }

  // Compresses data of one of the other kinds; the damage is done before or after compression.
  void gz() {
    const std::uint64_t kind = below(random_, 4);
    const bool before = below(random_, 3) == 0;
    const auto port = static_cast<std::uint32_t>(below(random_, port_count));
    std::string bytes = kind == 0   ? (before ? text(bases_.csv) : one_of(bases_.csv))
                        : kind == 1 ? (before ? text(bases_.jsonl) : one_of(bases_.jsonl))
                        : kind == 2 ? (before ? text(bases_.chron) : one_of(bases_.chron))
                                    : (before ? array(port) : unharmed_array(port));
    bytes = below(random_, 4) == 0 ? gzip(bytes.substr(0, bytes.size() / 2)) + gzip(bytes.substr(bytes.size() / 2))
                                   : gzip(bytes);
    const std::string same = bytes;
    if (!before) damage_bytes(bytes, same, random_);
    auto source = ByteSource::memory("mutant.gz", bytes, ByteSource::Coding::gzip);
    Row row(ports, port_count);
    const auto rows = kind == 0   ? rt::read_csv(std::move(source), row, wanted())
                      : kind == 1 ? rt::read_jsonl(std::move(source), row, wanted())
                      : kind == 2 ? rt::read_chron(std::move(source), row, wanted())
                                  : rt::read_npy(std::move(source), row, port);
    exhaust(*rows);
  }

 private:
  std::string class_list() {
    std::string list = "red\ndark green\n\"blue\"\n";
    if (below(random_, 2) == 0) damage_text(list, random_);
    return list;
  }
  std::string time_format() {
    if (below(random_, 2) == 0) return time_formats[below(random_, std::size(time_formats))];
    std::string format;
    for (std::uint64_t k = below(random_, 8); k > 0; --k) format += time_pieces[below(random_, std::size(time_pieces))];
    return format;
  }

  const std::string& one_of(const std::vector<std::string>& files) { return files[below(random_, files.size())]; }

  // All ports, or one of them.
  rt::Ports wanted() {
    return below(random_, 3) != 0 ? bases_.all : rt::Ports{static_cast<std::uint32_t>(below(random_, port_count))};
  }

  std::string text(const std::vector<std::string>& files) {
    std::string bytes = one_of(files);
    damage_text(bytes, random_);
    return bytes;
  }

  // Mostly an array of the port's type and shape.
  const std::string& unharmed_array(std::uint32_t port) {
    if (port == written_ports || below(random_, 4) == 0) return one_of(bases_.npy);
    return bases_.npy[written_ports * below(random_, std::size(row_count)) + port];
  }

  std::string array(std::uint32_t port) {
    std::string bytes = unharmed_array(port);
    if (below(random_, 2) == 0) {
      damage_bytes(bytes, one_of(bases_.npy), random_);
      return bytes;
    }
    // Damage the header as a text, and store its new length.
    const std::size_t begin = bytes[6] == 1 ? 10 : 12, end = std::min(bytes.find('\n'), bytes.size() - 1) + 1;
    std::string header = bytes.substr(begin, end - begin);
    damage_text(header, random_);
    return array_file(bytes[6], header, bytes.substr(end));
  }

  std::string archive(const rt::Ports& of) {
    if (below(random_, 2) == 0) {
      std::string bytes = one_of(bases_.npz);
      damage_bytes(bytes, one_of(bases_.npz), random_);
      return bytes;
    }
    std::vector<Member> members;
    for (const std::uint32_t port : of) {
      std::string name = std::string(ports[port].name) + ".npy";
      if (below(random_, 16) == 0) damage_text(name, random_);
      members.push_back(
          {name, below(random_, of.size()) == 0 ? array(port) : unharmed_array(port), below(random_, 2) == 0});
      if (below(random_, 16) == 0) members.push_back(members[below(random_, members.size())]);
    }
    std::string bytes = zip(members);
    const std::string same = bytes;
    if (below(random_, 4) == 0) damage_bytes(bytes, same, random_);
    return bytes;
  }

  template <class Reader>
  void read(const Reader& reader, const std::string& bytes) {
    Row row(ports, port_count);
    exhaust(*reader(ByteSource::memory("mutant", bytes), row, wanted()));
  }

  // A header may promise any number of rows without elements.
  static void exhaust(rt::RowSource& source) {
    constexpr int most_rows = 1000;
    for (int rows = 0; rows < most_rows && source.read(); ++rows) {
      source.fraction();
      source.place(0);
    }
  }

  const Bases& bases_;
  Random random_;
};

class Search {
 public:
  explicit Search(const SearchArguments& arguments) : arguments_(arguments) {
    if (by_programs())
      for (const std::string& path : arguments.files) programs_.push_back(load_saved(path));
    else
      bases_ = make_bases(arguments.folder);
  }

  int run() {
    return search_cases(arguments_, counts_, [&](std::uint64_t k) { judge(k); });
  }

 private:
  bool by_programs() const { return arguments_.kind == "state" || arguments_.kind == "safetensors"; }

  void judge(std::uint64_t k) {
    try {
      attempt(k);
      ++counts_.read;
    } catch (const rt::Failure& failure) {
      ++counts_.refused;
      if (std::strlen(failure.what()) == 0) wrong(k, "refused without a word");
    } catch (const std::bad_alloc&) {
      ++counts_.refused;
    } catch (const std::exception& error) {
      wrong(k, error.what());
    } catch (...) {
      wrong(k, "another exception");
    }
  }

  void wrong(std::uint64_t k, const char* what) {
    ++counts_.wrong;
    std::printf("%s %llu: %s\n", arguments_.kind.c_str(), static_cast<unsigned long long>(k), what);
  }

  void attempt(std::uint64_t k) {
    const std::string& kind = arguments_.kind;
    if (by_programs()) {
      Random random(k);
      const SavedProgram& saved = programs_.at(below(random, programs_.size()));
      return kind == "state" ? run_state_mutant(saved, random) : run_parameter_mutant(saved, arguments_.folder, random);
    }
    Case c(bases_, k);
    if (kind == "csv") return c.csv();
    if (kind == "jsonl") return c.jsonl();
    if (kind == "texts") return c.texts();
    if (kind == "chron") return c.chron();
    if (kind == "npy") return c.npy();
    if (kind == "npz") return c.npz();
    c.gz();
  }

  const SearchArguments& arguments_;
  Bases bases_;
  std::vector<SavedProgram> programs_;
  SearchCounts counts_;
};

}  // namespace

}  // namespace rml::fuzz

int main(int argc, char** argv) {
  rml::fuzz::SearchArguments arguments;
  if (!rml::fuzz::take_arguments(argc, argv, arguments)) {
    std::fprintf(stderr, "usage: reader_mutants KIND --from CASE --count N --folder FOLDER [PROGRAM.so ...]\n");
    return 2;
  }
  return rml::fuzz::Search(arguments).run();
}
