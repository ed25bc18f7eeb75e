// Small charts: curves, bars, a reliability diagram, a confusion matrix. All are plain SVG.
import { count, figure, h, percent, scrolling, short, svg } from "coembed/dom.js";

const PALETTE = ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A500"];

// charts are drawn as wide as there is room for, so that their text keeps its size
const room = (most) => Math.max(260, Math.min(most, innerWidth - 62));

function ticks(low, high, about = 5) {
  const raw = (high - low || 1) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw);
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + step * 1e-6; value += step) found.push(Math.abs(value) < step * 1e-9 ? 0 : value);
  return found;
}

function logTicks(low, high) {
  const powers = Array.from({ length: 16 }, (_, i) => 10 ** (i - 8));
  const inside = (value) => value >= low && value <= high;
  const some = powers.filter(inside);
  return some.length > 3 ? some : powers.flatMap((p) => [p, 3 * p]).filter(inside);
}

// series: { name: [y, ...] } over the same x; a logarithmic axis where all is positive and far apart
export function curves({ title, series, x, mark = null, markText = "", low = null, high = null, xTitle = "epoch" }) {
  const [width, height] = [room(640), 300];
  const box = { left: 52, right: 14, top: 12, bottom: 34 };
  const names = Object.keys(series);
  const all = names.flatMap((name) => series[name]).filter((value) => Number.isFinite(value));
  let [y0, y1] = [low ?? Math.min(...all), high ?? Math.max(...all)];
  const logarithmic = low === null && y0 > 0 && y1 / y0 > 30;
  if (!logarithmic && low === null) y0 = Math.min(0, y0);
  if (y0 === y1) y1 = y0 + 1;
  const shape = logarithmic ? Math.log10 : (value) => value;
  const px = (value) => box.left + ((value - x[0]) / (x.at(-1) - x[0] || 1)) * (width - box.left - box.right);
  const py = (value) => height - box.bottom - ((shape(value) - shape(y0)) / (shape(y1) - shape(y0) || 1)) * (height - box.top - box.bottom);
  const yTicks = logarithmic ? logTicks(y0, y1) : ticks(y0, y1);
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": `${title}: ${names.join(", ")}` });
  for (const value of yTicks)
    chart.append(svg("line", { x1: box.left, x2: width - box.right, y1: py(value), y2: py(value), class: "rule" }), text(logarithmic ? String(Number(value.toPrecision(1))) : figure(value), box.left - 8, py(value) + 4, "end"));
  for (const value of ticks(x[0], x.at(-1), width > 400 ? 6 : 3)) chart.append(text(String(value), px(value), height - box.bottom + 18, "middle"));
  chart.append(text(xTitle, width - box.right, height - 3, "end"));
  if (mark !== null) chart.append(svg("line", { x1: px(mark), x2: px(mark), y1: box.top, y2: height - box.bottom, class: "mark" }), text(markText, px(mark) - 5, box.top + 10, "end"));
  names.forEach((name, i) => {
    const points = series[name].map((value, t) => (Number.isFinite(value) && (!logarithmic || value > 0) ? `${px(x[t]).toFixed(1)},${py(value).toFixed(1)}` : null)).filter(Boolean);
    chart.append(svg("polyline", { points: points.join(" "), fill: "none", stroke: PALETTE[i % PALETTE.length], "stroke-width": i ? 1.6 : 2.4, "stroke-linejoin": "round" }));
    if (points.length === 1) chart.append(svg("circle", { cx: points[0].split(",")[0], cy: points[0].split(",")[1], r: 3, fill: PALETTE[i % PALETTE.length] }));
  });
  // the values under the pointer stand in the legend
  const cursor = svg("line", { y1: box.top, y2: height - box.bottom, class: "cursor", visibility: "hidden" });
  chart.append(cursor);
  const values = names.map(() => h("b"));
  const at = h("small", {}, "");
  const tell = (t) => {
    names.forEach((name, i) => (values[i].textContent = figure(series[name][t])));
    at.textContent = `${xTitle} ${x[t]}`;
  };
  tell(x.length - 1);
  chart.addEventListener("pointermove", (event) => {
    const ratio = width / chart.getBoundingClientRect().width;
    const wanted = x[0] + (((event.clientX - chart.getBoundingClientRect().left) * ratio - box.left) / (width - box.left - box.right)) * (x.at(-1) - x[0]);
    const t = x.reduce((best, value, i) => (Math.abs(value - wanted) < Math.abs(x[best] - wanted) ? i : best), 0);
    cursor.setAttribute("x1", px(x[t]));
    cursor.setAttribute("x2", px(x[t]));
    cursor.setAttribute("visibility", "visible");
    tell(t);
  });
  chart.addEventListener("pointerleave", () => {
    cursor.setAttribute("visibility", "hidden");
    tell(x.length - 1);
  });
  const legend = h("div.chart-legend", {}, names.map((name, i) => h("span", {}, h("i", { style: { background: PALETTE[i % PALETTE.length] } }), name, " ", values[i])), at);
  return h("figure", {}, h("figcaption", {}, title, logarithmic ? h("small", {}, "logarithmic") : null), legend, chart);
}

function text(content, x, y, anchor, kind = "tick") {
  const element = svg("text", { x, y, "text-anchor": anchor, class: kind });
  element.textContent = content;
  return element;
}

const written = (edge) => (typeof edge === "number" ? count(edge) : edge);

