// The colours of the classes and of the page, in light and in dark.

const SHAPES = ["circle", "square", "triangle", "diamond", "wedge", "plus"];
export const shapeNumber = (mark) => Math.max(0, SHAPES.indexOf(mark));

export const isDark = () => {
  const asked = document.documentElement.dataset.theme;
  return asked ? asked === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

export function hex(colour) {
  const value = parseInt(colour.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

export const mix = (a, b, share) => a.map((value, i) => Math.round(value + share * (b[i] - value)));

const light = (colour) => {
  const [r, g, b] = colour.map((value) => (value <= 10 ? value / 3295 : ((value / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};

// how well a colour is seen on another: 1 not at all, 21 black on white
export function contrast(a, b) {
  const [high, low] = [light(a), light(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
}

const NIGHT = [20, 23, 28];

// on black the colours need more light, the dark ones most, and none must lose its hue
export function classColour(entry) {
  let colour = hex(entry.colour);
  if (!isDark()) return colour;
  colour = mix(colour, [255, 255, 255], 0.25);
  for (let step = 0; step < 8 && contrast(colour, NIGHT) < 4; step++) colour = mix(colour, [255, 255, 255], 0.15);
  return colour;
}

export const css = ([r, g, b], alpha = 1) => `rgb(${r} ${g} ${b} / ${alpha})`;

export function ink() {
  const style = getComputedStyle(document.documentElement);
  const take = (name) => hex(style.getPropertyValue(name).trim());
  return { ink: take("--ink"), muted: take("--muted"), paper: take("--paper"), accent: take("--accent") };
}

export function swatch(shape, colour, size = 12) {
  const ns = "http://www.w3.org/2000/svg";
  const element = document.createElementNS(ns, "svg");
  element.setAttribute("viewBox", "-6 -6 12 12");
  element.setAttribute("width", size);
  element.setAttribute("height", size);
  element.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(ns, "path");
  const paths = {
    circle: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0-10 0",
    square: "M-4.500-4.500h9v9h-9z",
    triangle: "M0-5L5 4H-5z",
    diamond: "M0-5.500L5 0L0 5.500L-5 0z",
    wedge: "M0 5L5-4H-5z",
    plus: "M-2-5h4v3h3v4h-3v3h-4v-3h-3v-4h3z",
    cross: "M-5 0h10M0-5v10",
  };
  path.setAttribute("d", paths[shape] ?? paths.circle);
  if (shape === "cross") {
    path.setAttribute("stroke", colour);
    path.setAttribute("stroke-width", "1.6");
    path.setAttribute("fill", "none");
  } else path.setAttribute("fill", colour);
  element.append(path);
  return element;
}
