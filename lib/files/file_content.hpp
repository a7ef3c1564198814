// What is known of a file of tensors once it is opened, and the readers of each format.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "byte_source.hpp"
#include "weft/files/tensor_file.hpp"

namespace weft::detail {

struct file_content {
  std::string name;
  std::vector<stored_tensor> tensors;  // sorted by name
  std::map<std::string, std::string, std::less<>> metadata;
};

// Each throws weft::error, which names the file, where it is not valid.
file_content read_safetensors(std::shared_ptr<const byte_source> source);
file_content read_gguf(std::shared_ptr<const byte_source> source);
// The tensors of the files that an index names, which is JSON.
file_content read_index(const byte_source& index, const std::filesystem::path& folder);

bool is_gguf(const byte_source& source);

// Throws weft::error where a scale of some of a tensor's blocks, those from element `first` on, is
// NaN or infinite.
void check_scales(const stored_tensor& t, std::size_t first, std::span<const std::byte> blocks);

// Makes one tensor of each weight whose scales are a tensor of their own, under its name. It has
// the products of numbers and scales exactly: as Q4_0 or Q8_0 where these can, else as float64.
// Throws weft::error where they do not fit each other.
void join_scaled_weights(file_content& content);

// The tensor with this name; null where there is none.
const stored_tensor* find_tensor(const std::vector<stored_tensor>& sorted, std::string_view name);

// Sorts the tensors by name. Throws weft::error where two have the same.
void sort_by_name(file_content& content);

bool has_packed_weights(const tensor_file& file);

// Reads the weights that such a file has for this program. Throws weft::error where the file is not
// as weft::save writes it, or they are packed for another model.
std::unique_ptr<parameter_reader> read_packed(const tensor_file& file, const program& tables);

}  // namespace weft::detail
