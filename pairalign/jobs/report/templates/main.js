"use strict";
// Tabs, and what is drawn again when filters, the width or the colours change.
(function () {
  const nameOf = (tab) => tab.getAttribute("aria-controls");
  const hasMap = report.data.noMap !== null; // or why it has none
  document.getElementById("tab-map").hidden = !hasMap;
  const tabs = Array.from(document.querySelectorAll("[role=tab]")).filter((tab) => hasMap || nameOf(tab) !== "map");
  const FILTERED = new Set(["pairs", "sequences", "network"]);
  let shown = null;

  function redraw() {
    if (report.panels[shown]) report.panels[shown]();
  }

  report.show = function (name) {
    shown = name;
    tabs.forEach((tab) => {
      const isIt = nameOf(tab) === name;
      tab.setAttribute("aria-selected", isIt);
      tab.tabIndex = isIt ? 0 : -1;
      document.getElementById(nameOf(tab)).hidden = !isIt;
    });
    document.getElementById("filters").hidden = !FILTERED.has(name);
    try {
      history.replaceState(null, "", "#/" + name);
    } catch {
      // A frame without an address of its own has no history: the tab is shown all the same.
    }
    redraw();
  };

  tabs.forEach((tab, index) => {
    tab.addEventListener("click", () => report.show(nameOf(tab)));
    tab.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = tabs[(index + step + tabs.length) % tabs.length];
      report.show(nameOf(next));
      next.focus();
    });
  });

  let waiting = null;
  window.addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => { if (shown === "map" || shown === "network") redraw(); }, 150);
  });
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  report.onFilter(redraw);

  const asked = location.hash.slice(2);
  report.show(tabs.some((tab) => nameOf(tab) === asked) ? asked : "overview");
})();
