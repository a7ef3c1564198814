// A thread pool of the embedding application, for models to run on.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "weft/run/executor.hpp"

namespace {

class pool {
 public:
  explicit pool(int threads) {
    for (int i = 1; i < threads; ++i) threads_.emplace_back([this] { help(); });
  }
  ~pool() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  void for_each(int n, const weft::job& f) {
    std::unique_lock lock(mutex_);
    job_ = &f;
    count_ = n;
    next_ = done_ = 0;
    changed_.notify_all();
    work(lock);
    changed_.wait(lock, [this] { return done_ == count_; });
    job_ = nullptr;
  }

 private:
  void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closed_ || (job_ && next_ < count_); });
      if (closed_) return;
      work(lock);
    }
  }
  void work(std::unique_lock<std::mutex>& lock) {
    while (next_ < count_) {
      const int i = next_++;
      lock.unlock();
      (*job_)(i);
      lock.lock();
      if (++done_ == count_) changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const weft::job* job_ = nullptr;
  int count_ = 0, next_ = 0, done_ = 0;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

inline weft::executor on(pool& p, int threads) {
  return {threads, [&p](int n, weft::job f) { p.for_each(n, f); }};
}

}  // namespace
