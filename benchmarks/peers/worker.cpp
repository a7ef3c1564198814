#include "benchmarks/peers/worker.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace bench {

worker::worker(const std::vector<std::string>& command) {
  std::signal(SIGPIPE, SIG_IGN);  // a dead process is detected by its missing answer
  int to[2], from[2];
  if (pipe(to) != 0 || pipe(from) != 0) throw std::runtime_error("worker: no pipes");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], 0);
  posix_spawn_file_actions_adddup2(&actions, from[1], 1);
  for (const int end : {to[0], to[1], from[0], from[1]})
    posix_spawn_file_actions_addclose(&actions, end);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const int failed =
      posix_spawn(&process_, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(to[0]);
  close(from[1]);
  to_ = fdopen(to[1], "wb");
  from_ = fdopen(from[0], "rb");
  if (failed) throw std::runtime_error("worker: cannot start " + command[0]);
}

worker::~worker() {
  std::fclose(to_);  // the process exits at the end of its input
  std::fclose(from_);
  if (process_ > 0) waitpid(process_, nullptr, 0);
}

std::string worker::ask(const std::string& line,
                        const std::vector<std::span<const std::byte>>& data) {
  std::fputs((line + "\n").c_str(), to_);
  for (const auto& bytes : data) std::fwrite(bytes.data(), 1, bytes.size(), to_);
  std::fflush(to_);
  std::string answer;
  for (int c = std::fgetc(from_); c != '\n'; c = std::fgetc(from_)) {
    if (c == EOF) throw std::runtime_error("worker: no answer to " + line);
    answer += static_cast<char>(c);
  }
  return answer;
}

std::vector<float> worker::read(std::size_t count) {
  std::vector<float> numbers(count);
  if (std::fread(numbers.data(), sizeof(float), count, from_) != count)
    throw std::runtime_error("worker: an answer ended early");
  return numbers;
}

}  // namespace bench
