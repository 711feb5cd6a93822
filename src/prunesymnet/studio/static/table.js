/* The page of a table: look at its columns, say what they are, and start a search. */
(() => {
  const {by, h, attempt, get, post, debounce, onResize, say} = Studio;
  const root = by("table"), id = root.dataset.id, form = by("search");
  const ROLES = [["target", "Target: explain this"], ["feature", "Use to explain"], ["category", "Use, as categories"], ["weights", "Weights of the rows"], ["y_err", "Standard errors of the target"], ["out", "Leave out"]];
  const MOST_PAIRS = 6;
  let table = null, roles = {}, dropMissing = false, named = false;

  const of = (role) => Object.keys(roles).filter((name) => roles[name] === role);
  const target = () => of("target")[0] || "";
  const numbers = () => table.columns.filter((column) => column.kind === "number" && column.points);

  /* What is most likely meant: the last column of numbers is explained by the others. */
  function guess() {
    const usable = table.columns.filter((column) => column.kind === "number" && column.name !== table.row_numbers && column.distinct > 1);
    const last = usable[usable.length - 1];
    roles = Object.fromEntries(table.columns.map((column) => [column.name, column === last ? "target" : usable.includes(column) ? "feature" : "out"]));
  }

  function setRole(name, role) {
    if (["target", "weights", "y_err"].includes(role)) of(role).forEach((other) => { roles[other] = role === "target" ? "feature" : "out"; });
    roles[name] = role;
    render();
  }

  function drawColumns() {
    const cards = table.columns.map((column) => {
      const role = roles[column.name];
      const choose = h("select", {"aria-label": `What ${column.name} is`, onchange: (event) => setRole(column.name, event.target.value)},
        ROLES.filter(([value]) => column.kind === "number" || ["category", "out"].includes(value) || column.problem?.kind === "missing" || column.problem?.kind === "decimal")
          .map(([value, text]) => h("option", {value, selected: value === role}, text)));
      const picture = column.kind === "number" ? h("div", {class: "picture"})
        : h("ul", {class: "top"}, (column.top || []).map(([text, times]) => h("li", {}, h("span", {}, text), h("span", {}, String(times)))));
      const card = h("div", {class: `card column role-${["category"].includes(role) ? "feature" : role}`, "data-column": column.name},
        h("h3", {}, column.name), picture, facts(column), problemOf(column, role), choose);
      return [card, picture, column];
    });
    const place = by("columns");
    const focused = document.activeElement?.closest?.("[data-column]")?.dataset.column;
    place.replaceChildren(...cards.map(([card]) => card));
    place.removeAttribute("aria-busy");
    for (const [card, picture, column] of cards) {
      if (card.dataset.column === focused) card.querySelector("select").focus();
      if (!column.histogram) continue;
      const {counts, low, high} = column.histogram;
      const span = low === high ? [low - 0.5, high + 0.5] : [low, high];
      Plot.draw(picture, {small: true, height: 58, title: `Histogram of ${column.name}`, x: {domain: span}, y: {domain: [0, Math.max(...counts)]},
        layers: [{type: "bars", counts, low: span[0], high: span[1]}]});
    }
  }

  function facts(column) {
    const missing = column.missing ? `${column.missing} missing` : "";
    if (column.kind !== "number") return h("div", {class: "facts"}, h("span", {}, `${column.kind}, ${column.distinct} different`), h("span", {}, missing));
    if (!column.histogram) return h("div", {class: "facts"}, h("span", {}, "no values"));
    return h("div", {class: "facts"}, h("span", {}, Plot.short(column.histogram.low)), h("span", {}, missing), h("span", {}, Plot.short(column.histogram.high)));
  }

  function problemOf(column, role) {
    const used = !["out", "category"].includes(role);
    if (!column.problem || (!used && column.problem.kind !== "decimal") || (dropMissing && column.problem.kind === "missing")) return null;
    const where = column.problem.where ? ` (${column.problem.where})` : "";
    return h("div", {class: "problem"}, column.problem.message.replace(/^column '.*?':? /, "") + where, h("div", {class: "remedies"},
      column.problem.remedies.map(([what, text]) => h("button", {type: "button", class: "button small", onclick: (event) => remedy(what, column, event.target)}, text))));
  }

  async function remedy(what, column, button) {
    if (what === "drop_missing") { dropMissing = true; render(); return; }
    if (what === "exclude") { setRole(column.name, "out"); return; }
    if (what === "categories") { setRole(column.name, "category"); return; }
    const done = await attempt(() => post(`/api/tables/${id}/read`, {...table.reading, decimal: what.slice(-1)}), button);
    if (done) load();
  }

  function drawPairs() {
    const place = by("pairs"), all = document.querySelector("[name=pairs]:checked").value === "all";
    const used = numbers().filter((column) => !["out"].includes(roles[column.name]));
    const goal = used.find((column) => column.name === target());
    place.classList.toggle("matrix", all);
    if (used.length < 2 || (!all && !goal)) {
      place.replaceChildren(h("div", {class: "empty"}, h("p", {}, "Nothing to plot yet."), h("p", {}, "Two columns of numbers are needed, one of them the target.")));
      return;
    }
    if (!all) {
      const others = used.filter((column) => column !== goal).slice(0, 24);
      const figures = others.map((column) => h("figure", {class: "card"}));
      place.replaceChildren(...figures);
      others.forEach((column, k) => scatter(figures[k], column, goal, false));
      return;
    }
    const some = [...used.filter((column) => column !== goal), ...(goal ? [goal] : [])].slice(-MOST_PAIRS);
    place.style.setProperty("--across", some.length);
    const cells = some.flatMap((down) => some.map((across) => [across, down, down === across ? h("div", {class: "card diagonal"}, down.name) : h("figure", {class: "card"})]));
    place.replaceChildren(...cells.map(([, , cell]) => cell));
    for (const [across, down, cell] of cells) if (across !== down) scatter(cell, across, down, true);
  }

  function scatter(figure, x, y, small) {
    const data = x.points.map((value, k) => [value, y.points[k]]).filter(([a, b]) => a !== null && b !== null);
    Plot.draw(figure, {small, height: small ? Math.max(figure.clientWidth * 0.75, 70) : 190, title: `${y.name} against ${x.name}`,
      x: {label: small ? "" : x.name, domain: Plot.range(data.map(([a]) => a))}, y: {label: small ? "" : y.name, domain: Plot.range(data.map(([, b]) => b))},
      layers: [{type: "points", data, class: "seen", r: small ? 1.8 : 2.6}]});
  }

  function drawCells() {
    const bad = table.columns.map((column) => new Set(column.problem && !["text", "dates"].includes(column.problem.kind) ? column.problem.rows : []));
    const head = h("tr", {}, h("th", {scope: "col"}, "row"), table.columns.map((column) => h("th", {scope: "col", class: column.kind}, column.name)));
    const rows = table.cells.map((row, k) => h("tr", {}, h("td", {class: "count"}, String(k + 1)),
      row.map((cell, j) => h("td", {class: `${table.columns[j].kind}${bad[j].has(k) ? " bad" : ""}`}, cell === null ? "—" : cell))));
    const note = table.rows > table.cells.length ? [h("p", {class: "hint"}, `The first ${table.cells.length} of ${table.rows.toLocaleString("en")} rows.`)] : [];
    by("cells").replaceChildren(h("table", {}, h("thead", {}, head), h("tbody", {}, rows)), ...note);
  }

  function drawColumnChips() {
    for (const place of document.querySelectorAll("[data-columns]")) {
      const checked = new Set([...place.querySelectorAll(":checked")].map((box) => box.value));
      const names = [...of("feature")];
      place.replaceChildren(...names.map((name) => h("label", {class: "chip"}, h("input", {type: "checkbox", value: name, checked: checked.has(name)}), h("span", {}, name))));
    }
  }

  /* A field of text for the target and each column that explains it. */
  function drawByColumn() {
    for (const place of document.querySelectorAll("[data-by-column]")) {
      const said = Object.fromEntries([...place.querySelectorAll("input")].map((field) => [field.name, field.value]));
      const names = [...of("target"), ...of("feature")];
      place.replaceChildren(...names.map((name) => {
        const field = h("input", {type: "text", name, placeholder: place.dataset.example, autocomplete: "off", spellcheck: "false"});
        field.value = said[name] || "";
        return h("label", {}, h("span", {}, name), field);
      }));
    }
  }

  /* From where to where, for each column that explains the target; empty fields stand for the range of the column. */
  function drawRanges() {
    for (const place of document.querySelectorAll("[data-ranges]")) {
      const said = Object.fromEntries([...place.querySelectorAll("label")].map((row) => [row.dataset.name, [...row.querySelectorAll("input")].map((field) => field.value)]));
      const columns = numbers().filter((column) => roles[column.name] === "feature");
      place.replaceChildren(...columns.map(({name, histogram}) => {
        const ends = [["From", histogram?.low], ["To", histogram?.high]].map(([word, end], k) => {
          const field = h("input", {type: "number", step: "any", placeholder: end === undefined ? "" : Plot.short(end), "data-end": end, "aria-label": `${word}, for ${name}`});
          field.value = said[name]?.[k] || "";
          return field;
        });
        return h("label", {"data-name": name}, h("span", {}, name), h("span", {class: "ends"}, ends[0], " to ", ends[1]));
      }));
    }
  }

  /* What is known of the parts that a template names: functions that are no operators. */
  function drawParts() {
    const frame = document.querySelector("[data-option=template] input").value, place = document.querySelector("[data-parts]");
    const operators = [...document.querySelectorAll("[data-option=operators] input")].map((box) => [box.value, box.nextSibling.textContent]);
    const known = new Set([...operators.map(([name]) => name), "ln", "pi", "neg", "id"]);
    const names = [...new Set([...frame.matchAll(/([A-Za-z_]\w*)\s*\(/g)].map((found) => found[1]))].filter((name) => !known.has(name));
    const there = Object.fromEntries([...place.querySelectorAll("[data-part]")].map((part) => [part.dataset.part, part]));
    place.replaceChildren(...(names.length ? names.map((name) => there[name] || h("div", {class: "part", role: "group", "aria-label": `The part ${name}`, "data-part": name},
      h("h4", {}, name),
      h("p", {class: "hint"}, "Made of these only (none chosen: all operators of the search)"),
      h("div", {class: "chips"}, operators.map(([value, text]) => h("label", {class: "chip"}, h("input", {type: "checkbox", value}), h("span", {}, text)))),
      h("label", {}, h("span", {}, "Longest formula"), h("input", {type: "number", min: 1, step: 1, placeholder: "any"})),
      h("label", {}, h("span", {}, "Expected"), h("input", {type: "text", spellcheck: "false", autocomplete: "off", placeholder: "a formula"}))))
      : [h("p", {class: "hint"}, "No frame yet.")]));
  }

  /* Columns of which one may be chosen: those that have few different values. */
  function drawColumnChoices() {
    for (const choice of document.querySelectorAll("[data-column-choice]")) {
      const names = table.columns.filter((column) => column.name !== target() && column.distinct > 1 && column.distinct <= 50).map((column) => column.name);
      const old = choice.value;
      choice.replaceChildren(h("option", {value: ""}, "no column"), ...names.map((name) => h("option", {value: name, selected: name === old}, name)));
    }
  }

  // The form

  function pairRow(field, kind, first = "", second = "") {
    const names = () => [...new Set([...document.querySelectorAll("[data-option=operators] input")].map((box) => box.value).concat(kind === "limits" ? of("feature") : []))];
    const choice = (value, label) => h("select", {"aria-label": label}, names().map((name) => h("option", {value: name, selected: name === value}, name)));
    const number = () => h("input", {type: "number", min: 0, step: 1, value: (kind === "limits" && second) || 1, "aria-label": "Number"});
    const parts = {
      limits: () => [choice(first, "Operator or column"), h("span", {}, "at most"), number()],
      nesting: () => [choice(first, "Operator"), h("span", {}, "not inside"), choice(second, "Operator around it")],
      "nested limits": () => [h("span", {}, "at most"), number(), choice(first, "Operator"), h("span", {}, "inside"), choice(second, "Operator around them")],
    };
    const row = h("div", {class: "pair-row"}, ...parts[kind](),
      h("button", {type: "button", class: "quiet", "aria-label": "Remove this rule", onclick: () => { row.remove(); check(); }}, "×"));
    field.querySelector(".pairs").append(row);
  }

  /* Of a range with one end, the other is that of the column. */
  function rangesOf(field) {
    return [...field.querySelectorAll("label")].flatMap((row) => {
      const ends = [...row.querySelectorAll("input")];
      return ends.some((end) => end.value !== "") ? [[row.dataset.name, ...ends.map((end) => Number(end.value === "" ? end.dataset.end : end.value))]] : [];
    });
  }

  function answers() {
    const options = {};
    for (const field of document.querySelectorAll("[data-option]")) {
      const {option: name, kind} = field.dataset;
      const input = field.querySelector("input, select, textarea");
      if (kind === "seconds") options[name] = Number(field.querySelector("[type=number]").value);
      else if (kind === "number") options[name] = input.value === "" ? null : Number(input.value);
      else if (["choice", "text", "lines", "column"].includes(kind)) options[name] = input.value;
      else if (kind === "switch") options[name] = input.value === "yes";
      else if (kind === "by column") options[name] = [...field.querySelectorAll("input")].map((one) => [one.name, one.value]).filter(([, value]) => value.trim());
      else if (kind === "operators" || kind === "columns") options[name] = [...field.querySelectorAll(":checked")].map((box) => box.value);
      else if (kind === "ranges") options[name] = rangesOf(field);
      else if (kind === "parts") options[name] = [...field.querySelectorAll("[data-part]")].map((part) => {
        const [longest, expected] = part.querySelectorAll("[type=number], [type=text]");
        return [part.dataset.part, {operators: [...part.querySelectorAll(":checked")].map((box) => box.value), max_complexity: longest.value === "" ? null : Number(longest.value), start_from: expected.value}];
      });
      else options[name] = [...field.querySelectorAll(".pair-row")].map((row) => [...row.querySelectorAll("select, input")]).map((row) => {
        if (kind === "nested limits") return [row[1].value, Number(row[0].value), row[2].value];
        return [row[0].value, kind === "limits" ? Number(row[1].value) : row[1].value];
      });
    }
    const columns = {target: target(), features: [...table.columns.map((column) => column.name)].filter((name) => ["feature", "category"].includes(roles[name])),
      categories: of("category"), weights: of("weights")[0] || null, y_err: of("y_err")[0] || null, drop_missing: dropMissing};
    return {table: id, columns, options, name: by("name").value};
  }

  let asked = 0;
  const check = debounce(async () => {
    const mine = (asked += 1);
    const found = await attempt(() => post(`/api/tables/${id}/check`, answers()));
    if (mine !== asked || found === undefined) return;
    by("start").disabled = Boolean(found.problem);
    const clean = (text) => text.replace(`${table.name}: `, "");
    const wrong = table.columns.filter((column) => problemOf(column, roles[column.name]));
    const told = wrong.length && !["", "out"].includes(roles[wrong[0].name] || "") ? `Look at ${wrong.map((column) => column.name).join(", ")}: what is wrong, and what helps, stands there.` : clean(found.problem);
    by("verdict").replaceChildren(...(found.problem ? [h("div", {class: "problem"}, told)] : []),
      ...found.notes.map((note) => h("div", {class: "note"}, clean(note))));
  }, 150);

  function drawSummary() {
    const goal = target(), by_ = [...of("feature"), ...of("category")];
    by("summary").replaceChildren(...(goal ? ["Explain ", h("b", {}, goal), " by ", h("b", {}, by_.length > 4 ? `${by_.slice(0, 3).join(", ")} and ${by_.length - 3} more columns` : by_.join(", ") || "…")] : ["Choose a target."]),
      ...(dropMissing ? [h("br"), "Rows that lack a value are left out. ", h("button", {type: "button", class: "quiet", onclick: () => { dropMissing = false; render(); }}, "Undo")] : []));
    if (!named && goal) by("name").value = `${goal} from ${table.name}`.slice(0, 60);
  }

  function render() {
    drawColumns();
    drawPairs();
    drawColumnChips();
    drawByColumn();
    drawRanges();
    drawParts();
    drawColumnChoices();
    drawSummary();
    check();
  }

  async function load() {
    table = await attempt(() => get(`/api/tables/${id}`));
    if (!table) { by("columns").replaceChildren(h("div", {class: "problem"}, "This table can't be shown.")); return; }
    by("size").textContent = `${table.rows.toLocaleString("en")} rows, ${table.columns.length + table.hidden_columns} columns`;
    by("notes").replaceChildren(...table.notes.map((note) => h("div", {class: "note info"}, note[0].toUpperCase() + note.slice(1))),
      ...(table.hidden_columns ? [h("div", {class: "note"}, `The first ${table.columns.length} columns are shown. For the others, use the command line.`)] : []),
      ...(table.repeated.length ? [h("div", {class: "problem"}, `Several columns are called ${table.repeated.join(", ")}; give each a name of its own.`)] : []));
    if (table.sheets.length > 1) {
      const sheet = h("select", {id: "sheet", onchange: async (event) => {
        if (await attempt(() => post(`/api/tables/${id}/read`, {...table.reading, sheet: event.target.value}))) { roles = {}; load(); }
      }}, table.sheets.map((name, k) => h("option", {value: name, selected: name === (table.reading.sheet || table.sheets[0])}, name)));
      by("notes").append(h("div", {class: "field sheet"}, h("label", {for: "sheet"}, "Sheet"), sheet));
    }
    if (!Object.keys(roles).length) guess();
    drawCells();
    render();
  }

  by("name").addEventListener("input", () => { named = by("name").value.trim() !== ""; });
  for (const box of document.querySelectorAll("[name=pairs]")) box.addEventListener("change", drawPairs);
  document.querySelector("[data-option=template] input").addEventListener("input", drawParts);
  form.addEventListener("change", (event) => {
    const field = event.target.closest("[data-kind=seconds]");
    if (field && event.target.type === "radio") field.querySelector("[type=number]").value = event.target.value;
    if (field && event.target.type === "number") for (const radio of field.querySelectorAll("[type=radio]")) radio.checked = radio.value === event.target.value;
    if (table) check();
  });
  for (const button of document.querySelectorAll(".add")) {
    button.addEventListener("click", () => {
      const field = button.closest("[data-option]"), kind = field.dataset.kind;
      const [first, second] = field.querySelector(".pair-row") ? ["", ""] : button.dataset.example.replace(/^\d+ /, "").split(kind === "limits" ? ": " : " in ");
      pairRow(field, kind, first, second);
      check();
    });
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const begun = await attempt(() => post("/api/searches", answers()), by("start"));
    if (begun) location.href = `/searches/${begun.id}`;
  });
  onResize(by("pairs"), () => { if (table) drawPairs(); });
  load();
})();
