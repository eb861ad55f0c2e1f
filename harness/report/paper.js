"use strict";
(() => {
  const page = JSON.parse(document.getElementById("page-data").textContent);
  const draw = () => {
    for (const plot of document.querySelectorAll("[data-figure]")) {
      const name = plot.dataset.figure;
      const { data, layout } = plots.themed(structuredClone(page.figures[name]), page.scales);
      Plotly.react(plot, data, layout, plots.config(name));
    }
  };
  plots.dark.addEventListener("change", draw);
  draw();
})();
