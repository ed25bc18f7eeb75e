// The map: where one looks, what is drawn, what is under the pointer.
import { classColour, css, ink, isDark, shapeNumber } from "coembed/colours.js";
import { AS_BEFORE, NO_VALUE, toneOf } from "coembed/encodings.js";
import { drawOverlay } from "coembed/overlay.js";
import { makePoints } from "coembed/points.js";

const CROSS = 6;
const CLICK = 5; // pixels a press may wander and still be a click

export class MapView {
  constructor(stage, pointsCanvas, overlay, items, layers, encoding) {
    this.stage = stage;
    this.overlay = overlay;
    this.items = items;
    this.points = makePoints(pointsCanvas);
    this.layers = Object.fromEntries([...layers, "names", "ellipses"].map((name) => [name, true]));
    this.typeLayers = layers; // one for each type
    this.hidden = new Set();
    this.encoding = encoding; // what colours mean
    this.sizes = null; // what sizes mean
    this.filter = null; // a byte an item: all others are hidden
    this.landscape = null; // lines of equal density, and what regions are about
    this.placed = []; // rows of a table that was dropped
    this.within = []; // links within a selection, by relation
    this.view = { x: 0, y: 0, scale: 1 };
    this.selected = -1;
    this.joined = [];
    this.marked = new Set();
    this.hovered = -1;
    this.newcomer = null;
    this.lasso = null;
    this.lassoing = false;
    this.spreads = new Map();
    this.on = { open: () => {}, hover: () => {}, view: () => {}, lasso: () => {}, still: () => {} };
    this.loadPlaces();
    this.recolour();
    this.measure();
    this.fit();
    new ResizeObserver(() => {
      const untouched = this.isFitted();
      this.measure();
      if (untouched) this.fit();
      this.redraw();
    }).observe(stage);
    this.listen();
  }

  loadPlaces() {
    const { items } = this;
    const places = new Float32Array(2 * items.count);
    items.order.forEach((i, slot) => places.set([items.x[i], items.y[i]], 2 * slot));
    this.points.setPlaces(places);
  }

  // what is shown, raised and how; cheap enough to do at every change
  recolour() {
    const { items, hidden, layers, encoding, sizes, filter } = this;
    const byClass = encoding.field === "class";
    const tones = encoding.entries.map(toneOf);
    const marks = encoding.entries.map((entry) => shapeNumber(entry.mark));
    this.page = ink();
    const plain = isDark() ? [122, 178, 224] : [0, 114, 178];
    const raised = new Set([this.selected, ...this.joined, ...this.marked]);
    const colours = new Uint8Array(4 * items.count);
    const looks = new Uint8Array(4 * items.count);
    items.order.forEach((i, slot) => {
      const k = encoding.index[i];
      const type = items.types[items.place[i]];
      const off = k >= 0 ? hidden.has(k) : k === NO_VALUE && !byClass && hidden.has(tones.length);
      const shown = layers[this.typeLayers[items.place[i]]] && !off && !(filter && !filter[i]);
      items.shown[i] = shown ? 1 : 0;
      const state = !shown ? 0 : raised.has(i) ? 2 : 1;
      const seen = items.observed[i];
      const size = Math.min(60, (seen ? 12 : 10) * (sizes ? sizes.times[i] : 1));
      if (k >= 0 && !byClass) {
        colours.set([...tones[k], 225], 4 * slot);
        looks.set([type.owner === null ? marks[k] : CROSS, state, seen, size], 4 * slot);
      } else if (type.owner !== null || (k === NO_VALUE && !byClass)) {
        colours.set([...this.page.muted, type.owner !== null ? 165 : 60], 4 * slot);
        looks.set([type.owner !== null ? CROSS : shapeNumber(type.mark), state, 0, size], 4 * slot);
      } else if (k === AS_BEFORE) {
        colours.set([...classColour(type), seen ? 230 : 150], 4 * slot);
        looks.set([shapeNumber(type.mark), state, seen, size], 4 * slot);
      } else {
        // lighter by probability: a guess is pale inside, a sure prediction nearly solid; the outline shows both
        const alpha = seen ? 255 : k < 0 ? 170 : 64 + 120 * items.probability[i] ** 1.5;
        colours.set([...(tones[k] ?? plain), alpha], 4 * slot);
        looks.set([k < 0 ? 0 : marks[k], state, seen, size], 4 * slot);
      }
    });
    this.tones = tones;
    Object.assign(this, { colours, looks }); // for who draws it again, as a picture
    this.points.setColours(colours);
    this.points.setLooks(looks);
    this.redraw();
  }

