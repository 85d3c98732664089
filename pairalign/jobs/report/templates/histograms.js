"use strict";
// Histograms, with counts as they are or as logarithms, and as tables of numbers.
(function () {
  const WIDTH = 380, HEIGHT = 170, LEFT = 52, BOTTOM = 24, TOP = 6, RIGHT = 14;
  const place = document.getElementById("histograms");
  const log = document.getElementById("log");

  function draw(one) {
    const most = Math.max(1, ...one.counts);
    const write = one.isShare ? report.percent : report.number;
    const along = d3.scaleLinear([one.edges[0], one.edges[one.edges.length - 1]], [LEFT, WIDTH - RIGHT]);
    const heights = [HEIGHT - BOTTOM, TOP];
    const up = log.checked ? d3.scaleLog([0.5, Math.max(2, most)], heights) : d3.scaleLinear([0, most], heights).nice();
    const figure = report.element("figure");
    figure.append(report.element("figcaption", one.title));
    const svg = d3.create("svg").attr("viewBox", `0 0 ${WIDTH} ${HEIGHT}`).attr("role", "img").attr("aria-label", one.title);
    const ticks = log.checked ? up.ticks().filter((tick) => tick >= 1 && Number.isInteger(Math.log10(tick))) : up.ticks(4).filter(Number.isInteger);
    svg.append("g").attr("transform", `translate(${LEFT},0)`).call(d3.axisLeft(up).tickValues(ticks).tickFormat(report.number));
    svg.append("g").attr("transform", `translate(0,${HEIGHT - BOTTOM})`)
      .call(d3.axisBottom(along).ticks(5).tickFormat(one.isShare ? d3.format(".0%") : report.number));
    const bars = one.counts.map((count, k) => ({ count, from: one.edges[k], to: one.edges[k + 1] })).filter((bar) => bar.count);
    svg.append("g").attr("class", "bars").selectAll("rect").data(bars).join("rect")
      .attr("x", (bar) => along(bar.from)).attr("width", (bar) => Math.max(0.5, along(bar.to) - along(bar.from) - 1))
      .attr("y", (bar) => up(bar.count)).attr("height", (bar) => HEIGHT - BOTTOM - up(bar.count))
      .append("title").text((bar) => `${write(bar.from)} to ${write(bar.to)}: ${report.number(bar.count)}`);
    figure.append(svg.node());
    const details = report.element("details");
    details.append(report.element("summary", "Numbers"));
    const table = report.element("table");
    bars.forEach((bar) => {
      const row = table.insertRow();
      row.append(report.element("th", `${write(bar.from)} to ${write(bar.to)}`, { scope: "row" }), report.element("td", report.number(bar.count)));
    });
    details.append(table);
    figure.append(details);
    return figure;
  }

  report.panels.overview = () => place.replaceChildren(...report.data.histograms.map(draw));
  log.addEventListener("change", report.panels.overview);
})();
