// Checks reports in headless chromium, through the DevTools protocol over a pipe.
// node .ci/report.mjs axe.min.js REPORT.html…   With SCREENSHOTS=DIR it keeps pictures to look at.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";

const [axe, ...reports] = process.argv.slice(2);
const profile = mkdtempSync(join(tmpdir(), "report-browser-"));
const browser = spawn("chromium", ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", `--user-data-dir=${profile}`], { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
browser.on("error", (error) => fail(`chromium does not start: ${error.message}`));
const problems = [];
const fail = (text) => {
  problems.push(text);
  console.log(`  FAILED: ${text}`);
};

// One JSON message after the other, each ended by a zero byte.
const waiting = new Map();
let heard = [];
let rest = "";
browser.stdio[4].setEncoding("utf8").on("data", (data) => {
  const parts = (rest + data).split("\0");
  rest = parts.pop();
  for (const message of parts.map((part) => JSON.parse(part))) {
    const { yes, no } = waiting.get(message.id) || {};
    waiting.delete(message.id);
    if (!message.id) heard.push(message);
    else if (message.error) no(new Error(`${message.error.message}`));
    else yes(message.result);
  }
});
let last = 0;
let sessionId;
const LIMIT = 60_000;
const send = (method, params = {}) => {
  const id = ++last;
  browser.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
  const answer = new Promise((yes, no) => waiting.set(id, { yes, no }));
  const late = new Promise((_, no) => setTimeout(() => no(new Error(`${method}: no answer`)), LIMIT).unref());
  return Promise.race([answer, late]);
};
const run = async (expression) => {
  const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true, userGesture: true });
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
  return result.value;
};
const press = async (key, code, text) => {
  const params = { key, code: key, windowsVirtualKeyCode: code, text };
  await send("Input.dispatchKeyEvent", { type: "keyDown", ...params });
  await send("Input.dispatchKeyEvent", { type: "keyUp", ...params });
};

const VIEWS = [[1280, "light"], [1280, "dark"], [700, "light"], [400, "light"], [400, "dark"]];

