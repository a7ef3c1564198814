// The ranks of an MPI program, and a main function for them. Link weft::mpi.
#pragma once
#include "weft/header_begin.hpp"

#include <mpi.h>

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "weft/run/error.hpp"

namespace weft {

// An error of one rank that all ranks throw, each in the same call: what() begins with "rank 2 of
// 4: ". Training can go on where it can after the same error on one rank.
class rank_error : public error {
 public:
  // Of one rank.
  rank_error(int of, int ranks, const std::string& what);
  // Of all ranks alike.
  explicit rank_error(const std::string& what) : error(what) {}
  // Whose error it is; -1: all have it.
  int rank() const noexcept { return rank_; }
  // Whether an object of this type is alive, thrown on all ranks, so that none is left alone.
  static bool is_thrown() noexcept { return counted::alive > 0; }

 private:
  struct counted {
    counted() noexcept { ++alive; }
    counted(const counted&) noexcept { ++alive; }
    counted& operator=(const counted&) = default;
    ~counted() { --alive; }
    static inline std::atomic<int> alive = 0;
  };

  int rank_ = -1;
  counted counted_;
};

// The ranks that train together: weft::communicator(MPI_COMM_WORLD). Its copies share a duplicate
// of the MPI communicator, so its messages never meet the caller's. MPI is to be initialized
// before, with MPI_Init_thread and at least MPI_THREAD_SERIALIZED if ranks have several threads,
// and to be finalized after the last copy is gone; weft::mpi_main does both. What sends something,
// the constructor included, is collective: all ranks call it, in the same order. It throws
// weft::error where MPI reports a fault.
class communicator {
 public:
  // Throws weft::error where MPI is not initialized.
  explicit communicator(MPI_Comm ranks);

  int rank() const noexcept { return rank_; }                 // of this process, from 0
  int size() const noexcept { return size_; }                 // the number of ranks
  MPI_Comm handle() const noexcept { return shared_->comm; }  // the duplicate

  // Copies the bytes of `root` to all ranks.
  void broadcast(std::span<std::byte> bytes, int root = 0) const;
  // The objects of all ranks, in their order; T is trivially copyable.
  template <class T>
  requires std::is_trivially_copyable_v<T> std::vector<T> all(const T& mine)
  const {
    struct cell {  // a vector<bool> has no array of bool
      T value;
    };
    std::vector<cell> cells(static_cast<std::size_t>(size_));
    gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(cells)));
    std::vector<T> gathered;
    for (const cell& c : cells) gathered.push_back(c.value);
    return gathered;
  }
  // Returns where `failure` is empty on all ranks; else all throw the rank_error of the first rank
  // whose it is not.
  void agree(const std::string& failure) const;
  // Calls f on the ranks for which `here` is true, and agrees that it threw nothing.
  template <class F>
  void attempt(bool here, F f) const {
    std::string failure;
    try {
      if (here) f();
    } catch (const std::exception& e) {
      failure = e.what();
      if (failure.empty()) failure = "an error without a message";
    } catch (...) {
      failure = "an exception that is no std::exception";
    }
    agree(failure);
  }

  // This rank has left the others, which wait for it, by an exception: ends all ranks, or has
  // weft::mpi_main do so, which knows what the exception says.
  void leave() const noexcept;
  // Ends all ranks, after a line on stderr that names this one. For a rank that cannot go on while
  // others wait for it.
  [[noreturn]] void abort(const std::string& why) const;

 private:
  friend int mpi_main(int, char**, const std::function<int(const communicator&)>&);
  void gather(std::span<const std::byte> mine, std::span<std::byte> all) const;

  struct shared {
    MPI_Comm comm = MPI_COMM_NULL;
    bool guarded = false;  // by weft::mpi_main
    bool left = false;
    shared() = default;
    shared(const shared&) = delete;
    shared& operator=(const shared&) = delete;
    ~shared();
  };
  std::shared_ptr<shared> shared_;
  int rank_ = 0, size_ = 1;
};

// The body of a main function of ranks: initializes MPI, calls program(MPI_COMM_WORLD's
// communicator), and finalizes MPI. Returns what it returns, or 1 after an error that all ranks
// threw, which rank 0 prints. Any other exception ends all ranks, after a line on stderr that names
// the rank, and so does one that program catches after it has left a weft::distributed:
//
//   int main(int argc, char** argv) {
//     return weft::mpi_main(argc, argv, [&](const weft::communicator& ranks) { ...; return 0; });
//   }
int mpi_main(int argc, char** argv, const std::function<int(const communicator&)>& program);

namespace detail {

// Throws weft::error with MPI's text where an MPI function did not return MPI_SUCCESS.
void check_mpi(int returned, const char* called);
// Throws weft::error where MPI does not allow calls of several threads, one after another.
void check_thread_level();

}  // namespace detail

}  // namespace weft
#include "weft/header_end.hpp"
