"use strict";
// The heat map with its tree: a picture of one dot a cell, enlarged by the wheel, moved by dragging; values under the pointer.
(function () {
  const map = report.data.map, { nodes } = report;
  const MISSING = 65535, SHADES = 1024;
  const byId = (id) => document.getElementById(id);
  const canvas = byId("map-canvas");
  byId("map-parts").hidden = map === null;
  byId("no-map").hidden = map !== null || report.data.noMap === null;
  if (map === null) {
    byId("no-map").textContent = `No heat map: ${report.data.noMap}.`;
    return;
  }
  const count = map.order.length, side = Math.ceil(count / map.block);
  const isDistance = map.measure.startsWith("distance");
  const shade = (share) => d3.interpolateViridis(isDistance ? 1 - share : share);
  let cells = null, picture = null, view = d3.zoomIdentity, place = null;

  function load() {
    const bytes = Uint8Array.from(atob(map.cells), (letter) => letter.charCodeAt(0));
    cells = new Uint16Array(bytes.buffer);
  }

  // Of the triangle row by row, with its diagonal.
  const cellOf = (row, column) => {
    const [a, b] = row < column ? [row, column] : [column, row];
    return cells[a * side - (a * (a - 1)) / 2 + b - a];
  };
  const valueOf = (cell) => (cell === MISSING ? null : map.low + (cell / (MISSING - 1)) * (map.high - map.low));

  function paint() {
    picture = document.createElement("canvas");
    picture.width = picture.height = side;
    const drawing = picture.getContext("2d");
    const image = drawing.createImageData(side, side);
    const dots = new Uint32Array(image.data.buffer);
    const pack = (color) => {
      const { r, g, b } = d3.rgb(color);
      return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
    };
    const shades = Uint32Array.from({ length: SHADES }, (_, k) => pack(shade(k / (SHADES - 1))));
    const missing = pack(report.color("--missing"));
    let at = 0;
    for (let row = 0; row < side; row++) {
      for (let column = row; column < side; column++) {
        const cell = cells[at++];
        const dot = cell === MISSING ? missing : shades[Math.round((cell / (MISSING - 1)) * (SHADES - 1))];
        dots[row * side + column] = dots[column * side + row] = dot;
      }
    }
    drawing.putImageData(image, 0, 0);
  }

  // Where each node of the tree is: its depth as a share of the deepest, its height in rows.
  function layTree() {
    const depths = new Float64Array(2 * count - 1), heights = new Float64Array(2 * count - 1);
    map.order.forEach((leaf, row) => { heights[leaf] = row + 0.5; });
    for (let merge = 0; merge < count - 1; merge++) {
      heights[count + merge] = (heights[map.children[2 * merge]] + heights[map.children[2 * merge + 1]]) / 2;
    }
    for (let merge = count - 2; merge >= 0; merge--) {
      for (const k of [0, 1]) depths[map.children[2 * merge + k]] = depths[count + merge] + map.branches[2 * merge + k];
    }
    const deepest = depths.reduce((a, b) => Math.max(a, b), 0) || 1;
    return { depths: depths.map((depth) => depth / deepest), heights };
  }
  let tree = null;

  function measure() {
    const room = canvas.parentElement.clientWidth;
    const isNarrow = room < 600;
    const branches = isNarrow ? 56 : 150, names = isNarrow ? 0 : 150;
    const size = Math.max(160, Math.min(room - branches - names - 4, 900, window.innerHeight - 60));
    return { branches, names, size };
  }

  function draw() {
    const { branches, names, size } = place;
    const drawing = canvas.getContext("2d");
    const density = window.devicePixelRatio || 1;
    drawing.setTransform(density, 0, 0, density, 0, 0);
    drawing.fillStyle = report.color("--ground");
    drawing.fillRect(0, 0, branches + size + names + 4, size);
    const cell = (size * view.k) / side;
    drawing.save();
    drawing.beginPath();
    drawing.rect(branches, 0, size, size);
    drawing.clip();
    drawing.imageSmoothingEnabled = cell < 1;
    drawing.drawImage(picture, branches + view.x, view.y, size * view.k, size * view.k);
    drawing.restore();
    drawTree(drawing);
    drawNames(drawing);
    markFound(drawing);
  }

  // Names that are searched for: a mark beside the map and above it.
  function markFound(drawing) {
    const wanted = byId("map-search").value.trim().toLowerCase();
    if (!wanted) return;
    const { branches, size } = place;
    const row = (size * view.k) / (side * map.block);
    drawing.fillStyle = report.color("--path");
    map.order.forEach((leaf, k) => {
      if (!`${nodes[leaf].name} ${nodes[leaf].description}`.toLowerCase().includes(wanted)) return;
      const high = Math.max(1.5, Math.min(row, 6)), middle = (k + 0.5) * row;
      const y = view.y + middle, x = view.x + middle;
      if (y >= 0 && y < size) drawing.fillRect(branches - 5, y - high / 2, 5, high);
      if (x >= 0 && x < size) drawing.fillRect(branches + x - high / 2, 0, high, 5);
    });
  }

  function drawTree(drawing) {
    const { branches, size } = place;
    const row = (size * view.k) / (side * map.block);
    const x = (node) => 4 + tree.depths[node] * (branches - 10), y = (node) => view.y + tree.heights[node] * row;
    drawing.save();
    drawing.beginPath();
    drawing.rect(0, 0, branches, size);
    drawing.clip();
    drawing.strokeStyle = report.color("--tree");
    drawing.lineWidth = row < 3 ? 0.5 : 1;
    drawing.globalAlpha = row < 3 ? 0.4 : 1;
    drawing.beginPath();
    for (let merge = 0; merge < count - 1; merge++) {
      const node = count + merge, [one, other] = [map.children[2 * merge], map.children[2 * merge + 1]];
      const top = Math.min(y(one), y(other)), bottom = Math.max(y(one), y(other));
      if (bottom < -2 || top > size + 2) continue;
      drawing.moveTo(x(one), y(one));
      drawing.lineTo(x(node), y(one));
      drawing.lineTo(x(node), y(other));
      drawing.lineTo(x(other), y(other));
    }
    drawing.stroke();
    drawing.restore();
  }

  function drawNames(drawing) {
    const { branches, names, size } = place;
    const row = (size * view.k) / (side * map.block);
    if (!names || row < 9) return;
    drawing.save();
    drawing.beginPath();
    drawing.rect(branches + size, 0, names + 4, size);
    drawing.clip();
    drawing.fillStyle = report.color("--ink");
    drawing.font = `${Math.min(12, Math.floor(row))}px system-ui, sans-serif`;
    drawing.textBaseline = "middle";
    const from = Math.max(0, Math.floor(-view.y / row)), to = Math.min(count, Math.ceil((size - view.y) / row));
    for (let k = from; k < to; k++) {
      drawing.fillText(nodes[map.order[k]].name.slice(0, 40), branches + size + 4, view.y + (k + 0.5) * row);
    }
    drawing.restore();
  }

  // What is under the pointer: the cell, or null outside of the map.
  function cellAt(event) {
    const [x, y] = d3.pointer(event, canvas);
    const { branches, size } = place;
    if (x < branches || x >= branches + size || y < 0 || y >= size) return null;
    const scale = side / (size * view.k);
    const column = Math.floor((x - branches - view.x) * scale), row = Math.floor((y - view.y) * scale);
    return row >= 0 && column >= 0 && row < side && column < side ? [row, column] : null;
  }

  function namesAt(cell) {
    const first = map.order[cell * map.block];
    const size = Math.min(map.block, count - cell * map.block);
    return size === 1 ? nodes[first].name : `${nodes[first].name} and ${report.number(size - 1)} below it`;
  }

  function hover(event) {
    const at = cellAt(event);
    if (!at) return;
    const value = valueOf(cellOf(...at));
    const isIdentity = map.measure === "identity";
    const shown = value === null ? "no value" : `${map.measure} ${isIdentity ? report.percent(value) : report.number(value)}`;
    byId("map-hover").textContent = `${namesAt(at[0])} × ${namesAt(at[1])}: ${shown}${map.block > 1 && value !== null ? " (mean)" : ""}`;
  }

  function click(event) {
    const at = cellAt(event);
    hover(event); // a touch has no other
    if (!at || map.block > 1) return;
    const pair = report.pairOf(map.order[at[0]], map.order[at[1]]);
    if (pair !== undefined) report.openPair(pair);
    else byId("map-hover").textContent += "; this pair is not among those of the page";
  }

  function writeLegend() {
    const bar = report.element("span", null, { class: "scale" });
    bar.style.background = `linear-gradient(to right, ${d3.range(0, 1.01, 0.1).map(shade).join(", ")})`;
    const write = map.measure === "identity" ? report.percent : report.number;
    const missing = report.element("span", null, { class: "swatch" });
    byId("map-legend").replaceChildren(`${map.measure}: ${write(map.low)} `, bar, ` ${write(map.high)}   `, missing, " no value (below a threshold, or not aligned)");
    const blocks = map.block > 1 ? ` A dot is the mean of ${map.block} × ${map.block} pairs.` : " A click on a pair shows its alignment.";
    byId("map-note").textContent = `${report.number(count)} sequences in the order of their tree (${map.method}). The wheel, or two fingers, enlarges; dragging moves.${blocks}`;
  }

  // Names may hold what Newick means something by: those are quoted.
  const newickName = (name) => (/[\s()[\]{},:;'"]/.test(name) ? `'${name.replace(/'/g, "''")}'` : name);

  function newick() {
    const texts = nodes.map((node) => newickName(node.name));
    for (let merge = 0; merge < count - 1; merge++) {
      const parts = [0, 1].map((k) => {
        const child = map.children[2 * merge + k], text = texts[child];
        texts[child] = null; // or memory would grow with the square of a caterpillar's length
        return `${text}:${d3.format(".9~f")(map.branches[2 * merge + k])}`;
      });
      texts[count + merge] = `(${parts.join(",")})`;
    }
    return texts[2 * count - 2] + ";\n";
  }
  report.newick = newick;

  const zoom = d3.zoom().on("zoom", (event) => {
    view = event.transform;
    draw();
  });
  const onCanvas = d3.select(canvas);

  report.panels.map = function () {
    if (!cells) load();
    if (!tree) tree = layTree();
    paint();
    place = measure();
    const { branches, names, size } = place;
    report.prepare(canvas, branches + size + names + 4, size);
    zoom.extent([[0, 0], [size, size]]).translateExtent([[0, 0], [size, size]]).scaleExtent([1, Math.max(4, side / 4)]);
    onCanvas.call(zoom).call(zoom.transform, view);
    writeLegend();
  };
  canvas.addEventListener("mousemove", hover);
  canvas.addEventListener("click", click);
  byId("map-search").addEventListener("input", draw);
  byId("map-reset").addEventListener("click", () => onCanvas.call(zoom.transform, d3.zoomIdentity));
  byId("save-tree").addEventListener("click", () => report.save("tree.nwk", "text/plain", newick()));
})();
