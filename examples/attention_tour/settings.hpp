// The command-line options of attention_tour.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <weft/run/error.hpp>

#include "support/program.hpp"

namespace attention_tour {

struct settings {
  std::string out = "attention_tour.html";
};

inline void add_options(CLI::App& app, settings& s) {
  app.add_option("--out", s.out, "the page, one HTML file")->capture_default_str();
}

// Throws weft::error for bad values that CLI11's checks accept.
inline void check(const settings& s) {
  if (s.out.empty()) throw weft::error("--out: a file name is needed");
  examples::check_folder("--out", std::filesystem::absolute(s.out).parent_path());
}

}  // namespace attention_tour
