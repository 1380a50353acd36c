// Everything put to work.

const plots = new Map();
const plotsOf = (owner) => owner.dataset.figures.split(" ").map((id) => plots.get(id)).filter(Boolean);

const tools = (plot, middle) => {
  const bar = document.createElement("div");
  bar.className = "tools";
  const add = (text, about, act) => {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: text, title: about, onclick: act });
    button.setAttribute("aria-label", about);
    bar.append(button);
  };
  add("+", "⟦zoom-in⟧", () => middle(1 / 1.5));
  add("−", "⟦zoom-out⟧", () => middle(1.5));
  add("⟲", "⟦show-all⟧", () => plot.reset());
  add("SVG", "⟦figure-svg⟧", () => saveSvg(plot));
  add("PNG", "⟦figure-png⟧", () => savePng(plot));
  add("CSV", "⟦figure-csv⟧", () => saveCsv(plot));
  plot.place.append(bar);
};

for (const data of document.querySelectorAll("script.figure-data")) {
  const plot = new Plot(document.getElementById(data.dataset.for), JSON.parse(data.textContent));
  plots.set(data.dataset.for, plot);
  // As a title it would be shown by the browser over what the points say.
  const title = plot.svg.querySelector("title");
  plot.caption = title.textContent;
  plot.svg.setAttribute("aria-label", title.textContent);
  plot.svg.setAttribute("aria-describedby", plot.svg.querySelector("desc").id);
  plot.svg.removeAttribute("aria-labelledby");
  title.remove();
  const tip = pointing(plot);
  const middle = zooming(plot, tip);
  keys(plot, tip, middle);
  tools(plot, middle);
}

plots.forEach((plot) => plot.draw());
// Also when what was folded away is opened. In the next frame: drawing changes heights.
const sizes = new ResizeObserver((changes) => {
  const changed = changes.map(({ target }) => plots.get(target.id)).filter((plot) => plot.place.clientWidth !== plot.width);
  if (changed.length) requestAnimationFrame(() => changed.forEach((plot) => plot.draw()));
});
plots.forEach((plot) => sizes.observe(plot.place));
// Paper has all sections open, and figures as wide as its text.
let folded = [];
addEventListener("beforeprint", () => {
  folded = [...document.querySelectorAll("details:not([open])")];
  folded.forEach((part) => (part.open = true));
  plots.forEach((plot) => plot.draw(plot.place.closest(".panel-grid:not(.alone)") ? 340 : 700));
});
addEventListener("afterprint", () => {
  folded.forEach((part) => (part.open = false));
  plots.forEach((plot) => plot.draw());
});

for (const button of document.querySelectorAll(".log-switch")) {
  button.addEventListener("click", () => {
    const on = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(on));
    plotsOf(button).forEach((plot) => plot.setLog(on));
  });
}

// One legend may be of several figures: a press hides its series in all of them.
for (const legend of document.querySelectorAll(".legend")) {
  const buttons = [...legend.querySelectorAll("button")];
  const set = (button, on) => {
    button.setAttribute("aria-pressed", String(on));
    plotsOf(legend).forEach((plot) => plot.show(button.dataset.group, on));
  };
  const isOn = (button) => button.getAttribute("aria-pressed") === "true";
  for (const button of buttons) {
    button.title = "⟦toggle⟧";
    button.addEventListener("click", () => set(button, !isOn(button)));
    const pick = (on) => plotsOf(legend).forEach((plot) => plot.pick(button.dataset.group, on));
    for (const event of ["pointerenter", "focus"]) button.addEventListener(event, () => pick(true));
    for (const event of ["pointerleave", "blur"]) button.addEventListener(event, () => pick(false));
    button.addEventListener("dblclick", () => {
      const alone = buttons.every((other) => other === button || !isOn(other));
      buttons.forEach((other) => set(other, alone || other === button));
    });
  }
}

const key = (row, column) => {
  const cell = row.cells[column];
  const number = parseFloat(cell.dataset.sort);
  return Number.isNaN(number) ? cell.textContent : number;
};
const compare = (a, b) => {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a !== typeof b) return typeof a === "number" ? -1 : 1;
  return a.localeCompare(b);
};
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    // In the order of their numbers.
    head.setAttribute("aria-sort", column ? "none" : "ascending");
    head.querySelector("button").addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      heads.forEach((other) => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => (down ? -1 : 1) * compare(key(a, column), key(b, column)));
      table.tBodies[0].append(...rows);
      table.dispatchEvent(new Event("sorted"));
    });
  });
}
