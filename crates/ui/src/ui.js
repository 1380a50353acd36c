// Puts parts of the page in place that the server has rendered. Without this script every page still
// shows what it has, and every form still works.
"use strict";
(() => {
  const show = (answer) => {
    for (const [id, html] of Object.entries(answer.parts || {})) {
      const element = document.getElementById(id);
      if (!element) continue;
      const opened = [...element.querySelectorAll("details")].map((one) => one.open);
      // The server escapes all text in it.
      element.innerHTML = html;
      element.querySelectorAll("details").forEach((one, place) => { one.open = opened[place] ?? one.open; });
      for (const form of document.querySelectorAll(`form[data-follows="${CSS.escape(id)}"]`)) {
        form.dispatchEvent(new Event("ask"));
      }
    }
    clip();
    for (const [name, value] of Object.entries(answer.values || {})) {
      for (const field of document.getElementsByName(name)) {
        // Who types is not interrupted.
        if (field !== document.activeElement && field.value !== value) field.value = value;
      }
    }
  };

  // A table that is wider than its place says so.
  const clip = () => {
    for (const wide of document.querySelectorAll(".wide")) {
      wide.classList.toggle("clipped", wide.scrollWidth > wide.clientWidth + 1);
    }
  };
  addEventListener("resize", clip);
  clip();

  const say = (words) => {
    const place = document.getElementById("connection");
    if (place && place.textContent !== words) place.textContent = words;
  };

  const address = document.body.dataset.live;
  if (address) {
    let source = null;
    const listen = () => {
      source = new EventSource(address);
      source.onopen = () => say("");
      source.onmessage = (event) => show(JSON.parse(event.data));
      source.onerror = () => say("The connection is lost: is bancada ui still running?");
    };
    // A browser has few connections: pages that nobody sees give theirs back.
    const follow = () => {
      if (document.hidden) { source?.close(); source = null; }
      else if (!source) listen();
    };
    document.addEventListener("visibilitychange", follow);
    follow();
  }

  for (const form of document.querySelectorAll("form[data-answers]")) {
    let timer = 0, turn = 0, changed = "";
    const ask = async () => {
      clearTimeout(timer);
      const mine = ++turn;
      const data = new URLSearchParams(new FormData(form));
      data.set("changed", changed);
      const part = form.dataset.part;
      try {
        const response = form.method === "post"
          ? await fetch(part, { method: "POST", body: data })
          : await fetch(`${part}?${data}`);
        if (mine !== turn) return;
        if (!response.ok) throw new Error(response.statusText);
        show(await response.json());
        say("");
      } catch (error) {
        if (mine === turn) say(`No answer: ${error.message}`);
      }
    };
    form.addEventListener("ask", ask);
    form.addEventListener("input", (event) => {
      changed = event.target.name;
      clearTimeout(timer);
      timer = setTimeout(ask, 200);
    });
    if (form.method !== "post") {
      form.addEventListener("submit", (event) => { event.preventDefault(); ask(); });
    }
  }
})();
