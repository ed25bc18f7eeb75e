// Points on the graphics card: a hundred thousand pan and zoom without a stutter.

const VERTEX = `#version 300 es
in vec2 place;
in vec4 colour;
in vec4 looks;            // shape, state (0 hidden, 1 shown, 2 raised), rim, size in tenths
uniform vec2 centre;
uniform vec2 perUnit;     // world -> clip
uniform float size;
uniform float faded;      // what is left of points that are not raised
out vec4 fill;
flat out float shape;
flat out float rim;
flat out float pixels;
flat out float faded_to;
void main() {
  gl_Position = looks.y < 0.5 ? vec4(2.0, 2.0, 0.0, 1.0) : vec4((place - centre) * perUnit, 0.0, 1.0);
  pixels = size * looks.w / 10.0 * (looks.y > 1.5 ? 1.25 : 1.0);
  gl_PointSize = pixels + 2.0;
  fill = vec4(colour.rgb, colour.a * (looks.y > 1.5 ? 1.0 : faded));
  faded_to = looks.y > 1.5 ? 1.0 : faded;
  shape = looks.x;
  rim = looks.z;
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in vec4 fill;
flat in float shape;
flat in float rim;
flat in float pixels;
flat in float faded_to;
uniform vec3 ink;
out vec4 painted;
float inside(vec2 p) {    // signed distance to the edge, in radii; below 0 is inside
  if (shape < 0.5) return length(p) - 0.92;
  if (shape < 1.5) return max(abs(p.x), abs(p.y)) - 0.82;
  if (shape < 2.5) return max(abs(p.x) * 0.87 - p.y * 0.5, p.y) - 0.6;
  if (shape < 3.5) return (abs(p.x) + abs(p.y)) * 0.75 - 0.7;
  if (shape < 4.5) return max(abs(p.x) * 0.87 + p.y * 0.5, -p.y) - 0.6;
  vec2 q = abs(p);
  float arm = shape < 5.5 ? 0.34 : 0.11;
  return max(min(q.x, q.y) - arm, max(q.x, q.y) - 0.92);
}
void main() {
  vec2 p = (gl_PointCoord * 2.0 - 1.0) * (pixels + 2.0) / pixels;
  float d = inside(p);
  float soft = 1.6 / pixels;
  float cover = 1.0 - smoothstep(-soft, soft, d);
  // a rim on a tiny point would be all of it
  float edge = smoothstep(4.0, 8.0, pixels) * smoothstep(-soft, soft, d + (rim > 0.5 ? 3.2 : 2.4) / pixels);
  // however pale a point is inside, its outline is seen: a tiny point has none and is less pale
  float line = shape > 5.5 ? 0.0 : edge * (rim > 0.5 ? 1.0 : mix(0.6, 1.0, faded_to));
  float floor = shape > 5.5 ? 0.0 : 0.62 * faded_to * (1.0 - smoothstep(4.0, 8.0, pixels));
  float alpha = max(max(fill.a, floor), line * 0.85 * faded_to) * cover;
  if (alpha < 0.004) discard;
  vec3 colour = mix(fill.rgb, ink, edge * (shape > 5.5 ? 0.0 : rim > 0.5 ? 0.85 : 0.45));
  painted = vec4(colour * alpha, alpha);
}`;

export class Points {
  constructor(canvas) {
    const gl = canvas.getContext("webgl2", { antialias: false, premultipliedAlpha: true, preserveDrawingBuffer: true });
    if (!gl) throw new Error("no WebGL");
    this.gl = gl;
    this.canvas = canvas;
    this.program = this.link();
    this.at = Object.fromEntries(["centre", "perUnit", "size", "faded", "ink"].map((name) => [name, gl.getUniformLocation(this.program, name)]));
    this.buffers = { place: gl.createBuffer(), colour: gl.createBuffer(), looks: gl.createBuffer() };
    this.count = 0;
    // the graphics card was taken away, as after a sleep: all must be loaded again
    canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    canvas.addEventListener("webglcontextrestored", () => location.reload());
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  link() {
    const { gl } = this;
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
    return program;
  }

  load(name, array, size, normalised = false) {
    const { gl } = this;
    const location = gl.getAttribLocation(this.program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[name]);
    gl.bufferData(gl.ARRAY_BUFFER, array, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, size, array instanceof Float32Array ? gl.FLOAT : gl.UNSIGNED_BYTE, normalised, 0, 0);
  }

  setPlaces(places) {
    this.count = places.length / 2;
    this.load("place", places, 2);
  }

  setColours(colours) {
    this.load("colour", colours, 4, true);
  }

  setLooks(looks) {
    this.load("looks", looks, 4);
  }

  draw({ x, y, scale }, width, height, ratio, size, faded, ink) {
    const { gl, canvas } = this;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(this.program);
    gl.uniform2f(this.at.centre, x, y);
    gl.uniform2f(this.at.perUnit, (2 * scale) / width, (2 * scale) / height);
    gl.uniform1f(this.at.size, size * ratio);
    gl.uniform1f(this.at.faded, faded);
    gl.uniform3f(this.at.ink, ink[0] / 255, ink[1] / 255, ink[2] / 255);
    gl.drawArrays(gl.POINTS, 0, this.count);
  }
}

// Where there is no WebGL: the same on a plain canvas, discs and crosses only. Slower, but it is there.
export class PlainPoints {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
  }

  setPlaces(places) {
    this.places = places;
  }

  setColours(colours) {
    this.colours = colours;
  }

  setLooks(looks) {
    this.looks = looks;
  }

  draw({ x, y, scale }, width, height, ratio, size, faded) {
    const { canvas, context, places, colours, looks } = this;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    context.scale(ratio, ratio);
    for (let i = 0; i < places.length / 2; i++) {
      if (!looks[4 * i + 1]) continue;
      const px = (places[2 * i] - x) * scale + width / 2;
      const py = height / 2 - (places[2 * i + 1] - y) * scale;
      if (px < -9 || py < -9 || px > width + 9 || py > height + 9) continue;
      const raised = looks[4 * i + 1] > 1;
      context.fillStyle = `rgb(${colours[4 * i]} ${colours[4 * i + 1]} ${colours[4 * i + 2]} / ${(colours[4 * i + 3] / 255) * (raised ? 1 : faded)})`;
      const r = (size * looks[4 * i + 3]) / 20;
      context.beginPath();
      if (looks[4 * i] === 6) {
        context.rect(px - r, py - 0.7, 2 * r, 1.4);
        context.rect(px - 0.7, py - r, 1.4, 2 * r);
      } else context.arc(px, py, r, 0, 7);
      context.fill();
    }
  }
}

export function makePoints(canvas) {
  try {
    return new Points(canvas);
  } catch {
    // a canvas that was asked for WebGL in vain still draws in the plain way
    return new PlainPoints(canvas);
  }
}
