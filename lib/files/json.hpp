// nlohmann's JSON with weft's errors.
#pragma once

#include <string>

#include "extents.hpp"
#include "weft/run/error.hpp"

#ifndef __cpp_exceptions
#define JSON_THROW_USER(e) ::weft::detail::raise((e).what())
#define JSON_TRY_USER if (true)
#define JSON_CATCH_USER(e) if (false)
#define JSON_INTERNAL_CATCH_USER(e) if (false)
#endif
#include <nlohmann/json.hpp>

namespace weft::detail {

// f(), whose errors of JSON are weft::error, after these words.
template <class F>
auto using_json(F f, [[maybe_unused]] const std::string& words) {
#ifdef __cpp_exceptions
  try {
    return f();
  } catch (const nlohmann::json::exception& e) {
    raise(words + shortened(e.what(), 300));
  }
#else
  return f();
#endif
}

}  // namespace weft::detail
