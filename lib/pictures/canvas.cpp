#include "canvas.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "text.hpp"
#include "weft/run/error.hpp"

namespace weft {

namespace {

void check(cairo_status_t status) {
  if (status != CAIRO_STATUS_SUCCESS)
    detail::raise(std::string("picture: ") + cairo_status_to_string(status));
}

// The offset of a text of this extent from its position.
double shift(align a, double extent) {
  return a == align::before ? -extent : a == align::centred ? -extent / 2 : 0;
}

unsigned byte(double part) {
  return static_cast<unsigned>(std::lround(part));
}

cairo_status_t append(void* to, const unsigned char* bytes, unsigned size) {
  static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), size);
  return CAIRO_STATUS_SUCCESS;
}

}  // namespace

canvas::canvas()
    : drawing_(cairo_recording_surface_create(CAIRO_CONTENT_COLOR_ALPHA, nullptr)),
      on_(cairo_create(drawing_.get())) {
  cairo_select_font_face(on_.get(), "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                         CAIRO_FONT_WEIGHT_NORMAL);
  cairo_set_font_size(on_.get(), font_size);
  cairo_set_line_cap(on_.get(), CAIRO_LINE_CAP_ROUND);
  cairo_set_line_join(on_.get(), CAIRO_LINE_JOIN_ROUND);
  cairo_font_extents_t extents;
  cairo_font_extents(on_.get(), &extents);
  ascent_ = extents.ascent;
  descent_ = extents.descent;
}

double canvas::width(std::string_view text) const {
  cairo_text_extents_t extents;
  cairo_text_extents(on_.get(), printable(text).c_str(), &extents);
  return extents.x_advance;
}

void canvas::text(std::string_view text, place at, align right, align down) {
  colour(ink);
  cairo_move_to(on_.get(), at.x + shift(right, width(text)),
                at.y + shift(down, line_height()) + ascent_);
  cairo_show_text(on_.get(), printable(text).c_str());
}

void canvas::climbing_text(std::string_view text, place at, align up, align right) {
  cairo_save(on_.get());
  cairo_translate(on_.get(), at.x, at.y);
  cairo_rotate(on_.get(), -std::numbers::pi / 2);
  this->text(text, {0, 0}, up, right);
  cairo_restore(on_.get());
}

void canvas::line(const std::vector<place>& points, rgb c, double width,
                  const std::vector<double>& dashes) {
  colour(c);
  cairo_set_line_width(on_.get(), width);
  cairo_set_dash(on_.get(), dashes.data(), static_cast<int>(dashes.size()), 0);
  // The first segment has length 0, so that a line of one point is drawn as a dot.
  cairo_move_to(on_.get(), points.front().x, points.front().y);
  for (const place& p : points) cairo_line_to(on_.get(), p.x, p.y);
  cairo_stroke(on_.get());
}

void canvas::cells(place corner, double width, double height, std::size_t columns,
                   const std::vector<rgb>& colours) {
  const std::size_t rows = colours.size() / columns;
  // One pixel per cell, scaled up without interpolation.
  const surface image(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(columns),
                                                 static_cast<int>(rows)));
  check(cairo_surface_status(image.get()));
  unsigned char* const data = cairo_image_surface_get_data(image.get());
  const auto stride = static_cast<std::size_t>(cairo_image_surface_get_stride(image.get()));
  for (std::size_t i = 0; i < colours.size(); ++i) {
    const rgb& c = colours[i];
    auto* const row = reinterpret_cast<std::uint32_t*>(data + i / columns * stride);
    row[i % columns] = byte(c.red) << 16 | byte(c.green) << 8 | byte(c.blue);
  }
  cairo_surface_mark_dirty(image.get());
  cairo_save(on_.get());
  cairo_translate(on_.get(), corner.x, corner.y);
  cairo_scale(on_.get(), width, height);
  cairo_set_source_surface(on_.get(), image.get(), 0, 0);
  cairo_pattern_set_filter(cairo_get_source(on_.get()), CAIRO_FILTER_NEAREST);
  cairo_rectangle(on_.get(), 0, 0, static_cast<double>(columns), static_cast<double>(rows));
  cairo_fill(on_.get());
  cairo_restore(on_.get());
}

picture canvas::finish(double margin, std::size_t scale) const {
  check(cairo_status(on_.get()));
  double x = 0, y = 0, width = 0, height = 0;
  cairo_recording_surface_ink_extents(drawing_.get(), &x, &y, &width, &height);
  // Rounded to full units, so that integer coordinates fall on pixel boundaries.
  const double left = std::floor(x) - margin;
  const double top = std::floor(y) - margin;
  const double right = std::ceil(x + width) + margin;
  const double bottom = std::ceil(y + height) + margin;
  const auto pixels = [&](double units) {
    return static_cast<int>(std::min(units * static_cast<double>(scale), 1e6));
  };
  const surface image(
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, pixels(right - left), pixels(bottom - top)));
  const context to(cairo_create(image.get()));
  cairo_set_source_rgb(to.get(), 1, 1, 1);
  cairo_paint(to.get());
  cairo_scale(to.get(), static_cast<double>(scale), static_cast<double>(scale));
  cairo_set_source_surface(to.get(), drawing_.get(), -left, -top);
  cairo_paint(to.get());
  check(cairo_status(to.get()));

  picture result{.width = static_cast<std::size_t>(cairo_image_surface_get_width(image.get())),
                 .height = static_cast<std::size_t>(cairo_image_surface_get_height(image.get())),
                 .scale = scale};
  check(cairo_surface_write_to_png_stream(image.get(), append, &result.png));
  return result;
}

void canvas::colour(rgb c) {
  cairo_set_source_rgb(on_.get(), c.red / 255, c.green / 255, c.blue / 255);
}

}  // namespace weft
