// Tables: a cue where there is more to the side, pages of rows, and copies for other programs.

// Name, header and rows as text; what stands smaller beside a number is apart.
const tableText = (table) => {
  const main = (cell) => {
    const copy = cell.cloneNode(true);
    copy.querySelectorAll(".half, .badge").forEach((part) => part.remove());
    return copy.textContent.replace(/\s+/g, " ").trim();
  };
  const small = (cell) => [...cell.querySelectorAll(".half")].map((part) => part.textContent.trim()).join(" ");
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...table.tBodies[0].rows].map((row) => [...row.cells]);
  return {
    caption: table.caption.textContent.trim(),
    heads: heads.map(main),
    rows: rows.map((row) => row.map((cell) => ({ main: main(cell), small: small(cell) }))),
    numbers: heads.map((head) => head.classList.contains("number")),
  };
};
// For readers, as the exports join them.
const joined = ({ main, small }) => (!small ? main : small.startsWith("±") ? `${main} ${small}` : `${main} (${small})`);

// What LaTeX takes for a command, or its usual fonts lack: as the export for LaTeX writes it.
const LATEX = {
  "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}",
  "±": "$\\pm$", "×": "$\\times$", "−": "$-$", "≤": "$\\leq$", "≥": "$\\geq$", "≈": "$\\approx$", "→": "$\\rightarrow$", "·": "$\\cdot$", "⁻": "$^{-}$",
  "–": "--", "—": "---", "…": "\\ldots{}", "µ": "\\textmu{}", "€": "\\texteuro{}", "\u00a0": "~", "\u202f": "~",
};
for (const c of "&%$#_{}") LATEX[c] = `\\${c}`;
[..."⁰¹²³⁴⁵⁶⁷⁸⁹"].forEach((c, digit) => (LATEX[c] = `$^{${digit}}$`));
const latexText = (text) => [...text].map((c) => LATEX[c] ?? c).join("");

// In points: the text of `article`, a character of \footnotesize, the gap between columns, words in lines.
const [PAGE_WIDTH, CHARACTER, GAP, WORDS] = [345, 5, 6, 150];
const ROWS_ON_PAPER = 45;
// Columns beside each other as far as they fit, the others in further parts, which repeat the first; and no part
// longer than a page.
const latexTables = ({ caption, heads, rows, numbers }, label) => {
  const lines = rows.map((row) => row.map(joined));
  const length = (at) => lines.reduce((most, row) => Math.max(most, [...(row[at] ?? "")].length), [...heads[at]].length);
  const columns = heads.map((_, at) => {
    const width = CHARACTER * length(at);
    const folds = !numbers[at] && width > WORDS;
    return { folds, width: GAP + (folds ? WORDS : width), is: folds ? `>{\\raggedright\\arraybackslash}p{${WORDS}pt}` : numbers[at] ? "r" : "l" };
  });
  const width = (part) => part.reduce((sum, at) => sum + columns[at].width, 0);
  const parts = [[0]];
  for (let at = 1; at < heads.length; at++) {
    const part = parts.at(-1);
    if (part.length > 1 && width(part) + columns[at].width > PAGE_WIDTH) parts.push([0, at]);
    else part.push(at);
  }
  // Ragged lines are not full.
  const height = (row, part) => part.reduce((most, at) => Math.max(most, columns[at].folds ? Math.ceil((1.2 * CHARACTER * [...(row[at] ?? "")].length) / WORDS) : 1), 1);
  const pages = (part) => {
    const found = [[]];
    let used = 0;
    for (const row of lines) {
      used += height(row, part);
      if (used > ROWS_ON_PAPER && found.at(-1).length) {
        found.push([]);
        used = height(row, part);
      }
      found.at(-1).push(row);
    }
    return found;
  };
  const tables = parts.flatMap((part) => pages(part).map((page) => [part, page]));
  const written = ([part, page], at) => {
    const line = (cells) => part.map((column) => latexText(cells[column] ?? "")).join(" & ") + " \\\\";
    const which = tables.length > 1 ? ` (${at + 1} ⟦of⟧ ${tables.length})` : "";
    const [begin, end] = width(part) > PAGE_WIDTH ? ["\\resizebox{\\textwidth}{!}{%", "}"] : [];
    return [
      "\\begin{table}", "\\centering\\footnotesize\\setlength{\\tabcolsep}{3pt}", `\\caption{${latexText(caption)}${which}}\\label{${label}${at ? `-${at + 1}` : ""}}`,
      begin, `\\begin{tabular}{${part.map((column) => columns[column].is).join("")}}`, "\\toprule", line(heads), "\\midrule", ...page.map(line), "\\bottomrule", "\\end{tabular}", end, "\\end{table}",
    ].filter((one) => one).join("\n") + "\n";
  };
  return "% \\usepackage{array,booktabs,graphicx}\n" + tables.map(written).join("");
};

const FORMS = {
  // Numbers for programs: what stands beside one has a column of its own, and no mark of thousands.
  csv: ({ heads, rows }) => {
    const split = heads.map((_, at) => rows.some((row) => row[at]?.small));
    const wide = (cells, of) => cells.flatMap((cell, at) => (split[at] ? of(cell) : of(cell)[0]));
    const plain = (text) => (/^-?\d{1,3}(⟦thousands⟧\d{3})+(\⟦decimal⟧\d+)?$/.test(text) ? text.replaceAll("⟦thousands⟧", "") : text);
    const lines = [wide(heads, (head) => [head, head + "⟦interval⟧"]), ...rows.map((row) => wide(row, ({ main, small }) => [main, small]).map(plain))];
    return lines.map((line) => line.map(csvCell).join(",") + "\r\n").join("");
  },
  markdown: ({ heads, rows, numbers }) => {
    const line = (cells) => "| " + cells.map((cell) => cell.replace(/([\\|`*_<>\[\]])/g, "\\$1")).join(" | ") + " |";
    return [line(heads), "|" + numbers.map((is) => (is ? "---:|" : "---|")).join(""), ...rows.map((row) => line(row.map(joined)))].join("\n") + "\n";
  },
  latex: latexTables,
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
  const label = fileName(`table-${at + 1}`, "").replace(/[^A-Za-z0-9]+/g, "-").replace(/-$/, "");
  const text = (form) => FORMS[form](tableText(table), `tab:${label}`);
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
