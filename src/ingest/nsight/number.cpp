// SPDX-License-Identifier: Apache-2.0
#include "ingest/nsight/number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>

namespace chopper::nsight {
namespace {

// More digits than a double can tell apart, with their separators.
constexpr std::size_t kMaxDigits = 64;
constexpr std::size_t kMaxSeparators = 24;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Spaces that locales put between groups of digits: the no-break space, the narrow one and the thin one.
constexpr std::array<std::string_view, 3> kWideSpaces = {"\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89"};

// The separator `text` begins with, as one character (' ' for spaces of all kinds), and its length; 0: none.
char separator_at(std::string_view text, std::size_t& length) {
  length = 1;
  if (text[0] == '.' || text[0] == ',' || text[0] == ' ') return text[0];
  if (text[0] == '\'') return ' ';
  for (const std::string_view space : kWideSpaces) {
    length = space.size();
    if (text.starts_with(space)) return ' ';
  }
  return 0;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool is_no_number(std::string_view text) {
  if (!text.empty() && (text.front() == '-' || text.front() == '+')) text.remove_prefix(1);
  if (text.empty()) return true;
  constexpr std::array<std::string_view, 4> kWords = {"n/a", "nan", "inf", "infinity"};
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(),
                      [&](char written, char letter) { return lower(written) == letter; });
  });
}

// A number taken apart: its digits, and where between them separators stood.
struct Parts {
  char digits[kMaxDigits];
  std::size_t num_digits = 0;
  char separators[kMaxSeparators];
  std::size_t places[kMaxSeparators];  // digits before each
  std::size_t num_separators = 0;
  bool negative = false;
  bool has_exponent = false;
  int exponent = 0;

  std::size_t group(std::size_t number) const {  // digits behind separator `number` - 1
    const std::size_t begin = number == 0 ? 0 : places[number - 1];
    return (number == num_separators ? num_digits : places[number]) - begin;
  }
  // Whether the first `count` separators part groups of three digits.
  bool groups_thousands(std::size_t count) const {
    if (group(0) < 1 || group(0) > 3) return false;
    for (std::size_t i = 1; i <= count; i++) {
      if (group(i) != 3) return false;
    }
    return true;
  }
};

bool take_apart(std::string_view text, Parts& parts) {
  if (text.front() == '-' || text.front() == '+') {
    parts.negative = text.front() == '-';
    text.remove_prefix(1);
  }
  while (!text.empty()) {
    if (is_digit(text[0])) {
      if (parts.num_digits == kMaxDigits) return false;
      parts.digits[parts.num_digits++] = text[0];
      text.remove_prefix(1);
      continue;
    }
    if ((text[0] == 'e' || text[0] == 'E') && text.size() > 1) {
      text.remove_prefix(text[1] == '+' ? 2 : 1);
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parts.exponent);
      parts.has_exponent = true;
      return error == std::errc() && end == text.data() + text.size() && std::abs(parts.exponent) < 1000 &&
             parts.num_digits > 0;
    }
    std::size_t length = 0;
    const char separator = separator_at(text, length);
    if (separator == 0 || parts.num_separators == kMaxSeparators) return false;
    parts.separators[parts.num_separators] = separator;
    parts.places[parts.num_separators++] = parts.num_digits;
    text.remove_prefix(length);
  }
  return parts.num_digits > 0;
}

// Powers of ten that a double holds exactly.
constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                              1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr std::size_t kExactDigits = 15;  // and as many digits

// The number with `num_decimals` of its digits behind the decimal separator.
double value_of(const Parts& parts, std::size_t num_decimals, int exponent) {
  // Digits and power are exact: one operation on them rounds once, and so as reading the text would.
  const int power = parts.exponent + exponent - static_cast<int>(num_decimals);
  if (parts.num_digits <= kExactDigits && std::abs(power) < static_cast<int>(std::size(kPowers))) {
    std::int64_t digits = 0;
    for (std::size_t i = 0; i < parts.num_digits; i++) digits = digits * 10 + (parts.digits[i] - '0');
    const auto whole = static_cast<double>(parts.negative ? -digits : digits);
    return power < 0 ? whole / kPowers[-power] : whole * kPowers[power];
  }
  char text[kMaxDigits + 16];
  char* end = text;
  if (parts.negative) *end++ = '-';
  end = std::copy_n(parts.digits, parts.num_digits, end);
  *end++ = 'e';
  end = std::to_chars(end, text + sizeof text, power).ptr;
  double value = 0;
  const auto [stop, error] = std::from_chars(text, end, value);
  return error == std::errc() && stop == end ? value : std::nan("");
}

NumberCell number(const Parts& parts, std::size_t num_decimals, int exponent, std::uint8_t evidence) {
  NumberCell cell;
  cell.value = value_of(parts, num_decimals, exponent);
  cell.form = std::isfinite(cell.value) ? NumberForm::number : NumberForm::malformed;
  cell.evidence = evidence;
  return cell;
}

std::uint8_t decimal_evidence(char separator) {
  return separator == '.' ? SeparatorEvidence::dot_decimal : SeparatorEvidence::comma_decimal;
}
std::uint8_t thousands_evidence(char separator) {
  return separator == '.'   ? SeparatorEvidence::dot_thousands
         : separator == ',' ? SeparatorEvidence::comma_thousands
                            : SeparatorEvidence::other_thousands;
}

