// SPDX-License-Identifier: Apache-2.0
// Numbers as Nsight Compute writes them: with the separators of the locale it ran in, which it names nowhere.
//   "27,595,520"   "27.595.520"   "1 234,5"   "508757"   "0.74"   "n/a"
// Most cells can be read in one way only, and tell how the others are meant: "117.344" is 117344 beside "27.595.520".
#pragma once

#include <cstdint>
#include <string_view>

namespace chopper::nsight {

/// What a cell is.
enum class NumberForm : std::uint8_t {
  number,     ///< in one way only
  ambiguous,  ///< its separator is of thousands or of decimals: "1,234"
  none,       ///< "n/a", "nan", "inf", nothing
  text,       ///< words
  malformed   ///< begins as a number does, and is none
};

struct NumberCell {
  NumberForm form = NumberForm::none;
  char separator = 0;  ///< of an ambiguous one: '.' or ','
  double value = 0;    ///< of an ambiguous one: as if its separator were one of thousands; else it is a thousandth
  std::uint8_t evidence = 0;  ///< SeparatorEvidence bits
};

/// What the unambiguous cells of a file say about its separators.
class SeparatorEvidence {
 public:
  static constexpr std::uint8_t dot_decimal = 1, comma_decimal = 2, dot_thousands = 4, comma_thousands = 8;
  static constexpr std::uint8_t other_thousands = 16;  ///< spaces or apostrophes
  static constexpr std::uint8_t ungrouped = 32;        ///< four digits or more without a separator of thousands

  void add(std::uint8_t bits) { bits_ |= bits; }
  enum class Meaning : std::uint8_t { unknown, thousands, decimals };
  /// What `separator` means in the file's ambiguous cells; unknown also where its cells contradict each other.
  Meaning meaning_of(char separator) const;

 private:
  std::uint8_t bits_ = 0;
};

/// Reads a cell; the result is multiplied by 10 to the power of `exponent`, exactly.
NumberCell parse_number(std::string_view cell, int exponent);

}  // namespace chopper::nsight
