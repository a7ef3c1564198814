"""The chart of ratios: weft's speed relative to its best peer's."""


def draw(rows, path, title):
    """Draws the rows with a ratio as bars into an SVG file."""
    try:
        import matplotlib
        matplotlib.use("svg")
        from matplotlib import pyplot
    except ImportError:
        print("bench: no chart; matplotlib is not there (python3-matplotlib)")
        return
    shown = [row for row in rows if row["ratio"]][::-1]
    if not shown:
        return
    figure, axes = pyplot.subplots(figsize=(9, 1 + 0.26 * len(shown)), layout="constrained")
    ratios = [float(row["ratio"]) for row in shown]
    colours = ["#2a7f62" if ratio >= 1 else "#b5523b" for ratio in ratios]
    names = [row["case"] for row in shown]
    axes.barh(names, [ratio - 1 for ratio in ratios], left=1, color=colours)
    for name, row, ratio in zip(names, shown, ratios):
        axes.annotate(f"{row['ratio']}  {row['its-name']}", (max(ratio, 1), name), (4, 0),
                      textcoords="offset points", va="center", fontsize=8)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_xlim(min(0.5, *ratios) * 0.9, max(2, *ratios) * 2)
    axes.set_xticks([0.25, 0.5, 1, 2, 4, 8], ["1/4", "1/2", "1", "2", "4", "8"])
    axes.minorticks_off()
    axes.set_xlabel("times as fast as the best peer")
    axes.set_title(title, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.margins(y=0.01)
    figure.savefig(path)
