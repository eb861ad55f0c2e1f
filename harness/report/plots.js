"use strict";
// What every page with figures shares: the colours of its theme, and the buttons of a figure.
const plots = (() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  const themed = (figure, scales) => {
    const css = getComputedStyle(document.documentElement);
    const color = (name) => css.getPropertyValue("--" + name).trim();
    const { data, layout } = figure;
    const narrow = window.innerWidth < 600;
    Object.assign(layout, {
      autosize: true,
      paper_bgcolor: color("card"),
      plot_bgcolor: color("card"),
      font: { family: getComputedStyle(document.body).fontFamily, size: narrow ? 11 : 12.5, color: color("muted") },
      hoverlabel: { bgcolor: color("page"), bordercolor: color("line"), font: { color: color("ink") }, align: "left" },
      modebar: { bgcolor: "transparent", color: color("muted"), activecolor: color("accent") },
    });
    layout.legend = { ...layout.legend, font: { color: color("ink") }, itemdoubleclick: false };
    for (const axis of ["xaxis", "yaxis"])
      Object.assign(layout[axis], { gridcolor: color("grid"), linecolor: color("line"), zerolinecolor: color("grid") });
    for (const trace of data)
      if (trace.meta?.scale) {
        trace.colorscale = scales[dark.matches ? "dark" : "light"][trace.meta.scale];
        if (narrow) trace.showscale = false;
      }
    return figure;
  };

  const config = (file) => ({
    responsive: true,
    displaylogo: false,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d", "zoomIn2d", "zoomOut2d"],
    toImageButtonOptions: { format: "png", filename: file, scale: 2 },
    modeBarButtonsToAdd: [{
      name: "Download plot as SVG",
      icon: Plotly.Icons.disk,
      click: (plot) => Plotly.downloadImage(plot, { format: "svg", filename: file }),
    }],
  });

  return { dark, themed, config };
})();