  measure() {
    this.width = Math.max(50, this.stage.clientWidth);
    this.height = Math.max(50, this.stage.clientHeight);
    this.ratio = Math.min(devicePixelRatio || 1, 2);
  }

  fitted() {
    const [x0, y0, x1, y1] = this.items.bounds();
    const room = this.width > 700 ? [60, 60] : [28, 44];
    // the legend lies over the left edge
    const left = this.width > 820 ? 235 : this.width > 700 ? 150 : 0;
    const scale = Math.min((this.width - room[0] - left) / (x1 - x0 || 1), (this.height - room[1]) / (y1 - y0 || 1));
    return { x: (x0 + x1) / 2 - left / 2 / scale, y: (y0 + y1) / 2, scale };
  }

  isFitted() {
    const all = this.fitted();
    const off = Math.hypot(this.view.x - all.x, this.view.y - all.y) * this.view.scale;
    return !this.width || (Math.abs(this.view.scale / all.scale - 1) < 0.001 && off < 1);
  }

  fit() {
    this.look(this.fitted());
  }

  look(view, { told = true } = {}) {
    const least = this.fitted().scale;
    const scale = Math.max(least * 0.5, Math.min(least * 400, view.scale));
    // the middle of the view stays on the map, but for the legend's room
    const [x0, y0, x1, y1] = this.items.bounds();
    const room = this.width / 3 / scale;
    this.view = { x: Math.max(x0 - room, Math.min(x1 + room, view.x)), y: Math.max(y0, Math.min(y1, view.y)), scale };
    this.redraw();
    if (told) this.on.view(this.isFitted() ? null : this.view);
    this.on.still();
  }

