"use strict";
// The table of pairs: sorted, searched, and a pair's alignment in a dialog. Text is only ever set as text.
(function () {
  const QUERY = 0, TARGET = 1, SCORE = 2, IDENTITY = 3, LENGTH = 4, STRAND = 5, QUERY_ROW = 6, TARGET_ROW = 7, QUERY_START = 8, TARGET_START = 9;
  const NUMBERS = new Set([SCORE, IDENTITY, LENGTH]);
  const BLOCK = 60;
  const pairs = JSON.parse(document.getElementById("data").textContent);
  const definite = new Set(document.getElementById("pairs").dataset.definite);
  const body = document.querySelector("#pairs tbody");
  const search = document.getElementById("search");
  const dialog = document.getElementById("alignment");
  const headings = Array.from(document.querySelectorAll("#pairs thead th"));
  let order = pairs.map((_, index) => index);
  let sorted = { column: -1, ascending: true };

  function shown(pair, column) {
    const value = pair[column];
    if (value === null) return "–";
    return column === IDENTITY ? (100 * value).toFixed(2) + "%" : String(value);
  }

  function makeRow(index) {
    const row = document.createElement("tr");
    row.tabIndex = -1;
    row.dataset.index = index;
    for (let column = QUERY; column <= STRAND; column++) {
      const cell = row.insertCell();
      cell.textContent = shown(pairs[index], column);
      if (NUMBERS.has(column)) cell.className = "number";
    }
    return row;
  }

  const rows = pairs.map((_, index) => makeRow(index));
  let reached = null;

  // Of all rows the Tab key stops at one: where the reader was, else the first.
  function reach(row) {
    if (reached) reached.tabIndex = -1;
    reached = row;
    if (row) row.tabIndex = 0;
  }

  function draw() {
    const wanted = search.value.trim().toLowerCase();
    const kept = order.filter((index) => !wanted ||
      pairs[index][QUERY].toLowerCase().includes(wanted) || pairs[index][TARGET].toLowerCase().includes(wanted));
    body.replaceChildren(...kept.map((index) => rows[index]));
    reach(body.firstElementChild);
    document.getElementById("found").textContent = kept.length + " shown";
  }

  function compare(column, one, other) {
    const a = pairs[one][column], b = pairs[other][column];
    if (a === b) return one - other;
    if (a === null || b === null) return a === null ? 1 : -1;
    const less = NUMBERS.has(column) ? a < b : a.localeCompare(b) < 0;
    return (less ? -1 : 1) * (sorted.ascending ? 1 : -1);
  }

  function sortBy(column) {
    const again = sorted.column === column;
    sorted = { column, ascending: again ? !sorted.ascending : !NUMBERS.has(column) };
    order.sort((one, other) => compare(column, one, other));
    headings.forEach((heading, index) => {
      if (index === column) heading.setAttribute("aria-sort", sorted.ascending ? "ascending" : "descending");
      else heading.removeAttribute("aria-sort");
    });
    draw();
  }

  function kindOf(a, b) {
    if (a === "-" || b === "-") return "gap";
    const [one, other] = [a, b].map((letter) => {
      const upper = letter.toUpperCase();
      return upper === "U" && !definite.has("U") ? "T" : upper;
    });
    return one === other && definite.has(one) ? "match" : "mismatch";
  }

  // Letters of one row from `start` on, in spans of equal kind.
  function addLetters(parent, letters, other, start, stop) {
    let from = start;
    for (let at = start + 1; at <= stop; at++) {
      if (at < stop && kindOf(letters[at], other[at]) === kindOf(letters[from], other[from])) continue;
      const span = document.createElement("span");
      span.className = kindOf(letters[from], other[from]);
      span.textContent = letters.slice(from, at);
      parent.append(span);
      from = at;
    }
  }

  function addAlignment(parent, query, target, places) {
    const width = String(Math.max(...places) + query.length).length;
    for (let start = 0; start < query.length; start += BLOCK) {
      const stop = Math.min(start + BLOCK, query.length);
      [[query, target], [target, query]].forEach(([letters, other], which) => {
        const count = letters.slice(start, stop).replace(/-/g, "").length;
        parent.append((which ? "target " : "query  ") + String(places[which] + (count ? 1 : 0)).padStart(width) + " ");
        addLetters(parent, letters, other, start, stop);
        places[which] += count;
        parent.append(" " + places[which] + "\n");
      });
      parent.append("\n");
    }
  }

  function open(index) {
    const pair = pairs[index];
    document.getElementById("alignment-title").textContent = pair[QUERY] + " and " + pair[TARGET];
    document.getElementById("alignment-facts").textContent =
      "score " + shown(pair, SCORE) + ", identity " + shown(pair, IDENTITY) + ", alignment length " +
      shown(pair, LENGTH) + ", strand " + shown(pair, STRAND);
    const text = document.getElementById("alignment-text");
    text.replaceChildren();
    if (pair[QUERY_ROW] === null) text.textContent = "This alignment is not in the report.";
    else addAlignment(text, pair[QUERY_ROW], pair[TARGET_ROW], [pair[QUERY_START], pair[TARGET_START]]);
    dialog.showModal();
  }

  headings.forEach((heading, column) => heading.firstElementChild.addEventListener("click", () => sortBy(column)));
  search.addEventListener("input", draw);
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) open(Number(row.dataset.index));
  });
  body.addEventListener("focusin", (event) => reach(event.target.closest("tr")));
  body.addEventListener("keydown", (event) => {
    const row = event.target.closest("tr");
    if (!row) return;
    const next = {
      ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling,
      Home: body.firstElementChild, End: body.lastElementChild,
    }[event.key];
    if (event.key === "Enter" || event.key === " ") open(Number(row.dataset.index));
    else if (next) next.focus();
    else return;
    event.preventDefault();
  });
  draw();
})();
