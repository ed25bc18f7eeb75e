// What lies over the points: links, ellipses, names that do not overlap, the lasso.

// names that find no room before the search for more is given up: a crowd has no room, and a frame no time
const MISSES = 500;
const FONT = '-apple-system, "Segoe UI", system-ui, sans-serif';

// what a pen of another kind draws, it draws on something else
export function drawOverlay(map, css, other = null) {
  const { overlay, width, height, ratio } = map;
  if (!other && (overlay.width !== Math.round(width * ratio) || overlay.height !== Math.round(height * ratio))) {
    overlay.width = Math.round(width * ratio);
    overlay.height = Math.round(height * ratio);
  }
  const pen = other ?? overlay.getContext("2d");
  if (!other) {
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
  }
  drawContours(map, pen, css);
  drawWithin(map, pen, css);
  drawLinks(map, pen, css);
  drawEllipses(map, pen, css);
  drawRings(map, pen, css);
  const taken = new Taken(width, height);
  // no name under the legend or the tools
  const stage = map.stage.getBoundingClientRect();
  for (const id of ["legend", "tools"]) {
    const box = document.getElementById(id).getBoundingClientRect();
    taken.take(box.left - stage.left, box.top - stage.top, box.width, box.height);
  }
  drawRegions(map, pen, css, taken);
  drawPlaced(map, pen, css);
  drawNewcomer(map, pen, css, taken);
  drawNames(map, pen, css, taken);
  drawLasso(map, pen, css);
}

// the denser, the stronger
function drawContours(map, pen, css) {
  const levels = map.landscape?.levels ?? [];
  levels.forEach((lines, level) => {
    pen.lineWidth = 1;
    pen.strokeStyle = css(map.page.ink, 0.14 + (0.4 * level) / levels.length);
    pen.beginPath();
    for (let l = 0; l < lines.length; l += 4) {
      pen.moveTo(...map.toScreen(lines[l], lines[l + 1]));
      pen.lineTo(...map.toScreen(lines[l + 2], lines[l + 3]));
    }
    pen.stroke();
  });
}

function drawRegions(map, pen, css, taken) {
  for (const { x, y, names } of map.landscape?.regions ?? []) {
    const [px, py] = map.toScreen(x, y);
    if (names.length && px > 0 && py > 0 && px < map.width && py < map.height) name(map, pen, css, taken, names.join(" · "), px, py, { weight: 800, size: 16, gap: 2, middle: true });
  }
}

// links within a selection, each relation in its style
function drawWithin(map, pen, css) {
  const { items, view, width, height } = map;
  for (const { from, to, colour, dash, shown, directed } of map.within) {
    if (!shown) continue;
    pen.lineWidth = 1.1;
    pen.setLineDash(dash);
    pen.strokeStyle = css(colour, from.length > 800 ? 0.28 : 0.55);
    pen.fillStyle = css(colour, 0.8);
    pen.beginPath();
    const heads = [];
    for (let l = 0; l < from.length; l++) {
      if (!items.shown[from[l]] || !items.shown[to[l]]) continue;
      const ax = (items.x[from[l]] - view.x) * view.scale + width / 2;
      const ay = height / 2 - (items.y[from[l]] - view.y) * view.scale;
      const bx = (items.x[to[l]] - view.x) * view.scale + width / 2;
      const by = height / 2 - (items.y[to[l]] - view.y) * view.scale;
      pen.moveTo(ax, ay);
      pen.lineTo(bx, by);
      const length = Math.hypot(bx - ax, by - ay);
      if (!directed || length < 14) continue;
      const [ux, uy] = [(bx - ax) / length, (by - ay) / length];
      const [tx, ty] = [bx - 5 * ux, by - 5 * uy];
      heads.push([tx, ty, tx - 6 * ux - 3 * uy, ty - 6 * uy + 3 * ux, tx - 6 * ux + 3 * uy, ty - 6 * uy - 3 * ux]);
    }
    pen.stroke();
    pen.setLineDash([]);
    if (!directed) continue;
    pen.beginPath();
    for (const [ax, ay, bx, by, cx, cy] of heads) {
      pen.moveTo(ax, ay);
      pen.lineTo(bx, by);
      pen.lineTo(cx, cy);
      pen.closePath();
    }
    pen.fill();
  }
}

function drawLinks(map, pen, css) {
  const from = map.newcomer ?? (map.selected >= 0 ? { x: map.items.x[map.selected], y: map.items.y[map.selected] } : null);
  if (!from || !map.joined.length) return;
  const [ax, ay] = map.toScreen(from.x, from.y);
  pen.lineWidth = 1;
  pen.strokeStyle = css(map.page.ink, map.joined.length > 60 ? 0.16 : 0.34);
  pen.beginPath();
  for (const i of map.joined) {
    if (!map.items.shown[i]) continue;
    const [bx, by] = map.toScreen(map.items.x[i], map.items.y[i]);
    pen.moveTo(ax, ay);
    pen.lineTo(bx, by);
  }
  pen.stroke();
}

