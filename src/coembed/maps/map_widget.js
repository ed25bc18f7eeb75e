// The map in a notebook: wheel zooms, dragging moves, a click chooses, shift and dragging chooses a rectangle,
// a double click shows all. What is chosen is shared with Python, both ways.
const CLICK = 4; // pixels a press may wander and still be a click
const REACH = 10; // pixels around the pointer in which an item is meant

function render({ model, el }) {
  const places = new Float32Array(model.get("places").buffer.slice(0));
  const tones = new Uint8Array(model.get("tones").buffer.slice(0));
  const [names, palette, legend] = ["names", "palette", "legend"].map((name) => model.get(name));
  const count = tones.length;
  const height = model.get("height");

  const root = document.createElement("div");
  root.className = "coembed-map";
  root.style.cssText = "position:relative;font:12px sans-serif;color:#222;background:#fff";
  const canvas = document.createElement("canvas");
  canvas.style.cssText = `width:100%;height:${height}px;display:block;touch-action:none;cursor:crosshair`;
  const hint = document.createElement("div");
  hint.style.cssText =
    "position:absolute;pointer-events:none;background:#fff;border:1px solid #aaa;padding:1px 5px;display:none";
  const line = document.createElement("div");
  line.style.cssText = "padding:2px 6px";
  const chosenLine = document.createElement("div");
  chosenLine.className = "coembed-chosen";
  chosenLine.style.cssText = "padding:2px 6px;min-height:1.3em";
  for (const [name, tone] of legend) {
    const entry = document.createElement("span");
    entry.style.marginRight = "1em";
    const mark = document.createElement("span");
    mark.textContent = "● ";
    mark.style.color = palette[tone];
    entry.append(mark, name); // as text: names are whatever users have
    line.append(entry);
  }
  root.append(canvas, hint, line, chosenLine);
  el.append(root);

  const pen = canvas.getContext("2d");
  let view = { x: 0, y: 0, scale: 1 };
  let width = 0;
  let drag = null;

  const seen = (i) => [(places[2 * i] - view.x) * view.scale + width / 2, (view.y - places[2 * i + 1]) * view.scale + height / 2];

  function showAll() {
    let [left, right, low, high] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < count; i++) {
      left = Math.min(left, places[2 * i]);
      right = Math.max(right, places[2 * i]);
      low = Math.min(low, places[2 * i + 1]);
      high = Math.max(high, places[2 * i + 1]);
    }
    const scale = 0.92 * Math.min(width / (right - left || 1), height / (high - low || 1));
    view = { x: (left + right) / 2, y: (low + high) / 2, scale };
  }

  function draw() {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const chosen = new Set(model.get("selected"));
    const size = count > 20000 ? 2 : 5;
    for (let i = 0; i < count; i++) {
      const [x, y] = seen(i);
      if (x < -9 || y < -9 || x > width + 9 || y > height + 9) continue;
      pen.fillStyle = palette[tones[i]];
      pen.globalAlpha = chosen.size && !chosen.has(i) ? 0.25 : 0.8;
      pen.fillRect(x - size / 2, y - size / 2, size, size);
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = "#000";
    for (const i of chosen) {
      const [x, y] = seen(i);
      pen.strokeRect(x - 4.5, y - 4.5, 9, 9);
    }
    if (drag?.box) pen.strokeRect(drag.x, drag.y, drag.now[0] - drag.x, drag.now[1] - drag.y);
    const some = [...chosen].slice(0, 12).map((i) => names[i]);
    chosenLine.textContent = chosen.size ? `${chosen.size} chosen: ${some.join(", ")}${chosen.size > 12 ? " ..." : ""}` : "";
  }

  function nearest(x, y) {
    let [best, least] = [-1, REACH * REACH];
    for (let i = 0; i < count; i++) {
      const [px, py] = seen(i);
      const far = (px - x) ** 2 + (py - y) ** 2;
      if (far <= least) [best, least] = [i, far];
    }
    return best;
  }

  function choose(items) {
    model.set("selected", items);
    model.save_changes();
    draw();
  }

  const at = (event) => [event.offsetX, event.offsetY];
  canvas.addEventListener("pointerdown", (event) => {
    const [x, y] = at(event);
    drag = { x, y, now: [x, y], box: event.shiftKey, from: { ...view } };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const [x, y] = at(event);
    if (drag) {
      drag.now = [x, y];
      if (!drag.box) view = { ...view, x: drag.from.x - (x - drag.x) / view.scale, y: drag.from.y + (y - drag.y) / view.scale };
      return draw();
    }
    const i = nearest(x, y);
    hint.style.display = i < 0 ? "none" : "block";
    if (i >= 0) [hint.textContent, hint.style.left, hint.style.top] = [names[i], `${x + 12}px`, `${y + 12}px`];
  });
  canvas.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const [x, y] = at(event);
    const { box, x: x0, y: y0 } = drag;
    drag = null;
    const before = model.get("selected");
    if (Math.hypot(x - x0, y - y0) <= CLICK) {
      const i = nearest(x, y);
      if (i < 0) return choose([]);
      if (!event.shiftKey && !event.ctrlKey && !event.metaKey) return choose([i]);
      return choose(before.includes(i) ? before.filter((each) => each !== i) : [...before, i]);
    }
    if (!box) return;
    const found = [];
    for (let i = 0; i < count; i++) {
      const [px, py] = seen(i);
      if ((px - x0) * (px - x) <= 0 && (py - y0) * (py - y) <= 0) found.push(i);
    }
    choose(found);
  });
  canvas.addEventListener("pointerleave", () => (hint.style.display = "none"));
  canvas.addEventListener("dblclick", () => (showAll(), draw()));
  canvas.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const [x, y] = at(event);
      const [left, up] = [(x - width / 2) / view.scale, (y - height / 2) / view.scale];
      const by = Math.exp(-event.deltaY / 400);
      view = { x: view.x + left * (1 - 1 / by), y: view.y - up * (1 - 1 / by), scale: view.scale * by };
      draw();
    },
    { passive: false },
  );

  const measured = new ResizeObserver(() => {
    const first = !width;
    width = canvas.clientWidth;
    if (first && width) showAll();
    draw();
  });
  measured.observe(canvas);
  model.on("change:selected", draw);
  return () => (measured.disconnect(), model.off("change:selected", draw));
}

export default { render };
