// Figures for the width that the reader has. Their marks stand in the page as SVG, drawn for
// paper; here they are moved from where they were drawn to where they belong in another view
// (width, zoom, linear or logarithmic axis), and the axes are drawn anew around them.

const pen = document.createElement("canvas").getContext("2d");
pen.font = "12px " + getComputedStyle(document.body).fontFamily;
const widthOf = (text) => pen.measureText(text).width;
const widest = (texts) => Math.max(0, ...texts.map(widthOf));
const fitted = (text, most) => {
  if (widthOf(text) <= most) return text;
  let kept = text;
  while (kept && widthOf(kept + "…") > most) kept = kept.slice(0, -1);
  return kept.trimEnd() + "…";
};

const tickText = (value) => {
  const rounded = +value.toPrecision(7);
  const size = Math.abs(rounded);
  if (size && (size < 1e-7 || size >= 1e9)) {
    const [digits, power] = rounded.toExponential(2).split("e");
    const raised = [...String(+power)].map((c) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]).join("");
    return (+digits === 1 ? "" : +digits + "×") + "10" + raised;
  }
  return rounded.toLocaleString("⟦language⟧", { maximumFractionDigits: 12, useGrouping: size >= 1e4 }).replace("-", "−");
};

// With as many decimals as the others have where steps between them are equal.
const tickTexts = (ticks, log) => {
  const texts = ticks.map(tickText);
  if (log || texts.some((text) => text.includes("×"))) return texts;
  const decimals = (text) => (text.split("⟦decimal⟧")[1] || "").length;
  const most = Math.max(0, ...texts.map(decimals));
  return texts.map((text) => (text === "0" || decimals(text) === most ? text : (text.includes("⟦decimal⟧") ? text : text + "⟦decimal⟧") + "0".repeat(most - decimals(text))));
};

const linearTicks = ([low, high], most, whole) => {
  const least = (high - low) / Math.max(most, 2);
  if (!(least > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(least));
  const round = power * ([1, 2, 5].find((part) => least <= part * power * (1 + 1e-9)) || 10);
  const step = whole ? Math.max(1, round) : round;
  const ticks = [];
  for (let n = Math.ceil(low / step - 1e-9); n <= Math.floor(high / step + 1e-9); n++) ticks.push(n * step);
  return ticks;
};
const logTicks = ([low, high], most) => {
  const decades = Math.log10(high / low);
  if (!(decades > 0)) return [low];
  if (decades < 1) return linearTicks([low, high], most);
  const every = Math.max(1, Math.ceil(decades / Math.max(most, 2)));
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    if (power % every) continue;
    for (const part of most / decades >= 3 ? [1, 2, 5] : [1]) ticks.push(part * 10 ** power);
  }
  return ticks;
};

// A value to its place between two pixels, and back.
const mapping = (view, from, to) => {
  const [low, high] = view.range;
  const span = view.log ? Math.log(high / low) : high - low;
  const slack = 1e-9 * (high - low);
  // What a logarithm does not know is far below the foot.
  const at = (value) => from + (to - from) * (view.log ? (value > 0 ? Math.log(value / low) / span : -1) : (value - low) / span);
  const back = (pixel) => {
    const part = (pixel - from) / (to - from);
    return view.log ? low * Math.exp(part * span) : low + part * span;
  };
  const ticks = (apart, whole) => {
    const most = Math.max(2, Math.floor(Math.abs(to - from) / apart));
    const all = view.log ? logTicks(view.range, most) : linearTicks(view.range, most, whole);
    let free = -Infinity;
    return all.filter((value) => {
      const along = Math.abs(at(value) - from);
      // Round numbers come close to each other at the end of a logarithmic axis.
      const fits = value >= low - slack && value <= high + slack && (!view.log || along >= free);
      if (fits) free = along + 18;
      return fits;
    });
  };
  return { at, back, ticks };
};

const element = (name, attributes, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  return made;
};

const NARROW = 560;
const LINE = 15;
const LONGEST_SHORT = 110;

// Which words of categories fit: all, short ones of every so many, or turned ones.
const categoryWords = (categories, across) => {
  const band = across / Math.max(1, categories.length);
  const short = Math.min(widest(categories.map((c) => c[0])), LONGEST_SHORT);
  const long = widest(categories.flatMap((c) => c[1]));
  if (long && Math.max(short, long) + 10 <= band) return { kind: "long", every: 1 };
  if (short + 8 <= band) return { kind: "short", every: 1 };
  if (band >= LINE) return { kind: "turned", every: 1 };
  const rounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
  return { kind: "short", every: rounds.find((n) => band * n >= short + 10) || categories.length };
};

