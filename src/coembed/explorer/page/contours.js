// Lines of equal density, from cells to lines: in each square of four cells, where a level is crossed.
const SHARES = [0.06, 0.15, 0.3, 0.5, 0.72]; // of the highest density

export function contours({ density, box: [x0, y0, x1, y1], regions }) {
  const rows = density.length;
  const columns = density[0].length;
  const most = Math.max(...density.map((row) => Math.max(...row)));
  const at = (column, row) => [x0 + ((column + 0.5) * (x1 - x0)) / columns, y0 + ((row + 0.5) * (y1 - y0)) / rows];
  const levels = SHARES.map((share) => {
    const level = share * most;
    const lines = [];
    for (let r = 0; r + 1 < rows; r++)
      for (let c = 0; c + 1 < columns; c++) {
        const corners = [[c, r], [c + 1, r], [c + 1, r + 1], [c, r + 1]];
        const heights = corners.map(([column, row]) => density[row][column]);
        const crossed = [];
        for (let k = 0; k < 4; k++) {
          const [a, b] = [heights[k], heights[(k + 1) % 4]];
          if (a < level === b < level) continue;
          const share = (level - a) / (b - a);
          const [p, q] = [corners[k], corners[(k + 1) % 4]];
          crossed.push(at(p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])));
        }
        // two crossings are a line; of four, a saddle, the first two and the last two
        for (let k = 0; k + 1 < crossed.length; k += 2) lines.push(...crossed[k], ...crossed[k + 1]);
      }
    return Float32Array.from(lines);
  });
  return { levels, regions };
}
