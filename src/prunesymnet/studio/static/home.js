/* The first page: bring a table; the list of searches. */
(() => {
  const {by, attempt, post, send, poll, Failure} = Studio;
  const drop = by("drop"), file = by("file"), paste = by("paste"), problem = by("drop-problem");

  async function bring(work) {
    drop.classList.add("busy");
    drop.setAttribute("aria-busy", "true");
    problem.hidden = true;
    try {
      const found = await work();
      location.href = `/tables/${found.id}`;
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      problem.textContent = failure.message;
      problem.hidden = false;
      drop.classList.remove("busy");
      drop.removeAttribute("aria-busy");
    }
  }

  function bringFile(one) {
    const most = Number(drop.dataset.most);
    bring(async () => {
      if (one.size > most * 2 ** 20) throw new Failure(`${one.name} has ${Math.round(one.size / 2 ** 20)} MiB; the limit of this studio is ${most} MiB.`);
      return send("/api/tables", one, one.name);
    });
  }

  file.addEventListener("change", () => { if (file.files.length) bringFile(file.files[0]); file.value = ""; });
  for (const kind of ["dragenter", "dragover"]) {
    document.addEventListener(kind, (event) => { event.preventDefault(); drop.classList.add("over-it"); });
  }
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) drop.classList.remove("over-it"); });
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over-it");
    if (event.dataTransfer.files.length) bringFile(event.dataTransfer.files[0]);
  });

  function openPaste(on) {
    paste.hidden = !on;
    by("paste-open").setAttribute("aria-expanded", String(on));
    if (on) by("cells").focus();
  }
  by("paste-open").addEventListener("click", () => openPaste(paste.hidden));
  by("paste-close").addEventListener("click", () => openPaste(false));
  paste.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = by("cells").value;
    if (text.trim()) bring(() => send("/api/tables", new Blob([text]), "pasted cells.csv"));
  });
  // Cells that are pasted anywhere on the page are meant for it.
  document.addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text/plain");
    if (event.target.closest("input, textarea") || !text.includes("\n")) return;
    openPaste(true);
    by("cells").value = text;
  });
  for (const button of document.querySelectorAll("[data-example]")) {
    button.addEventListener("click", () => bring(() => post(`/api/examples/${button.dataset.example}`)));
  }

  const list = by("searches");
  let shown = "";
  const refresh = poll(async () => {
    let text;
    try {
      const answer = await fetch("/parts/searches", {credentials: "same-origin"});
      if (!answer.ok) return;
      text = await answer.text();
    } catch { return; }
    if (text === shown) return;
    shown = text;
    const focused = document.activeElement?.dataset?.remove;
    list.innerHTML = text; // made and escaped by the server
    if (focused) list.querySelector(`[data-remove="${focused}"]`)?.focus();
  }, () => 1000);
  /* The first click asks whether it is meant, the second removes. */
  function remover(button, path, after) {
    if (button.dataset.sure === "yes") {
      attempt(() => post(path), button).then(after);
      return;
    }
    const kept = [...button.childNodes];
    button.dataset.sure = "yes";
    button.textContent = "Remove?";
    setTimeout(() => { button.dataset.sure = ""; button.replaceChildren(...kept); }, 8000);
  }
  list.addEventListener("click", (event) => {
    const button = event.target.closest("[data-remove]");
    if (button) remover(button, `/api/searches/${button.dataset.remove}/remove`, refresh);
  });
  for (const button of document.querySelectorAll("[data-remove-table]")) {
    button.addEventListener("click", () => remover(button, `/api/tables/${button.dataset.removeTable}/remove`, (done) => { if (done) button.closest("li").remove(); }));
  }
})();