class Plot {
  constructor(place, spec) {
    this.place = place;
    this.spec = spec;
    this.svg = place.querySelector("svg");
    this.height = spec.height;
    const [top, right, bottom, left] = spec.margins;
    this.view = this.whole();
    const drawn = this.scales({ top, right, bottom, left }, spec.width, this.view);
    this.pieces = [...this.svg.querySelectorAll(".marks > g")].flatMap((group) => {
      const series = spec.series[+group.dataset.series];
      const up = drawn[series.side || "left"];
      return [...group.children].map((mark) => this.piece(mark, drawn.x, up, series.side || "left"));
    });
    this.names = [...this.svg.querySelectorAll(".names > text")];
  }

  // A mark as it was drawn, in values: numbers of its path, or the one place it stands at.
  piece(mark, x, up, side) {
    const read = (pair) => {
      const [across, height] = pair.split(",").map(Number);
      return [x.back(across), up.back(height)];
    };
    const moved = mark.getAttribute("transform");
    const source = moved || mark.getAttribute("d");
    const parts = source.split(/(-?[\d.]+,-?[\d.]+)/);
    const values = parts.map((part, at) => (at % 2 ? read(part) : part));
    return { mark, side, attribute: moved ? "transform" : "d", values };
  }

  whole() {
    const start = (axis) => axis && { log: axis.log, range: axis.log ? axis.logarithmic : axis.linear };
    return { x: start(this.spec.x), left: start(this.spec.y), right: start(this.spec.right) };
  }

  scales(margins, width, view) {
    const foot = this.height - margins.bottom;
    const ends = this.spec.lying ? [margins.top, foot] : [foot, margins.top];
    return {
      x: mapping(view.x, margins.left, width - margins.right),
      left: mapping(view.left, ...ends),
      right: view.right && mapping(view.right, foot, margins.top),
      foot: { at: (pixels) => foot - pixels, back: (pixel) => foot - pixel },
    };
  }

  margins(width) {
    const { spec, view } = this;
    const upTicks = (axis, side) => widest(tickTexts(mapping(view[side], this.height, 0).ticks(34, axis.whole), view[side].log));
    const named = spec.names && width >= NARROW;
    const left = 12 + Math.max(24, spec.lying ? widest(spec.y.categories.map((row) => this.rowText(row, width))) : upTicks(spec.y, "left"));
    const right = 12 + (spec.right ? upTicks(spec.right, "right") : named ? widest(spec.series.map((one) => one.name)) + 8 : 4);
    let bottom = 26 + (spec.x.title ? 22 : 0);
    if (spec.x.categories) {
      const words = categoryWords(this.shownCategories(spec.x, view.x), width - left - right);
      const lines = Math.max(0, ...spec.x.categories.map((c) => c[1].length));
      if (words.kind === "long") bottom = 26 + LINE * lines;
      if (words.kind === "turned") bottom += widest(spec.x.categories.map((c) => fitted(c[0], LONGEST_SHORT))) - 8;
    }
    return { top: spec.margins[0], right, bottom, left, named };
  }

  // Zoomed in, fewer categories share the width.
  shownCategories(axis, view) {
    const [low, high] = view.range;
    return axis.categories.slice(Math.max(0, Math.ceil(low)), Math.floor(high) + 1);
  }

  rowText([short, long], width) {
    return fitted(width < NARROW ? short : (short + " " + long.join(" · ")).trimEnd(), 0.38 * width);
  }

  draw(width = this.place.clientWidth) {
    if (!width) return;
    this.width = width;
    this.edges = this.margins(width);
    this.now = this.scales(this.edges, width, this.view);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    const { top, right, bottom, left } = this.edges;
    const clip = this.svg.querySelector("clipPath rect");
    const box = { x: left, y: top, width: Math.max(0, width - left - right), height: this.height - top - bottom };
    for (const key in box) clip.setAttribute(key, box[key]);
    for (const { mark, side, attribute, values } of this.pieces) {
      const place = ([x, y]) => this.now.x.at(x).toFixed(2) + "," + this.now[side].at(y).toFixed(2);
      mark.setAttribute(attribute, values.map((value, at) => (at % 2 ? place(value) : value)).join(""));
    }
    this.svg.querySelector(".axes").replaceChildren(...this.axes());
    this.placeLabels();
    this.placeNames();
  }

