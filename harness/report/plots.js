"use strict";
// What every page with figures shares: their theme, their downloads, paper, and wide tables.
const plots = (() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const PRINTED = { width: 318, wide: 674, height: 240, matrix: 420 }; // in pixels of A4

  const themed = (figure, scales) => {
    const css = getComputedStyle(root);
    const color = (name) => css.getPropertyValue("--" + name).trim();
    const { data, layout } = figure;
    const printing = root.classList.contains("printing");
    const narrow = printing || window.innerWidth < 600;
    Object.assign(layout, {
      autosize: true,
      paper_bgcolor: color("card"),
      plot_bgcolor: color("card"),
      font: { family: getComputedStyle(document.body).fontFamily, size: printing ? 9 : narrow ? 11 : 12.5, color: color("muted") },
      hoverlabel: { bgcolor: color("page"), bordercolor: color("line"), font: { color: color("ink") }, align: "left" },
      dragmode: window.matchMedia("(pointer: coarse)").matches ? false : "zoom", // a finger scrolls
    });
    layout.legend = { ...layout.legend, font: { color: color("ink") }, itemdoubleclick: false };
    for (const axis of ["xaxis", "yaxis"])
      Object.assign(layout[axis], { gridcolor: color("grid"), linecolor: color("line"), zerolinecolor: color("grid") });
    for (const trace of data)
      if (trace.meta?.scale) {
        trace.colorscale = scales[dark.matches && !printing ? "dark" : "light"][trace.meta.scale];
        trace.textfont = { color: color("ink") }; // every colour of the scales is far from it
        if (narrow) trace.showscale = false;
      }
    return figure;
  };

  // Plotly's own bar of buttons has one that uploads the figure; the page has two of its own.
  const config = { responsive: true, displayModeBar: false, showSendToCloud: false };

  const download = (plot, format) =>
    Plotly.downloadImage(plot, { format, filename: plot.dataset.file, scale: format === "png" ? 2 : 1 });

  const addButtons = (plot) => {
    const buttons = document.createElement("p");
    buttons.className = "downloads";
    for (const format of ["png", "svg"]) {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "quiet", textContent: format.toUpperCase() });
      button.title = `Save the figure as ${format.toUpperCase()}. Drag to zoom, double-click to reset.`;
      button.addEventListener("click", () => download(plot, format));
      buttons.append(button);
    }
    plot.closest("figure").querySelector("figcaption").append(buttons);
  };

  // Draw a figure in its element; `file` names its downloads. True at the first time.
  const draw = (plot, figure, scales, file) => {
    const first = plot.data === undefined;
    plot.dataset.file = file;
    const { data, layout } = themed(figure, scales);
    if (root.classList.contains("printing")) {
      const matrix = plot.id === "plot-proxies";
      const wide = matrix || plot.closest(".wide") !== null;
      Object.assign(layout, {
        autosize: false,
        width: wide ? PRINTED.wide : PRINTED.width,
        height: matrix ? PRINTED.matrix : PRINTED.height,
      });
    }
    Plotly.react(plot, data, layout, config);
    if (first) addButtons(plot);
    return first;
  };

  // Redraw in the colours of the screen, or in light ones and as large as the paper has room.
  const onThemeOrPaper = (redraw) => {
    dark.addEventListener("change", redraw);
    for (const [event, printing] of [["beforeprint", true], ["afterprint", false]])
      window.addEventListener(event, () => {
        root.classList.toggle("printing", printing);
        redraw();
      });
  };

  const watchWidths = () => {
    const observer = new ResizeObserver((entries) => {
      for (const { target } of entries) target.classList.toggle("overflows", target.scrollWidth > target.clientWidth + 1);
    });
    for (const scroll of document.querySelectorAll(".scroll")) observer.observe(scroll);
  };
  watchWidths();

  return { draw, onThemeOrPaper };
})();
