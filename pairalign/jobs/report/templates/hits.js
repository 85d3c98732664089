"use strict";
// The table of pairs, the table of sequences, and the hits of one sequence with bars of what they cover.
(function () {
  const { columns, nodes, data } = report;
  const byId = (id) => document.getElementById(id);
  const identityColor = d3.scaleSequential([0.2, 1], d3.interpolateViridis).clamp(true);
  let chosen = null;

  // A name that opens its hits; with `sub` the description and the length below it.
  function nameColumn(title, nodeOf, sub) {
    return {
      title, isText: true, value: (id) => nodes[nodeOf(id)].name,
      fill: (id, cell) => {
        const node = nodes[nodeOf(id)];
        const button = report.element("button", node.name, { type: "button", class: "link", tabindex: "-1" });
        button.title = node.description || node.name;
        button.addEventListener("click", () => report.openSequence(nodeOf(id)));
        cell.append(button);
        if (sub) {
          const below = [`${report.number(node.length)} ${report.unit}`, node.description].filter(Boolean).join("; ");
          cell.append(report.element("div", below, { class: "below minor", title: below }));
        }
      },
    };
  }

  const hasDescriptions = nodes.some((node) => node.description);
  const described = (nodeOf) => (hasDescriptions ? [{
    title: "Description", minor: true, isText: true,
    value: (id) => nodes[nodeOf(id)].description, text: (id) => nodes[nodeOf(id)].description,
  }] : []);
  const number = (title, field, more) => ({ title, number: true, value: (k) => columns[field][k], ...more });
  const share = (title, field, hint) => number(title, field, { text: (k) => report.percent(columns[field][k]), hint });
  const measures = [
    number("Score", "score", { minor: report.hasEvalues }),
    ...(report.hasEvalues ? [
      number("Bits", "bits", { minor: true, text: (k) => columns.bits[k].toFixed(1) }),
      number("E-value", "logEvalue", { smallFirst: true, text: (k) => report.evalue(columns.logEvalue[k]) }),
    ] : []),
    ...(columns.distance ? [number("Distance", "distance", { smallFirst: true, text: (k) => columns.distance[k].toFixed(4) })] : []),
    share("Identity", "identity", "Matches / alignment length"),
    share("Coverage", "coverage", `Aligned ${report.unit} / ${report.unit} of the longer sequence`),
    number("Length", "columns", { hint: "Columns of the alignment", minor: true }),
    ...(columns.strand ? [{ title: "Strand", value: (k) => (report.isReverse(k) ? "-" : "+"), text: (k) => (report.isReverse(k) ? "-" : "+") }] : []),
  ];

  const pairTable = report.makeTable(byId("pairs-table"), {
    label: "Pairs", open: (k) => report.openPair(k), compare: report.better,
    columns: [nameColumn("Query", (k) => columns.query[k], true), nameColumn("Target", (k) => columns.target[k], true), ...measures],
  });

  function describePairs() {
    const all = data.allPairs, here = report.pairs.length;
    const ranked = data.rankedBy ? `, by ${data.rankedBy}` : "";
    const kind = data.which ? ` (${data.which})` : "";
    const which = data.isAll ? `All ${report.number(here)} pairs${here < all ? " that have an alignment" : ""}${kind}${ranked}.`
      : `${report.number(here)} of ${report.number(all)} pairs${kind}: the best of each sequence${ranked}.`;
    byId("pairs-note").textContent = which + " A click on a pair, or Enter, shows its alignment; a click on a name shows its hits.";
  }

  report.panels.pairs = () => {
    describePairs();
    pairTable.show(report.shownPairs());
  };

  // ---------------------------------------------------------------------------------------------
  // Sequences

  const known = data.sets[0].known || {};
  const bestHit = nodes.map((_, id) => report.pairsOfNode[id].reduce((a, b) => (a === null || report.better(b, a) < 0 ? b : a), null));
  const knownColumns = Object.entries(known).map(([title, values]) => ({
    title: title[0].toUpperCase() + title.slice(1), number: typeof values[0] === "number",
    value: (id) => (values[id] === undefined ? null : values[id]),
    text: (id) => (typeof values[id] === "number" ? report.number(values[id]) : values[id] || "–"),
  }));
  const sequenceTable = report.makeTable(byId("sequences-table"), {
    label: "Sequences", open: (id) => report.openSequence(id),
    columns: [
      nameColumn("Name", (id) => id),
      ...described((id) => id),
      ...(report.isOneSet ? [] : [{ title: "Set", value: (id) => nodes[id].side + 1, text: (id) => ["queries", "targets"][nodes[id].side] }]),
      { title: "Length", number: true, value: (id) => nodes[id].length },
      { title: "Hits here", number: true, hint: "Pairs of this page", value: (id) => report.pairsOfNode[id].length },
      { title: "Best identity", number: true, hint: "Of its best hit", value: (id) => (bestHit[id] === null ? null : columns.identity[bestHit[id]]),
        text: (id) => (bestHit[id] === null ? "–" : report.percent(columns.identity[bestHit[id]])) },
      ...knownColumns,
    ],
  });

  function listed() {
    const wanted = byId("sequences-search").value.trim().toLowerCase();
    const textOf = (id) => [nodes[id].name, nodes[id].description, ...Object.values(known).map((values) => values[id])].join(" ").toLowerCase();
    return nodes.map((_, id) => id).filter((id) => !wanted || textOf(id).includes(wanted));
  }

  // ---------------------------------------------------------------------------------------------
  // Hits of a sequence

  const other = (k) => (columns.query[k] === chosen ? columns.target[k] : columns.query[k]);
  const spanOf = (k) => (columns.query[k] === chosen ? [columns.queryStart[k], columns.queryEnd[k]] : [columns.targetStart[k], columns.targetEnd[k]]);

  function fillBar(k, cell) {
    const [start, end] = spanOf(k), length = nodes[chosen].length;
    const bar = report.element("div", null, { class: "bar", role: "img", "aria-label": `${start + 1} to ${end} of ${length}` });
    const part = report.element("div");
    part.style.left = (100 * start) / length + "%";
    part.style.width = Math.max(0.5, (100 * (end - start)) / length) + "%";
    part.style.background = identityColor(columns.identity[k]);
    bar.title = `${report.number(start + 1)} to ${report.number(end)} of ${report.number(length)}, identity ${report.percent(columns.identity[k])}`;
    bar.append(part);
    cell.classList.add("bars");
    cell.append(bar);
  }

  const hitTable = report.makeTable(byId("hits-table"), {
    label: "Hits", open: (k) => report.openPair(k), compare: report.better,
    columns: [
      nameColumn("Hit", other),
      { title: "Covered part", hint: "Of this sequence; yellow: identical", value: (k) => spanOf(k)[0], number: true, smallFirst: true, fill: fillBar },
      { title: "Covered", number: true, value: (k) => spanOf(k)[1] - spanOf(k)[0],
        text: (k) => report.percent((spanOf(k)[1] - spanOf(k)[0]) / nodes[chosen].length), hint: "Share of this sequence inside the alignment" },
      ...measures,
      { title: "Hit length", number: true, minor: true, value: (k) => nodes[other(k)].length },
      ...described(other),
    ],
  });

  function showHits() {
    const node = nodes[chosen];
    byId("hits-title").textContent = node.name;
    const facts = [node.description, `${report.number(node.length)} ${report.unit}`];
    knownColumns.forEach((column) => facts.push(`${column.title.toLowerCase()}: ${column.text(chosen)}`));
    byId("hits-facts").textContent = facts.filter(Boolean).join("; ");
    const shown = report.pairsOfNode[chosen].filter(report.passes);
    drawDepth(shown);
    hitTable.show(shown);
  }

  // How many of the hits that are shown cover each place.
  function drawDepth(shown) {
    const WIDTH = 1000, HEIGHT = 90, LEFT = 36, BOTTOM = 18;
    const length = nodes[chosen].length;
    const changes = shown.flatMap((k) => [[spanOf(k)[0], 1], [spanOf(k)[1], -1]]).sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    const steps = [[0, 0]];
    let depth = 0;
    changes.forEach(([at, by]) => {
      depth += by;
      if (steps[steps.length - 1][0] === at) steps[steps.length - 1][1] = depth;
      else steps.push([at, depth]);
    });
    steps.push([length, depth]);
    const most = Math.max(1, d3.max(steps, (step) => step[1]));
    const width = Math.max(300, byId("depth").clientWidth || WIDTH);
    const along = d3.scaleLinear([0, length], [LEFT, width - 12]), up = d3.scaleLinear([0, most], [HEIGHT - BOTTOM, 6]);
    const svg = d3.create("svg").attr("viewBox", `0 0 ${width} ${HEIGHT}`).attr("role", "img")
      .attr("aria-label", `At most ${most} hits cover one of the ${report.unit}`);
    svg.append("path").attr("d", d3.area().curve(d3.curveStepAfter).x((step) => along(step[0])).y0(up(0)).y1((step) => up(step[1]))(steps));
    svg.append("g").attr("transform", `translate(${LEFT},0)`).call(d3.axisLeft(up).ticks(3).tickFormat(report.number));
    svg.append("g").attr("transform", `translate(0,${HEIGHT - BOTTOM})`).call(d3.axisBottom(along).ticks(width / 90).tickFormat(report.number));
    byId("depth").replaceChildren(report.element("figcaption", `Hits that cover each of the ${report.unit}`), svg.node());
  }

  report.panels.sequences = () => {
    byId("hits").hidden = chosen === null;
    byId("sequences-all").hidden = chosen !== null;
    byId("filters").hidden = chosen === null; // they are for pairs
    byId("sequences-note").textContent = data.sets.some((set) => set.all > set.names.length)
      ? `Of ${data.sets.map((set) => report.number(set.all)).join(" and ")} sequences those that have a pair on this page.` : "";
    if (chosen === null) sequenceTable.show(listed());
    else showHits();
  };
  report.openSequence = function (id) {
    chosen = id;
    report.show("sequences");
    byId("hits-title").focus();
  };
  byId("hits-back").addEventListener("click", () => {
    chosen = null;
    report.panels.sequences();
  });
  byId("sequences-search").addEventListener("input", report.panels.sequences);

  // ---------------------------------------------------------------------------------------------
  // Downloads

  const FIELDS = [
    ["score", "score"], ["bits", "bits"], ["evalue", "logEvalue"], ["distance", "distance"], ["identity", "identity"], ["coverage", "coverage"],
    ["columns", "columns"], ["matches", "matches"], ["mismatches", "mismatches"], ["gap_openings", "gapOpenings"], ["gap_letters", "gapLetters"],
    ["query_start", "queryStart"], ["query_end", "queryEnd"], ["target_start", "targetStart"], ["target_end", "targetEnd"], ["cigar", "cigar"],
  ].filter(([, field]) => columns[field]);
  const written = (field, k) => (field === "logEvalue" ? report.evalue(columns[field][k]) : columns[field][k]);
  const tsv = (rows) => rows.map((row) => row.map((value) => String(value).replace(/[\t\n]/g, " ")).join("\t") + "\n").join("");

  function pairsAsText(ids) {
    const strand = columns.strand ? ["strand"] : [];
    const head = ["query", "target", ...strand, "query_length", "target_length", ...FIELDS.map(([name]) => name)];
    return tsv([head, ...ids.map((k) => {
      const query = nodes[columns.query[k]], target = nodes[columns.target[k]];
      const turned = columns.strand ? [report.isReverse(k) ? "-" : "+"] : [];
      return [query.name, target.name, ...turned, query.length, target.length, ...FIELDS.map(([, field]) => written(field, k))];
    })]);
  }

  // Of very large sets the page has only the residues of the pairs' sequences.
  function saveSequences(some) {
    const records = some.filter((node) => node.residues !== null).map((node) => `>${[node.name, node.description].filter(Boolean).join(" ")}\n${node.residues}\n`);
    report.save("sequences.fasta", "text/plain", records.join(""));
  }

  byId("save-pairs").addEventListener("click", () => report.save("pairs.tsv", "text/tab-separated-values", pairsAsText(pairTable.rows)));
  byId("save-hits").addEventListener("click", () => report.save("hits.tsv", "text/tab-separated-values", pairsAsText(hitTable.rows)));
  byId("save-listed").addEventListener("click", () => {
    const head = ["name", "description", "length", "hits", ...Object.keys(known)];
    const rows = sequenceTable.rows.map((id) => [nodes[id].name, nodes[id].description, nodes[id].length,
      report.pairsOfNode[id].length, ...Object.values(known).map((values) => values[id])]);
    report.save("sequences.tsv", "text/tab-separated-values", tsv([head, ...rows]));
  });
  byId("save-sequences").addEventListener("click", () => {
    const used = new Set(pairTable.rows.flatMap((k) => [columns.query[k], columns.target[k]]));
    saveSequences(nodes.filter((_, id) => used.has(id)));
  });
  byId("save-listed-sequences").addEventListener("click", () => saveSequences(sequenceTable.rows.slice().sort((a, b) => a - b).map((id) => nodes[id])));
})();
