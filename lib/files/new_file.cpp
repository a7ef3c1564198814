#include "new_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <random>
#include <string_view>
#include <system_error>

#include "weft/run/error.hpp"

namespace weft::detail {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view ending = ".partial";

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : fs::path(".");
}

// What the names of a file's partial files begin with: as much of its own name as leaves room for a
// number and the ending in the 255 bytes that a name may have. Whole characters of UTF-8.
std::string stem_of_partials(const fs::path& path) {
  constexpr std::size_t longest_name = 255, longest_number = 10;
  constexpr std::size_t most = longest_name - 1 - longest_number - ending.size();
  std::string name = path.filename().string();
  if (name.size() <= most) return name;
  std::size_t size = most;
  while (size > 0 && (static_cast<unsigned char>(name[size]) & 0xc0) == 0x80) --size;
  name.resize(size);
  return name;
}

// The file that a path names, where it is a symbolic link, which may name a file that is not there.
fs::path followed(fs::path path) {
  constexpr int most_links = 40;  // as Linux follows
  std::error_code failed;
  for (int links = 0; fs::is_symlink(fs::symlink_status(path, failed)); ++links) {
    const fs::path target = fs::read_symlink(path, failed);
    if (failed || links == most_links)
      detail::raise(path.string() + ": the file cannot be written: the link cannot be followed");
    path = folder_of(path) / target;  // a target that is absolute replaces the folder
  }
  return path;
}

bool is_partial_of(const std::string& name, const std::string& of) {
  if (name.size() <= of.size() + 1 + ending.size() || !name.starts_with(of + '.') ||
      !name.ends_with(ending))
    return false;
  return std::all_of(name.begin() + static_cast<std::ptrdiff_t>(of.size() + 1),
                     name.end() - std::ssize(ending), [](char c) { return c >= '0' && c <= '9'; });
}

// Removes the partial files of `path` that no process has locked. Ignores files that cannot be
// opened or locked, and a folder that cannot be read.
void remove_abandoned(const fs::path& path) {
  const std::string name = stem_of_partials(path);
  std::error_code failed;
  for (fs::directory_iterator at(folder_of(path), failed), end; !failed && at != end;
       at.increment(failed)) {
    if (!is_partial_of(at->path().filename().string(), name)) continue;
    const int file = ::open(at->path().c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0) continue;
    if (::flock(file, LOCK_EX | LOCK_NB) == 0) ::unlink(at->path().c_str());
    ::close(file);
  }
}

}  // namespace

void new_file::fail() const {
  const int number = errno;
  detail::raise(path_.string() +
                ": the file cannot be written: " + std::generic_category().message(number));
}

new_file::new_file(const fs::path& path) : path_(followed(path)) {
  struct stat old {};
  const bool exists = ::stat(path_.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode))
    detail::raise(path.string() +
                  ": the file cannot be written: the path exists and is not a regular file");
  remove_abandoned(path_);
  std::random_device random;
  for (struct stat s{};;) {
    partial_ = folder_of(path_) /
               (stem_of_partials(path_) + '.' + std::to_string(random()) + std::string(ending));
    // A new one has the mode that an older one has, and nobody may read it before.
    const ::mode_t mode = exists ? 0600 : 0666;
    file_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (file_ < 0 && errno == EEXIST) continue;
    if (file_ < 0) fail();
    if (exists && ::fchmod(file_, old.st_mode & 07777) != 0) {
      const int number = errno;
      ::unlink(partial_.c_str());
      ::close(file_);
      errno = number;
      fail();
    }
    // Some network file systems have no locks; there, other writers cannot lock and remove it.
    while (::flock(file_, LOCK_EX) != 0 && errno == EINTR) {
    }
    // Before it was locked, another writer may have taken it for abandoned and removed it.
    if (::fstat(file_, &s) == 0 && s.st_nlink > 0) return;
    ::close(file_);
  }
}

new_file::~new_file() {
  if (file_ < 0) return;
  ::unlink(partial_.c_str());
  ::close(file_);
}

void new_file::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ::ssize_t n = ::write(file_, bytes.data(), std::min(bytes.size(), std::size_t{1} << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail();
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void new_file::commit() {
  if (::fsync(file_) != 0 || ::rename(partial_.c_str(), path_.c_str()) != 0) fail();
  ::close(file_);
  file_ = -1;
  const int folder = ::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;  // a folder can be writable but not readable
  const bool synced = ::fsync(folder) == 0 || errno == EINVAL;  // EINVAL: folders cannot be synced
  if (const int number = errno; !synced) {
    ::close(folder);
    errno = number;
    fail();
  }
  ::close(folder);
}

}  // namespace weft::detail