  axes() {
    const { spec, now, edges, width } = this;
    const foot = this.height - edges.bottom;
    const end = width - edges.right;
    const made = [];
    const line = (kind, d) => made.push(element("path", { class: kind, d }));
    const text = (anchor, x, y, words, more) => made.push(element("text", { "text-anchor": anchor, x, y, ...more }, words));
    if (spec.lying) {
      spec.y.categories.forEach((row, place) => {
        const y = now.left.at(place);
        if (y >= edges.top && y <= foot) text("end", edges.left - 8, y + 4, this.rowText(row, width));
      });
    } else {
      const ticks = now.left.ticks(34, spec.y.whole);
      const texts = tickTexts(ticks, this.view.left.log);
      ticks.forEach((value, at) => {
        const y = now.left.at(value);
        line("grid", `M${edges.left},${y}L${end},${y}`);
        text("end", edges.left - 8, y + 4, texts[at]);
      });
    }
    if (spec.right) {
      const ticks = now.right.ticks(34);
      tickTexts(ticks, this.view.right.log).forEach((words, at) => text("start", end + 8, now.right.at(ticks[at]) + 4, words));
    }
    const long = spec.x.categories ? this.categoryNames(made) : this.valuesAcross(line, text);
    line("base", `M${edges.left},${foot}L${end},${foot}`);
    const title = { class: "title" };
    if (spec.y.title) text("start", Math.max(2, edges.left - 8 - widthOf(spec.y.title)), 14, spec.y.title, title);
    if (spec.right) text("end", width - 2, 14, spec.right.title, title);
    if (spec.x.title && !long) text("middle", (edges.left + end) / 2, this.height - 6, spec.x.title, title);
    return made;
  }

  valuesAcross(line, text) {
    const { spec, now, edges, width } = this;
    const foot = this.height - edges.bottom;
    const [low, high] = this.view.x.range;
    const marked = spec.x.ticks && spec.x.ticks.filter((value) => value >= low && value <= high);
    // Zoomed in between the levels of a factor, other values are marked.
    const levels = marked && marked.length > 1;
    const ticks = levels ? marked : now.x.ticks(width < NARROW ? 45 : 80, spec.x.whole);
    const texts = tickTexts(ticks, levels || this.view.x.log);
    let free = -Infinity;
    ticks.forEach((value, at) => {
      const x = now.x.at(value);
      line("grid", `M${x},${edges.top}L${x},${foot}`);
      const half = widthOf(texts[at]) / 2;
      if (x - half < free) return;
      const middle = Math.min(x, width - half);
      text("middle", middle, foot + 18, texts[at]);
      free = middle + half + 6;
    });
  }

  categoryNames(made) {
    const { spec, now, edges, width } = this;
    const foot = this.height - edges.bottom;
    const words = categoryWords(this.shownCategories(spec.x, this.view.x), width - edges.left - edges.right);
    spec.x.categories.forEach(([short, long], place) => {
      const x = now.x.at(place);
      if (place % words.every || x < edges.left || x > width - edges.right) return;
      const name = fitted(short, LONGEST_SHORT);
      if (words.kind === "turned") {
        made.push(element("text", { "text-anchor": "end", transform: `translate(${x + 4},${foot + 8})rotate(-90)` }, name));
        return;
      }
      const strong = words.kind === "long" ? { class: "strong" } : {};
      made.push(element("text", { "text-anchor": "middle", x, y: foot + 17, ...strong }, name));
      if (words.kind !== "long") return;
      long.forEach((level, at) => made.push(element("text", { "text-anchor": "middle", x, y: foot + 32 + LINE * at }, level)));
    });
    return words.kind === "long";
  }

