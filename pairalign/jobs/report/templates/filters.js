"use strict";
// Which pairs are shown: names that are searched for, and thresholds. One form for all tabs that show pairs.
(function () {
  const { columns, nodes, pairs, hasEvalues } = report;
  const form = document.getElementById("filters");
  const state = {};
  const texts = nodes.map((node) => `${node.name} ${node.description}`.toLowerCase());
  let kept = null;
  const listeners = [];

  const fields = [
    { id: "search", title: "Search", type: "search", parse: (text) => text.trim().toLowerCase() || null,
      passes: (k, wanted) => texts[columns.query[k]].includes(wanted) || texts[columns.target[k]].includes(wanted) },
    { id: "least-identity", title: "Identity from, %", parse: Number, passes: (k, least) => 100 * columns.identity[k] >= least },
    { id: "least-coverage", title: "Coverage from, %", parse: Number, passes: (k, least) => 100 * columns.coverage[k] >= least },
    { id: "least-score", title: "Score from", parse: Number, passes: (k, least) => columns.score[k] >= least },
  ];
  if (hasEvalues) {
    fields.push({ id: "most-evalue", title: "E-value to", parse: (text) => Math.log10(Number(text)),
      passes: (k, most) => columns.logEvalue[k] <= most + 1e-9 });
  }

  fields.forEach((field) => {
    const label = report.element("label", field.title + " ");
    const input = report.element("input", null, {
      id: field.id, type: field.type || "text", autocomplete: "off", inputmode: field.type ? "search" : "decimal",
    });
    label.append(input);
    form.append(label);
    input.addEventListener("input", () => {
      const value = input.value.trim() ? field.parse(input.value) : null;
      const wrong = typeof value === "number" && Number.isNaN(value);
      input.setAttribute("aria-invalid", wrong);
      state[field.id] = wrong ? null : value;
      changed();
    });
  });
  const clear = report.element("button", "Clear", { type: "reset" });
  form.append(clear);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => {
    fields.forEach((field) => { state[field.id] = null; });
    form.querySelectorAll("input").forEach((input) => input.removeAttribute("aria-invalid"));
    changed();
  });

  function changed() {
    kept = null;
    listeners.forEach((listener) => listener());
  }

  report.passes = function (k) {
    return fields.every((field) => {
      const wanted = state[field.id];
      return wanted === null || wanted === undefined || field.passes(k, wanted);
    });
  };
  report.shownPairs = function () {
    kept = kept || pairs.filter(report.passes);
    return kept;
  };
  report.onFilter = (listener) => listeners.push(listener);
})();