export function histogram({ title, bins, note }) {
  const [width, height] = [room(420), 190];
  const box = { left: 10, right: 10, top: 20, bottom: 26 };
  if (!bins.length) return h("figure", {}, h("figcaption", {}, title), h("p.empty", {}, "There is nothing to count."));
  const most = Math.max(...bins.map((bin) => bin.count), 1);
  const wide = (width - box.left - box.right) / bins.length;
  const chart = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": title });
  bins.forEach((bin, i) => {
    if (!bin.count) return;
    const tall = ((height - box.top - box.bottom) * bin.count) / most;
    const range = bin.from === bin.to ? `${bin.from}` : `${written(bin.from)} to ${written(bin.to)}`;
    const column = svg("rect", { x: box.left + i * wide + 0.5, y: height - box.bottom - Math.max(tall, 1), width: Math.max(wide - 1, 0.5), height: Math.max(tall, 1), class: "column" });
    const tip = svg("title");
    tip.textContent = `${range}: ${count(bin.count)}`;
    column.append(tip);
    chart.append(column);
  });
  const growing = typeof bins[0].to === "number" && bins.length > 3 && bins.at(-1).to - bins.at(-1).from > 2 * (bins[1].to - bins[1].from + 1);
  if (growing) for (const [i, bin] of bins.entries()) if (i && i % Math.ceil(bins.length / 6) === 0 && i < bins.length - 1) chart.append(text(written(bin.from), box.left + i * wide, height - 8, "middle"));
  chart.append(text(written(bins[0].from), box.left, height - 8, "start"), text(written(bins.at(-1).to), width - box.right, height - 8, "end"), text(`most: ${count(most)}`, width - box.right, 13, "end"));
  return h("figure", {}, h("figcaption", {}, title, note ? h("small", {}, growing ? `${note}; each bar twice as wide a range` : note) : null), chart);
}

export function reliability({ bins }) {
  const size = room(340);
  const box = { left: 46, right: 26, top: 10, bottom: 40 };
  const px = (value) => box.left + value * (size - box.left - box.right);
  const py = (value) => size - box.bottom - value * (size - box.top - box.bottom);
  const most = Math.max(...bins.map((bin) => bin.nodes), 1);
  const chart = svg("svg", { viewBox: `0 0 ${size} ${size}`, class: "chart square", role: "img", "aria-label": "Reliability: share right by probability" });
  for (const value of [0, 0.25, 0.5, 0.75, 1])
    chart.append(svg("line", { x1: px(0), x2: px(1), y1: py(value), y2: py(value), class: "rule" }), text(percent(value), box.left - 7, py(value) + 4, "end"), text(percent(value), px(value), size - box.bottom + 17, "middle"));
  chart.append(svg("line", { x1: px(0), y1: py(0), x2: px(1), y2: py(1), class: "mark" }));
  chart.append(svg("polyline", { points: bins.map((bin) => `${px(bin.probability)},${py(bin.right)}`).join(" "), fill: "none", stroke: PALETTE[0], "stroke-width": 1.5, opacity: 0.5 }));
  for (const bin of bins) {
    const point = svg("circle", { cx: px(bin.probability), cy: py(bin.right), r: 3 + 9 * Math.sqrt(bin.nodes / most), fill: PALETTE[0], "fill-opacity": 0.75 });
    const tip = svg("title");
    tip.textContent = `said ${percent(bin.probability)}, right ${percent(bin.right)} of ${count(bin.nodes)} nodes`;
    point.append(tip);
    chart.append(point);
  }
  chart.append(text("how sure the model says it is", size - box.right, size - 4, "end"));
  return h("figure", {}, h("figcaption", {}, "Reliability", h("small", {}, "share right by probability; on the line is perfect")), chart);
}

export function confusion({ names, counts }) {
  const sums = counts.map((row) => row.reduce((a, b) => a + b, 0));
  return h(
    "figure",
    {},
    h("figcaption", {}, "Confusion", h("small", {}, "rows: true class; columns: predicted; shade: share of the row")),
    scrolling(
      "Confusion matrix",
      h(
        "table.confusion",
        {},
        h("thead", {}, h("tr", {}, h("th", {}, h("span.unseen", {}, "true class")), names.map((name) => h("th", { scope: "col", title: name }, short(name, 12))), h("th", {}, "right"))),
        h(
          "tbody",
          {},
          counts.map((row, i) =>
            h(
              "tr",
              {},
              h("th", { scope: "row", title: names[i] }, short(names[i], 16)),
              row.map((value, j) => {
                const share = sums[i] ? value / sums[i] : 0;
                return h("td", { class: i === j ? "diagonal" : "off", title: `${names[i]} taken for ${names[j]}: ${value} (${percent(share, 1)})`, "data-share": share.toFixed(3) }, value || "·");
              }),
              h("td.sum", {}, sums[i] ? percent(row[i] / sums[i]) : "–"),
            ),
          ),
        ),
      ),
    ),
  );
}

// the shade of a cell cannot be said in markup under the page's policy; it is set here
export function shade(place) {
  for (const cell of place.querySelectorAll("[data-share]")) cell.style.setProperty("--share", `${Math.round(100 * Number(cell.dataset.share))}%`);
}

export function tiles(list) {
  return h("div.tiles", {}, list.map(([name, value, note]) => h("div.tile", {}, h("b", {}, value), h("span", {}, name), note ? h("small", {}, note) : null)));
}
