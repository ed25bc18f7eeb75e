// The view as a picture, as it is drawn: PNG from the canvases, SVG drawn again by a pen that writes.
import { css, mix } from "coembed/colours.js";
import { fieldTitle, toneOf } from "coembed/encodings.js";
import { short } from "coembed/dom.js";
import { drawOverlay } from "coembed/overlay.js";
import { saveFile } from "coembed/selection.js";

const FONT = '-apple-system, "Segoe UI", system-ui, sans-serif';
const SHAPES = ["circle", "square", "triangle", "diamond", "wedge", "plus", "cross"];
const round = (value) => Math.round(value * 100) / 100;
const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;").replace(/[\x00-\x08\x0b\x0c\x0e-\x1f]/g, "");

export function savePng({ map, model }) {
  map.points.draw(map.view, map.width, map.height, map.ratio, map.pointSize, map.faded, map.page.ink);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [map.overlay.width, map.overlay.height];
  const pen = canvas.getContext("2d");
  pen.fillStyle = css(map.page.paper);
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(map.points.canvas, 0, 0, canvas.width, canvas.height);
  pen.drawImage(map.overlay, 0, 0);
  pen.setTransform(map.ratio, 0, 0, map.ratio, 0, 0);
  drawKey(map, pen);
  return new Promise((resolve) =>
    canvas.toBlob((blob) => {
      saveFile(blob, `${fileName(model)}.png`);
      resolve();
    }, "image/png"),
  );
}

export function saveSvg({ map, model }) {
  saveFile(new Blob([svgText(map)], { type: "image/svg+xml" }), `${fileName(model)}.svg`);
}

const fileName = (model) => model.model.replace(/[^\w.-]+/g, "-").slice(0, 60) || "map";

