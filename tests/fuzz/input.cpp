#include "fuzz/input.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace fuzz {

std::vector<std::byte> tensor_file(bytes input) {
  std::vector<std::byte> all;
  const auto append = [&](const auto& more) {
    const auto part = std::as_bytes(std::span(more));
    all.insert(all.end(), part.begin(), part.end());
  };
  if (input.empty() || input.front() != ' ') {
    append(input);
    return all;
  }
  input = input.subspan(1);
  const auto end =
      static_cast<std::size_t>(std::find(input.begin(), input.end(), 0) - input.begin());
  append(std::vector<std::uint64_t>{end});
  append(input.first(end));
  append(input.subspan(std::min(end + 1, input.size())));
  return all;
}

std::filesystem::path file_of(std::span<const std::byte> content) {
  static const int file = ::memfd_create("fuzz", 0);
  expect(file >= 0 && ::ftruncate(file, 0) == 0);
  expect(::pwrite(file, content.data(), content.size(), 0) == std::ssize(content));
  return "/proc/self/fd/" + std::to_string(file);
}

}  // namespace fuzz
