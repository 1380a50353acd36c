"use strict";
(() => {
  const root = document.documentElement;
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // "@3" → the page's third colour, wherever a colour stands.
  const coloured = (value, key) => {
    if (Array.isArray(value)) return value.map((v) => coloured(v, key));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, coloured(v, k)]));
    }
    if (key !== "color" || typeof value !== "string" || value[0] !== "@") return value;
    const name = value.slice(1);
    return css(/^\d+$/.test(name) ? "--c" + name : "--" + name);
  };

  const themed = (plain, width) => {
    const layout = coloured(plain);
    const themed = {
      margin: { l: 64, r: layout.yaxis2 ? 72 : 16, t: 40, b: 48 },
      hovermode: "closest",
      modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--muted"), activecolor: css("--accent") },
      ...layout,
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: css("--ink") },
      hoverlabel: { align: "left", bgcolor: css("--panel"), bordercolor: css("--line"), font: { color: css("--ink") } },
    };
    for (const name of ["xaxis", "yaxis", "yaxis2"]) {
      if (!layout[name]) continue;
      themed[name] = {
        ...(layout[name].type === "log" && { dtick: "D2" }),
        gridcolor: css("--grid"), linecolor: css("--line"), zerolinecolor: css("--line"), automargin: true, ...layout[name],
      };
    }
    const ticks = themed.xaxis && themed.xaxis.ticktext;
    // Long words below the bars need about 70 pixels each.
    if (ticks && width / ticks.length < 70) {
      themed.xaxis = { ...themed.xaxis, ticktext: themed.xaxis.tickvals };
    }
    if (width < 560) {
      themed.legend = { orientation: "h", y: -0.25, x: 0, ...(layout.legend && { y: 1.2 }) };
      themed.margin = { ...themed.margin, l: 48, r: layout.yaxis2 ? 56 : 8 };
    }
    return themed;
  };

  const config = {
    responsive: true,
    displaylogo: false,
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
    toImageButtonOptions: { format: "svg" },
  };

  const specifications = new Map();
  for (const script of document.querySelectorAll("script.figure-data")) {
    specifications.set(script.dataset.for, JSON.parse(script.textContent));
  }

  const draw = (id) => {
    const place = document.getElementById(id);
    const spec = specifications.get(id);
    if (!place || !spec || typeof Plotly === "undefined") return;
    const waiting = place.querySelector(".waiting");
    if (waiting) waiting.remove();
    Plotly.react(place, coloured(spec.data), themed(spec.layout, place.clientWidth), config);
  };
  const drawAll = () => specifications.forEach((_, id) => draw(id));
  drawAll();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  let waiting;
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });

  for (const button of document.querySelectorAll(".log-switch")) {
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      const layout = specifications.get(button.dataset.figure).layout;
      layout.yaxis = { ...layout.yaxis, type: on ? "log" : "linear" };
      draw(button.dataset.figure);
    });
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
      head.querySelector("button").addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => (down ? -1 : 1) * compare(key(a, column), key(b, column)));
        table.tBodies[0].append(...rows);
      });
    });
  }
})();