const open = async (file, [width, scheme]) => {
  await send("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 });
  await send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  heard = [];
  await send("Page.navigate", { url: `file://${resolve(file)}` });
  await run("new Promise((done) => { const ready = () => requestAnimationFrame(() => setTimeout(done, 50)); document.readyState === 'complete' ? ready() : addEventListener('load', ready); })");
};

const quiet = (about) => {
  for (const { method, params } of heard) {
    if (method === "Runtime.exceptionThrown") fail(`${about}: ${params.exceptionDetails.exception?.description}`);
    if (method === "Log.entryAdded" && params.entry.level === "error") fail(`${about}: ${params.entry.text}`);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning"].includes(params.type)) fail(`${about}: ${params.args[0]?.value}`);
    if (method === "Network.requestWillBeSent" && !/^(file|data|blob):/.test(params.request.url)) fail(`${about}: asks for ${params.request.url}`);
  }
};

const looks = async (about) => {
  // Figures follow the width of the page when the browser finds time.
  await run(`new Promise((done) => { const end = Date.now() + 20000; const look = () => document.documentElement.scrollWidth <= document.documentElement.clientWidth || Date.now() > end ? done() : setTimeout(look, 50); look(); })`);
  const found = await run(`(() => {
    const shown = [...document.querySelectorAll(".plot")].filter((plot) => plot.clientWidth);
    const marks = (plot) => [...plot.querySelectorAll(".marks > g > *")].some((mark) => mark.getBoundingClientRect().height + mark.getBoundingClientRect().width > 0);
    return {
      figures: shown.length,
      empty: shown.filter((plot) => !marks(plot)).map((plot) => plot.id),
      sideways: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      wide: [...document.querySelectorAll("body *")].filter((one) => !one.closest("nav") && one.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map((one) => [one.tagName, one.getAttribute("class"), one.textContent.slice(0, 40)].join(" ")).slice(0, 3),
      bare: [...document.querySelectorAll("table")].filter((table) => !table.caption).length,
      first: performance.getEntriesByName("first-contentful-paint")[0]?.startTime,
      loaded: performance.getEntriesByType("navigation")[0].duration,
    };
  })()`);
  if (found.empty.length) fail(`${about}: not drawn: ${found.empty}`);
  if (found.sideways > 0) fail(`${about}: the page is ${found.sideways} px too wide, for example ${found.wide.join("; ")}`);
  if (found.bare) fail(`${about}: ${found.bare} tables without a caption`);
  return found;
};

const accessible = async (about) => {
  await run(readFileSync(axe, "utf8"));
  const found = await run(`axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) => violations.map((one) => one.id + ": " + one.nodes.length + ", " + one.nodes[0].html.slice(0, 160)))`);
  found.forEach((one) => fail(`${about}: ${one}`));
};

// Every control that is seen must be reached by the tab key alone, and work.
const keys = async (about) => {
  const controls = await run("window.controls = [...document.querySelectorAll('a, button, summary, .clipped, [tabindex]')].filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled); controls.length");
  await run("window.reached = new Set(); document.addEventListener('focusin', ({ target }) => reached.add(target)); document.body.focus()");
  const most = Math.min(controls + 20, 600);
  for (let pressed = 0; pressed < most; pressed++) await press("Tab", 9);
  if (most > controls) {
    const missed = await run("controls.filter((one) => !reached.has(one)).map((one) => one.outerHTML.slice(0, 120))");
    missed.slice(0, 5).forEach((one) => fail(`${about}: not reached by keys: ${one}`));
  }
  await run("document.querySelector('table.sortable th:nth-child(2) button').focus()");
  await press("Enter", 13, "\r");
  const sorted = await run("document.querySelector('table.sortable th:nth-child(2)').getAttribute('aria-sort')");
  if (sorted !== "ascending") fail(`${about}: a table is not sorted by keys (${sorted})`);
  await run("[...document.querySelectorAll('.tools button')].find((one) => one.textContent === 'LaTeX' && one.checkVisibility()).focus()");
  await press("Enter", 13, "\r");
  const copied = await run("new Promise((done) => setTimeout(() => done(document.querySelector('p.unseen').textContent), 200))");
  if (!copied) fail(`${about}: a table is not copied`);
};

// What is copied for LaTeX must be text to LaTeX, in as many cells as it has columns, and no wider than a page.
const latex = async (about) => {
  const tables = await run(`(async () => {
    const texts = [];
    Object.defineProperty(navigator, "clipboard", { value: { writeText: (text) => texts.push(text) }, configurable: true });
    for (const button of document.querySelectorAll(".tools button")) if (/LaTeX/.test(button.getAttribute("aria-label"))) button.click();
    await new Promise((done) => setTimeout(done, 100));
    return texts;
  })()`);
  if (!tables.length) fail(`${about}: no table is copied for LaTeX`);
  const written = /\$(\\[a-z]+|-|\^\{[-\d]\})\$|\\[a-z]+\{\}|\\[&%$#_{}]/gi;
  for (const table of tables.flatMap((text) => text.split("\\end{table}")).filter((text) => text.trim())) {
    const [, columns] = table.match(/\\begin\{tabular\}\{(.+)\}/) || [];
    const width = columns?.replace(/>\{.*?\}p\{\d+pt\}/g, "p").length;
    const rows = table.split("\n").filter((line) => line.endsWith(" \\\\")).map((line) => line.slice(0, -3));
    const [, caption] = table.match(/\\caption\{(.*)\}\\label\{tab:[A-Za-z0-9-]+\}/) || [];
    if (!columns || rows.length < 2 || !caption) fail(`${about}: no columns, rows, caption or label in ${table.slice(0, 200)}`);
    else for (const line of [caption, ...rows]) {
      const plain = line.replace(written, "");
      const cells = line === caption ? width : plain.split("&").length;
      if (/[\\{}$#_%^±]/.test(plain) || cells !== width) {
        fail(`${about}: LaTeX cannot read ${line}`);
        break;
      }
    }
  }
  compiled(about, tables);
};

// Fonts of Cyrillic letters are not everywhere.
const compiled = (about, tables) => {
  const text = tables.join("\n");
  if (spawnSync("pdflatex", ["--version"]).error || /[\u0400-\u04ff]/.test(text)) return;
  const folder = mkdtempSync(join(tmpdir(), "report-latex-"));
  const document = ["\\documentclass{article}", "\\usepackage{array,booktabs,graphicx,textcomp}", "\\extrafloats{500}", "\\begin{document}", text.replaceAll("\\end{table}", "\\end{table}\\clearpage"), "\\end{document}"].join("\n");
  writeFileSync(join(folder, "tables.tex"), document);
  const { status, stdout } = spawnSync("pdflatex", ["-draftmode", "-halt-on-error", "-interaction=nonstopmode", "tables.tex"], { cwd: folder, encoding: "utf8" });
  const trouble = stdout.split("\n").filter((line) => /^!|^l\.\d|Overfull|too large|undefined/.test(line));
  if (status || trouble.length) fail(`${about}: pdflatex: ${trouble.slice(0, 4).join("; ") || stdout.slice(-500)}`);
  rmSync(folder, { recursive: true, force: true });
};

const paper = async (about) => {
  await run("addEventListener('beforeprint', () => (window.folded = document.querySelectorAll('details:not([open])').length))");
  const { data } = await send("Page.printToPDF", { preferCSSPageSize: true, printBackground: true });
  const pages = (Buffer.from(data, "base64").toString("latin1").match(/\/Type\s*\/Page\b/g) || []).length;
  const folded = await run("window.folded");
  if (folded !== 0) fail(`${about}: ${folded} sections are closed on paper`);
  if (process.env.SCREENSHOTS) writeFileSync(join(process.env.SCREENSHOTS, `${about}.pdf`), Buffer.from(data, "base64"));
  return pages;
};

const check = async (file) => {
  const name = basename(file, ".html");
  const bytes = statSync(file).size;
  const most = name === "quickstart" ? 1.5e6 : 1e7;
  if (bytes > most) fail(`${name}: ${bytes} bytes, ${most} at most`);
  for (const view of VIEWS) {
    const about = `${name}-${view.join("-")}`;
    await open(file, view);
    const found = await looks(about);
    await accessible(about);
    quiet(about);
    if (process.env.SCREENSHOTS) {
      const { data } = await send("Page.captureScreenshot", { captureBeyondViewport: true, clip: { x: 0, y: 0, width: view[0], height: 2400, scale: 1 } });
      writeFileSync(join(process.env.SCREENSHOTS, `${about}.png`), Buffer.from(data, "base64"));
    }
    if (view === VIEWS[0]) {
      await keys(about);
      await latex(about);
      const pages = await paper(about);
      quiet(about);
      console.log(`${name}: ${(bytes / 1e6).toFixed(2)} MB, ${found.figures} figures seen at once, first view after ${found.first ? Math.round(found.first) : '?'} ms, loaded after ${Math.round(found.loaded)} ms, ${pages} pages on paper`);
    }
  }
};

try {
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  ({ sessionId } = await send("Target.attachToTarget", { targetId, flatten: true }));
  for (const domain of ["Page", "Runtime", "Log", "Network"]) await send(`${domain}.enable`);
  for (const file of reports) await check(file);
} catch (error) {
  fail(error.message);
} finally {
  browser.kill();
  browser.on("exit", () => {
    rmSync(profile, { recursive: true, force: true });
    console.log(problems.length ? `${problems.length} problems` : "all reports are fine");
    process.exit(problems.length ? 1 : 0);
  });
}
