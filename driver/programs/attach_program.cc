// Builds the tail of a program: two segments from the object, first executable code and read-only data, then data with
// addresses; then sections for debuggers only, and all section headers.
//
// The program may be loaded anywhere in memory. Addresses in the file are relative to a program at 0. A list of their
// places follows the sections of the second segment. Before the runner calls the program, it adds the load address to
// each and makes the segment read-only.
//
// Program headers keep their place and number. Those that a static program does not need, notes above all, are replaced
// by the new segments. A function of the runner is reached through its row in .rml_runner. The row's address is known
// here, and its content when the program runs. Code reaches it by a stub that jumps there or, if it needs a slot that
// holds an address, by the entry itself.
#include "driver/programs/attach_program.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

namespace rml {
namespace {

// Facts about the processor. Pages are as large as its systems may have them.
struct Machine {
  std::uint32_t page, stub_bytes;
  std::uint32_t address;  // number of the relocation for an address of 64 bits
};
constexpr Machine x86_64{4096, 8, R_X86_64_64};
constexpr Machine aarch64{65536, 16, R_AARCH64_ABS64};

std::uint64_t aligned(std::uint64_t at, std::uint64_t align) {
  return align <= 1 ? at : (at + align - 1) / align * align;
}

template <class T>
std::string_view bytes_of(const std::vector<T>& rows) {
  return {reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(T)};
}
template <class T>
std::string_view bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// A 64-bit ELF file; `good` is false if it is not one, or is truncated.
class Elf {
 public:
  explicit Elf(std::string_view bytes) : bytes_(bytes) {
    if (bytes.size() < sizeof header) return;
    std::memcpy(&header, bytes.data(), sizeof header);
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64) return;
    sections = table<Elf64_Shdr>(header.e_shoff, header.e_shnum);
    segments = table<Elf64_Phdr>(header.e_phoff, header.e_phnum);
    good = !sections.empty() && header.e_shstrndx < sections.size();
    for (const Elf64_Shdr& s : sections)
      good = good && (s.sh_type == SHT_NOBITS || s.sh_offset + s.sh_size <= bytes.size());
  }

  template <class T>
  std::vector<T> table(std::uint64_t at, std::uint64_t count) const {
    if (at > bytes_.size() || count > (bytes_.size() - at) / sizeof(T)) return {};
    std::vector<T> rows(count);
    if (count > 0) std::memcpy(rows.data(), bytes_.data() + at, count * sizeof(T));
    return rows;
  }
  std::string_view contents(const Elf64_Shdr& s) const {
    return s.sh_type == SHT_NOBITS ? std::string_view() : bytes_.substr(s.sh_offset, s.sh_size);
  }
  std::string_view text(std::uint64_t at) const {
    const std::string_view rest = bytes_.substr(std::min<std::uint64_t>(at, bytes_.size()));
    return rest.substr(0, rest.find('\0'));
  }
  std::string_view name(const Elf64_Shdr& s) const { return text(sections[header.e_shstrndx].sh_offset + s.sh_name); }
  const Elf64_Shdr* section(std::string_view wanted) const {
    const auto found = std::ranges::find(sections, wanted, [&](const Elf64_Shdr& s) { return name(s); });
    return found == sections.end() ? nullptr : &*found;
  }
  const Elf64_Shdr* section(int type) const {
    const auto found = std::ranges::find(sections, static_cast<std::uint32_t>(type), &Elf64_Shdr::sh_type);
    return found == sections.end() ? nullptr : &*found;
  }
  // The offset in the file of the byte at an address; the file's size if there is none.
  std::uint64_t offset(std::uint64_t address) const {
    for (const Elf64_Phdr& s : segments)
      if (s.p_type == PT_LOAD && address - s.p_vaddr < s.p_filesz) return address - s.p_vaddr + s.p_offset;
    return bytes_.size();
  }

  Elf64_Ehdr header{};
  std::vector<Elf64_Shdr> sections;
  std::vector<Elf64_Phdr> segments;
  bool good = false;

 private:
  std::string_view bytes_;
};

class Attachment {
 public:
  Attachment(std::string_view runner, std::string_view object)
      : runner_(runner),
        object_(object),
        machine_(runner_.header.e_machine == EM_AARCH64 ? aarch64 : x86_64),
        begin_(runner.size()) {}

