"use strict";
// What the page knows: sequences, pairs, how numbers are written. Other scripts add their part to `report`.
const report = (function () {
  const data = JSON.parse(document.getElementById("data").textContent);
  const isOneSet = data.isOneSet;
  const first = data.sets[0];
  const nodes = [];
  data.sets.forEach((set, side) => set.names.forEach((name, k) => nodes.push({
    name, side, index: k, description: set.descriptions[k], length: set.lengths[k], residues: set.residues[k],
  })));
  const shift = isOneSet ? 0 : first.names.length;
  const columns = data.pairs;
  columns.target = (columns.target || []).map((place) => place + shift);
  const count = columns.query.length;
  const pairs = Array.from({ length: count }, (_, k) => k);
  const unambiguous = new Set(data.unambiguous);
  const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
  const tenths = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

  function number(value) {
    if (value === null || value === undefined) return "–";
    if (Number.isInteger(value)) return whole.format(value);
    const size = Math.abs(value);
    if (size >= 1000) return tenths.format(value);
    if (size < 1e-4) return value.toExponential(2);
    return String(Number(value.toPrecision(4)));
  }

  const percent = (share) => (100 * share).toFixed(1) + "%";

  // E-values may be too small for a number: they come as logarithms.
  function evalue(log) {
    if (log >= -3 && log < 4) return String(Number((10 ** log).toPrecision(2)));
    const power = Math.floor(log);
    const digits = (10 ** (log - power)).toFixed(1);
    return digits === "10.0" ? `1.0e${power + 1}` : `${digits}e${power}`;
  }

  // Pairs of two sequences, whichever comes first.
  const byNodes = new Map();
  pairs.forEach((k) => {
    const key = columns.query[k] * nodes.length + columns.target[k];
    if (!byNodes.has(key)) byNodes.set(key, k);
  });

  function pairOf(one, other) {
    const found = byNodes.get(one * nodes.length + other);
    return found === undefined ? byNodes.get(other * nodes.length + one) : found;
  }

  const pairsOfNode = nodes.map(() => []);
  pairs.forEach((k) => {
    pairsOfNode[columns.query[k]].push(k);
    pairsOfNode[columns.target[k]].push(k);
  });

  function save(name, type, text) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  function element(tag, text, attributes) {
    const made = document.createElement(tag);
    if (text !== undefined && text !== null) made.textContent = text;
    Object.entries(attributes || {}).forEach(([name, value]) => made.setAttribute(name, value));
    return made;
  }

  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // A canvas of a size in CSS pixels, sharp on dense screens.
  function prepare(canvas, width, height) {
    const density = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * density);
    canvas.height = Math.round(height * density);
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
    const drawing = canvas.getContext("2d");
    drawing.setTransform(density, 0, 0, density, 0, 0);
    return drawing;
  }

  const unit = data.alphabet === "dna" ? "bases" : "residues";
  const hasEvalues = Boolean(columns.logEvalue);
  const better = {
    "E-value": (a, b) => columns.logEvalue[a] - columns.logEvalue[b],
    identity: (a, b) => columns.identity[b] - columns.identity[a],
    distance: (a, b) => columns.distance[a] - columns.distance[b],
  }[data.rankedBy] || ((a, b) => columns.score[b] - columns.score[a]);

  return {
    data, nodes, columns, pairs, unambiguous, isOneSet, hasEvalues, pairOf, pairsOfNode, save, element, color, prepare,
    number, percent, evalue, better, unit,
    panels: {}, // name of a tab -> what draws it
  };
})();
