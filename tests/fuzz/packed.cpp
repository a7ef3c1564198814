// Fuzzes files of packed weights, in each precision: a file with some bytes changed makes a module
// that runs, or is a weft::error. The first byte of the input chooses the precision, each three
// others are a place in the file and what its byte changes by.
#include <unistd.h>

#include <array>
#include <fstream>
#include <iterator>

#include "fuzz/input.hpp"
#include "weft/files/load.hpp"
#include "weft/weft.hpp"

namespace {

struct Words : weft::axis<5> {};
struct Width : weft::axis<64> {};
struct Out : weft::axis<3> {};
struct One : weft::axis<1> {};

struct model {
  constexpr auto operator()(weft::scope s) const {
    const auto table = weft::nn::tied_embedding<Words, Width>(s / "words");
    const auto word = s.input<"word", std::int32_t, One>();
    const auto x = table.embed(word) * s.param<"gain", Width>();
    return weft::results(
        weft::as<"logits">(table.logits(x)),
        weft::as<"row">(weft::gather<Words>(s.param<"rows", Words, Width>(), word)),
        weft::as<"y">(weft::dot<Width>(x, s.param<"w", Out, Width>())));
  }
};
using net = weft::module<model>;

constexpr int precisions = static_cast<int>(weft::detail::precision_names.size());
using content = std::vector<std::byte>;

// A file for each precision; what is to stay as it is stored, is Q8_0 and Q4_0.
std::array<content, precisions> valid_files() {
  std::string source =
      R"( {"gain":{"dtype":"F32","shape":[64],"data_offsets":[0,256]},)"
      R"("rows":{"dtype":"F16","shape":[5,64],"data_offsets":[632,1272]},)"
      R"("w":{"dtype":"I8","shape":[3,64],"data_offsets":[256,448]},)"
      R"("w_scale":{"dtype":"F32","shape":[1],"data_offsets":[448,452]},)"
      R"("words.weight_packed":{"dtype":"I32","shape":[5,8],"data_offsets":[452,612]},)"
      R"("words.weight_scale":{"dtype":"F32","shape":[],"data_offsets":[612,616]},)"
      R"("words.weight_shape":{"dtype":"I64","shape":[2],"data_offsets":[616,632]}})";
  source += std::string("\0", 1);
  const std::size_t begin = source.size();
  source.resize(begin + 1272, 'a');
  const auto put = [&](std::size_t at, auto... values) {
    const std::array all{values...};
    const std::string_view bytes(reinterpret_cast<const char*>(all.data()), sizeof all);
    source.replace(begin + at, bytes.size(), bytes);
  };
  put(448, 0.5f);
  put(612, 0.25f);
  put(616, std::int64_t{5}, std::int64_t{64});
  const auto bytes =
      fuzz::tensor_file({reinterpret_cast<const std::uint8_t*>(source.data()), source.size()});
  const weft::tensor_file from(bytes, "source");
  const auto path =
      std::filesystem::temp_directory_path() / ("weft_fuzz_packed_" + std::to_string(::getpid()));
  std::array<content, precisions> all;
  for (int p = 0; p < precisions; ++p) {
    weft::save(net(from, static_cast<weft::precision>(p)).packed(), path);
    std::ifstream in(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(in), {});
    for (const char c : text) all[static_cast<std::size_t>(p)].push_back(std::byte(c));
  }
  std::filesystem::remove(path);
  return all;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto valid = valid_files();
  if (size == 0) return 0;
  const int p = data[0] % precisions;
  content file = valid[static_cast<std::size_t>(p)];
  for (std::size_t i = 1; i + 2 < size; i += 3)
    file[(data[i] * 256u + data[i + 1]) % file.size()] ^= std::byte{data[i + 2]};
  try {
    net n(weft::tensor_file(std::move(file), "memory"), static_cast<weft::precision>(p));
    const std::vector<std::int32_t> word{4};
    n(weft::arg<"word">(word));
  } catch (const weft::error& e) {
    const std::string_view told = e.what();
    fuzz::expect(told.starts_with("memory: ") && told.size() < 1000);
  }
  return 0;
}
