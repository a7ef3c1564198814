// A model in several safetensors files, which an index names.
#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/temporary.hpp"
#include "support/thrown_by.hpp"
#include "weft/files/load.hpp"
#include "weft/weft.hpp"

namespace {

using weft::tensor_file, weft::testing::temporary, weft::testing::thrown_by;

struct Out : weft::axis<3> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    return s.param<"a", Out>() * s.param<"b", Out>() + s.param<"c", Out>();
  }
};

// A folder with two files, of the tensors a and b, and c and more.
class folder {
 public:
  folder() {
    std::filesystem::create_directory(path());
    write("one.safetensors", {"a", "b"});
    write("two.safetensors", {"c", "more"});
  }
  std::filesystem::path path() const { return path_; }

  // The message of opening an index with this content.
  std::string refusal(const std::string& index) const {
    write_index(index);
    return thrown_by([&] { tensor_file(path() / "model.safetensors.index.json"); });
  }
  void write_index(const std::string& index) const {
    std::ofstream(path() / "model.safetensors.index.json") << index;
  }

 private:
  void write(const char* file, const std::vector<std::string>& names) const {
    std::vector<weft::tensor_to_store> all;
    std::vector<std::vector<float>> values;
    for (const auto& name : names)
      values.push_back(std::vector<float>(3, static_cast<float>(name[0])));
    for (std::size_t i = 0; i < names.size(); ++i)
      all.push_back({names[i], {3}, std::span<const float>(values[i]), weft::stored_type::float32});
    weft::save_tensors(all, path() / file);
  }

  temporary path_{"weft_shards_test"};
};

std::string map(const std::string& entries) {
  return R"({"metadata": {"total_size": 48}, "weight_map": {)" + entries + "}}";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(shards, *boost::unit_test::label("full"))

BOOST_AUTO_TEST_CASE(tensors_come_from_the_files_that_the_index_names) {
  const folder f;
  f.write_index(map(R"("a": "one.safetensors", "b": "one.safetensors", "c": "two.safetensors")"));
  const auto path = f.path() / "model.safetensors.index.json";
  const tensor_file file(path);
  BOOST_TEST(file.tensors().size() == 3u, "what the index does not name is not there");
  weft::module<model> mapped{tensor_file(path)}, loaded;
  weft::load(loaded, path);
  for (auto* const net : {&mapped, &loaded}) BOOST_TEST((*net)()(1u) == 'a' * 'b' + 'c');
}

BOOST_AUTO_TEST_CASE(a_wrong_index_is_refused) {
  const folder f;
  const auto refused = [&](const std::string& index, const std::string& sentence) {
    const std::string told = f.refusal(index);
    weft::testing::says(told, "model.safetensors.index.json");
    weft::testing::says(told, sentence);
  };
  refused(map(R"("a": "three.safetensors")"), "three.safetensors: the file cannot be read");
  refused(map(R"("c": "one.safetensors")"), "tensor 'c' is not in 'one.safetensors'");
  refused(map(R"("a": "../one.safetensors")"), "no safetensors file beside the index");
  refused(map(R"("a": "/one.safetensors")"), "no safetensors file beside the index");
  refused(map(R"("a": "model.safetensors.index.json")"), "no safetensors file beside the index");
  refused(map(R"("a": 1)"), "the file of tensor 'a' is no text");
  refused(R"({"weights": {}})", "the index has no object 'weight_map'");
  refused("[]", "the index has no object 'weight_map'");
  refused("{", "the index is not JSON");
  refused("", "the index is not JSON");
}

BOOST_AUTO_TEST_SUITE_END()
