// What a reader does with a figure: point at it, zoom, switch series on and off, save.

const headingOf = (axis, place) => {
  const [short, long] = axis.categories[Math.round(place)] || ["", []];
  return (short + " " + long.join(" · ")).trimEnd();
};

// Everything that says something, where it stands, and how far the pointer is from it.
const targets = function* (plot) {
  const { spec, edges, width, height } = plot;
  for (const [at, series] of spec.series.entries()) {
    if (!series.says && !series.heading) continue;
    if (!plot.isShown(at)) continue;
    for (let point = 0; point < series.x.length; point++) {
      if (series.y[point] === null || (series.says && !series.says[point])) continue;
      const box = boxOf(plot, series, point);
      const x = (box.left + box.right) / 2;
      const inside = box.right >= edges.left - 5 && box.left <= width - edges.right + 5 && box.bottom >= edges.top - 5 && box.top <= height - edges.bottom + 5;
      if (!inside) continue;
      const lines = ((series.says && series.says[point]) || "").split("\n");
      const axis = spec.lying ? spec.y : spec.x;
      const place = spec.lying ? series.y[point] : series.x[point];
      const heading = axis.categories ? headingOf(axis, place) : series.heading;
      if (heading) lines.unshift(heading);
      yield { at, point, box, x: spec.lying ? box.right : x, y: spec.lying ? (box.top + box.bottom) / 2 : box.top, lines };
    }
  }
};

const boxOf = ({ spec, now }, series, point) => {
  const [x, y] = [series.x[point], series.y[point]];
  const up = now[series.side || "left"];
  if (series.mark !== "bars") {
    const [left, top] = [now.x.at(x), up.at(y)];
    return { left, right: left, top, bottom: top, bar: false };
  }
  const base = series.bases ? series.bases[point] : 0;
  const [offset, thick] = series.slot;
  const ends = (middle) => [middle + offset - thick / 2, middle + offset + thick / 2];
  const across = spec.lying ? [base, base + x] : ends(x);
  const upright = spec.lying ? ends(y) : [base, base + y];
  const [left, right] = across.map(now.x.at).sort((a, b) => a - b);
  const [top, bottom] = upright.map(up.at).sort((a, b) => a - b);
  return { left, right, top, bottom, bar: true };
};

// Bars are taken from anywhere above or beside them, but a dot nearby wins.
const distance = ({ box }, x, y, lying) => {
  const dx = Math.max(box.left - x, 0, x - box.right);
  const dy = Math.max(box.top - y, 0, y - box.bottom);
  if (!box.bar) return Math.hypot(dx, dy);
  return 12 + (lying ? Math.hypot(dx / 20, dy) : Math.hypot(dx, dy / 20));
};

const pointing = (plot) => {
  const { place, svg, spec } = plot;
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  tip.hidden = true;
  const ring = element("circle", { class: "ring off", r: 6 });
  svg.append(ring);
  place.append(tip);
  let current;
  const hide = () => {
    tip.hidden = true;
    ring.classList.add("off");
    current = undefined;
  };
  const show = (target) => {
    if (!target) return hide();
    if (current && current.at === target.at && current.point === target.point && !tip.hidden) return;
    current = target;
    const [first, ...rest] = target.lines;
    const strong = document.createElement("strong");
    strong.textContent = first;
    tip.replaceChildren(strong, ...rest.filter(Boolean).map((line) => Object.assign(document.createElement("div"), { textContent: line })));
    tip.hidden = false;
    const scale = svg.clientWidth / plot.width || 1;
    const [x, y] = [target.x * scale, target.y * scale];
    const beside = x + 12 + tip.offsetWidth < place.clientWidth ? x + 12 : Math.max(0, x - 12 - tip.offsetWidth);
    tip.style.left = beside + "px";
    tip.style.top = Math.max(0, y - tip.offsetHeight - 8) + "px";
    ring.classList.toggle("off", target.box.bar);
    ring.setAttribute("cx", target.x);
    ring.setAttribute("cy", target.y);
  };
  const nearest = (x, y) => {
    let best;
    let least = 32;
    for (const target of targets(plot)) {
      const away = distance(target, x, y, spec.lying);
      if (away < least) [best, least] = [target, away];
    }
    return best;
  };
  // From point to point of a series, and from series to series, by keys.
  const step = (points, seriesStep) => {
    const all = [...targets(plot)];
    if (!all.length) return;
    const here = current ? all.findIndex((t) => t.at === current.at && t.point === current.point) : -1;
    if (here < 0) return show(all[0]);
    if (points) return show(all[(here + points + all.length) % all.length]);
    const series = [...new Set(all.map((t) => t.at))];
    const next = series[(series.indexOf(all[here].at) + seriesStep + series.length) % series.length];
    const own = all.filter((t) => t.at === next);
    show(own.reduce((best, t) => (Math.abs(t.x - all[here].x) < Math.abs(best.x - all[here].x) ? t : best)));
  };
  return { show, hide, nearest, step };
};

