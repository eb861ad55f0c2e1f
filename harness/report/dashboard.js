"use strict";
(() => {
  const page = JSON.parse(document.getElementById("page-data").textContent);
  const filters = document.getElementById("filters");
  const placeSelect = document.getElementById("place");
  const budgetInputs = [...filters.querySelectorAll("[name=budget]")];
  const samplerInputs = [...filters.querySelectorAll("[name=sampler]")];
  const budgetsOf = (place) =>
    Object.values(page.views).filter((view) => view.place === place).map((view) => view.budget);
  const state = { place: placeSelect.options[0].value, budget: 0, samplers: new Set() };

  // --- state <-> address: a link reproduces the view -------------------------------------------

  const readHash = () => {
    const hash = new URLSearchParams(location.hash.slice(1));
    const places = [...placeSelect.options].map((option) => option.value);
    state.place = places.includes(hash.get("dataset")) ? hash.get("dataset") : places[0];
    state.budget = nearestBudget(Number(hash.get("budget")) || Infinity);
    const named = hash.getAll("sampler").filter((label) => page.samplers.includes(label));
    state.samplers = new Set(named.length || hash.has("none") ? named : page.samplers);
  };

  const writeHash = () => {
    const hash = new URLSearchParams({ dataset: state.place, budget: state.budget });
    if (state.samplers.size === 0) hash.set("none", "");
    else if (state.samplers.size < page.samplers.length)
      state.samplers.forEach((label) => hash.append("sampler", label));
    history.replaceState(null, "", "#" + hash);
  };

  const nearestBudget = (budget) => {
    const budgets = budgetsOf(state.place).sort((a, b) => a - b);
    return budgets.findLast((candidate) => candidate <= budget) ?? budgets[0];
  };

  // --- figures ---------------------------------------------------------------------------------

  const keep = (trace) => {
    const { sampler, samplers } = trace.meta ?? {};
    if (sampler !== undefined) return state.samplers.has(sampler) ? trace : null;
    if (samplers === undefined) return trace;
    const kept = samplers.flatMap((label, index) => (state.samplers.has(label) ? [index] : []));
    const pick = (list) => kept.map((index) => list[index]);
    for (const axis of ["x", "y"]) trace[axis] = pick(trace[axis]);
    for (const matrix of ["z", "text", "hovertext"])
      trace[matrix] = pick(trace[matrix]).map(pick);
    return kept.length ? trace : null;
  };

  const draw = (name, source) => {
    const card = document.getElementById("card-" + name);
    const plot = document.getElementById("plot-" + name);
    const figure = source && structuredClone(source);
    if (figure) figure.data = figure.data.map(keep).filter(Boolean);
    card.hidden = !figure || figure.data.length === 0;
    if (card.hidden) return;
    const file = `${name}-${state.place.replaceAll("/", "-")}-${state.budget}`;
    const first = plot.data === undefined;
    Plotly.react(plot, plots.themed(figure, page.scales).data, figure.layout, plots.config(file));
    if (first)
      plot.on("plotly_legendclick", ({ curveNumber, data }) => {
        toggle(data[curveNumber].meta.sampler);
        return false; // the page filters, in every figure at once
      });
  };

  // --- everything that a filter changes --------------------------------------------------------

  const sayHeadline = ({ order, lead, follow, verdicts }) => {
    const [best, ...rest] = order.filter((label) => state.samplers.has(label));
    const others = rest.slice(0, page.named - 1).map((label) => follow[label]).join(", ");
    const title = best === undefined ? "No sampler is chosen" : [lead[best], others].filter(Boolean).join("; ");
    document.getElementById("headline").textContent = document.title = title + ".";
    document.getElementById("verdict").textContent = verdicts[best]?.[rest[0]] ?? "";
  };

  const sayNote = ({ notes, planned }) => {
    const labels = planned.filter((label) => state.samplers.has(label));
    const plans = labels.length
      ? [`The curves of ${labels.join(" and ")} are of studies planned for ${state.budget} evaluations; `
        + "any other sampler is one study, read off at every budget."]
      : [];
    document.getElementById("note").textContent = [...notes, ...plans].join(" ");
  };

  const showControls = () => {
    placeSelect.value = state.place;
    const budgets = budgetsOf(state.place);
    for (const input of budgetInputs) {
      input.disabled = !budgets.includes(Number(input.value));
      input.checked = Number(input.value) === state.budget;
    }
    for (const input of samplerInputs) input.checked = state.samplers.has(input.value);
  };

  const render = () => {
    const key = `${state.place}@${state.budget}`;
    const view = page.views[key];
    showControls();
    sayHeadline(view.headline);
    document.getElementById("where").textContent = view.where;
    sayNote(view);
    for (const table of document.querySelectorAll("[data-view]")) table.hidden = table.dataset.view !== key;
    for (const row of document.querySelectorAll("[data-sampler]")) row.hidden = !state.samplers.has(row.dataset.sampler);
    const empty = !view.headline.order.some((label) => state.samplers.has(label));
    document.getElementById("nothing").hidden = !empty;
    for (const [name, figure] of Object.entries(view.figures)) draw(name, figure);
    draw("proxies", page.proxies[state.place]);
  };

  const change = () => { writeHash(); render(); };

  const toggle = (label) => {
    if (!state.samplers.delete(label)) state.samplers.add(label);
    change();
  };

  // --- what a person does ----------------------------------------------------------------------

  // Rows in the order of a column, those without a value last in either direction.
  const compared = (column, sign) => (first, second) => {
    const [a, b] = [first, second].map((row) => row.children[column].dataset.value);
    if (column === 0) return sign * a.localeCompare(b);
    if (a === "nan" || b === "nan") return (a === "nan") - (b === "nan");
    const [x, y] = [a, b].map((text) => Number(text.replace("inf", "Infinity")));
    return sign * ((x > y) - (x < y));
  };

  const sortBy = (header) => {
    const column = header.cellIndex;
    const first = column === 0 ? "ascending" : "descending"; // names from a, numbers from the top
    const second = column === 0 ? "descending" : "ascending";
    const direction = header.getAttribute("aria-sort") === first ? second : first;
    for (const table of document.querySelectorAll("[data-view] table")) {
      for (const other of table.querySelectorAll("thead th"))
        other.setAttribute("aria-sort", other.cellIndex === column ? direction : "none");
      const rows = [...table.tBodies[0].rows];
      table.tBodies[0].append(...rows.sort(compared(column, direction === "ascending" ? 1 : -1)));
    }
  };

  placeSelect.addEventListener("change", () => {
    state.place = placeSelect.value;
    state.budget = nearestBudget(state.budget);
    change();
  });
  for (const input of budgetInputs)
    input.addEventListener("change", () => { state.budget = Number(input.value); change(); });
  for (const input of samplerInputs) input.addEventListener("change", () => toggle(input.value));
  document.getElementById("all-samplers").addEventListener("click", () => {
    state.samplers = new Set(page.samplers);
    change();
  });
  for (const button of document.querySelectorAll("thead button"))
    button.addEventListener("click", () => sortBy(button.parentElement));
  filters.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", () => { readHash(); render(); });
  plots.dark.addEventListener("change", render);

  readHash();
  render();
})();
