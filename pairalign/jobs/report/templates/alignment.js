"use strict";
// One pair in a dialog: its facts, its alignment, and a dot plot.
(function () {
  const { columns, nodes, unambiguous } = report;
  const BLOCK = 60, CHUNK = 200 * BLOCK;
  const COMPLEMENT = new Map([..."ACGTURYSWKMBDHVNacgturyswkmbdhvn"].map((letter, k) => [letter, "TGCAAYRSWMKVHDBNtgcaayrswmkvhdbn"[k]]));
  const byId = (id) => document.getElementById(id);
  const dialog = byId("alignment"), text = byId("alignment-text"), more = byId("alignment-more");
  let current = null;

  const complement = (residues) => Array.from(residues, (letter) => COMPLEMENT.get(letter) || letter).reverse().join("");

  report.isReverse = (k) => Boolean(columns.strand) && columns.strand[k] < 0;

  // The gapped rows of a pair, on the strand that is aligned.
  report.rowsOf = function (k) {
    const query = nodes[columns.query[k]], target = nodes[columns.target[k]];
    const isReverse = report.isReverse(k);
    const part = query.residues.slice(columns.queryStart[k], columns.queryEnd[k]);
    const one = isReverse ? complement(part) : part;
    const other = target.residues.slice(columns.targetStart[k], columns.targetEnd[k]);
    const rows = ["", ""];
    let q = 0, t = 0;
    for (const [, size, kind] of columns.cigar[k].matchAll(/(\d+)([MID])/g)) {
      const length = Number(size);
      rows[0] += kind === "D" ? "-".repeat(length) : one.slice(q, q + length);
      rows[1] += kind === "I" ? "-".repeat(length) : other.slice(t, t + length);
      if (kind !== "D") q += length;
      if (kind !== "I") t += length;
    }
    return rows;
  };

  function plain(letter) {
    const upper = letter.toUpperCase();
    return upper === "U" && !unambiguous.has("U") ? "T" : upper;
  }

  function kindOf(a, b) {
    if (a === "-" || b === "-") return "gap";
    const one = plain(a);
    return one === plain(b) && unambiguous.has(one) ? "match" : "mismatch";
  }

  // Residues of one row from `start` on, in spans of equal kind.
  function addResidues(parent, row, other, start, stop) {
    let from = start;
    for (let at = start + 1; at <= stop; at++) {
      if (at < stop && kindOf(row[at], other[at]) === kindOf(row[from], other[from])) continue;
      parent.append(report.element("span", row.slice(from, at), { class: kindOf(row[from], other[from]) }));
      from = at;
    }
  }

  function addBlocks() {
    const { rows, places, steps, width } = current;
    const end = Math.min(current.shown + CHUNK, rows[0].length);
    for (let start = current.shown; start < end; start += BLOCK) {
      const stop = Math.min(start + BLOCK, end);
      rows.forEach((row, which) => {
        const size = row.slice(start, stop).replace(/-/g, "").length;
        const from = places[which] + (size ? 1 : 0) * (steps[which] > 0 ? 1 : 0);
        places[which] += steps[which] * size;
        const to = steps[which] > 0 ? places[which] : places[which] + 1;
        text.append((which ? "target " : "query  ") + report.number(from).padStart(width) + " ");
        addResidues(text, row, rows[1 - which], start, stop);
        text.append(" " + report.number(size ? to : from) + "\n");
      });
      text.append("\n");
    }
    current.shown = end;
    more.hidden = end === rows[0].length;
  }

  function addFacts(k) {
    const place = byId("alignment-facts");
    const span = (start, end, length) => `${report.number(start + 1)} to ${report.number(end)} of ${report.number(length)}`;
    const facts = [
      ["score", report.number(columns.score[k])],
      ...(report.hasEvalues ? [["bits", report.number(columns.bits[k])], ["E-value", report.evalue(columns.logEvalue[k])]] : []),
      ...(columns.distance ? [["distance", report.number(columns.distance[k])]] : []),
      ["identity", `${report.percent(columns.identity[k])} (${report.number(columns.matches[k])} of ${report.number(columns.columns[k])} columns)`],
      ["coverage", report.percent(columns.coverage[k])],
      ["gaps", `${report.number(columns.gapLetters[k])} ${report.unit} in ${report.number(columns.gapOpenings[k])} gaps`],
      ["query", span(columns.queryStart[k], columns.queryEnd[k], nodes[columns.query[k]].length)],
      ["target", span(columns.targetStart[k], columns.targetEnd[k], nodes[columns.target[k]].length)],
      ...(columns.strand ? [["strand", report.isReverse(k) ? "- (the query is reverse-complemented)" : "+"]] : []),
    ];
    place.replaceChildren(...facts.flatMap(([name, value]) => [report.element("dt", name), report.element("dd", value)]));
  }

  report.openPair = function (k) {
    const query = nodes[columns.query[k]], target = nodes[columns.target[k]];
    byId("alignment-title").textContent = query.name + " and " + target.name;
    byId("alignment-names").textContent = [query, target].map((node) => node.description).filter(Boolean).join(" / ");
    addFacts(k);
    const isReverse = report.isReverse(k);
    const rows = report.rowsOf(k);
    const width = report.number(Math.max(query.length, target.length)).length;
    const start = isReverse ? columns.queryEnd[k] : columns.queryStart[k];
    current = { k, rows, shown: 0, width, steps: [isReverse ? -1 : 1, 1], places: [start, columns.targetStart[k]] };
    text.replaceChildren();
    addBlocks();
    byId("dots-word").value = report.data.alphabet === "dna" ? 11 : 2;
    dialog.showModal();
    dialog.scrollTop = 0;
    if (byId("dots").open) drawDots();
  };

  // ---------------------------------------------------------------------------------------------
  // Dot plot: words that both sequences have, and the way of the alignment.

  const MOST_DOTS = 400000;

  function findDots(query, target, word) {
    const places = new Map();
    const one = Array.from(query, plain).join(""), other = Array.from(target, plain).join("");
    for (let at = 0; at + word <= one.length; at++) {
      const key = one.slice(at, at + word);
      if (places.has(key)) places.get(key).push(at);
      else places.set(key, [at]);
    }
    const dots = [];
    for (let at = 0; at + word <= other.length && dots.length < 2 * MOST_DOTS; at++) {
      const found = places.get(other.slice(at, at + word));
      if (found) for (const from of found) dots.push(from, at);
    }
    return dots;
  }

  function drawDots() {
    const k = current.k, word = Math.max(1, Math.min(31, Math.floor(Number(byId("dots-word").value)) || 1));
    const query = nodes[columns.query[k]], target = nodes[columns.target[k]];
    const canvas = byId("dots-canvas");
    const room = Math.max(200, Math.min(560, dialog.clientWidth - 60)), left = 40, top = 8, bottom = 34;
    const scale = room / Math.max(query.length, target.length);
    const width = Math.max(40, target.length * scale), height = Math.max(40, query.length * scale);
    const drawing = report.prepare(canvas, left + room + 12, top + height + bottom);
    const x = (at) => left + (at / target.length) * width, y = (at) => top + (at / query.length) * height;
    drawing.clearRect(0, 0, canvas.width, canvas.height);
    drawing.strokeStyle = report.color("--line");
    drawing.strokeRect(left, top, width, height);
    const size = Math.max(1, scale * word);
    const put = (dots, color, turn) => {
      drawing.fillStyle = color;
      for (let at = 0; at < dots.length; at += 2) {
        const from = turn ? query.length - word - dots[at] : dots[at];
        drawing.fillRect(x(dots[at + 1]), y(from), size, size);
      }
    };
    const forward = findDots(query.residues, target.residues, word);
    put(forward, report.color("--dot"));
    let found = forward.length / 2;
    if (report.data.alphabet === "dna") {
      const backward = findDots(complement(query.residues), target.residues, word);
      put(backward, report.color("--dot-reverse"), true);
      found += backward.length / 2;
    }
    drawPath(drawing, k, x, y);
    drawing.fillStyle = report.color("--ink");
    drawing.font = "12px system-ui, sans-serif";
    drawing.fillText(target.name.slice(0, 60) + " (target) →", left, top + height + 16);
    drawing.save();
    drawing.translate(left - 8, top + height);
    drawing.rotate(-Math.PI / 2);
    drawing.fillText("← " + query.name.slice(0, 40) + " (query)", 0, 0);
    drawing.restore();
    byId("dots-note").textContent = `${report.number(found)} words that both have; the line is the alignment.`;
  }

  function drawPath(drawing, k, x, y) {
    const isReverse = report.isReverse(k);
    let q = isReverse ? columns.queryEnd[k] : columns.queryStart[k], t = columns.targetStart[k];
    drawing.strokeStyle = report.color("--path");
    drawing.globalAlpha = 0.7;
    drawing.beginPath();
    drawing.moveTo(x(t), y(q));
    for (const [, size, kind] of columns.cigar[k].matchAll(/(\d+)([MID])/g)) {
      if (kind !== "D") q += (isReverse ? -1 : 1) * Number(size);
      if (kind !== "I") t += Number(size);
      drawing.lineTo(x(t), y(q));
    }
    drawing.stroke();
    drawing.globalAlpha = 1;
  }

  more.addEventListener("click", addBlocks);
  byId("dots").addEventListener("toggle", () => { if (byId("dots").open && current) drawDots(); });
  byId("dots-word").addEventListener("input", drawDots);
  byId("save-alignment").addEventListener("click", () => {
    const ends = [nodes[columns.query[current.k]], nodes[columns.target[current.k]]];
    report.save("alignment.fasta", "text/plain", current.rows.map((row, which) => `>${ends[which].name}\n${row}\n`).join(""));
  });
})();
