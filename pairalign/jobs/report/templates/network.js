"use strict";
// The pairs that are shown as a network: sequences are drawn near those that they have pairs with.
(function () {
  const { columns, nodes } = report;
  const MOST_EDGES = 15000, TICKS = 300;
  const byId = (id) => document.getElementById(id);
  const best = byId("network-best");
  const canvas = byId("network-canvas");
  let points = [], links = [], view = d3.zoomIdentity, simulation = null, size = null, drawn = null, drawnEach = 0, groups = 0;
  let wanted = null; // a point under the pointer

  function collect(pairs) {
    const placeOf = new Map();
    const pointOf = (id) => {
      if (!placeOf.has(id)) placeOf.set(id, { id, links: 0 });
      return placeOf.get(id);
    };
    links = pairs.map((k) => ({ pair: k, source: pointOf(columns.query[k]), target: pointOf(columns.target[k]) }));
    points = Array.from(placeOf.values());
    links.forEach(({ source, target }) => { source.links++; target.links++; });
    groupPoints();
  }

  // Pairs that are among the best of either of their sequences: the first ones of all come before the second ones.
  function bestOf(pairs, each) {
    const seen = new Map();
    const places = pairs.slice().sort(report.better).map((k) => {
      const mine = [columns.query[k], columns.target[k]].map((id) => {
        const place = seen.get(id) || 0;
        seen.set(id, place + 1);
        return place;
      });
      return { k, place: Math.min(...mine) };
    });
    return places.filter(({ place }) => place < each).sort((a, b) => a.place - b.place).map(({ k }) => k);
  }

  // Connected components, the largest first.
  function groupPoints() {
    points.forEach((point) => { point.parent = point; });
    const rootOf = (point) => {
      while (point.parent !== point) point = point.parent = point.parent.parent;
      return point;
    };
    links.forEach(({ source, target }) => { rootOf(source).parent = rootOf(target); });
    const sizes = d3.rollup(points, (all) => all.length, rootOf);
    const ranks = new Map(Array.from(sizes).sort((a, b) => b[1] - a[1]).map(([root], rank) => [root, rank]));
    points.forEach((point) => { point.group = ranks.get(rootOf(point)); });
    groups = sizes.size;
  }

  function start() {
    if (simulation) simulation.stop();
    const repulsion = points.length > 1000 ? -12 : -40;
    simulation = d3.forceSimulation(points)
      .force("link", d3.forceLink(links).distance((link) => 12 + 60 * (1 - columns.identity[link.pair])))
      .force("charge", d3.forceManyBody().strength(repulsion).distanceMax(300))
      .force("x", d3.forceX(0).strength(0.05)).force("y", d3.forceY(0).strength(0.05))
      .alphaDecay(1 - 0.001 ** (1 / TICKS)).on("tick", draw).on("end", fit);
    onCanvas.call(zoom.transform, d3.zoomIdentity.translate(size.width / 2, size.height / 2).scale(0.5));
    if (window.matchMedia("(prefers-reduced-motion: reduce)").matches || points.length <= 200) {
      simulation.stop();
      simulation.tick(TICKS);
      fit();
    }
  }

  // Enlarge so that all points are seen.
  function fit() {
    if (!points.length) return draw();
    const [left, right] = d3.extent(points, (point) => point.x), [top, bottom] = d3.extent(points, (point) => point.y);
    const k = Math.min(4, 0.92 * Math.min(size.width / (right - left + 20), size.height / (bottom - top + 20)));
    const home = d3.zoomIdentity.translate(size.width / 2, size.height / 2).scale(k).translate(-(left + right) / 2, -(top + bottom) / 2);
    return onCanvas.call(zoom.transform, home);
  }

  function draw() {
    const drawing = canvas.getContext("2d");
    const density = window.devicePixelRatio || 1;
    drawing.setTransform(density, 0, 0, density, 0, 0);
    drawing.fillStyle = report.color("--ground");
    drawing.fillRect(0, 0, size.width, size.height);
    drawing.translate(view.x, view.y);
    drawing.scale(view.k, view.k);
    drawing.strokeStyle = report.color("--edge");
    drawing.lineWidth = 0.8 / view.k;
    drawing.beginPath();
    links.forEach(({ source, target }) => {
      drawing.moveTo(source.x, source.y);
      drawing.lineTo(target.x, target.y);
    });
    drawing.stroke();
    const radius = (points.length > 500 ? 2.5 : 4.5) / Math.sqrt(view.k);
    points.forEach((point) => {
      drawing.fillStyle = d3.schemeTableau10[point.group % 10];
      drawing.beginPath();
      drawing.arc(point.x, point.y, point === wanted ? 1.7 * radius : radius, 0, 2 * Math.PI);
      drawing.fill();
    });
    if (view.k * 22 > 18 && points.length <= 80) nameAll(drawing, radius);
  }

  function nameAll(drawing, radius) {
    drawing.fillStyle = report.color("--ink");
    drawing.font = `${11 / view.k}px system-ui, sans-serif`;
    points.forEach((point) => drawing.fillText(nodes[point.id].name.slice(0, 24), point.x + 1.4 * radius, point.y + radius));
  }

  function pointAt(event) {
    const [x, y] = view.invert(d3.pointer(event, canvas));
    return simulation ? simulation.find(x, y, 12 / view.k) : undefined;
  }

  function hover(event) {
    const found = pointAt(event) || null;
    if (found === wanted) return;
    wanted = found;
    canvas.style.cursor = found ? "pointer" : "";
    if (found) {
      const node = nodes[found.id];
      byId("network-hover").textContent = [node.name, node.description, `${report.number(node.length)} ${report.unit}`, `${report.number(found.links)} pairs`].filter(Boolean).join("; ");
    }
    draw();
  }

  const zoom = d3.zoom().scaleExtent([0.05, 40]).on("zoom", (event) => {
    view = event.transform;
    draw();
  });
  const onCanvas = d3.select(canvas);

  report.panels.network = function () {
    const room = canvas.parentElement.clientWidth;
    size = { width: room, height: Math.max(300, Math.min(0.75 * room, 720)) };
    report.prepare(canvas, size.width, size.height);
    onCanvas.call(zoom).on("dblclick.zoom", null);
    const all = report.shownPairs();
    const each = Math.max(1, Math.floor(Number(best.value)) || 1);
    if (drawn !== all || drawnEach !== each) {
      [drawn, drawnEach] = [all, each];
      collect(bestOf(all, each).slice(0, MOST_EDGES));
      start();
    } else {
      fit();
    }
    const cut = `${report.number(links.length)} of the ${report.number(all.length)} pairs shown`;
    byId("network-note").textContent = `${cut}: the best of each sequence. ${report.number(points.length)} sequences, in ${report.number(groups)} connected ${groups === 1 ? "group" : "groups"}. ` +
      "Filters thin it out. A click shows the hits of a sequence.";
  };
  canvas.addEventListener("mousemove", hover);
  canvas.addEventListener("click", (event) => {
    const found = pointAt(event);
    if (found) report.openSequence(found.id);
  });
  best.addEventListener("change", report.panels.network);
  byId("network-reset").addEventListener("click", fit);
})();
