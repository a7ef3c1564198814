// What pictures are drawn on, by Cairo. Lengths are in units; the canvas has no edges, and the
// picture is what was drawn.
#pragma once

#include <cairo.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/io/picture.hpp"

namespace weft {

struct rgb {
  double red, green, blue;  // 0 to 255
};

inline constexpr rgb ink{34, 34, 34};
inline constexpr rgb pale{221, 221, 221};

// Where a text is, of the place that is given for it.
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
  // `right` and `down` say where the text is, of its place. One that climbs goes from the bottom
  // to the top, and is otherwise the same, turned: "right" is up, and "down" is right.
  void text(std::string_view text, place at, align right, align down);
  void climbing_text(std::string_view text, place at, align up, align right);

  void line(const std::vector<place>& points, rgb colour, double width,
            const std::vector<double>& dashes = {});
  // Rectangles of one size side by side, row after row.
  void cells(place corner, double width, double height, std::size_t columns,
             const std::vector<rgb>& colours);

  // What was drawn, with so much white around it. Throws weft::error where it is too large.
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
