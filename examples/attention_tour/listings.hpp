// The models' source code, for the page.
#pragma once

#include <string_view>

namespace attention_tour::listings {

extern const std::string_view additive;
extern const std::string_view batch_product;
extern const std::string_view bilinear;
extern const std::string_view dot_product;
extern const std::string_view gaussian;
extern const std::string_view masked_softmax;
extern const std::string_view multi_head;
extern const std::string_view regression;
extern const std::string_view toy;

}  // namespace attention_tour::listings
