"use strict";
(async () => {
  if (!packed.possible) return; // the page says so
  const page = JSON.parse(await packed.read("page-data"));
  const draw = () => {
    for (const plot of document.querySelectorAll("[data-figure]")) {
      const name = plot.dataset.figure;
      plots.draw(plot, structuredClone(page.figures[name]), page.scales, name);
    }
  };
  plots.keepDrawn(draw);
})();
