#include "sound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <weft/run/error.hpp>

namespace listen {

namespace {

constexpr std::uint64_t unknown = ~std::uint64_t{0};

std::uint64_t number(std::string_view bytes) {
  std::uint64_t n = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    n = n << 8 | static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i]));
  return n;
}

double value(std::string_view bytes, bool floating) {
  const std::uint64_t n = number(bytes);
  if (floating && bytes.size() == 8) return std::bit_cast<double>(n);
  if (floating) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(n)));
  if (bytes.size() == 1) return static_cast<double>(n) / 128 - 1;  // unsigned
  const std::size_t unused = 64 - 8 * bytes.size();
  return static_cast<double>(static_cast<std::int64_t>(n << unused)) * 0x1p-63;
}

std::string at_second(std::uint64_t moment, std::size_t rate) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f s",
                static_cast<double>(moment) / static_cast<double>(rate));
  return text;
}

}  // namespace

void sample_format::check(const std::string& name) const {
  if (floating ? bytes != 4 && bytes != 8 : bytes < 1 || bytes > 4)
    throw weft::error(name + " has samples of " + std::to_string(8 * bytes) +
                      " bits; PCM of 8 to 32 bits and floats of 32 and 64 are read");
  if (channels < 1 || channels > 64)
    throw weft::error(name + " has " + std::to_string(channels) + " channels; 1 to 64 are read");
  if (rate < 4000 || rate > 384'000)
    throw weft::error(name + " has a rate of " + std::to_string(rate) +
                      " Hz; 4000 to 384000 Hz are read");
}

sound::sound(std::istream& in, std::string name, std::size_t rate, const sample_format* raw)
    : in_(in), name_(std::move(name)), resampler_(rate, rate) {
  first_ = bytes(12);
  if (first_.empty()) throw weft::error(name_ + " is empty");
  const bool wav = first_.starts_with("RIFF") && first_.substr(8) == "WAVE";
  if (!wav && raw == nullptr)
    throw weft::error(name_ + " is no WAV file; raw samples are read from standard input, as in " +
                      "listen - < FILE");
  if (wav) {
    first_.clear();
    read_header();
  } else {
    format_ = *raw;
  }
  format_.check(name_);
  resampler_ = resampler(format_.rate, rate);
}

// As many of the stream's next bytes as it has.
std::string sound::bytes(std::size_t count) {
  std::string all(count, '\0');
  in_.read(all.data(), static_cast<std::streamsize>(count));
  all.resize(static_cast<std::size_t>(in_.gcount()));
  return all;
}

void sound::read_header() {
  for (bool has_format = false;;) {
    const std::string head = bytes(8);
    if (head.size() < 8) throw weft::error(name_ + " ends before its samples");
    const std::uint64_t size = number(std::string_view(head).substr(4));
    if (head.starts_with("data")) {
      if (!has_format) throw weft::error(name_ + " has samples before their format");
      // Programs that write to a pipe cannot say how many samples there will be.
      left_ = size == 0 || size >= 0x7fff'0000 ? unknown : size;
      return;
    }
    if (head.starts_with("fmt ")) {
      read_format(size);
      has_format = true;
    } else {
      in_.ignore(static_cast<std::streamsize>(size));
    }
    if (size % 2 == 1) in_.ignore(1);
  }
}

void sound::read_format(std::size_t size) {
  if (size < 16 || size > 1000) throw weft::error(name_ + " has a format of no known length");
  const std::string all = bytes(size);
  if (all.size() < size) throw weft::error(name_ + " ends before its samples");
  const auto at = [&](std::size_t first, std::size_t count) {
    return static_cast<std::size_t>(number(std::string_view(all).substr(first, count)));
  };
  std::size_t kind = at(0, 2);
  if (kind == 0xfffe && size >= 26) kind = at(24, 2);  // WAVE_FORMAT_EXTENSIBLE
  if (kind != 1 && kind != 3)
    throw weft::error(name_ + " has samples of format " + std::to_string(kind) +
                      "; PCM (1) and floats (3) are read");
  format_ = {kind == 3, 0, at(2, 2), at(4, 4)};
  format_.bytes = (at(14, 2) + 7) / 8;
}

float sound::mixed(const char* from) {
  double sum = 0;
  for (std::size_t c = 0; c < format_.channels; ++c)
    sum += value({from + c * format_.bytes, format_.bytes}, format_.floating);
  sum /= static_cast<double>(format_.channels);
  if (!(std::abs(sum) <= 1e6)) {
    if (bad_++ == 0) first_bad_ = moments_;
    sum = 0;
  }
  ++moments_;
  // Squares of smaller ones would be denormal, and slow.
  return std::abs(sum) < 1e-15 ? 0.0f : static_cast<float>(sum);
}

bool sound::read(std::vector<float>& to) {
  const std::size_t moment = format_.bytes * format_.channels;
  const std::size_t wanted = static_cast<std::size_t>(
      std::min<std::uint64_t>(left_, moment * std::max<std::size_t>(1, format_.rate / 32)));
  std::string all = std::move(first_);
  first_.clear();
  if (all.size() < wanted) all += bytes(wanted - all.size());
  if (left_ != unknown) left_ -= all.size();
  std::vector<float> samples;
  for (std::size_t at = 0; at + moment <= all.size(); at += moment)
    samples.push_back(mixed(all.data() + at));
  rest_ = all.size() % moment;
  resampler_.add(samples, to);
  const bool more = all.size() == wanted && left_ > 0;
  if (!more) resampler_.finish(to);
  return more;
}

std::vector<std::string> sound::remarks() const {
  std::vector<std::string> all;
  const auto end = at_second(moments_, format_.rate);
  if (rest_ > 0)
    all.push_back(name_ + " ends within a sample, after " + end + "; its last " +
                  std::to_string(rest_) + " bytes are left out");
  if (left_ != unknown && left_ > 0)
    all.push_back(name_ + " ends after " + end + ", before the end that its header says; what " +
                  "there is was heard");
  if (bad_ > 0)
    all.push_back(name_ + " has " + std::to_string(bad_) + " samples, the first at " +
                  at_second(first_bad_, format_.rate) +
                  ", that are not finite or beyond 1e6; they were heard as silence");
  return all;
}

}  // namespace listen