// One separator, and nothing else that tells: three digits behind it and one to three before it can be a thousand, or
// three decimals.
NumberCell read_single(const Parts& parts, int exponent) {
  const char separator = parts.separators[0];
  const std::size_t before = parts.group(0), behind = parts.group(1);
  if (behind == 0) return {NumberForm::malformed};
  const bool could_be_thousands =
      behind == 3 && before >= 1 && before <= 3 && !parts.has_exponent && parts.digits[0] != '0';
  if (separator == ' ')
    return could_be_thousands ? number(parts, 0, exponent, SeparatorEvidence::other_thousands)
                              : NumberCell{NumberForm::malformed};
  if (!could_be_thousands) {
    const std::uint8_t ungrouped = before > 3 ? SeparatorEvidence::ungrouped : 0;
    return number(parts, behind, exponent, static_cast<std::uint8_t>(decimal_evidence(separator) | ungrouped));
  }
  NumberCell cell = number(parts, 0, exponent, 0);
  cell.form = NumberForm::ambiguous;
  cell.separator = separator;
  return cell;
}

// Nearly all cells are up to 15 digits with separators of one kind: "508757", "0.74", "27,595,520". One walk reads
// them; false where the cell is anything else, or must be looked at closely.
bool read_plain(std::string_view cell, int exponent, NumberCell& result) {
  std::int64_t digits = 0;
  std::size_t num_digits = 0, num_separators = 0, first_group = 0, group = 0;
  char separator = 0;
  for (const char c : cell) {
    if (is_digit(c)) {
      digits = digits * 10 + (c - '0');
      group++;
      if (++num_digits > kExactDigits) return false;
      continue;
    }
    if (c != '.' && c != ',') return false;
    if (num_separators == 0) {
      separator = c;
      first_group = group;
    } else if (c != separator || group != 3) {
      return false;
    }
    num_separators++;
    group = 0;
  }
  if (group == 0 || (num_separators > 0 && first_group == 0)) return false;
  const bool is_grouped = first_group <= 3 && group == 3;
  const bool has_decimals = num_separators == 1 && !(is_grouped && cell[0] != '0');
  if (num_separators > 1 && !is_grouped) return false;
  const int power = exponent - (has_decimals ? static_cast<int>(group) : 0);
  if (std::abs(power) >= static_cast<int>(std::size(kPowers))) return false;
  const auto whole = static_cast<double>(digits);
  result.value = power < 0 ? whole / kPowers[-power] : whole * kPowers[power];
  result.form = NumberForm::number;
  if (num_separators == 0) {
    result.evidence = num_digits > 3 ? SeparatorEvidence::ungrouped : std::uint8_t{0};
  } else if (has_decimals) {
    const std::uint8_t ungrouped = first_group > 3 ? SeparatorEvidence::ungrouped : std::uint8_t{0};
    result.evidence = static_cast<std::uint8_t>(decimal_evidence(separator) | ungrouped);
  } else if (num_separators == 1) {
    result.form = NumberForm::ambiguous;
    result.separator = separator;
  } else {
    result.evidence = thousands_evidence(separator);
  }
  return true;
}

}  // namespace

SeparatorEvidence::Meaning SeparatorEvidence::meaning_of(char separator) const {
  const bool dot_is_decimal = (bits_ & (dot_decimal | comma_thousands)) != 0;
  const bool comma_is_decimal = (bits_ & (comma_decimal | dot_thousands)) != 0;
  if (dot_is_decimal && comma_is_decimal) return Meaning::unknown;
  if (dot_is_decimal) return separator == '.' ? Meaning::decimals : Meaning::thousands;
  if (comma_is_decimal) return separator == ',' ? Meaning::decimals : Meaning::thousands;
  // Thousands are parted by something else, or not at all.
  return (bits_ & (other_thousands | ungrouped)) != 0 ? Meaning::decimals : Meaning::unknown;
}

NumberCell parse_number(std::string_view cell, int exponent) {
  NumberCell plain;
  if (read_plain(cell, exponent, plain)) return plain;
  cell = trimmed(cell);
  if (cell.starts_with("(!)")) cell = trimmed(cell.substr(3));  // a warning about the value
  if (is_no_number(cell)) return {NumberForm::none};
  // "12 (5; 7)": the value, and those of its instances.
  if (cell.back() == ')') {
    if (const std::size_t bracket = cell.find(" ("); bracket != std::string_view::npos && bracket > 0)
      return parse_number(cell.substr(0, bracket), exponent);
  }
  if (is_letter(cell.front())) return {NumberForm::text};
  Parts parts;
  if (!take_apart(cell, parts)) return {NumberForm::malformed};
  if (parts.num_separators == 0)
    return number(parts, 0, exponent, parts.num_digits > 3 ? SeparatorEvidence::ungrouped : std::uint8_t{0});
  if (parts.num_separators == 1) return read_single(parts, exponent);
  const std::size_t last = parts.num_separators - 1;
  const char first_kind = parts.separators[0], last_kind = parts.separators[last];
  const bool same =
      std::all_of(parts.separators, parts.separators + last, [&](char separator) { return separator == first_kind; });
  if (!same) return {NumberForm::malformed};
  if (first_kind == last_kind) {
    if (!parts.groups_thousands(parts.num_separators)) return {NumberForm::malformed};
    return number(parts, 0, exponent, thousands_evidence(first_kind));
  }
  if (last_kind == ' ' || !parts.groups_thousands(last) || parts.group(parts.num_separators) == 0)
    return {NumberForm::malformed};
  return number(parts, parts.group(parts.num_separators), exponent,
                static_cast<std::uint8_t>(thousands_evidence(first_kind) | decimal_evidence(last_kind)));
}

}  // namespace chopper::nsight
