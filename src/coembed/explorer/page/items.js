// Everything on the map in one row, type after type; found by name, by place, by outline.

export class Items {
  constructor(map, model) {
    this.types = model.types;
    this.starts = [];
    this.count = 0;
    for (const each of map.types) {
      this.starts.push(this.count);
      this.count += each.id.length;
    }
    this.nodes = map.types[0].id.length; // items of the main type, which come first
    const joined = (take) => [].concat(...map.types.map(take));
    const filled = (each, values, nothing) => values ?? new Array(each.id.length).fill(nothing);
    this.ids = joined((each) => each.id);
    this.names = joined((each) => each.title ?? each.id);
    this.x = Float32Array.from(joined((each) => each.x));
    this.y = Float32Array.from(joined((each) => each.y));
    this.weight = joined((each) => each.weight);
    this.label = joined((each) => filled(each, each.label, -1));
    this.observed = joined((each) => filled(each, each.observed, 0));
    this.probability = joined((each) => filled(each, each.probability, 0.4));
    this.place = Uint16Array.from(joined((each) => new Array(each.id.length).fill(map.types.indexOf(each))));
    this.classNames = map.types.map((each) => each.class_names);
    this.classes = model.class_list;
    this.coloured = model.types.findIndex((each) => each.name === model.coloured);
    this.shown = new Uint8Array(this.count).fill(1);
    this.byName = Object.fromEntries(map.types.map((each, t) => [each.type, new Map(each.id.map((id, i) => [id, this.starts[t] + i]))]));
    this.grid = makeGrid(this.x, this.y);
    this.order = this.drawingOrder();
    this.priority = this.namingOrder();
  }

  type(i) {
    return this.types[this.place[i]].name;
  }

  isAttribute(i) {
    return this.types[this.place[i]].owner !== null;
  }

  isColoured(i) {
    return this.place[i] === this.coloured;
  }

  find(type, id) {
    return Object.hasOwn(this.byName, type) ? (this.byName[type].get(id) ?? -1) : -1;
  }

  className(i) {
    return i < 0 ? null : (this.classNames[this.place[i]][this.label[i]] ?? null);
  }

  // the surer, the later, so that it lies on top; known labels above all
  drawingOrder() {
    const rank = (i) => (this.isAttribute(i) ? 1.5 : this.observed[i] ? 2 : this.probability[i]);
    return Uint32Array.from({ length: this.count }, (_, i) => i).sort((a, b) => rank(a) - rank(b));
  }

  // Names that find room first. Every coarse cell of the map names its weightiest item, then every finer
  // cell, and so on: no corner stays without a name, and zooming in brings the next ones.
  namingOrder() {
    const standing = new Float64Array(this.count);
    // attributes first: they say what a region is about
    for (const [t, from] of this.starts.entries()) {
      const to = this.starts[t + 1] ?? this.count;
      const handicap = this.types[t].owner === null ? 3 : 1;
      const order = Array.from({ length: to - from }, (_, i) => from + i).sort((a, b) => this.weight[b] - this.weight[a] || a - b);
      order.forEach((i, rank) => (standing[i] = (handicap * (rank + 1)) / (to - from)));
    }
    const [x0, y0, x1, y1] = this.bounds();
    let left = Array.from({ length: this.count }, (_, i) => i).sort((a, b) => standing[a] - standing[b] || a - b);
    const named = [];
    for (let side = 5; side <= 640 && left.length; side *= 2) {
      const claimed = new Set();
      const rest = [];
      for (const i of left) {
        const column = Math.floor(((this.x[i] - x0) / (x1 - x0 || 1)) * (side - 0.001));
        const row = Math.floor(((this.y[i] - y0) / (y1 - y0 || 1)) * (side - 0.001));
        const cell = row * side + column;
        if (claimed.has(cell)) rest.push(i);
        else {
          claimed.add(cell);
          named.push(i);
        }
      }
      left = rest;
    }
    return Uint32Array.from(named.concat(left));
  }

  // asked for at every name that is drawn: counted once
  bounds() {
    return (this.box ??= boxOf(this.x, this.y));
  }

  // the shown item nearest to a place, within a distance
  nearest(x, y, within) {
    let best = -1;
    let least = within * within;
    this.grid.each(x - within, y - within, x + within, y + within, (i) => {
      if (!this.shown[i]) return;
      const distance = (this.x[i] - x) ** 2 + (this.y[i] - y) ** 2;
      if (distance < least || (distance === least && this.weight[i] > this.weight[best])) [best, least] = [i, distance];
    });
    return best;
  }

  inView(x0, y0, x1, y1, most = Infinity) {
    const found = [];
    this.grid.each(x0, y0, x1, y1, (i) => {
      if (found.length <= most && this.shown[i] && this.x[i] >= x0 && this.x[i] <= x1 && this.y[i] >= y0 && this.y[i] <= y1) found.push(i);
    });
    return found;
  }

  inside(outline) {
    const xs = outline.filter((_, i) => i % 2 === 0);
    const ys = outline.filter((_, i) => i % 2 === 1);
    return this.inView(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)).filter((i) => {
      // a ray to the right crosses the outline an odd number of times from inside
      let odd = false;
      for (let a = 0, b = xs.length - 1; a < xs.length; b = a++)
        if (ys[a] > this.y[i] !== ys[b] > this.y[i] && this.x[i] < ((xs[b] - xs[a]) * (this.y[i] - ys[a])) / (ys[b] - ys[a]) + xs[a]) odd = !odd;
      return odd;
    });
  }
}

// Cells with some points each, in one row sorted by cell.
function makeGrid(x, y) {
  const count = x.length;
  const side = Math.max(1, Math.min(512, Math.round(Math.sqrt(count / 3))));
  const [x0, y0, x1, y1] = boxOf(x, y);
  const width = (x1 - x0) / side || 1;
  const height = (y1 - y0) / side || 1;
  const clamp = (value) => Math.max(0, Math.min(side - 1, Math.floor(value)));
  const cell = (px, py) => clamp((py - y0) / height) * side + clamp((px - x0) / width);
  const starts = new Uint32Array(side * side + 1);
  for (let i = 0; i < count; i++) starts[cell(x[i], y[i]) + 1]++;
  for (let c = 0; c < side * side; c++) starts[c + 1] += starts[c];
  const next = starts.slice();
  const members = new Uint32Array(count);
  for (let i = 0; i < count; i++) members[next[cell(x[i], y[i])]++] = i;
  return {
    each(ax, ay, bx, by, visit) {
      for (let row = clamp((ay - y0) / height); row <= clamp((by - y0) / height); row++)
        for (let column = clamp((ax - x0) / width); column <= clamp((bx - x0) / width); column++) {
          const c = row * side + column;
          for (let m = starts[c]; m < starts[c + 1]; m++) visit(members[m]);
        }
    },
  };
}

function boxOf(x, y) {
  if (!x.length) return [0, 0, 1, 1];
  let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
  for (let i = 0; i < x.length; i++) {
    x0 = Math.min(x0, x[i]);
    x1 = Math.max(x1, x[i]);
    y0 = Math.min(y0, y[i]);
    y1 = Math.max(y1, y[i]);
  }
  return [x0, y0, x1, y1];
}
