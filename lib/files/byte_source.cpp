#include "byte_source.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "weft/run/error.hpp"

namespace weft::detail {

namespace {

std::string reason(int number) {
  return std::generic_category().message(number);
}

}  // namespace

void byte_source::fail(const std::string& what) const {
  detail::raise(name_ + ": " + what);
}

struct stat byte_source::status() const {
  struct stat s {};
  if (::fstat(file_, &s) != 0) fail("the file cannot be read: " + reason(errno));
  return s;
}

// The destructor closes the file also where this throws, as another constructor has ended.
byte_source::byte_source(const std::filesystem::path& path)
    : byte_source(std::vector<std::byte>(), path.string()) {
  // Without O_NONBLOCK, opening a pipe would wait for a writer.
  file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0) fail("the file cannot be read: " + reason(errno));
  opened_ = status();
  if (!S_ISREG(opened_.st_mode)) fail("the file cannot be read: it is not a regular file");
  size_ = static_cast<std::size_t>(opened_.st_size);
}

byte_source::byte_source(std::vector<std::byte> bytes, std::string name)
    : name_(std::move(name)), bytes_(std::move(bytes)), size_(bytes_.size()) {}

byte_source::byte_source(std::span<std::byte> memory, std::string name)
    : name_(std::move(name)), memory_(memory), size_(memory.size()) {}

byte_source::byte_source(std::size_t size, std::string name, maker make)
    : name_(std::move(name)), size_(size), make_(std::move(make)) {}

byte_source::~byte_source() {
  if (file_ >= 0) ::close(file_);
}

void byte_source::read(std::size_t offset, std::span<std::byte> into) const {
  if (offset > size_ || into.size() > size_ - offset)
    fail("the file has " + std::to_string(size_) + " bytes, and " + std::to_string(into.size()) +
         " were to be read from offset " + std::to_string(offset));
  if (make_) return make_(offset, into);
  if (file_ < 0) {
    const auto from = memory_.empty() ? std::span<const std::byte>(bytes_) : memory_;
    std::ranges::copy(from.subspan(offset, into.size()), into.begin());
    return;
  }
  while (!into.empty()) {
    constexpr std::size_t most = 1 << 30;  // some systems refuse to read more than INT_MAX bytes
    const ::ssize_t n =
        ::pread(file_, into.data(), std::min(into.size(), most), static_cast<::off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("the file cannot be read: " + reason(errno));
    if (n == 0)
      fail("the file was cut off while it was read: it had " + std::to_string(size_) +
           " bytes, and ends at byte " + std::to_string(offset));
    offset += static_cast<std::size_t>(n);
    into = into.subspan(static_cast<std::size_t>(n));
  }
  check_unchanged();
}

std::shared_ptr<std::byte[]> byte_source::map() const {
  if (!memory_.empty()) return {memory_.data(), [](std::byte*) {}};
  if (file_ < 0 || size_ == 0) return nullptr;
  check_unchanged();
  void* const at = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE, file_, 0);
  if (at == MAP_FAILED) return nullptr;
  return {static_cast<std::byte*>(at), [size = size_](std::byte* p) { ::munmap(p, size); }};
}

byte_source::view byte_source::all() const {
  if (file_ < 0 && memory_.empty()) return {nullptr, bytes_};
  const auto mapped = map();
  if (mapped == nullptr && size_ > 0) fail("the file cannot be mapped into memory");
  return {mapped, {mapped.get(), size_}};
}

void byte_source::check_unchanged() const {
  const struct stat now = status();
  if (now.st_size != opened_.st_size || now.st_mtim.tv_sec != opened_.st_mtim.tv_sec ||
      now.st_mtim.tv_nsec != opened_.st_mtim.tv_nsec)
    fail("the file was written to while it was read; write to a new file and rename it");
}

}  // namespace weft::detail