  std::optional<AttachedProgram> run(const std::string& symbol) {
    if (!runner_.good || !object_.good || object_.header.e_type != ET_REL || runner_.header.e_type != ET_DYN)
      return std::nullopt;
    const std::uint16_t of_runner = runner_.header.e_machine;
    if (of_runner != object_.header.e_machine || (of_runner != EM_X86_64 && of_runner != EM_AARCH64))
      return std::nullopt;
    if (!read_symbols() || !read_exports()) return std::nullopt;
    if (!place_segments() || !relocate_placed()) return std::nullopt;
    place_unloaded();
    if (!relocate_placed()) return std::nullopt;
    const auto program = std::ranges::find(symbols_, symbol, [&](const Elf64_Sym& s) { return name(s); });
    if (program == symbols_.end() || program->st_shndx == SHN_UNDEF) return std::nullopt;
    attached_.program = address(*program);
    replace(attached_at_, bytes_of(attached_));
    if (!write_segments()) return std::nullopt;
    write_sections();
    return std::move(result_);
  }

 private:
  // The place of a section of the object. Addresses are 0 for sections that are not loaded.
  struct Place {
    std::uint64_t offset, address;
    std::uint16_t index;  // index of the section's header in the program
  };
  struct Segment {
    std::uint64_t offset = 0, address = 0, size = 0;
  };
  // The data for the runner (runner/main.cc). Addresses are relative to a program at 0.
  struct Attached {
    std::uint64_t program = 0;
    std::uint64_t sealed = 0, bytes = 0;
    std::uint64_t moved = 0, count = 0;
  };

  bool read_symbols() {
    const Elf64_Shdr* table = object_.section(SHT_SYMTAB);
    if (table == nullptr || table->sh_link >= object_.sections.size()) return false;
    symbols_ = object_.table<Elf64_Sym>(table->sh_offset, table->sh_size / sizeof(Elf64_Sym));
    names_at_ = object_.sections[table->sh_link].sh_offset;
    first_global_ = table->sh_info;
    // Common symbols and initialisers are not supported.
    return object_.section(SHT_INIT_ARRAY) == nullptr &&
           std::ranges::none_of(symbols_, [](const Elf64_Sym& s) { return s.st_shndx == SHN_COMMON; });
  }
  std::string_view name(const Elf64_Sym& s) const { return object_.text(names_at_ + s.st_name); }

  // Reads the table of functions that the base exports. Entries that the C library lacks are 0.
  bool read_exports() {
    const Elf64_Shdr* table = runner_.section(".rml_runner");
    const Elf64_Shdr* moves = runner_.section(".rela.dyn");
    if (table == nullptr || moves == nullptr) return false;
    attached_at_ = table->sh_offset;
    // The rows of this table are the functions that the runner exports. The loader fills them in
    // when the program starts; a row without a relocation has no function.
    std::unordered_map<std::uint64_t, std::uint64_t> addends;
    for (const auto& r : runner_.table<Elf64_Rela>(moves->sh_offset, moves->sh_size / sizeof(Elf64_Rela)))
      addends[r.r_offset] = static_cast<std::uint64_t>(r.r_addend);
    const std::uint64_t end = table->sh_addr + table->sh_size;
    for (std::uint64_t row = table->sh_addr + sizeof(Attached); row + 16 <= end; row += 16) {
      const auto known = addends.find(row);
      if (known != addends.end() && addends.contains(row + 8))
        exports_[runner_.text(runner_.offset(known->second))] = row + 8;
    }
    return true;
  }

  static bool written(const Elf64_Shdr& s) { return (s.sh_flags & SHF_WRITE) != 0; }
  static bool kept(std::string_view name, const Elf64_Shdr& s) {
    return (s.sh_flags & SHF_ALLOC) != 0 || (s.sh_type == SHT_PROGBITS && name.starts_with(".debug_"));
  }

