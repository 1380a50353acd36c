"use strict";
(() => {
  const root = document.documentElement;
  const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();

  // "@3" → the page's third colour, "@s0.4" → a place on its scale from dark to light, "@3/0.2" →
  // so much of it; wherever a colour stands.
  const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  const onScale = (place) => {
    const stops = ["--s1", "--s2", "--s3"].map((name) => channels(css(name)));
    const from = place < 0.5 ? 0 : 1;
    const part = 2 * place - from;
    return stops[from].map((low, at) => Math.round(low + part * (stops[from + 1][at] - low)));
  };
  const colour = (token) => {
    const [name, alpha] = token.slice(1).split("/");
    if (name[0] === "s" || alpha) {
      const parts = name[0] === "s" ? onScale(+name.slice(1)) : channels(css("--c" + name));
      return "rgba(" + parts.join(",") + "," + (alpha || 1) + ")";
    }
    return css(/^\d+$/.test(name) ? "--c" + name : "--" + name);
  };
  const coloured = (value, key) => {
    if (Array.isArray(value)) return value.map((v) => coloured(v, key));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, coloured(v, k)]));
    }
    const named = (key === "color" || key === "fillcolor") && typeof value === "string" && value[0] === "@";
    return named ? colour(value) : value;
  };

  const themed = (plain, width) => {
    const layout = coloured(plain);
    const second = layout.yaxis2 && layout.yaxis2.visible !== false;
    const themed = {
      margin: { l: 64, r: second ? 72 : 16, t: 40, b: 48 },
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
        ...(layout[name].title && { title: { standoff: 10, ...layout[name].title } }),
      };
    }
    const ticks = themed.xaxis && themed.xaxis.ticktext;
    // Long words below the bars need about 70 pixels each.
    if (ticks && width / ticks.length < 70) {
      themed.xaxis = { ...themed.xaxis, ticktext: themed.xaxis.tickvals };
    }
    if (width < 560 && themed.yaxis.ticktext) {
      themed.yaxis = { ...themed.yaxis, ticktext: themed.yaxis.tickvals };
    }
    if (width < 560 && layout.showlegend !== false) {
      const above = layout.legend && (layout.legend.yanchor ? layout.legend : { y: 1.2 });
      themed.legend = { orientation: "h", y: -0.25, x: 0, ...above };
      themed.margin = { ...themed.margin, l: 48, r: second ? 56 : 8 };
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
    // What is folded away has no width yet.
    if (!place || !spec || typeof Plotly === "undefined" || place.closest("details:not([open])")) return;
    const waiting = place.querySelector(".waiting");
    if (waiting) waiting.remove();
    Plotly.react(place, coloured(spec.data), themed(spec.layout, place.clientWidth), config);
  };
  const figuresOf = (element) => element.dataset.figures.split(" ");
  const colourLegends = () => {
    for (const line of document.querySelectorAll(".legend line")) line.style.stroke = colour(line.dataset.colour);
  };
  const drawAll = () => {
    colourLegends();
    specifications.forEach((_, id) => draw(id));
  };
  drawAll();
  for (const details of document.querySelectorAll("details")) {
    details.addEventListener("toggle", () => {
      if (details.open) details.querySelectorAll(".plot").forEach((place) => draw(place.id));
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  let waiting;
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(drawAll, 150);
  });

  const turned = (axis, on) => {
    const range = axis.range && axis.range.map((end) => (on ? Math.log10(end) : 10 ** end));
    return { ...axis, type: on ? "log" : "linear", ...(range && { range }) };
  };
  for (const button of document.querySelectorAll(".log-switch")) {
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      for (const id of figuresOf(button)) {
        const layout = specifications.get(id).layout;
        layout.yaxis = turned(layout.yaxis, on);
        draw(id);
      }
    });
  }

  // One legend for several figures: a press hides its line in all of them.
  for (const legend of document.querySelectorAll(".legend")) {
    for (const button of legend.querySelectorAll("button")) {
      button.addEventListener("click", () => {
        const on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", String(on));
        for (const id of figuresOf(legend)) {
          for (const trace of specifications.get(id).data) {
            if (trace.legendgroup === button.dataset.group) trace.visible = on;
          }
          draw(id);
        }
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
