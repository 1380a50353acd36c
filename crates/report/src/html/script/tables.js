// Tables: a cue where there is more to the side, pages of rows, and copies for other programs.

// Name, header and rows as text; what stands smaller beside a number has a column of its own.
const tableText = (table) => {
  const main = (cell) => {
    const copy = cell.cloneNode(true);
    copy.querySelectorAll(".half, .badge").forEach((part) => part.remove());
    return copy.textContent.replace(/\s+/g, " ").trim();
  };
  const small = (cell) => [...cell.querySelectorAll(".half")].map((part) => part.textContent.trim()).join(" ");
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells]);
  const split = heads.map((_, at) => rows.some((row) => row[at] && small(row[at])));
  const wide = (row, of) => row.flatMap((cell, at) => (split[at] ? of(cell) : [main(cell)]));
  const plain = (text) => (/^-?\d{1,3}(⟦thousands⟧\d{3})+(\⟦decimal⟧\d+)?$/.test(text) ? text.replaceAll("⟦thousands⟧", "") : text);
  return {
    caption: table.caption.textContent.trim(),
    heads: wide(heads, (cell) => [main(cell), main(cell) + "⟦interval⟧"]),
    rows: rows.map((row) => wide(row, (cell) => [main(cell), small(cell)]).map(plain)),
    numbers: heads.flatMap((head, at) => Array(split[at] ? 2 : 1).fill(head.classList.contains("number"))),
  };
};
const FORMS = {
  csv: ({ heads, rows }) => [heads, ...rows].map((row) => row.map(csvCell).join(",") + "\r\n").join(""),
  markdown: ({ heads, rows, numbers }) => {
    const line = (cells) => "| " + cells.map((cell) => cell.replace(/([\\|`*_<>\[\]])/g, "\\$1")).join(" | ") + " |";
    return [line(heads), "|" + numbers.map((is) => (is ? "---:|" : "---|")).join(""), ...rows.map(line)].join("\n") + "\n";
  },
  latex: ({ caption, heads, rows, numbers }) => {
    const special = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "±": "$\\pm$", "×": "$\\times$", "−": "$-$", "≤": "$\\le$", "→": "$\\to$", "\u00a0": "~", "€": "\\texteuro{}" };
    const safe = (text) => text.replace(/[\\~^±×−≤→€\u00a0]/g, (c) => special[c]).replace(/(?<!\\)[&%#_]/g, "\\$&").replace(/(US|R)?\$(?=[ ~]?\d)/g, "$1\\$$");
    const line = (cells) => cells.map(safe).join(" & ") + " \\\\";
    const columns = numbers.map((is) => (is ? "r" : "l")).join("");
    return ["% needs \\usepackage{booktabs}", "\\begin{table}", "\\centering", `\\caption{${safe(caption)}}`, `\\begin{tabular}{${columns}}`, "\\toprule", line(heads), "\\midrule", ...rows.map(line), "\\bottomrule", "\\end{tabular}", "\\end{table}"].join("\n") + "\n";
  },
};

const copyText = async (text) => {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Pages that were opened from a file may not use the clipboard everywhere.
    const area = Object.assign(document.createElement("textarea"), { value: text });
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
};
const said = Object.assign(document.createElement("p"), { className: "unseen" });
said.setAttribute("role", "status");
document.body.append(said);

const toolBar = (buttons) => {
  const bar = Object.assign(document.createElement("div"), { className: "tools" });
  for (const [text, about, act] of buttons) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: text, title: about });
    button.setAttribute("aria-label", about);
    button.addEventListener("click", async () => {
      const done = await act();
      if (!done) return;
      said.textContent = button.textContent = done;
      setTimeout(() => (button.textContent = text), 1500);
    });
    bar.append(button);
  }
  return bar;
};
const copied = (of) => async () => (await copyText(of()), "⟦copied⟧");

document.querySelectorAll("table.data").forEach((table, at) => {
  const name = table.caption.textContent.trim();
  const text = (form) => FORMS[form](tableText(table));
  const csv = () => saveAs(fileName(`table-${at + 1}`, "csv"), new Blob([text("csv")], { type: "text/csv" }));
  table.parentNode.after(toolBar([
    ["CSV", `⟦table-csv⟧: ${name}`, csv],
    ["Markdown", `⟦table-markdown⟧: ${name}`, copied(() => text("markdown"))],
    ["LaTeX", `⟦table-latex⟧: ${name}`, copied(() => text("latex"))],
  ]));
});
for (const block of document.querySelectorAll(".block")) {
  const text = () => block.querySelector("code").textContent;
  const keep = () => saveAs(block.dataset.name, new Blob([text()], { type: "text/plain" }));
  block.append(toolBar([
    ["⟦copy-button⟧", `⟦copy⟧ ${block.dataset.name}`, copied(text)],
    ["⟦save-button⟧", `⟦save⟧ ${block.dataset.name}`, keep],
  ]));
}

// A table that is wider than the page can be scrolled by keys, and says that there is more.
const wides = new ResizeObserver((changes) => {
  for (const { target } of changes) {
    const wide = target.closest(".wide");
    const clipped = wide.scrollWidth > wide.clientWidth + 1;
    wide.classList.toggle("clipped", clipped);
    if (clipped) {
      wide.tabIndex = 0;
      wide.setAttribute("role", "region");
      wide.setAttribute("aria-label", `⟦table⟧: ${wide.querySelector("caption").textContent}`);
    } else for (const name of ["tabindex", "role", "aria-label"]) wide.removeAttribute(name);
  }
});
document.querySelectorAll(".wide").forEach((wide) => [wide, wide.firstElementChild].forEach((part) => wides.observe(part)));

// Long tables in pages; all rows when printed, sorted and copied.
const PAGE = 50;
for (const table of document.querySelectorAll("table.data")) {
  const count = table.tBodies[0].rows.length;
  if (count <= PAGE + 10) continue;
  const bar = Object.assign(document.createElement("div"), { className: "pages" });
  const where = document.createElement("span");
  let first = 0;
  const show = () => {
    [...table.tBodies[0].rows].forEach((row, at) => row.classList.toggle("other-page", at < first || at >= first + PAGE));
    where.textContent = `⟦rows⟧ ${first + 1} ⟦to⟧ ${Math.min(first + PAGE, count)} ⟦of⟧ ${count.toLocaleString("⟦language⟧")}`;
    back.disabled = first === 0;
    next.disabled = first + PAGE >= count;
  };
  const go = (by) => {
    first = Math.max(0, first + by);
    show();
  };
  const button = (text, by) => {
    const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
    made.addEventListener("click", () => go(by));
    return made;
  };
  const back = button("← ⟦previous⟧", -PAGE);
  const next = button("⟦next⟧ →", PAGE);
  where.setAttribute("role", "status");
  bar.append(back, where, next);
  table.parentNode.before(bar);
  table.addEventListener("sorted", () => go(-first));
  show();
}