  void replace(std::uint64_t at, std::string_view bytes) { result_.replaced.emplace_back(at, bytes); }
  template <class T>
  void put(std::uint64_t at, const T& value) {
    std::memcpy(result_.tail.data() + (at - begin_), &value, sizeof value);
  }
  std::uint64_t end() const { return begin_ + result_.tail.size(); }
  // Appends zeros up to a multiple of align, then `count` bytes; returns the offset of these.
  std::uint64_t extend(std::uint64_t align, std::uint64_t count, char filler = 0) {
    result_.tail.resize(aligned(end(), align) - begin_);
    const std::uint64_t at = end();
    result_.tail.resize(result_.tail.size() + count, filler);
    return at;
  }
  std::uint64_t append(std::string_view bytes, std::uint64_t align) {
    const std::uint64_t at = extend(align, 0);
    result_.tail += bytes;
    return at;
  }
  // Appends the section and records its place. `base`: addresses minus offsets, which may be 0; empty if the section is
  // not loaded.
  void place(std::size_t k, std::optional<std::uint64_t> base) {
    const Elf64_Shdr& s = object_.sections[k];
    const std::uint64_t at = append(object_.contents(s), s.sh_addralign);
    placed_[k] = {at, base ? at + *base : 0, 0};
    extend(1, at + s.sh_size - end());
  }

  Segment place_loaded(bool writable) {
    Segment segment{extend(machine_.page, 0), aligned(next_address_, machine_.page), 0};
    const std::uint64_t base = segment.address - segment.offset;
    for (std::size_t k = 0; k < object_.sections.size(); ++k) {
      const Elf64_Shdr& s = object_.sections[k];
      if ((s.sh_flags & SHF_ALLOC) != 0 && written(s) == writable) place(k, base);
    }
    if (writable) {
      slots_base_ = base;
      slots_ = extend(8, 8 * symbols_.size());
      attached_.sealed = segment.address;
      attached_.moved = extend(8, 8 * (symbols_.size() + count_addresses())) + base;
      moved_at_ = attached_.moved - base;
      extend(machine_.page, 0);  // fills the page, so that nothing else on it becomes read-only
      attached_.bytes = end() - segment.offset;
    } else {
      const auto undefined = [](const Elf64_Sym& s) { return s.st_shndx == SHN_UNDEF; };
      const auto count = static_cast<std::uint64_t>(std::ranges::count_if(symbols_, undefined));
      stubs_base_ = base;
      stubs_ = extend(16, machine_.stub_bytes * count, '\xcc');
    }
    segment.size = end() - segment.offset;
    next_address_ = segment.address + segment.size;
    return segment;
  }

  // The number of relocations that put an address into loaded sections.
  std::uint64_t count_addresses() const {
    std::uint64_t count = 0;
    for (const Elf64_Shdr& s : object_.sections) {
      if (s.sh_type != SHT_RELA || !placed_.contains(s.sh_info)) continue;
      const auto rows = object_.table<Elf64_Rela>(s.sh_offset, s.sh_size / sizeof(Elf64_Rela));
      count += static_cast<std::uint64_t>(
          std::ranges::count_if(rows, [&](const Elf64_Rela& r) { return ELF64_R_TYPE(r.r_info) == machine_.address; }));
    }
    return count;
  }

  // Programs have no variables of their own: the writable sections contain only addresses, which are written once.
  bool place_segments() {
    for (const Elf64_Shdr& s : object_.sections)
      if ((s.sh_flags & SHF_ALLOC) != 0 && written(s) && s.sh_size > 0 && !object_.name(s).starts_with(".data.rel.ro"))
        return false;
    for (const Elf64_Phdr& s : runner_.segments)
      if (s.p_type == PT_LOAD) next_address_ = std::max(next_address_, s.p_vaddr + s.p_memsz);
    read_ = place_loaded(false);
    written_ = place_loaded(true);
    return true;
  }

  // Places the sections for debuggers. Their addresses are relative to a program at 0.
  void place_unloaded() {
    for (std::size_t k = 0; k < object_.sections.size(); ++k) {
      const Elf64_Shdr& s = object_.sections[k];
      if ((s.sh_flags & SHF_ALLOC) == 0 && kept(object_.name(s), s)) place(k, std::nullopt);
    }
  }

  // The address of code that jumps to the function of the entry.
  std::uint64_t stub(std::uint64_t entry) {
    const auto [known, is_new] = stub_of_.try_emplace(entry, stubs_ + stubs_base_);
    if (is_new) {
      if (&machine_ == &aarch64)
        put_aarch64_stub(stubs_, known->second, entry);
      else
        put_x86_64_stub(stubs_, known->second, entry);
      stubs_ += machine_.stub_bytes;
    }
    return known->second;
  }
  // Writes the stub: jmp *entry(%rip).
  void put_x86_64_stub(std::uint64_t at, std::uint64_t address_at, std::uint64_t entry) {
    put<std::uint16_t>(at, 0x25FF);
    put(at + 2, static_cast<std::uint32_t>(entry - (address_at + 6)));
  }
  // Writes the stub: adrp x16, entry; ldr x17, [x16, :lo12:entry]; br x17.
  void put_aarch64_stub(std::uint64_t at, std::uint64_t address_at, std::uint64_t entry) {
    put<std::uint32_t>(at, 0x90000010), put<std::uint32_t>(at + 4, 0xF9400211), put<std::uint32_t>(at + 8, 0xD61F0220);
    put_page(at, entry, address_at);
    put_low(at + 4, entry, 3);
  }

