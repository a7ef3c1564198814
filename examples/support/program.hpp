// How a program ends.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace examples {

// Reads the command line, then runs. Gives the exit status: 2 where either finds something wrong,
// which is one line on stderr that begins with the program's name.
int run_program(CLI::App& app, int argc, const char* const* argv, const std::function<void()>& run);

}  // namespace examples
