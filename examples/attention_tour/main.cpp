// Walks through the attention chapter's demonstrations, and writes a page of them.
#include <filesystem>
#include <iostream>
#include <string>
#include <weft/run/error.hpp>

#include "support/program.hpp"
#include "tour.hpp"

int main(int argc, char** argv) {
  std::string out = "attention_tour.html";
  CLI::App app("Runs the attention chapter's demonstrations, and writes a page of them.",
               "attention_tour");
  app.add_option("--out", out, "the page, one HTML file")->capture_default_str();
  return examples::run_program(app, argc, argv, [&] {
    auto const folder = std::filesystem::absolute(out).parent_path();
    if (!std::filesystem::is_directory(folder))
      throw weft::error("--out: " + folder.string() + " is not a folder");
    attention_tour::run(std::cout).write(out);
    std::cout << "\npage: " << out << "\n";
  });
}
