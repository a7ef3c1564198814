// A process that executes requests over two pipes: a request is a line of JSON, followed by the raw
// bytes of its tensors.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

namespace bench {

class worker {
 public:
  // Starts the process. Members throw std::runtime_error where it does not start or answer.
  explicit worker(const std::vector<std::string>& command);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  // Sends a line and raw bytes after it; returns the line of the answer.
  std::string ask(const std::string& line,
                  const std::vector<std::span<const std::byte>>& data = {});
  // Reads the floats after an answer.
  std::vector<float> read(std::size_t count);

 private:
  pid_t process_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

}  // namespace bench