  // glide there, unless the reader asked for less motion
  glide(target) {
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) return this.look(target);
    const from = this.view;
    const start = performance.now();
    const step = (now) => {
      const t = Math.min(1, (now - start) / 280);
      const eased = 1 - (1 - t) ** 3;
      const scale = from.scale * (target.scale / from.scale) ** eased;
      this.look({ x: from.x + (target.x - from.x) * eased, y: from.y + (target.y - from.y) * eased, scale }, { told: t === 1 });
      if (t < 1 && this.gliding === step) requestAnimationFrame(step);
    };
    this.gliding = step;
    requestAnimationFrame(step);
  }

  show(i) {
    this.showPlace(this.items.x[i], this.items.y[i]);
  }

  showPlace(x, y) {
    const [px, py] = this.toScreen(x, y);
    const margin = Math.min(90, this.width / 5);
    const inside = px > margin && px < this.width - margin && py > margin && py < this.height - margin;
    if (!inside) this.glide({ x, y, scale: this.view.scale });
  }

  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const [x, y] = this.toWorld(px, py);
    const scale = this.view.scale * factor;
    this.look({ x: x - (px - this.width / 2) / scale, y: y + (py - this.height / 2) / scale, scale });
  }

  pan(dx, dy) {
    this.look({ ...this.view, x: this.view.x - dx / this.view.scale, y: this.view.y + dy / this.view.scale });
  }

  toWorld(px, py) {
    return [this.view.x + (px - this.width / 2) / this.view.scale, this.view.y - (py - this.height / 2) / this.view.scale];
  }

  toScreen(x, y) {
    return [(x - this.view.x) * this.view.scale + this.width / 2, this.height / 2 - (y - this.view.y) * this.view.scale];
  }

  // how far one has zoomed in, against seeing all
  get depth() {
    return this.view.scale / this.fitted().scale;
  }

  get pointSize() {
    const n = this.items.count;
    const base = n < 4000 ? 9 : n < 20000 ? 6.5 : n < 60000 ? 4.5 : 3.2;
    const room = Math.max(0.65, Math.min(1, Math.sqrt((this.width * this.height) / 500000)));
    return Math.min(20, room * base * Math.max(0.7, this.depth) ** 0.4);
  }

  get quiet() {
    return this.selected >= 0 || this.marked.size > 0 || this.newcomer !== null || this.placed.length > 0;
  }

  // what is left of points that are not meant
  get faded() {
    return this.quiet ? (isDark() ? 0.62 : 0.45) : 1;
  }

  inView(most) {
    const [x0, y1] = this.toWorld(0, 0);
    const [x1, y0] = this.toWorld(this.width, this.height);
    return this.items.inView(x0, y0, x1, y1, most);
  }

  redraw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.points.draw(this.view, this.width, this.height, this.ratio, this.pointSize, this.faded, this.page.ink);
      drawOverlay(this, css);
      this.stage.dataset.drawn = String(Number(this.stage.dataset.drawn ?? 0) + 1);
    });
  }

  under(event) {
    const box = this.overlay.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    const [x, y] = this.toWorld(px, py);
    const reach = (event.pointerType === "touch" ? 22 : 10) + this.pointSize / 2;
    return { px, py, i: this.items.nearest(x, y, reach / this.view.scale) };
  }

  listen() {
    const { overlay } = this;
    const fingers = new Map();
    let start = null;
    overlay.addEventListener("pointerdown", (event) => {
      if (event.button > 0) return;
      overlay.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      this.gliding = null;
      start = { x: event.clientX, y: event.clientY, moved: false, lasso: fingers.size === 1 && (this.lassoing || event.shiftKey) };
      if (start.lasso) this.lasso = [];
    });
    overlay.addEventListener("pointermove", (event) => {
      if (!fingers.has(event.pointerId)) return this.hover(event);
      const before = fingers.get(event.pointerId);
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      if (Math.hypot(event.clientX - start.x, event.clientY - start.y) > CLICK) start.moved = true;
      if (fingers.size === 2) return this.pinch(fingers, event.pointerId, before);
      if (!start.moved) return;
      if (start.lasso) {
        const { px, py } = this.under(event);
        this.lasso.push(...this.toWorld(px, py));
        this.redraw();
      } else this.pan(event.clientX - before[0], event.clientY - before[1]);
    });
    const end = (event) => {
      if (!fingers.delete(event.pointerId) || event.type === "pointercancel") return;
      if (start?.lasso) {
        const outline = this.lasso;
        this.lasso = null;
        if (outline.length >= 6) this.on.lasso(outline);
        this.redraw();
      } else if (!start?.moved && fingers.size === 0) this.on.open(this.under(event).i);
    };
    overlay.addEventListener("pointerup", end);
    overlay.addEventListener("pointercancel", end);
    overlay.addEventListener("pointerleave", () => this.setHover(-1));
    overlay.addEventListener(
      "wheel",
      (event) => {
        event.preventDefault();
        const { px, py } = this.under(event);
        const lines = event.deltaMode === 1 ? 20 : 1;
        this.zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), px, py);
      },
      { passive: false },
    );
    overlay.addEventListener("dblclick", (event) => {
      const { px, py } = this.under(event);
      this.zoom(1.8, px, py);
    });
    overlay.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const step = 60;
    const keys = {
      ArrowLeft: () => this.pan(step, 0),
      ArrowRight: () => this.pan(-step, 0),
      ArrowUp: () => this.pan(0, step),
      ArrowDown: () => this.pan(0, -step),
      Enter: () => {
        const [x, y] = this.toWorld(this.width / 2, this.height / 2);
        this.on.open(this.items.nearest(x, y, Math.max(this.width, this.height) / this.view.scale));
      },
    };
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  }

  pinch(fingers, moved, before) {
    const [other] = [...fingers].filter(([id]) => id !== moved).map(([, place]) => place);
    const now = fingers.get(moved);
    const apart = (a) => Math.hypot(a[0] - other[0], a[1] - other[1]) || 1;
    const box = this.overlay.getBoundingClientRect();
    this.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
    this.zoom(apart(now) / apart(before), (now[0] + other[0]) / 2 - box.left, (now[1] + other[1]) / 2 - box.top);
  }

  hover(event) {
    const { px, py, i } = this.under(event);
    this.setHover(i, px, py);
  }

  setHover(i, px, py) {
    this.overlay.classList.toggle("pointing", i >= 0);
    if (i !== this.hovered) {
      this.hovered = i;
      this.redraw();
    }
    this.on.hover(i, px, py);
  }
}
