// How the values of a learned tensor begin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)
namespace hiaton {

/// What a learned tensor is filled with before training.
struct Initializer {
  enum class Kind : uint8_t {
    Zeros,
    Ones,
    Uniform,  ///< uniform in [-number, number]
    Normal,   ///< normal with mean 0 and standard deviation `number`
    Glorot,   ///< uniform in [-a, a] with a = sqrt(6 / (rows + columns)); of the last two dimensions
  };
  Kind kind = Kind::Zeros;
  double number = 0;  ///< Uniform, Normal: greater than 0

  friend bool operator==(const Initializer&, const Initializer&) = default;
};

/// Glorot for matrices and tensors of higher rank, else zeros.
Initializer default_initializer(std::size_t rank);

/// "zeros", "uniform", ...
std::string_view name_of(Initializer::Kind kind);
std::optional<Initializer::Kind> initializer_from_name(std::string_view name);
/// Whether a number follows in parentheses.
bool takes_number(Initializer::Kind kind);

/// The initializer as it is written in programs: "zeros", "uniform(0.1)".
std::string to_string(const Initializer& initializer);

}  // namespace hiaton
#pragma GCC visibility pop