export function svgText(map) {
  const pen = new SvgPen(map.overlay.getContext("2d"));
  drawOverlay(map, css, pen);
  drawKey(map, pen);
  const { width, height } = map;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n<rect width="${width}" height="${height}" fill="${css(map.page.paper)}"/>\n<g>${points(map)}</g>\n${pen.written.join("\n")}\n</svg>\n`;
}

// the points in the order and looks of the map, those in view
function points(map) {
  const { items, colours, looks, width, height } = map;
  const written = [];
  items.order.forEach((i, slot) => {
    const [shape, state, rim, size] = looks.subarray(4 * slot, 4 * slot + 4);
    if (!state) return;
    const [x, y] = map.toScreen(items.x[i], items.y[i]);
    if (x < -9 || y < -9 || x > width + 9 || y > height + 9) return;
    const r = ((map.pointSize * size) / 20) * (state > 1 ? 1.25 : 1);
    const [red, green, blue, alpha] = colours.subarray(4 * slot, 4 * slot + 4);
    const faded = state > 1 ? 1 : map.faded;
    const fill = `rgb(${red},${green},${blue})`;
    const line = SHAPES[shape] === "cross" ? `fill="none" stroke="${fill}" stroke-opacity="${round((alpha / 255) * faded)}"` : `fill="${fill}" fill-opacity="${round((alpha / 255) * faded)}" stroke="${css(mix([red, green, blue], map.page.ink, rim ? 0.85 : 0.45))}" stroke-width="${rim ? 1.4 : 0.9}" stroke-opacity="${round(0.85 * faded)}"`;
    written.push(`<path d="${outline(SHAPES[shape], round(x), round(y), r)}" ${line}/>`);
  });
  return written.join("");
}

function outline(shape, x, y, r) {
  const to = (...corners) => `M${corners.map(([a, b]) => `${round(x + a * r)} ${round(y + b * r)}`).join("L")}Z`;
  if (shape === "square") return to([-0.82, -0.82], [0.82, -0.82], [0.82, 0.82], [-0.82, 0.82]);
  if (shape === "triangle") return to([0, -1], [1, 0.7], [-1, 0.7]);
  if (shape === "wedge") return to([0, 1], [1, -0.7], [-1, -0.7]);
  if (shape === "diamond") return to([0, -0.95], [0.95, 0], [0, 0.95], [-0.95, 0]);
  if (shape === "plus") return to([-0.34, -0.92], [0.34, -0.92], [0.34, -0.34], [0.92, -0.34], [0.92, 0.34], [0.34, 0.34], [0.34, 0.92], [-0.34, 0.92], [-0.34, 0.34], [-0.92, 0.34], [-0.92, -0.34], [-0.34, -0.34]);
  if (shape === "cross") return `M${round(x - r)} ${y}H${round(x + r)}M${x} ${round(y - r)}V${round(y + r)}`;
  return `M${round(x - 0.92 * r)} ${y}a${round(0.92 * r)} ${round(0.92 * r)} 0 1 0 ${round(1.84 * r)} 0a${round(0.92 * r)} ${round(0.92 * r)} 0 1 0 ${round(-1.84 * r)} 0`;
}

// what the colours mean, where the legend stands on the page
function drawKey(map, pen) {
  const { entries, field, none } = map.encoding;
  const shown = entries.map((entry, k) => [entry, k]).filter(([, k]) => !map.hidden.has(k)).slice(0, 30);
  if (!shown.length) return;
  const [left, top, step] = [14, 16, 18];
  pen.textBaseline = "top";
  pen.font = `normal 600 13px ${FONT}`;
  pen.fillStyle = css(map.page.ink);
  pen.fillText(short(fieldTitle(field), 26), left, top);
  pen.font = `normal 400 12.5px ${FONT}`;
  shown.forEach(([entry], row) => {
    const y = top + step * (row + 1.2);
    pen.beginPath();
    pen.arc(left + 6, y + 7, 5, 0, 7);
    pen.fillStyle = css(toneOf(entry));
    pen.fill();
    pen.fillStyle = css(map.page.ink);
    pen.fillText(short(entry.label, 28), left + 18, y);
  });
  if (none && !map.hidden.has(entries.length)) pen.fillText("pale: no value", left + 18, top + step * (shown.length + 1.2));
}

// As much of a canvas's pen as the overlay needs; what it draws is written down.
class SvgPen {
  constructor(measure) {
    this.measure = measure;
    this.written = [];
    this.path = "";
    this.dash = [];
    this.lineWidth = 1;
  }

  measureText(text) {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }

  beginPath() {
    this.path = "";
  }

  moveTo(x, y) {
    this.path += `M${round(x)} ${round(y)}`;
  }

  lineTo(x, y) {
    this.path += `L${round(x)} ${round(y)}`;
  }

  closePath() {
    this.path += "Z";
  }

  arc(x, y, r) {
    this.ellipse(x, y, r, r, 0);
  }

  ellipse(x, y, a, b, turn) {
    const [dx, dy] = [a * Math.cos(turn), a * Math.sin(turn)];
    const angle = round((turn * 180) / Math.PI);
    this.path += `M${round(x - dx)} ${round(y - dy)}A${round(a)} ${round(b)} ${angle} 1 0 ${round(x + dx)} ${round(y + dy)}A${round(a)} ${round(b)} ${angle} 1 0 ${round(x - dx)} ${round(y - dy)}`;
  }

  setLineDash(dash) {
    this.dash = dash;
  }

  fill() {
    this.written.push(`<path d="${this.path}" fill="${this.fillStyle}"/>`);
  }

  stroke() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    this.written.push(`<path d="${this.path}" fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"${dash}/>`);
  }

  text(text, x, y, paint) {
    const [, style, weight, size] = /^(\w+) (\d+) ([\d.]+)px/.exec(this.font);
    // the top of a text on a canvas is about four fifths of its size above the line it stands on
    this.written.push(`<text x="${round(x)}" y="${round(y + 0.82 * size)}" font-family="system-ui, sans-serif" font-size="${size}" font-weight="${weight}" font-style="${style}" ${paint}>${escaped(text)}</text>`);
  }

  strokeText(text, x, y) {
    this.text(text, x, y, `fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}" stroke-linejoin="round"`);
  }

  fillText(text, x, y) {
    this.text(text, x, y, `fill="${this.fillStyle}"`);
  }
}
