"use strict";
(() => {
  const page = JSON.parse(document.getElementById("page-data").textContent);
  const draw = () => {
    for (const plot of document.querySelectorAll("[data-figure]")) {
      const name = plot.dataset.figure;
      plots.draw(plot, structuredClone(page.figures[name]), page.scales, name);
    }
  };
  plots.onThemeOrPaper(draw);
  draw();
})();
