// The reserved names: families, which are recognised by a prefix or a suffix, and a sorted list of all others.
#include "lowering/reserved.h"

#include <algorithm>
#include <array>

namespace rml::c99 {

namespace {

constexpr auto words = std::to_array<std::string_view>({"AIO_PRIO_DELTA_MAX",
                                                        "BC_BASE_MAX",
                                                        "BC_DIM_MAX",
                                                        "BC_SCALE_MAX",
                                                        "BC_STRING_MAX",
                                                        "BIG_ENDIAN",
                                                        "BUFSIZ",
                                                        "BYTE_ORDER",
                                                        "CHARCLASS_NAME_MAX",
                                                        "COLL_WEIGHTS_MAX",
                                                        "CPU_SETSIZE",
                                                        "CSIGNAL",
                                                        "DECIMAL_DIG",
                                                        "DELAYTIMER_MAX",
                                                        "EXPR_NEST_MAX",
                                                        "FD_SETSIZE",
                                                        "FILE",
                                                        "FILENAME_MAX",
                                                        "FOPEN_MAX",
                                                        "F_LOCK",
                                                        "F_OK",
                                                        "F_TEST",
                                                        "F_TLOCK",
                                                        "F_ULOCK",
                                                        "HOST_NAME_MAX",
                                                        "HUGE_VAL",
                                                        "HUGE_VALF",
                                                        "HUGE_VALL",
                                                        "I",
                                                        "INFINITY",
                                                        "IOV_MAX",
                                                        "LINE_MAX",
                                                        "LITTLE_ENDIAN",
                                                        "LOGIN_NAME_MAX",
                                                        "L_INCR",
                                                        "L_SET",
                                                        "L_XTND",
                                                        "L_ctermid",
                                                        "L_cuserid",
                                                        "L_tmpnam",
                                                        "MAXFLOAT",
                                                        "MAX_CANON",
                                                        "MAX_INPUT",
                                                        "MB_CUR_MAX",
                                                        "MB_LEN_MAX",
                                                        "MINSIGSTKSZ",
                                                        "MQ_PRIO_MAX",
                                                        "NAME_MAX",
                                                        "NAN",
                                                        "NFDBITS",
                                                        "NGREG",
                                                        "NGROUPS_MAX",
                                                        "NL_ARGMAX",
                                                        "NL_LANGMAX",
                                                        "NL_MSGMAX",
                                                        "NL_NMAX",
                                                        "NL_SETMAX",
                                                        "NL_TEXTMAX",
                                                        "NSIG",
                                                        "NULL",
                                                        "NZERO",
                                                        "PATH_MAX",
                                                        "PDP_ENDIAN",
                                                        "PIPE_BUF",
                                                        "P_tmpdir",
                                                        "RAND_MAX",
                                                        "RE_DUP_MAX",
                                                        "RTSIG_MAX",
                                                        "R_OK",
                                                        "SEM_VALUE_MAX",
                                                        "SNAN",
                                                        "STDERR_FILENO",
                                                        "STDIN_FILENO",
                                                        "STDOUT_FILENO",
                                                        "TIME_UTC",
                                                        "TMP_MAX",
                                                        "TTY_NAME_MAX",
                                                        "WCONTINUED",
                                                        "WEOF",
                                                        "WEXITED",
                                                        "WNOHANG",
                                                        "WNOWAIT",
                                                        "WSTOPPED",
                                                        "WUNTRACED",
                                                        "W_OK",
                                                        "X_OK",
                                                        "alignas",
                                                        "alignof",
                                                        "and",
                                                        "and_eq",
                                                        "asm",
                                                        "assert",
                                                        "auto",
                                                        "bitand",
                                                        "bitor",
                                                        "bool",
                                                        "break",
                                                        "case",
                                                        "catch",
                                                        "char",
                                                        "char16_t",
                                                        "char32_t",
                                                        "char8_t",
                                                        "class",
                                                        "co_await",
                                                        "co_return",
                                                        "co_yield",
                                                        "compl",
                                                        "complex",
                                                        "concept",
                                                        "const",
                                                        "const_cast",
                                                        "consteval",
                                                        "constexpr",
                                                        "constinit",
                                                        "continue",
                                                        "decltype",
                                                        "default",
                                                        "delete",
                                                        "do",
                                                        "double",
                                                        "double_t",
                                                        "dynamic_cast",
                                                        "else",
                                                        "enum",
                                                        "errno",
                                                        "explicit",
                                                        "export",
                                                        "extern",
                                                        "false",
                                                        "float",
                                                        "float_t",
                                                        "for",
                                                        "friend",
                                                        "goto",
                                                        "i386",
                                                        "if",
                                                        "imaginary",
                                                        "inline",
                                                        "int",
                                                        "linux",
                                                        "locale_t",
                                                        "long",
                                                        "math_errhandling",
                                                        "max_align_t",
                                                        "mutable",
                                                        "namespace",
                                                        "new",
                                                        "noexcept",
                                                        "noreturn",
                                                        "not",
                                                        "not_eq",
                                                        "nullptr",
                                                        "operator",
                                                        "or",
                                                        "or_eq",
                                                        "private",
                                                        "protected",
                                                        "ptrdiff_t",
                                                        "public",
                                                        "register",
                                                        "reinterpret_cast",
                                                        "requires",
                                                        "restrict",
                                                        "return",
                                                        "sa_handler",
                                                        "sa_sigaction",
                                                        "sched_priority",
                                                        "short",
                                                        "si_addr",
                                                        "si_addr_lsb",
                                                        "si_arch",
                                                        "si_band",
                                                        "si_call_addr",
                                                        "si_fd",
                                                        "si_int",
                                                        "si_lower",
                                                        "si_overrun",
                                                        "si_pid",
                                                        "si_pkey",
                                                        "si_ptr",
                                                        "si_status",
                                                        "si_stime",
                                                        "si_syscall",
                                                        "si_timerid",
                                                        "si_uid",
                                                        "si_upper",
                                                        "si_utime",
                                                        "si_value",
                                                        "sigev_notify_attributes",
                                                        "sigev_notify_function",
                                                        "signed",
                                                        "size_t",
                                                        "sizeof",
                                                        "static",
                                                        "static_assert",
                                                        "static_cast",
                                                        "stderr",
                                                        "stdin",
                                                        "stdout",
                                                        "struct",
                                                        "switch",
                                                        "template",
                                                        "this",
                                                        "thread_local",
                                                        "throw",
                                                        "true",
                                                        "try",
                                                        "typedef",
                                                        "typeid",
                                                        "typename",
                                                        "typeof",
                                                        "union",
                                                        "unix",
                                                        "unsigned",
                                                        "using",
                                                        "va_list",
                                                        "virtual",
                                                        "void",
                                                        "volatile",
                                                        "wchar_t",
                                                        "while",
                                                        "xor",
                                                        "xor_eq"});

// Macros that begin with one of these, followed by a capital, a digit or `_`.
constexpr auto families = std::to_array<std::string_view>(
    {"ADJ_",  "BUS_", "CLD_",  "CLOCKS_",  "CLOCK_",    "CLONE_",  "CLOSE_RANGE_", "DBL_",   "EXIT_",
     "FE_",   "FLT",  "FPE_",  "FP_",      "HUGE_VAL_", "ILL_",    "LC_",          "LDBL_",  "MATH_",
     "MOD_",  "M_",   "POLL_", "PTHREAD_", "REG_",      "RENAME_", "SA_",          "SCHED_", "SEEK_",
     "SEGV_", "SIG",  "SI_",   "SNAN",     "SS_",       "STA_",    "TIMER_",       "TRAP_",  "XATTR_"});

// Types with limits: INT_MAX and INT64_MIN begin with the name of the type.
constexpr auto limited = std::to_array<std::string_view>({"BOOL", "CHAR", "LLONG", "LONG", "LONG_LONG", "PTRDIFF",
                                                          "SCHAR", "SHRT", "SIZE", "SSIZE", "UCHAR", "ULLONG", "ULONG",
                                                          "ULONG_LONG", "USHRT", "WCHAR", "WINT", "WORD"});

bool is_capital(char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

bool all_capitals(std::string_view text) { return std::ranges::all_of(text, is_capital); }

bool is_limit(std::string_view name) {
  constexpr auto ends = std::to_array<std::string_view>({"_MAX", "_MIN", "_BIT", "_WIDTH", "_C"});
  return std::ranges::any_of(ends, [&](std::string_view end) {
    if (!name.ends_with(end)) return false;
    const std::string_view type = name.substr(0, name.size() - end.size());
    const bool of_integer = (type.starts_with("INT") || type.starts_with("UINT")) && all_capitals(type);
    return of_integer || std::ranges::find(limited, type) != limited.end();
  });
}

// True for names of errors, such as EDOM and E2BIG, which the C standard reserves.
bool is_error(std::string_view name) {
  constexpr std::size_t shortest = std::string_view("EIO").size();
  return name.size() >= shortest && name[0] == 'E' && name.find('_') == std::string_view::npos && all_capitals(name);
}

// True for names of formats, such as PRId64 and SCNxPTR.
bool is_format(std::string_view name) {
  constexpr std::string_view begin = "PRI", conversions = "dioxuX";
  if (!name.starts_with(begin) && !name.starts_with("SCN")) return false;
  return name.size() > begin.size() && conversions.find(name[begin.size()]) != std::string_view::npos;
}

bool is_integer_type(std::string_view name) {
  return (name.starts_with("int") || name.starts_with("uint")) && name.ends_with("_t");
}

bool is_of_family(std::string_view name) {
  if (name.ends_with('_')) return false;
  return is_limit(name) || is_error(name) || is_format(name) || is_integer_type(name) ||
         std::ranges::any_of(families, [&](std::string_view begin) {
           return name.size() > begin.size() && name.starts_with(begin) && is_capital(name[begin.size()]);
         });
}

}  // namespace

bool is_of_implementation(std::string_view name) {
  return name.size() > 1 && name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

bool is_reserved(std::string_view name) {
  return is_of_implementation(name) || std::ranges::binary_search(words, name) || is_of_family(name);
}

}  // namespace rml::c99
