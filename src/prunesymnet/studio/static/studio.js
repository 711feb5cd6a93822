/* What the pages of the studio share: requests, elements, messages. */
const Studio = (() => {
  class Failure extends Error {}

  async function request(method, path, body, headers = {}) {
    let answer;
    try {
      answer = await fetch(path, {method, body, headers, credentials: "same-origin"});
    } catch {
      throw new Failure("The studio does not answer. Searches go on; this page will be back when the studio is.");
    }
    if (answer.status === 204) return null;
    const content = await answer.text();
    let value = {};
    try { value = JSON.parse(content); } catch { /* plain text */ }
    if (!answer.ok) throw new Failure(value.error || content.slice(0, 300) || `The studio answered ${answer.status}.`);
    return value;
  }

  const get = (path) => request("GET", path);
  const post = (path, value = {}) => request("POST", path, JSON.stringify(value), {"content-type": "application/json"});
  const send = (path, file, name) => request("POST", path, file, {"x-file-name": encodeURIComponent(name)});

  /* An element with attributes and children; functions become listeners. */
  function h(tag, attributes = {}, ...children) {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") node.addEventListener(name.slice(2), value);
      else if (name === "math") node.innerHTML = value; // MathML, made and escaped by the server
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
    return node;
  }

  const by = (id) => document.getElementById(id);

  /* A message that goes by itself; read out by screen readers. */
  function say(text, kind = "note") {
    const place = by("messages");
    const message = h("div", {class: `message ${kind}`}, h("span", {}, text),
      h("button", {type: "button", class: "quiet", "aria-label": "Dismiss", onclick: () => message.remove()}, "×"));
    place.append(message);
    while (place.children.length > 3) place.firstChild.remove();
    if (kind === "note") setTimeout(() => message.remove(), 5000);
  }

  /* Do something that may fail, with the button that asked for it at rest meanwhile. */
  async function attempt(work, button) {
    if (button) { button.disabled = true; button.setAttribute("aria-busy", "true"); }
    try {
      return await work();
    } catch (problem) {
      if (!(problem instanceof Failure)) throw problem;
      say(problem.message, "error");
      return undefined;
    } finally {
      if (button) { button.disabled = false; button.removeAttribute("aria-busy"); }
    }
  }

  /* Call `work` again and again while the page is seen: after `delay()` milliseconds, however long it took. */
  function poll(work, delay) {
    let timer = 0, running = false;
    async function step() {
      clearTimeout(timer);
      if (running || document.hidden) return;
      running = true;
      try { await work(); } finally {
        running = false;
        timer = setTimeout(step, delay());
      }
    }
    document.addEventListener("visibilitychange", () => { if (!document.hidden) step(); });
    step();
    return step;
  }

  function debounce(work, wait) {
    let timer = 0;
    return (...values) => { clearTimeout(timer); timer = setTimeout(() => work(...values), wait); };
  }

  async function copy(text) {
    try {
      await navigator.clipboard.writeText(text);
    } catch { // without a secure address, by a selection
      const field = h("textarea", {class: "unseen", "aria-hidden": "true"});
      field.value = text;
      document.body.append(field);
      field.select();
      document.execCommand("copy");
      field.remove();
    }
  }

  function seconds(value) {
    if (value < 60) return `${value < 10 ? Number(value.toFixed(1)) : Math.round(value)} s`;
    const minutes = Math.floor(value / 60), rest = Math.round(value % 60);
    if (minutes < 60) return rest ? `${minutes} min ${rest} s` : `${minutes} min`;
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  }

  function count(value) {
    for (const unit of ["", " k", " M", " G"]) {
      if (value < 999.5) return `${value < 10 && unit ? value.toFixed(1) : Math.round(value)}${unit}`;
      value /= 1000;
    }
    return `${Math.round(value)} T`;
  }

  /* Draw again when the width changes. */
  function onResize(element, draw) {
    let width = element.clientWidth;
    new ResizeObserver(() => {
      if (Math.abs(element.clientWidth - width) > 1) { width = element.clientWidth; draw(); }
    }).observe(element);
  }

  return {Failure, get, post, send, h, by, say, attempt, poll, debounce, copy, seconds, count, onResize};
})();