function drawEllipses(map, pen, css) {
  if (!map.layers.ellipses) return;
  const close = map.closeUp ?? [];
  for (const i of close) if (i !== map.selected && map.spreads.has(i)) ellipse(map, pen, css, map.items.x[i], map.items.y[i], map.spreads.get(i), 0.05, 0.28);
  if (map.selected >= 0 && map.spreads.has(map.selected))
    ellipse(map, pen, css, map.items.x[map.selected], map.items.y[map.selected], map.spreads.get(map.selected), 0.1, 0.7);
  if (map.newcomer) ellipse(map, pen, css, map.newcomer.x, map.newcomer.y, map.newcomer.covariance, 0.1, 0.7);
}

function ellipse(map, pen, css, x, y, [[a, b], [, d]], fill, line) {
  // half axes and tilt of a 2 x 2 covariance
  const mean = (a + d) / 2;
  const spread = Math.hypot((a - d) / 2, b);
  const scale = map.view.scale;
  const radii = [Math.sqrt(Math.max(0, mean + spread)), Math.sqrt(Math.max(0, mean - spread))].map((r) => Math.max(1.5, r * scale));
  const [px, py] = map.toScreen(x, y);
  pen.beginPath();
  pen.ellipse(px, py, radii[0], radii[1], -0.5 * Math.atan2(2 * b, a - d), 0, 7);
  pen.fillStyle = css(map.page.accent, fill);
  pen.strokeStyle = css(map.page.accent, line);
  pen.lineWidth = 1.2;
  pen.fill();
  pen.stroke();
}

function drawRings(map, pen, css) {
  const ring = (i, extra, width, alpha) => {
    const [px, py] = map.toScreen(map.items.x[i], map.items.y[i]);
    pen.beginPath();
    pen.arc(px, py, map.pointSize / 2 + extra, 0, 7);
    pen.lineWidth = width;
    pen.strokeStyle = css(map.page.ink, alpha);
    pen.stroke();
  };
  if (map.hovered >= 0) ring(map.hovered, 3.5, 1.5, 0.8);
  if (map.selected >= 0) {
    ring(map.selected, 4, 2.5, 0.95);
  }
}

// rows of a table that was dropped: diamonds, in the colours of their classes
function drawPlaced(map, pen, css) {
  const r = map.pointSize / 2 + 2.5;
  pen.lineWidth = 1.5;
  pen.strokeStyle = css(map.page.ink, 0.95);
  for (const { x, y, colour } of map.placed) {
    const [px, py] = map.toScreen(x, y);
    if (px < -9 || py < -9 || px > map.width + 9 || py > map.height + 9) continue;
    pen.beginPath();
    pen.moveTo(px, py - r);
    pen.lineTo(px + r, py);
    pen.lineTo(px, py + r);
    pen.lineTo(px - r, py);
    pen.closePath();
    pen.fillStyle = colour;
    pen.fill();
    pen.stroke();
  }
}

function drawNewcomer(map, pen, css, taken) {
  if (!map.newcomer) return;
  const [px, py] = map.toScreen(map.newcomer.x, map.newcomer.y);
  pen.beginPath();
  for (let t = 0; t < 10; t++) {
    const r = t % 2 ? 4.6 : 11;
    const turn = (Math.PI * t) / 5 - Math.PI / 2;
    pen[t ? "lineTo" : "moveTo"](px + r * Math.cos(turn), py + r * Math.sin(turn));
  }
  pen.closePath();
  pen.fillStyle = map.newcomer.colour ?? css(map.page.accent);
  pen.strokeStyle = css(map.page.ink);
  pen.lineWidth = 1.4;
  pen.fill();
  pen.stroke();
  name(map, pen, css, taken, map.newcomer.name || "new item", px, py, { weight: 650, size: 14, gap: 10, forced: true });
}

function drawNames(map, pen, css, taken) {
  const { items, width, height } = map;
  const put = (i, look) => {
    const [px, py] = map.toScreen(items.x[i], items.y[i]);
    if (px < -40 || py < -10 || px > width + 40 || py > height + 10) return false;
    return name(map, pen, css, taken, items.names[i], px, py, look, widths(map, i));
  };
  const node = { weight: 600, size: 12.5, gap: 5 };
  const attribute = { style: "italic", size: 12.5, gap: 5, alpha: 0.85 };
  if (map.selected >= 0) put(map.selected, { weight: 700, size: 14, gap: map.pointSize / 2 + 8, forced: true }); // beside its ring
  if (!map.layers.names) return;
  const kind = (i) => (items.isAttribute(i) ? attribute : node);
  let left = Math.round((width * height) / Math.max(6500, 15000 / Math.sqrt(Math.max(1, map.depth))));
  // what is meant is named first, in the same order as everything, so that its names are spread out too
  const meant = new Set([...map.joined, ...map.marked]);
  const raised = meant.size > 40 ? items.priority.filter((i) => meant.has(i)).slice(0, 600) : [...meant];
  const done = new Set([map.selected]);
  for (const i of raised) {
    if (left <= 0) break;
    if (!done.has(i) && items.shown[i] && put(i, kind(i))) left -= 1;
    done.add(i);
  }
  // what is not meant now stays in the background
  const faint = map.quiet ? 0.4 : 1;
  if (map.quiet) left = Math.min(left, 25);
  let misses = 0;
  for (const i of items.priority) {
    if (left <= 0 || misses > MISSES) break;
    if (!items.shown[i] || done.has(i)) continue;
    // a hundred thousand times a frame: no array for a place that is out of sight
    const px = (items.x[i] - map.view.x) * map.view.scale + width / 2;
    const py = height / 2 - (items.y[i] - map.view.y) * map.view.scale;
    if (px < 0 || py < 0 || px > width || py > height) continue;
    const look = kind(i);
    if (name(map, pen, css, taken, items.names[i], px, py, { ...look, alpha: (look.alpha ?? 1) * faint }, widths(map, i))) left -= 1;
    else misses += 1;
  }
}

