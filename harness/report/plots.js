"use strict";
// What every page with figures shares: their theme, their downloads, paper, and wide tables.
const plots = (() => {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const PRINTED = { width: 318, wide: 674, height: 215, matrix: 400 }; // in pixels of A4

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
    layout.legend = { ...layout.legend, font: { color: color("ink") }, itemdoubleclick: false, tracegroupgap: 0 };
    for (const axis of ["xaxis", "yaxis"])
      Object.assign(layout[axis], { gridcolor: color("grid"), linecolor: color("line"), zerolinecolor: color("grid") });
    for (const trace of data)
      if (trace.meta?.ink) {
        trace.line.color = color("ink");
        trace.marker.color = trace.marker.line.color = color("ink");
      } else if (trace.meta?.scale) {
        trace.colorscale = scales[dark.matches && !printing ? "dark" : "light"][trace.meta.scale];
        trace.textfont = { color: color("ink") }; // every colour of the scales is far from it
        if (narrow) trace.showscale = false;
      }
    return figure;
  };

  // Plotly's own bar of buttons has one that uploads the figure; the page has two of its own.
  const config = { responsive: true, displayModeBar: false, showSendToCloud: false };

  const image = (plot, format) =>
    Plotly.downloadImage(plot, { format, filename: plot.dataset.file, scale: format === "png" ? 2 : 1 });

  const addButtons = (plot) => {
    const caption = plot.closest("figure").querySelector("figcaption");
    const title = caption.querySelector("h2, h3").textContent;
    const buttons = document.createElement("p");
    buttons.className = "downloads";
    const add = (text, what, save) => {
      const button = document.createElement("button");
      Object.assign(button, { type: "button", className: "quiet", textContent: text, title: what });
      button.setAttribute("aria-label", `${text}: ${title}`);
      button.addEventListener("click", save);
      buttons.append(button);
    };
    for (const format of ["svg", "png"])
      add(format.toUpperCase(), "Save the figure as it is shown. Drag to zoom, double-click to reset.", () => image(plot, format));
    if (plot.numbers) add("CSV", "Save the numbers behind the figure.", () => packed.save(plot.numbers, plot.dataset.file));
    caption.append(buttons);
  };

  // Pixels that the lines of a printed legend take beyond the first.
  const legendHeight = (data, width) => {
    const names = data.filter((trace) => trace.name && trace.showlegend !== false).map((trace) => trace.name);
    const length = names.reduce((sum, name) => sum + 5 * name.length + 50, 0);
    return 15 * Math.floor(length / (width - 80));
  };

  // Draw a figure in its element; `file` names its downloads. True at the first time.
  const draw = (plot, figure, scales, file) => {
    if (!window.Plotly) return false; // still being unpacked: the page draws again when it is there
    const first = plot.data === undefined;
    plot.dataset.file = file;
    plot.numbers = figure.numbers;
    const { data, layout } = themed(figure, scales);
    plot.style.minWidth = layout.meta?.width && !root.classList.contains("printing") ? `${layout.meta.width}px` : "";
    if (root.classList.contains("printing")) {
      const matrix = plot.id === "plot-proxies";
      const wide = matrix || plot.closest(".wide") !== null;
      const width = wide ? PRINTED.wide : PRINTED.width;
      const height = matrix
        ? Math.min(PRINTED.matrix, 80 + 25 * data[0].y.length)
        : PRINTED.height + legendHeight(data, width);
      Object.assign(layout, { autosize: false, width, height });
    }
    Plotly.react(plot, data, layout, config);
    if (first) addButtons(plot);
    return first;
  };

  // Draw when Plotly is there; again in the colours of the screen, or in light ones and as large as
  // the paper has room.
  const keepDrawn = (redraw) => {
    const main = document.querySelector("main");
    main.setAttribute("aria-busy", "true");
    packed.run("plotly").then(() => {
      redraw();
      main.removeAttribute("aria-busy");
    });
    dark.addEventListener("change", redraw);
    for (const [event, printing] of [["beforeprint", true], ["afterprint", false]])
      window.addEventListener(event, () => {
        root.classList.toggle("printing", printing);
        redraw();
      });
  };

  const watchWidths = () => {
    const observer = new ResizeObserver((entries) => {
      for (const { target } of entries) {
        const overflows = target.scrollWidth > target.clientWidth + 1;
        target.classList.toggle("overflows", overflows);
        if (overflows) target.tabIndex = 0; // the keyboard scrolls what has the focus
        else target.removeAttribute("tabindex");
      }
    });
    for (const scroll of document.querySelectorAll(".scroll")) observer.observe(scroll);
  };
  watchWidths();

  return { draw, keepDrawn };
})();