  const std::uint64_t* exported(const Elf64_Sym& s) const {
    const auto found = exports_.find(name(s));
    return found == exports_.end() ? nullptr : &found->second;
  }
  bool known(const Elf64_Sym& s) const {
    if (s.st_shndx == SHN_UNDEF) return exported(s) != nullptr;
    return s.st_shndx == SHN_ABS || placed_.contains(s.st_shndx);
  }
  std::uint64_t address(const Elf64_Sym& s) {
    if (s.st_shndx == SHN_UNDEF) return stub(*exported(s));
    return s.st_shndx == SHN_ABS ? s.st_value : placed_.at(s.st_shndx).address + s.st_value;
  }
  // The address of a slot that holds the symbol's address when the program runs.
  std::uint64_t slot(std::size_t symbol) {
    const Elf64_Sym& s = symbols_[symbol];
    if (s.st_shndx == SHN_UNDEF) return *exported(s);
    const std::uint64_t at = slots_ + 8 * symbol;
    if (slot_filled_.insert(symbol).second) {
      put(at, address(s));
      if (s.st_shndx != SHN_ABS) move(at + slots_base_);
    }
    return at + slots_base_;
  }
  // Records that the load address must be added to the word at this address.
  void move(std::uint64_t address) { put(moved_at_ + 8 * attached_.count++, address); }

  // Applies the relocations of the sections placed since the last call.
  bool relocate_placed() {
    for (const Elf64_Shdr& relocations : object_.sections) {
      const std::size_t target = relocations.sh_info;
      if (relocations.sh_type != SHT_RELA || !placed_.contains(target) || !relocated_.insert(target).second) continue;
      if (!relocate(relocations)) return false;
    }
    return true;
  }

  bool relocate(const Elf64_Shdr& relocations) {
    const Place& target = placed_.at(relocations.sh_info);
    const std::uint64_t size = object_.sections[relocations.sh_info].sh_size;
    for (const auto& r : object_.table<Elf64_Rela>(relocations.sh_offset, relocations.sh_size / sizeof(Elf64_Rela))) {
      const std::size_t symbol = ELF64_R_SYM(r.r_info);
      if (symbol >= symbols_.size() || r.r_offset + 4 > size || !known(symbols_[symbol])) return false;
      const bool loaded = target.address != 0;
      if (!apply(r, symbol, target.offset + r.r_offset, target.address + r.r_offset, loaded)) return false;
    }
    return true;
  }

  bool apply(const Elf64_Rela& r, std::size_t symbol, std::uint64_t at, std::uint64_t address_at, bool loaded) {
    const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(r.r_info));
    const auto addend = static_cast<std::uint64_t>(r.r_addend);
    if (type == machine_.address) return put_address(symbol, addend, at, address_at, loaded);
    return &machine_ == &aarch64 ? apply_aarch64(type, symbol, addend, at, address_at, loaded)
                                 : apply_x86_64(type, symbol, addend, at, address_at, loaded);
  }
  bool put_address(std::size_t symbol, std::uint64_t addend, std::uint64_t at, std::uint64_t address_at, bool loaded) {
    if (at + 8 > end()) return false;
    put(at, address(symbols_[symbol]) + addend);
    if (loaded && symbols_[symbol].st_shndx != SHN_ABS) {
      if (address_at < written_.address) return false;  // refused, because executable code must not be written to
      move(address_at);
    }
    return true;
  }
  // Puts an address of 32 bits, which only sections for debuggers have.
  bool put_short_address(std::uint64_t at, std::uint64_t value, bool loaded) {
    put(at, static_cast<std::uint32_t>(value));
    return !loaded && value <= INT32_MAX;
  }
  bool put_distance(std::uint64_t at, std::uint64_t to, std::uint64_t address_at) {
    const auto distance = static_cast<std::int64_t>(to - address_at);
    put(at, static_cast<std::int32_t>(distance));
    return distance == static_cast<std::int32_t>(distance);
  }

