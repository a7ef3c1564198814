// A drawing surface of unbounded size, on Cairo; the picture is the bounding box of what was drawn.
// Lengths are in units.
#pragma once

#include <cairo.h>

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include "weft/pictures/picture.hpp"

namespace weft {

struct rgb {
  double red, green, blue;  // 0 to 255
};

inline constexpr rgb ink{34, 34, 34};
inline constexpr rgb pale{221, 221, 221};

// How a text is aligned to a position, along one direction.
enum class align { before, centred, after };

struct place {
  double x, y;
};

class canvas {
 public:
  canvas();

  static constexpr double font_size = 12;
  double width(std::string_view text) const;
  double line_height() const { return ascent_ + descent_; }
  // `right` and `down` align the text to its position horizontally and vertically. A climbing text
  // is the same turned by 90 degrees, and reads from bottom to top: `up` is along the text, `right`
  // across its lines.
  void text(std::string_view text, place at, align right, align down);
  void climbing_text(std::string_view text, place at, align up, align right);

  void line(const std::vector<place>& points, rgb colour, double width,
            const std::vector<double>& dashes = {});
  // A grid of adjacent rectangles of one size, in row-major order.
  void cells(place corner, double width, double height, std::size_t columns,
             const std::vector<rgb>& colours);

  // Renders what was drawn with a white margin. Throws weft::error where it is too large.
  picture finish(double margin, std::size_t scale) const;

 private:
  struct release {
    void operator()(cairo_surface_t* s) const { cairo_surface_destroy(s); }
    void operator()(cairo_t* c) const { cairo_destroy(c); }
  };
  using surface = std::unique_ptr<cairo_surface_t, release>;
  using context = std::unique_ptr<cairo_t, release>;

  void colour(rgb c);

  surface drawing_;
  context on_;
  double ascent_ = 0, descent_ = 0;
};

}  // namespace weft
