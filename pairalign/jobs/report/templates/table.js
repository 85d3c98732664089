"use strict";
// A table that sorts by its headings and shows its rows in pages. Text is only ever set as text.
report.makeTable = function (place, { columns, open, label, compare }) {
  const PAGE = 100;
  const table = report.element("table", null, { class: "rows", "aria-label": label });
  const head = table.createTHead().insertRow();
  const body = table.createTBody();
  const wide = report.element("div", null, { class: "wide" });
  const pager = report.element("p", null, { class: "pager" });
  const before = report.element("button", "Previous", { type: "button" });
  const after = report.element("button", "Next", { type: "button" });
  const note = report.element("span", null, { role: "status", class: "found" });
  let ids = [], page = 0, sorted = null, reached = null;

  columns.forEach((column, index) => {
    const cell = report.element("th", null, { scope: "col" });
    if (column.hint) cell.title = column.hint;
    if (column.number && !column.fill) cell.classList.add("number");
    if (column.minor) cell.classList.add("minor");
    const button = report.element("button", column.title, { type: "button", "data-column": index });
    button.addEventListener("click", () => sortBy(index));
    cell.append(button);
    head.append(cell);
  });
  wide.append(table);
  pager.append(before, " ", after, " ", note);
  place.replaceChildren(pager, wide);

  // Of all rows the Tab key stops at one: where the reader was, else the first.
  function reach(row) {
    if (reached) reached.tabIndex = -1;
    reached = row;
    if (row) row.tabIndex = 0;
  }

  function makeRow(id) {
    const row = document.createElement("tr");
    row.tabIndex = -1;
    row.dataset.id = id;
    columns.forEach((column) => {
      const cell = row.insertCell();
      if (column.fill) column.fill(id, cell);
      else cell.textContent = column.text ? column.text(id) : report.number(column.value(id));
      if (column.number && !column.fill) cell.classList.add("number");
      if (column.minor) cell.classList.add("minor");
      if (column.isText) cell.classList.add("text");
    });
    return row;
  }

  function draw() {
    const pages = Math.max(1, Math.ceil(ids.length / PAGE));
    page = Math.min(Math.max(page, 0), pages - 1);
    const start = page * PAGE, stop = Math.min(start + PAGE, ids.length);
    body.replaceChildren(...ids.slice(start, stop).map(makeRow));
    reach(body.firstElementChild);
    before.disabled = page === 0;
    after.disabled = page === pages - 1;
    before.hidden = after.hidden = pages === 1;
    const all = report.number(ids.length);
    note.textContent = pages === 1 ? `${all} shown` : `${report.number(start + 1)} to ${report.number(stop)} of ${all}`;
  }

  function order(one, other) {
    if (!sorted) return compare ? compare(one, other) : one - other;
    const { column, ascending } = sorted;
    const a = columns[column].value(one), b = columns[column].value(other);
    if (a === b) return one - other;
    if (a === null || b === null) return a === null ? 1 : -1;
    const less = columns[column].number ? a < b : String(a).localeCompare(String(b)) < 0;
    return less === ascending ? -1 : 1;
  }

  function sortBy(column) {
    const isSame = sorted && sorted.column === column;
    const ascending = !columns[column].number || Boolean(columns[column].smallFirst);
    sorted = { column, ascending: isSame ? !sorted.ascending : ascending };
    Array.from(head.cells).forEach((cell, index) => {
      if (index === column) cell.setAttribute("aria-sort", sorted.ascending ? "ascending" : "descending");
      else cell.removeAttribute("aria-sort");
    });
    ids.sort(order);
    page = 0;
    draw();
  }

  function turn(by) {
    page += by;
    draw();
  }

  before.addEventListener("click", () => turn(-1));
  after.addEventListener("click", () => turn(1));
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row && !event.target.closest("button")) open(Number(row.dataset.id));
  });
  body.addEventListener("focusin", (event) => reach(event.target.closest("tr")));
  body.addEventListener("keydown", (event) => {
    const row = event.target.closest("tr");
    if (!row || event.target.closest("button")) return;
    const next = {
      ArrowDown: row.nextElementSibling, ArrowUp: row.previousElementSibling,
      Home: body.firstElementChild, End: body.lastElementChild,
    }[event.key];
    if (event.key === "Enter" || event.key === " ") open(Number(row.dataset.id));
    else if (next) next.focus();
    else if (event.key === "PageDown" || event.key === "PageUp") {
      turn(event.key === "PageDown" ? 1 : -1);
      if (reached) reached.focus();
    } else return;
    event.preventDefault();
  });

  return {
    show(rows) {
      ids = rows.slice().sort(order);
      page = 0;
      draw();
    },
    get rows() { return ids; },
  };
};