  bool apply_x86_64(std::uint32_t type, std::size_t symbol, std::uint64_t addend, std::uint64_t at,
                    std::uint64_t address_at, bool loaded) {
    switch (type) {
      case R_X86_64_32:
        return put_short_address(at, address(symbols_[symbol]) + addend, loaded);
      case R_X86_64_PC32:
      case R_X86_64_PLT32:
        return put_distance(at, address(symbols_[symbol]) + addend, address_at);
      case R_X86_64_GOTPCREL:
      case R_X86_64_GOTPCRELX:
      case R_X86_64_REX_GOTPCRELX:
        return put_distance(at, slot(symbol) + addend, address_at);
      default:
        return false;
    }
  }

  bool apply_aarch64(std::uint32_t type, std::size_t symbol, std::uint64_t addend, std::uint64_t at,
                     std::uint64_t address_at, bool loaded) {
    const auto to = [&] { return address(symbols_[symbol]) + addend; };
    switch (type) {
      case R_AARCH64_ABS32:
        return put_short_address(at, to(), loaded);
      case R_AARCH64_PREL32:
        return put_distance(at, to(), address_at);
      case R_AARCH64_CALL26:
      case R_AARCH64_JUMP26: {
        const auto distance = static_cast<std::int64_t>(to() - address_at);
        set_bits(at, 0, 26, static_cast<std::uint64_t>(distance) >> 2);
        return distance == distance << 36 >> 36;
      }
      case R_AARCH64_ADR_PREL_PG_HI21:
      case R_AARCH64_ADR_PREL_PG_HI21_NC:
        return put_page(at, to(), address_at);
      case R_AARCH64_ADR_GOT_PAGE:
        return put_page(at, slot(symbol) + addend, address_at);
      case R_AARCH64_ADD_ABS_LO12_NC:
      case R_AARCH64_LDST8_ABS_LO12_NC:
        return put_low(at, to(), 0);
      case R_AARCH64_LDST16_ABS_LO12_NC:
        return put_low(at, to(), 1);
      case R_AARCH64_LDST32_ABS_LO12_NC:
        return put_low(at, to(), 2);
      case R_AARCH64_LDST64_ABS_LO12_NC:
        return put_low(at, to(), 3);
      case R_AARCH64_LD64_GOT_LO12_NC:
        return put_low(at, slot(symbol) + addend, 3);
      case R_AARCH64_LDST128_ABS_LO12_NC:
        return put_low(at, to(), 4);
      default:
        return false;
    }
  }
  // Sets `count` bits from `first` on in an instruction of AArch64.
  void set_bits(std::uint64_t at, int first, int count, std::uint64_t value) {
    std::uint32_t word = 0;
    std::memcpy(&word, result_.tail.data() + (at - begin_), sizeof word);
    const std::uint32_t mask = ((1u << count) - 1) << first;
    put(at, (word & ~mask) | (static_cast<std::uint32_t>(value << first) & mask));
  }
  // Sets the operand of adrp: the distance in pages of 4 KiB.
  bool put_page(std::uint64_t at, std::uint64_t to, std::uint64_t address_at) {
    const std::int64_t pages = static_cast<std::int64_t>(to >> 12) - static_cast<std::int64_t>(address_at >> 12);
    set_bits(at, 29, 2, static_cast<std::uint64_t>(pages));
    set_bits(at, 5, 19, static_cast<std::uint64_t>(pages >> 2));
    return pages >= -(std::int64_t{1} << 20) && pages < std::int64_t{1} << 20;
  }
  // The offset within the page, in units of 2^scale bytes. It is the same wherever the program is loaded.
  bool put_low(std::uint64_t at, std::uint64_t to, int scale) {
    set_bits(at, 10, 12, (to & 0xfff) >> scale);
    return (to & ((1u << scale) - 1)) == 0;
  }

