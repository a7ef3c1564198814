// A process that does work when it is asked to, over two pipes: a request is a line of JSON, and
// tensors follow it as they lie in memory.
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
  // Throws std::runtime_error where the process does not start or does not answer.
  explicit worker(const std::vector<std::string>& command);
  ~worker();
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;

  // Sends a line, and bytes after it; gives the line of the answer.
  std::string ask(const std::string& line,
                  const std::vector<std::span<const std::byte>>& data = {});
  // What follows an answer.
  std::vector<float> read(std::size_t count);

 private:
  pid_t process_ = -1;
  std::FILE* to_ = nullptr;
  std::FILE* from_ = nullptr;
};

}  // namespace bench