const measured = new WeakMap();
function widths(map, i) {
  if (!measured.has(map.items)) measured.set(map.items, new Map());
  return { kept: measured.get(map.items), i };
}

const clip = (text) => {
  const letters = [...text.slice(0, 60)];
  return letters.length <= 26 && text.length <= 60 ? text.trim() || "(blank)" : letters.slice(0, 25).join("") + "…";
};

function name(map, pen, css, taken, text, px, py, look, memory) {
  const shown = clip(text);
  pen.font = `${look.style ?? "normal"} ${look.weight ?? 400} ${look.size}px ${FONT}`;
  const key = memory ? memory.i * 4 + (look.forced ? 2 : 0) + (look.weight ? 1 : 0) : null;
  let wide = memory?.kept.get(key);
  if (wide === undefined) {
    wide = pen.measureText(shown).width;
    memory?.kept.set(key, wide);
  }
  const gap = look.gap + map.pointSize / 2 - 3;
  const high = look.size;
  // right of the point, left of it, above, below: the first where there is room
  const places = [
    [px + gap, py - high / 2],
    [px - gap - wide, py - high / 2],
    [px - wide / 2, py - gap - high],
    [px - wide / 2, py + gap],
  ];
  if (look.middle) places.unshift([px - wide / 2, py - high / 2], [px - wide / 2, py - 2 * high], [px - wide / 2, py + high]);
  const free = places.find(([x, y]) => taken.free(x - 3, y - 2, wide + 6, high + 4));
  const place = free ?? (look.forced ? places[0] : null);
  if (!place) return false;
  taken.take(place[0] - 3, place[1] - 2, wide + 6, high + 4);
  const alpha = look.alpha ?? 1;
  pen.lineJoin = "round";
  pen.lineWidth = 3.2;
  pen.strokeStyle = css(map.page.paper, 0.85 * Math.min(1, alpha + 0.2));
  pen.textBaseline = "top";
  pen.strokeText(shown, place[0], place[1] + 1);
  pen.fillStyle = css(map.page.ink, alpha);
  pen.fillText(shown, place[0], place[1] + 1);
  return true;
}

function drawLasso(map, pen, css) {
  const outline = map.lasso ?? map.kept;
  if (!outline || outline.length < 4) return;
  pen.beginPath();
  for (let i = 0; i < outline.length; i += 2) pen[i ? "lineTo" : "moveTo"](...map.toScreen(outline[i], outline[i + 1]));
  pen.closePath();
  pen.fillStyle = css(map.page.accent, 0.07);
  pen.strokeStyle = css(map.page.accent, 0.9);
  pen.lineWidth = 1.5;
  pen.setLineDash([5, 4]);
  pen.fill();
  pen.stroke();
  pen.setLineDash([]);
}

// Where names stand already, in cells of some pixels: asking costs a few looks, however many names there are.
class Taken {
  constructor(width, height, size = 5) {
    this.size = size;
    this.columns = Math.ceil(width / size) + 1;
    this.rows = Math.ceil(height / size) + 1;
    this.cells = new Uint8Array(this.columns * this.rows);
    this.width = width;
    this.height = height;
  }

  free(x, y, w, h) {
    if (x < 2 || y < 2 || x + w > this.width - 2 || y + h > this.height - 2) return false;
    const { size, columns, cells } = this;
    const last = Math.floor((x + w) / size);
    for (let r = Math.floor(y / size); r <= Math.floor((y + h) / size); r++)
      for (let c = Math.floor(x / size); c <= last; c++) if (cells[r * columns + c]) return false;
    return true;
  }

  take(x, y, w, h) {
    const { size, columns, rows, cells } = this;
    const first = Math.max(0, Math.floor(x / size));
    const last = Math.min(columns - 1, Math.floor((x + w) / size));
    for (let r = Math.max(0, Math.floor(y / size)); r <= Math.min(rows - 1, Math.floor((y + h) / size)); r++) if (last >= first) cells.fill(1, r * columns + first, r * columns + last + 1);
  }
}