  bool write_segments() {
    std::vector<Elf64_Phdr> headers = runner_.segments;
    std::erase_if(headers, [](const Elf64_Phdr& s) {
      return s.p_type == PT_NOTE || s.p_type == PT_GNU_PROPERTY || s.p_type == PT_PHDR;
    });
    auto last = headers.end();
    for (auto s = headers.begin(); s != headers.end(); ++s)
      if (s->p_type == PT_LOAD) last = s;
    const auto load = [&](const Segment& s, std::uint32_t flags) {
      return Elf64_Phdr{PT_LOAD, flags, s.offset, s.address, s.address, s.size, s.size, machine_.page};
    };
    if (last == headers.end() || headers.size() + 2 > runner_.segments.size()) return false;
    headers.insert(last + 1, {load(read_, PF_R | PF_X), load(written_, PF_R | PF_W)});
    headers.resize(runner_.segments.size(), Elf64_Phdr{});
    replace(runner_.header.e_phoff, bytes_of(headers));
    return true;
  }

  // Writes the headers of all sections in the file, a table of the program's symbols, and the names of both.
  void write_sections() {
    std::vector<Elf64_Shdr> headers = runner_.sections;
    std::string names(runner_.contents(runner_.sections[runner_.header.e_shstrndx]));
    const auto add = [&](std::string_view name, Elf64_Shdr header) {
      header.sh_name = static_cast<std::uint32_t>(names.size());
      names.append(name).push_back('\0');
      headers.push_back(header);
      return static_cast<std::uint16_t>(headers.size() - 1);
    };
    for (auto& [k, place] : placed_) {
      Elf64_Shdr header = object_.sections[k];
      header.sh_offset = place.offset, header.sh_addr = place.address;
      if (header.sh_type == SHT_NOBITS) header.sh_type = SHT_PROGBITS;
      place.index = add(object_.name(object_.sections[k]), header);
    }
    const Elf64_Shdr& strings = object_.sections[object_.section(SHT_SYMTAB)->sh_link];
    Elf64_Shdr header{};
    header.sh_type = SHT_STRTAB, header.sh_addralign = 1, header.sh_size = strings.sh_size;
    header.sh_offset = append(object_.contents(strings), 1);
    const std::uint16_t strings_at = add(".strtab", header);
    std::string rows;
    for (Elf64_Sym s : symbols_) {
      if (const auto found = placed_.find(s.st_shndx); found != placed_.end())
        s.st_value += found->second.address, s.st_shndx = found->second.index;
      else if (s.st_shndx != SHN_ABS)
        s.st_shndx = SHN_UNDEF;
      rows += bytes_of(s);
    }
    header.sh_type = SHT_SYMTAB, header.sh_addralign = 8, header.sh_size = rows.size();
    header.sh_entsize = sizeof(Elf64_Sym), header.sh_link = strings_at, header.sh_info = first_global_;
    header.sh_offset = append(rows, 8);
    add(".symtab", header);
    header = {};
    header.sh_type = SHT_STRTAB, header.sh_addralign = 1;
    const std::uint16_t names_at = add(".shstrtab", header);
    headers[names_at].sh_size = names.size();
    headers[names_at].sh_offset = append(names, 1);
    Elf64_Ehdr first = runner_.header;
    first.e_shnum = static_cast<std::uint16_t>(headers.size()), first.e_shstrndx = names_at;
    first.e_shoff = append(bytes_of(headers), 8);
    replace(0, bytes_of(first));
  }

  Elf runner_, object_;
  const Machine& machine_;
  std::uint64_t begin_;  // offset at which the tail begins
  AttachedProgram result_;
  std::vector<Elf64_Sym> symbols_;
  std::uint64_t names_at_ = 0;
  std::uint32_t first_global_ = 0;
  Attached attached_;
  std::uint64_t attached_at_ = 0;                                // address of the data for the runner
  std::unordered_map<std::string_view, std::uint64_t> exports_;  // address of each exported function's entry
  std::map<std::size_t, Place> placed_;                          // place of each section of the object, by its index
  std::unordered_map<std::uint64_t, std::uint64_t> stub_of_;     // address of each entry's stub
  // Offset of the next stub; the address of a stub minus its offset.
  std::uint64_t stubs_ = 0, stubs_base_ = 0;
  // Offsets and addresses of the slots, one for each symbol of the object.
  std::uint64_t slots_ = 0, slots_base_ = 0;
  std::set<std::size_t> slot_filled_;
  std::uint64_t moved_at_ = 0;  // address of the list of words to which the load address is added
  std::set<std::size_t> relocated_;
  std::uint64_t next_address_ = 0;
  Segment read_, written_;
};

}  // namespace

std::optional<AttachedProgram> attach_program(std::string_view runner, std::string_view object,
                                              const std::string& symbol) {
  return Attachment(runner, object).run(symbol);
}

}  // namespace rml
