// Command line and error handling of the programs.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>

namespace examples {

// Parses the command line, then calls run. Returns the exit status: 2 for an error in either, which
// is one line on stderr that begins with the program's name.
int run_program(CLI::App& app, int argc, const char* const* argv, const std::function<void()>& run);

// Throws a weft::error that begins with the option's name if `folder` is not a folder.
void check_folder(const std::string& option, const std::filesystem::path& folder);

}  // namespace examples