  // Later series are more important, and labelled first.
  placeLabels() {
    if (!this.now) return;
    const labels = [...this.pieces].reverse().filter(({ mark }) => mark.classList.contains("label"));
    const pointOf = ({ side, values }) => ({ x: this.now.x.at(values[1][0]), y: this.now[side].at(values[1][1]) });
    // Labels of points with whiskers stand beside them, and cover no other such point.
    const isBeside = ({ mark }) => "beside" in mark.dataset;
    const taken = labels.filter(isBeside).map(pointOf).map(({ x, y }) => ({ left: x - 4, right: x + 4, y: y + 4 }));
    for (const label of labels) {
      const { mark } = label;
      const { x, y } = pointOf(label);
      const wide = widthOf(mark.textContent) / 2;
      const half = wide + 2;
      const sides = isBeside(label) ? [wide + 5, -wide - 5] : [0];
      const meets = (own) => taken.some((other) => own.left < other.right && other.left < own.right && Math.abs(own.y - other.y) < 12);
      const places = [-9, 18].flatMap((dy) => sides.map((dx) => ({ dx, dy, left: x + dx - half, right: x + dx + half, y: y + dy })));
      const free = mark.parentNode.classList.contains("off") ? undefined : places.find((own) => !meets(own));
      const middle = x + (free || places[0]).dx;
      mark.setAttribute("x", Math.max(this.edges.left + wide, Math.min(this.width - this.edges.right - wide, middle)) - x);
      mark.classList.toggle("off", !free);
      if (!free) continue;
      taken.push(free);
      mark.setAttribute("y", free.dy);
    }
  }

  placeNames() {
    if (!this.now || !this.names.length) return;
    const { spec, now, edges, width } = this;
    const foot = this.height - edges.bottom;
    const named = spec.series.filter((one) => one.name && one.mark === "line");
    const ends = this.names.map((name) => {
      const group = this.svg.querySelector(`.marks > [data-group="${CSS.escape(name.dataset.group)}"]`);
      const one = named.find((series) => series === spec.series[+group.dataset.series]);
      const [low, high] = this.view.x.range;
      const last = one.x.findLastIndex((x, at) => one.y[at] !== null && x <= high && x >= low);
      return { name, y: last < 0 ? NaN : now[one.side || "left"].at(one.y[last]) };
    });
    const inside = (end) => edges.named && end.y >= edges.top - 5 && end.y <= foot + 5 && !end.name.classList.contains("off");
    const shown = ends.filter(inside).sort((a, b) => a.y - b.y);
    ends.forEach((end) => end.name.classList.toggle("away", !shown.includes(end)));
    shown.forEach((end, at) => at && (end.y = Math.max(end.y, shown[at - 1].y + 14)));
    let lowest = foot;
    for (const end of [...shown].reverse()) {
      end.y = Math.min(end.y, lowest);
      lowest = end.y - 14;
      end.name.setAttribute("x", width - edges.right + 8);
      end.name.setAttribute("y", end.y + 4);
    }
  }

  show(group, on) {
    this.svg.querySelectorAll(`[data-group="${CSS.escape(group)}"]`).forEach((part) => part.classList.toggle("off", !on));
    this.placeLabels();
    this.placeNames();
  }

  // The band of one line among many.
  pick(group, on) {
    this.svg.querySelectorAll(`.marks > [data-group="${CSS.escape(group)}"]`).forEach((part) => part.classList.toggle("picked", on));
  }

  isShown(at) {
    return !this.svg.querySelector(`.marks > [data-series="${at}"]`).classList.contains("off");
  }

  // All axes that can be so.
  setLog(on) {
    const { x, y, right } = this.spec;
    for (const [side, axis] of [["x", x], ["left", y], ["right", right]]) {
      if (!axis || !axis.switchable || (on && !axis.logarithmic)) continue;
      this.view[side] = { log: on, range: on ? axis.logarithmic : axis.linear };
    }
    this.draw();
  }

  reset() {
    const { log } = this.view.left;
    this.view = this.whole();
    if (this.view.left.log === log) this.draw();
    else this.setLog(log);
  }

  // To what stands between these pixels; an axis without two of them stays.
  zoom(across, up) {
    const { now, view } = this;
    const between = (side, ends) => {
      const range = ends.map(now[side].back).sort((a, b) => a - b);
      const far = Math.abs(range[1] - range[0]) > 1e-9 * Math.max(...range.map(Math.abs));
      return range.every(Number.isFinite) && far ? { ...view[side], range } : view[side];
    };
    if (across) view.x = between("x", across);
    if (up) view.left = between("left", up);
    if (up && view.right) view.right = between("right", up);
    this.draw();
  }
}
