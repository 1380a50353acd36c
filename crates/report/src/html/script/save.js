// A figure or its numbers as a file.

const LINES = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "paint-order"];
const PROPERTIES = { g: ["opacity"], path: LINES, text: ["fill", "stroke", "stroke-width", "stroke-linejoin", "paint-order", "font-family", "font-size", "font-weight", "text-anchor"] };

// A copy that needs no style sheet, with the names of what is shown below it.
const standalone = (plot) => {
  const copy = plot.svg.cloneNode(true);
  const legend = document.querySelector(`.legend[data-figures~="${plot.place.id}"]`);
  const styled = [[plot.svg, copy]];
  const below = element("g");
  let [x, y] = [plot.edges.left, plot.height + 16];
  for (const button of legend ? legend.querySelectorAll('[aria-pressed="true"]') : []) {
    const swatch = button.querySelector("svg > g");
    const wide = 34 + widthOf(button.textContent);
    if (x + wide > plot.width && x > plot.edges.left) [x, y] = [plot.edges.left, y + 18];
    const row = element("g", { transform: `translate(${x},${y - 10})` });
    const mark = swatch.cloneNode(true);
    styled.push([swatch, mark]);
    row.append(mark, element("text", { x: 30, y: 10, fill: getComputedStyle(document.body).color, "font-size": 12, "font-family": getComputedStyle(document.body).fontFamily }, button.textContent));
    below.append(row);
    x += wide + 12;
  }
  const height = below.childNodes.length ? y + 10 : plot.height;
  for (const [from, to] of styled) {
    const ours = [to, ...to.querySelectorAll("*")];
    [from, ...from.querySelectorAll("*")].forEach((original, at) => {
      const style = getComputedStyle(original);
      if (style.display === "none") return ours[at].setAttribute("display", "none");
      ours[at].removeAttribute("style");
      for (const name of PROPERTIES[original.localName] || []) ours[at].setAttribute(name, style.getPropertyValue(name));
    });
  }
  copy.querySelectorAll(".ring, .box, .off, .away").forEach((part) => part.remove());
  const paper = getComputedStyle(document.body).backgroundColor;
  copy.querySelector(".axes").before(element("rect", { width: plot.width, height, fill: paper }));
  copy.append(below);
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${plot.width} ${height}`, width: plot.width, height })) copy.setAttribute(name, value);
  copy.prepend(element("title", {}, plot.caption));
  return { text: new XMLSerializer().serializeToString(copy), width: plot.width, height };
};

const fileName = (part, ending) => `${document.title.split(" · ")[0].replace(/[^\p{L}\p{N}]+/gu, "-")}-${part}.${ending}`;
const saveAs = (name, blob) => {
  const link = document.createElement("a");
  link.download = name;
  link.href = URL.createObjectURL(blob);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};

const save = (plot, ending, blob) => saveAs(fileName(plot.place.id, ending), blob);

const saveSvg = (plot) => save(plot, "svg", new Blob([standalone(plot).text], { type: "image/svg+xml" }));

const savePng = (plot) => {
  const { text, width, height } = standalone(plot);
  const image = new Image();
  image.onload = () => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 2 * width, height: 2 * height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob((blob) => save(plot, "png", blob));
  };
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
};

const csvCell = (value) => {
  if (value === null || value === undefined) return "";
  // A spreadsheet would compute what begins so.
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? "'" + value : String(value);
  return /[",\n\r]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
};

const csvOf = ({ x, y, right, series, lying }) => {
  const named = (axis, value) => (axis.categories ? headingOf(axis, value) : value);
  const rows = [["series", x.title || "x", y.title || "y", "low", "high", "axis", "text"]];
  // Intervals in both directions: those of y are `low` and `high`.
  const both = series.some((one) => one.x_low && one.low);
  if (both) rows[0].push("x low", "x high");
  for (const one of series) {
    const [low, high] = one.x_low && !both ? [one.x_low, one.x_high] : [one.low, one.high];
    one.x.forEach((value, at) => {
      const height = one.side === "foot" ? null : named(y, one.y[at]);
      const says = [one.heading, one.says && one.says[at]].filter(Boolean).join("; ").replaceAll("\n", "; ");
      const axis = one.side === "right" ? right.title : (one.x_low && !both) || lying ? x.title : y.title;
      const row = [one.name || one.heading, named(x, value), height, low && low[at], high && high[at], axis, says];
      if (both) row.push(one.x_low && one.x_low[at], one.x_high && one.x_high[at]);
      rows.push(row);
    });
  }
  return rows.map((row) => row.map(csvCell).join(",") + "\r\n").join("");
};
const saveCsv = (plot) => save(plot, "csv", new Blob([csvOf(plot.spec)], { type: "text/csv" }));