const zooming = (plot, tip) => {
  const { svg } = plot;
  const box = element("rect", { class: "box off" });
  svg.append(box);
  const where = (event) => {
    const frame = svg.getBoundingClientRect();
    const scale = plot.width / frame.width;
    return [(event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale];
  };
  const middle = (factor, [x, y] = []) => {
    const { top, right, bottom, left } = plot.edges;
    const part = (low, high, at = (low + high) / 2) => [at + (low - at) * factor, at + (high - at) * factor];
    const lying = plot.spec.lying;
    const across = part(left, plot.width - right, x);
    const up = part(top, plot.height - bottom, y);
    // Bars keep standing on zero.
    plot.zoom(lying && !x ? undefined : across, plot.spec.x.categories && !lying ? undefined : up);
  };
  let from;
  let last;
  svg.addEventListener("pointerdown", (event) => {
    if (event.button || event.pointerType === "touch") return;
    from = last = where(event);
    svg.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  svg.addEventListener("pointermove", (event) => {
    const [x, y] = where(event);
    if (!from) return tip.show(tip.nearest(x, y));
    tip.hide();
    if (event.shiftKey) {
      const { top, right, bottom, left } = plot.edges;
      const [dx, dy] = [last[0] - x, last[1] - y];
      plot.zoom([left + dx, plot.width - right + dx], [top + dy, plot.height - bottom + dy]);
      last = from = [x, y];
      return;
    }
    const ends = span(plot, from, [x, y]);
    const rect = { x: ends.across[0], y: ends.up[0], width: ends.across[1] - ends.across[0], height: ends.up[1] - ends.up[0] };
    for (const key in rect) box.setAttribute(key, rect[key]);
    box.classList.remove("off");
  });
  svg.addEventListener("pointerup", (event) => {
    if (!from) return;
    const { across, up, wide, high } = span(plot, from, where(event));
    from = undefined;
    box.classList.add("off");
    if (wide || high) plot.zoom(wide && across, high && up);
  });
  svg.addEventListener("pointercancel", () => {
    from = undefined;
    box.classList.add("off");
  });
  svg.addEventListener("pointerleave", () => from || tip.hide());
  svg.addEventListener("click", (event) => event.pointerType === "touch" && tip.show(tip.nearest(...where(event))));
  svg.addEventListener("dblclick", () => plot.reset());
  // A pinch on a touchpad comes as a wheel with this key; a wheel alone scrolls the page.
  svg.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    tip.hide();
    middle(event.deltaY < 0 ? 1 / 1.2 : 1.2, where(event));
  }, { passive: false });
  return middle;
};

// What a drag means: a box, or, where it is flat, a part of one axis.
const span = (plot, from, to) => {
  const { top, right, bottom, left } = plot.edges;
  const cut = (value, low, high) => Math.min(high, Math.max(low, value));
  const [wide, high] = [Math.abs(from[0] - to[0]) > 10, Math.abs(from[1] - to[1]) > 10];
  const across = [from[0], to[0]].sort((a, b) => a - b).map((x) => cut(x, left, plot.width - right));
  const up = [from[1], to[1]].sort((a, b) => a - b).map((y) => cut(y, top, plot.height - bottom));
  return {
    wide,
    high,
    across: wide ? across : [left, plot.width - right],
    up: high ? up : [top, plot.height - bottom],
  };
};

const keys = (plot, tip, middle) => {
  const acts = {
    ArrowRight: () => tip.step(1),
    ArrowLeft: () => tip.step(-1),
    ArrowDown: () => tip.step(0, 1),
    ArrowUp: () => tip.step(0, -1),
    "+": () => middle(1 / 1.5),
    "-": () => middle(1.5),
    0: () => plot.reset(),
    Escape: () => tip.hide(),
  };
  plot.place.tabIndex = 0;
  plot.place.setAttribute("role", "group");
  plot.place.setAttribute("aria-label", "⟦figure⟧");
  plot.place.addEventListener("keydown", (event) => {
    const act = event.target === plot.place && !event.ctrlKey && !event.metaKey && !event.altKey && acts[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
  plot.place.addEventListener("focusout", tip.hide);
};
