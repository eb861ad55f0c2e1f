"use strict";
(async () => {
  if (!packed.possible) return; // the page says so
  const page = JSON.parse(await packed.read("page-data"));
  const filters = document.getElementById("filters");
  const problemSelect = document.getElementById("problem");
  const budgetInputs = [...filters.querySelectorAll("[name=budget]")];
  const axisInputs = [...filters.querySelectorAll("[name=axis]")];
  const samplerInputs = [...filters.querySelectorAll("[name=sampler]")];
  const views = Object.values(page.views);
  const suites = [...new Set(page.suites.map((view) => view.group))];
  const state = { problem: problemSelect.options[0].value, budget: 0, axis: "steps", samplers: new Set() };

  // Largest budget of a group of views up to the one that is chosen, else its smallest.
  const nearest = (candidates, group, budget) => {
    const budgets = candidates.filter((view) => view.group === group).map((view) => view.budget).sort((a, b) => a - b);
    return budgets.findLast((candidate) => candidate <= budget) ?? budgets[0];
  };
  const viewShown = () => `${state.problem}@${nearest(views, state.problem, state.budget)}`;
  const suitesShown = () =>
    suites.map((group) => {
      const budget = nearest(page.suites, group, state.budget);
      return page.suites.find((view) => view.group === group && view.budget === budget);
    });

  // --- state <-> address: a link reproduces the view -------------------------------------------

  const readHash = () => {
    const hash = new URLSearchParams(location.hash.slice(1));
    const problems = [...problemSelect.options].map((option) => option.value);
    state.problem = problems.includes(hash.get("problem")) ? hash.get("problem") : problems[0];
    const all = budgetInputs.map((input) => Number(input.value));
    const wanted = Number(hash.get("budget")) || Infinity;
    state.budget = all.findLast((budget) => budget <= wanted) ?? all[0];
    const axes = axisInputs.map((input) => input.value);
    state.axis = axes.includes(hash.get("axis")) ? hash.get("axis") : "steps";
    const named = hash.getAll("sampler").filter((label) => page.samplers.includes(label));
    state.samplers = new Set(named.length || hash.has("none") ? named : page.samplers);
  };

  const writeHash = () => {
    const hash = new URLSearchParams({ problem: state.problem, budget: state.budget });
    if (state.axis !== "steps") hash.set("axis", state.axis);
    if (state.samplers.size === 0) hash.set("none", "");
    else if (state.samplers.size < page.samplers.length)
      state.samplers.forEach((label) => hash.append("sampler", label));
    history.replaceState(null, "", "#" + hash);
  };

  // --- figures ---------------------------------------------------------------------------------

  const chosenPart = (trace) => {
    const { sampler, samplers, least = 1 } = trace.meta ?? {};
    if (sampler !== undefined) return state.samplers.has(sampler) ? trace : null;
    if (samplers === undefined) return trace;
    const chosen = samplers.flatMap((label, index) => (state.samplers.has(label) ? [index] : []));
    const pick = (list) => chosen.map((index) => list[index]);
    for (const axis of ["x", "y"]) trace[axis] = pick(trace[axis]);
    for (const matrix of ["z", "text", "hovertext"])
      if (trace[matrix]) trace[matrix] = pick(trace[matrix]).map(pick);
    return chosen.length >= least ? trace : null;
  };

  // A figure over the axis that is chosen; over evaluations where that is not known.
  const over = (figures, name) => figures[`${name}@${state.axis}`] ?? figures[`${name}@steps`] ?? figures[name];

  // Draw the figures of the cards of a part of the page, those that have a chosen sampler.
  const drawCards = (part, figures, where) => {
    const drawn = [];
    for (const card of part.querySelectorAll(":scope > .card")) {
      const name = card.dataset.figure;
      const figure = over(figures, name) && structuredClone(over(figures, name));
      if (figure) figure.data = figure.data.map(chosenPart).filter(Boolean);
      card.hidden = !figure?.data.some((trace) => !trace.meta?.ink);
      if (!card.hidden) drawn.push({ card, name, figure });
    }
    const pairs = drawn.filter(({ name }) => name !== "proxies");
    pairs.forEach(({ card }, index) => card.classList.toggle("wide", index === pairs.length - 1 && index % 2 === 0));
    for (const { card, figure } of drawn) {
      const plot = card.querySelector(".plot");
      if (plots.draw(plot, figure, page.scales, `${figure.file}-${where.file}`))
        plot.on("plotly_legendclick", ({ curveNumber, data }) => {
          toggle(data[curveNumber].meta.sampler);
          return false; // the page filters, in every figure at once
        });
    }
  };

  const drawAll = (view, nobody) => {
    const proxies = nobody ? undefined : page.proxies[state.problem];
    drawCards(document.getElementById("figures"), { ...view.figures, proxies }, view);
    for (const suite of suitesShown())
      for (const part of document.querySelectorAll("[data-suite]:not([hidden])"))
        if (part.dataset.suite === suite.group) drawCards(part.querySelector(".grid"), suite.figures, suite);
  };

  // --- everything that a filter changes --------------------------------------------------------

  const put = (id, text) => { document.getElementById(id).textContent = text; };
  const joined = (parts, separator) => parts.filter(Boolean).join(separator);

  const sayFindings = (view) => {
    const { order, lead, follow, verdicts } = view.findings;
    const [best, ...rest] = order.filter((label) => state.samplers.has(label));
    const others = rest.slice(0, page.named - 1).map((label) => follow[label]).join(", ");
    const one = (best === undefined ? "No sampler is chosen" : joined([lead[best], others], "; ")) + ".";
    const verdict = verdicts[best]?.[rest[0]] ?? "";
    const shown = suitesShown();
    const short = shown.map((suite) => suite.findings.clause).join("; ") + ".";
    const title = [one, shown[0]?.findings.headline, short[0].toUpperCase() + short.slice(1)][Math.min(shown.length, 2)];
    put("headline", title);
    document.title = title;
    put("where", shown.length ? shown.map((suite) => suite.where).join("; ") : view.where);
    put("verdict", shown.length ? shown.map((suite) => joined([shown.length > 1 && suite.findings.subject, suite.findings.verdict], ": ")).join(" ") : verdict);
    put("problem-headline", shown.length ? one : "");
    put("problem-verdict", shown.length ? verdict : "");
  };

  const sayNote = ({ notes, planned, budget }) => {
    const labels = planned.filter((label) => state.samplers.has(label));
    const plans = labels.length
      ? [`The curves of ${labels.join(" and ")} are of studies planned for ${budget} evaluations; `
        + "any other sampler is one study, cut at every budget."]
      : [];
    put("note", [...notes, ...plans].join(" "));
  };

  const showControls = () => {
    problemSelect.value = state.problem;
    for (const input of budgetInputs) input.checked = Number(input.value) === state.budget;
    const known = [page.views[viewShown()], ...suitesShown()].flatMap(({ figures }) => Object.keys(figures));
    for (const input of axisInputs) {
      input.checked = input.value === state.axis;
      input.disabled = !known.some((key) => key.endsWith("@" + input.value));
    }
    for (const input of samplerInputs) input.checked = state.samplers.has(input.value);
  };

  const isChosen = ({ sampler, against }) =>
    state.samplers.has(sampler) && (against === undefined || state.samplers.has(against));

  const render = () => {
    const key = viewShown();
    const view = page.views[key];
    showControls();
    sayFindings(view);
    sayNote(view);
    const suite = new Map(suitesShown().map(({ group, budget }) => [group, budget]));
    for (const part of document.querySelectorAll("[data-suite]"))
      part.hidden = suite.get(part.dataset.suite) !== Number(part.dataset.budget);
    for (const table of document.querySelectorAll("[data-view]")) table.hidden = table.dataset.view !== key;
    for (const part of document.querySelectorAll("[data-sampler]")) part.hidden = !isChosen(part.dataset);
    const nobody = !view.findings.order.some((label) => state.samplers.has(label));
    document.getElementById("nothing").hidden = !nobody;
    drawAll(view, nobody);
  };

  const change = () => { writeHash(); render(); };

  const toggle = (label) => {
    if (!state.samplers.delete(label)) state.samplers.add(label);
    change();
  };

  // --- what a person does ----------------------------------------------------------------------

  // Rows in the order of a column, those without a value last in either direction.
  const compared = (column, isText, sign) => (first, second) => {
    const [a, b] = [first, second].map((row) => row.children[column].dataset.value);
    if (isText) return sign * a.localeCompare(b);
    if (a === "nan" || b === "nan") return (a === "nan") - (b === "nan");
    const [x, y] = [a, b].map((text) => Number(text.replace("inf", "Infinity")));
    return sign * ((x > y) - (x < y));
  };

  const sortBy = (header) => {
    const column = header.cellIndex;
    const isText = header.classList.contains("text");
    const first = isText ? "ascending" : "descending"; // names from a, numbers from the top
    const second = isText ? "descending" : "ascending";
    const direction = header.getAttribute("aria-sort") === first ? second : first;
    const table = header.closest("table");
    const alike = table.closest("[data-view]") ? document.querySelectorAll("[data-view] table") : [table];
    for (const other of alike) {
      if (other.tHead.rows[0].cells[column]?.textContent !== header.textContent) continue;
      for (const cell of other.tHead.rows[0].cells)
        cell.setAttribute("aria-sort", cell.cellIndex === column ? direction : "none");
      const rows = [...other.tBodies[0].rows];
      other.tBodies[0].append(...rows.sort(compared(column, isText, direction === "ascending" ? 1 : -1)));
    }
  };

  problemSelect.addEventListener("change", () => { state.problem = problemSelect.value; change(); });
  for (const input of budgetInputs)
    input.addEventListener("change", () => { state.budget = Number(input.value); change(); });
  for (const input of axisInputs)
    input.addEventListener("change", () => { state.axis = input.value; change(); });
  for (const input of samplerInputs) input.addEventListener("change", () => toggle(input.value));
  document.getElementById("all-samplers").addEventListener("click", () => {
    state.samplers = new Set(page.samplers);
    change();
  });
  for (const button of document.querySelectorAll("thead button"))
    button.addEventListener("click", () => sortBy(button.parentElement));
  filters.addEventListener("submit", (event) => event.preventDefault());
  window.addEventListener("hashchange", () => { readHash(); render(); });
  for (const button of document.querySelectorAll("[data-file]"))
    button.addEventListener("click", () => packed.save(page.files[button.dataset.file], button.dataset.file));

  readHash();
  render();
  plots.keepDrawn(render);
})();
