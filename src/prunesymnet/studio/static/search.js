/* The page of a search: how it goes, the front, and all there is to see of a formula. */
(() => {
  const {by, h, attempt, get, post, poll, debounce, copy, seconds, count, onResize, say, Failure} = Studio;
  const root = by("search"), id = root.dataset.id, goal = root.dataset.target;
  const api = `/api/searches/${id}`;
  const BUSY = ["running", "starting", "stopping"];
  let status = null, front = [], structure = [], seen = "", frontSeen = "", known = new Set();
  let [chosenKey, otherKey] = location.hash.slice(1).split(",");
  let following = !chosenKey, look = null, otherLook = null, at = {}, shownKey = "";

  // How it goes

  async function refresh() {
    let found;
    try {
      found = await get(`${api}?seen=${seen}&front=${frontSeen}`);
      by("lost").hidden = true;
    } catch (problem) {
      if (!(problem instanceof Failure)) throw problem;
      by("lost").hidden = false;
      by("lost").textContent = problem.message;
      return;
    }
    if (!found) return;
    const ended = status && BUSY.includes(status.state) && !BUSY.includes(found.state);
    status = found;
    seen = found.version;
    drawStatus();
    if (found.front) {
      frontSeen = found.front_version;
      const fresh = known.size ? found.front.filter((point) => !known.has(point.key)) : [];
      front = found.front.map((point) => ({...point, fresh: fresh.includes(point)}));
      known = new Set(front.map((point) => point.key));
      drawFront();
      if (JSON.stringify(found.structure) !== JSON.stringify(structure)) {
        structure = found.structure;
        drawStructure();
      }
    }
    follow(ended);
  }

  /* The formula that is looked at: what the person chose, else the best so far. */
  function follow(ended) {
    const there = (key) => front.some((point) => point.key === key);
    const best = front.find((point) => point.chosen) || front[front.length - 1];
    if (!best) return;
    if (following || (ended && !there(chosenKey))) chosenKey = best.key;
    if (chosenKey !== shownKey || ended) {
      drawFront();
      showLook();
    }
  }

  function drawStatus() {
    document.title = `${status.state === "running" ? "● " : ""}${status.name} · PruneSymNet`;
    const pill = by("pill");
    pill.className = `pill ${status.state.replace(" ", "-")}`;
    pill.textContent = {queued: "Waiting", running: "Searching", starting: "Starting", paused: "Paused", stopping: "Stopping", ended: "Finished", stopped: "Stopped", "cut off": "Cut off", failed: "Failed"}[status.state];
    const words = status.state === "queued" ? `Number ${status.queue} in line: ${status.at_once} search${status.at_once > 1 ? "es" : ""} at a time, one for each core` : status.words;
    if (by("stage").textContent !== words) by("stage").textContent = words === pill.textContent ? "" : words;
    const busy = BUSY.includes(status.state) || ["paused", "queued"].includes(status.state);
    document.querySelector(".status").classList.toggle("over", !busy);
    const share = Math.min(100, 100 * status.seconds / Math.max(status.limit, 1e-9));
    by("progress").setAttribute("aria-valuenow", Math.round(share));
    by("progress").firstElementChild.style.width = `${share}%`;
    by("time").textContent = busy ? `${seconds(status.seconds)} of ${seconds(status.limit)}` : seconds(status.seconds);
    for (const name of ["scored", "rate", "fits"]) by(name).textContent = status[name] ? count(status[name]) : "–";
    const name = by("name");
    if (name && name.textContent !== status.name) name.textContent = status.name;
    const can = {pause: ["running", "starting", "queued"], stop: ["running", "starting", "queued", "paused"], resume: ["paused", "stopped", "cut off", "failed"], more: ["running", "paused", "queued", "ended"]};
    for (const button of document.querySelectorAll("[data-do]")) button.hidden = !can[button.dataset.do].includes(status.state);
    const more = document.querySelector("[data-do=more] span");
    more.textContent = status.state === "ended" ? "Search on for 1 minute" : "1 minute more";
  }

  for (const button of document.querySelectorAll("[data-do]")) {
    button.addEventListener("click", async () => {
      const what = button.dataset.do;
      const done = await attempt(() => post(`${api}/${what}`, what === "more" ? {seconds: 60} : {}), button);
      if (done && what === "more" && status.state !== "ended") say("One minute more.");
      refreshNow();
    });
  }

  function rename() {
    const button = by("name"), old = button.textContent;
    const field = h("input", {type: "text", class: "rename", maxlength: 60, "aria-label": "Name of the search"});
    field.value = old;
    let over = false;
    const end = async (keep) => {
      if (over) return;
      over = true;
      field.replaceWith(button);
      if (keep && field.value.trim() && field.value !== old) {
        button.textContent = field.value;
        await attempt(() => post(`${api}/rename`, {name: field.value}));
      }
    };
    field.addEventListener("keydown", (event) => { if (event.key === "Enter") end(true); if (event.key === "Escape") end(false); });
    field.addEventListener("blur", () => end(true));
    button.replaceWith(field);
    field.select();
  }
  by("name").addEventListener("click", rename);

  // The front

  function drawFront() {
    const place = by("front");
    if (!front.length) return;
    const points = front.map((point) => ({...point, selected: point.key === chosenKey, other: point.key === otherKey}));
    Plot.front(place, points, (key, focus) => choose(key, focus ? place : null), 340, status.relative ? "typical error, as a share of the value" : "typical error");
    const focused = document.activeElement?.closest?.("tr")?.dataset.key;
    const kind = document.activeElement?.type === "checkbox" ? "input" : "button";
    const table = by("formulas");
    table.replaceChildren(...points.map(tableRow));
    if (focused) table.querySelector(`[data-key="${focused}"] ${kind}`)?.focus();
  }

  function tableRow(point) {
    const formula = h("button", {type: "button", class: "pick", "aria-pressed": String(point.selected), title: point.text}, point.math ? h("span", {math: point.math}) : h("code", {}, point.text.slice(0, 120)));
    const badge = point.chosen ? h("span", {class: "badge"}, status.final ? "chosen" : "best so far") : point.tie ? h("span", {class: "badge tie"}, "≈ hardly told apart") : point.pinned ? h("span", {class: "badge pinned"}, "pinned") : null;
    const box = h("input", {type: "checkbox", checked: point.other, disabled: point.selected, title: "Compare with the selected formula", "aria-label": `Compare ${point.text} with the selected formula`,
      onclick: (event) => { event.stopPropagation(); compare(event.target.checked ? point.key : ""); }});
    return h("tr", {class: point.selected ? "selected" : "", "data-key": point.key, onclick: () => choose(point.key)},
      h("td", {onclick: (event) => event.stopPropagation()}, box), h("td", {class: "n"}, String(point.complexity)),
      h("td", {class: "n"}, point.error === null ? "—" : Plot.short(Math.sqrt(point.error), 3)), h("td", {}, formula, badge || ""));
  }

  /* Groups that a quantity depends on, each with its plot, on which all rows lie on one curve. */
  function drawStructure() {
    by("structure").hidden = !structure.length;
    const figures = structure.map(() => h("figure", {}));
    const sentence = (one) => {
      const [quantity, ...groups] = one.math.map((math) => h("span", {math}));
      const several = one.sizes.length > 1, between = one.product ? " times a function of " : " plus a function of ";
      const listed = (part) => part.flatMap((group, j) => j ? [j === part.length - 1 ? " and " : ", ", group] : [group]);
      const parts = one.sizes.map((size) => listed(groups.splice(0, size)));
      return h("span", {class: "sentence"}, quantity, several ? " is a function of " : " depends on ", ...parts.flatMap((part, j) => j ? [between, ...part] : part), several ? "" : " only");
    };
    by("sentences").replaceChildren(...structure.map(sentence));
    by("reductions").replaceChildren(...structure.map((one, k) => h("div", {class: "reduction"}, ...(structure.length > 1 || !one.points.length ? [h("p", {}, sentence(one))] : []), figures[k])));
    if (!by("structure").firstElementChild.open) return; // a plot is as wide as its place
    structure.forEach((one, k) => {
      if (!one.points.length) return figures[k].remove(); // a sum of functions is no curve
      const shades = one.shades ? [0, 1, 2].map((part) => one.points.filter((_, j) => Math.min(Math.floor(one.shades[j] * 3), 2) === part)) : [one.points];
      Plot.draw(figures[k], {title: `${one.names[0]} against ${one.names[1]}`, height: 220, x: {label: one.names[1], domain: Plot.range(one.points.map(([x]) => x))},
        y: {label: one.names[0], domain: Plot.range(one.points.map(([, y]) => y))}, layers: shades.map((data, part) => ({type: "points", data, class: ["seen", "row", "third"][part]}))});
    });
  }

  function remember() {
    history.replaceState(null, "", `#${[chosenKey, otherKey].filter(Boolean).join(",")}`);
  }

  function choose(key, place) {
    following = false;
    chosenKey = key;
    if (otherKey === key) otherKey = "";
    remember();
    drawFront();
    if (place) place.querySelector(`[data-key="${key}"]`)?.focus();
    showLook().then(() => {
      // On a narrow page the formula is below the list.
      if (!place && by("look").getBoundingClientRect().top > innerHeight) by("look").scrollIntoView({behavior: "smooth"});
    });
  }

  function compare(key) {
    following = false;
    otherKey = key;
    remember();
    drawFront();
    showLook().then(() => { if (by("look").getBoundingClientRect().top < 0) scrollTo({top: by("look").offsetTop - 80}); });
  }

  // A formula

  let asked = 0;
  async function showLook() {
    const mine = (asked += 1), key = chosenKey, other = otherKey;
    shownKey = key;
    try {
      const found = await Promise.all([get(`${api}/formulas/${key}`), other ? get(`${api}/formulas/${other}`) : null]);
      if (mine !== asked) return;
      [look, otherLook] = found;
    } catch (problem) {
      if (!(problem instanceof Failure)) throw problem;
      if (mine === asked) shownKey = "";
      return;
    }
    const variables = new Set([...look.variables.map((one) => one.name), ...look.choices.flatMap((one) => Object.values(one.places))]);
    at = Object.fromEntries(Object.entries(at).filter(([name]) => variables.has(name)));
    if (otherLook) await drawVersus(mine); else drawLook();
  }

  const effectsCard = h("section", {class: "card", "aria-label": "The effect of each variable"});
  const editCard = h("section", {class: "card", "aria-label": "Your own formula"});
  const lawCard = h("section", {class: "card law", "aria-label": "The formula"});
  const plotsRow = h("div", {class: "two"});
  const constantsCard = h("section", {class: "card constants"});
  const tiesCard = h("section", {class: "card"});
  const waysCard = h("section", {class: "card"});

  function drawLook() {
    fillLaw(lawCard, look, true);
    fillConstants();
    fillTies();
    fillWays();
    fillEdit();
    const place = by("look");
    const cards = [lawCard, effectsCard, plotsRow, constantsCard, ...(tiesCard.childElementCount ? [tiesCard] : []), editCard, waysCard];
    if (place.childElementCount !== cards.length || [...place.children].some((child, k) => child !== cards[k])) place.replaceChildren(...cards);
    drawResiduals();
    startEffects();
  }

  function fillLaw(card, it, actions) {
    const pin = h("button", {type: "button", class: "button small", "aria-pressed": String(it.pinned), onclick: async (event) => {
      if (await attempt(() => post(`${api}/${it.pinned ? "unpin" : "pin"}`, {key: it.key}), event.target)) {
        it.pinned = !it.pinned;
        refreshNow();
        event.target.textContent = it.pinned ? "★ Pinned" : "☆ Pin";
        event.target.setAttribute("aria-pressed", String(it.pinned));
      }
    }}, it.pinned ? "★ Pinned" : "☆ Pin");
    const copied = h("button", {type: "button", class: "button small", onclick: async () => { await copy(it.ways.find(([name]) => name === "latex")[2]); say("Copied as LaTeX."); }}, "Copy LaTeX");
    const others = front.filter((point) => point.key !== it.key);
    const versus = h("select", {"aria-label": "Compare with another formula", onchange: (event) => compare(event.target.value)},
      h("option", {value: ""}, "Compare with …"), others.map((point) => h("option", {value: point.key}, `${point.complexity}: ${point.text.slice(0, 50)}`)));
    versus.style.width = "auto";
    versus.style.maxWidth = "14rem";
    versus.style.fontSize = "0.86rem";
    card.replaceChildren(h("div", {class: `big${it.text.length > 70 ? " long" : ""}`, tabindex: 0, role: "region", "aria-label": it.text}, it.math ? h("span", {math: it.math}) : h("code", {}, it.text)),
      it.known_as ? h("p", {class: "known"}, `Has the form of ${it.known_as}`) : "",
      it.parts.length ? h("p", {class: "parts", "aria-label": "The parts of the template"}, it.parts.map(([name, math]) => h("span", {}, `${name} = `, h("span", {math})))) : "",
      h("dl", {class: "numbers"}, it.numbers.map(([name, value, note]) => h("div", {}, h("dt", {}, name), h("dd", {}, value, h("small", {}, note))))),
      ...(it.undefined ? [h("p", {class: "note"}, `It has no value in ${it.undefined} of ${it.rows} rows.`)] : []),
      ...(actions ? [h("div", {class: "actions"}, pin, copied, h("span", {class: "spring"}), others.length ? versus : "")] : []));
  }

  /* What is left of each row: as a share of the value where errors are counted so. */
  const residualsOf = (it) => it.observed.map((value, k) => [it.predicted[k], (value - it.predicted[k]) / (it.relative ? it.predicted[k] : 1)]);
  const leftLabel = (it) => it.relative ? "observed / predicted − 1" : "observed − predicted";

  function drawResiduals() {
    const both = h("figure", {}), rest = h("figure", {});
    const note = look.sampled ? " Some of the rows, drawn at random." : "";
    plotsRow.replaceChildren(h("section", {class: "card"}, h("h2", {}, "Predicted and observed"), both, h("p", {class: "hint"}, `On the line, they are equal.${note}`)),
      h("section", {class: "card"}, h("h2", {}, "What is left"), rest, h("p", {class: "hint"}, "Where there is no pattern, nothing is left to explain.")));
    const span = Plot.range([...look.observed, ...look.predicted], look.log);
    Plot.draw(both, {title: `Predicted against observed ${goal}`, height: 240, x: {label: `${goal}, observed`, domain: span, log: look.log}, y: {label: "predicted", domain: span, log: look.log},
      layers: [{type: "line", class: "same", x: span, y: span}, {type: "points", class: "seen", data: look.observed.map((value, k) => [value, look.predicted[k]])}]});
    const left = residualsOf(look);
    Plot.draw(rest, {title: `Residuals of ${goal}`, height: 240, x: {label: `${goal}, predicted`, domain: Plot.range(look.predicted, look.log), log: look.log},
      y: {label: leftLabel(look), domain: Plot.range([...left.map(([, value]) => value), 0])},
      layers: [{type: "level", class: "same", at: 0}, {type: "points", class: "seen", data: left}]});
  }

  // What each variable does, with sliders

  let effectsAsked = 0;
  const askEffects = debounce(() => loadEffects(), 25);

  function startEffects() {
    const names = JSON.stringify([...look.variables.map((variable) => variable.name), ...look.choices.map((choice) => choice.name)]);
    if (effectsCard.dataset.names === names && hasEffects()) { loadEffects(); return; } // the curves stay until the new ones are there
    effectsCard.dataset.names = names;
    const panels = look.variables.map((variable) => {
      const value = at[variable.name] ?? variable.middle;
      const output = h("output", {}, Plot.short(value, 3));
      const slider = h("input", {type: "range", min: variable.from, max: variable.to, step: (variable.to - variable.from) / 400 || 1, value, "aria-label": variable.label,
        oninput: (event) => { at[variable.name] = Number(event.target.value); output.textContent = Plot.short(at[variable.name], 3); askEffects(); }});
      return h("div", {"data-variable": variable.name}, h("figure", {}), h("label", {class: "slider"}, h("span", {}, variable.label), slider, output), h("p", {class: "hint"}));
    });
    const several = look.variables.length > 1;
    const where = !look.variables.length ? "" : look.choices.length ? " as chosen here" : ` at the slider${several ? "s" : ""}`;
    effectsCard.replaceChildren(h("h2", {}, several ? "What each variable does" : "Data and formula"),
      h("div", {class: "reading", "aria-live": "polite"}, h("span", {}, `${goal}${where}`), h("b", {}, "…"), h("span", {class: "soft"}), h("span", {class: "far"})),
      ...look.choices.map(categoryChoice),
      h("div", {class: `effects${several ? "" : " single"}`}, panels),
      h("p", {class: "hint"}, several ? "Each curve has the other variables where their sliders are. The points are the rows, moved there. In the band, 95% of new measurements would lie; outside the rows, the ground is tinted." : "In the band, 95% of new measurements would lie, if the form is right. Outside the rows, the ground is tinted."));
    loadEffects();
  }

  const hasEffects = () => look.variables.length + look.choices.length > 0;

  /* A category is chosen by its name. */
  function categoryChoice(choice) {
    const now = Object.keys(choice.places).find((one) => at[choice.places[one]] === 1) || choice.usual;
    return h("label", {class: "category"}, h("span", {}, choice.name), h("select", {onchange: (event) => {
      for (const [one, place] of Object.entries(choice.places)) at[place] = Number(one === event.target.value);
      loadEffects();
    }}, Object.keys(choice.places).map((one) => h("option", {value: one, selected: one === now}, one))));
  }

  async function loadEffects() {
    if (!hasEffects()) {
      effectsCard.replaceChildren(h("h2", {}, "What each variable does"), h("p", {class: "soft"}, "This formula is a constant: no variable does anything."));
      return;
    }
    const mine = (effectsAsked += 1), key = look.key;
    const found = await attempt(() => post(`${api}/formulas/${key}/effects`, {at}));
    if (!found || mine !== effectsAsked || key !== look.key) return;
    const [, value, interval, far] = effectsCard.querySelector(".reading").children;
    value.textContent = found.value;
    interval.textContent = found.interval ? `95%: ${found.interval}` : "";
    far.textContent = found.warning;
    for (const panel of found.panels) {
      const place = effectsCard.querySelector(`[data-variable="${CSS.escape(panel.name)}"]`);
      drawEffect(place.querySelector("figure"), panel, null);
      place.querySelector("p").textContent = panel.beyond ? `Outside: ${panel.beyond}.` : "";
    }
  }

  function drawEffect(figure, panel, second) {
    const ys = panel.points.map(([, y]) => y), inside = panel.y.filter((value, k) => value !== null && panel.x[k] >= panel.from && panel.x[k] <= panel.to);
    const [low, high] = Plot.range([...ys, ...inside], false, 0.25);
    const variable = look.variables.find((one) => one.name === panel.name);
    Plot.draw(figure, {title: `${goal} as ${variable ? variable.label : panel.name} varies`, height: look.variables.length > 1 || second ? 220 : 320,
      x: {label: variable ? variable.label : panel.name, domain: [panel.x[0], panel.x[panel.x.length - 1]], log: panel.log}, y: {label: goal, domain: [low, high]},
      layers: [{type: "region", class: "outside", from: panel.x[0], to: panel.from}, {type: "region", class: "outside", from: panel.to, to: panel.x[panel.x.length - 1]},
        {type: "band", x: panel.x, y: panel.y, low: panel.low, high: panel.high}, {type: "points", data: panel.points}, {type: "line", x: panel.x, y: panel.y},
        ...(second ? [{type: "line", class: "curve second", x: second.x, y: second.y}] : []), {type: "upright", class: "here", at: panel.at}]});
  }

  // Constants, formulas that can't be told apart, a formula of one's own, and what to take away

  function fillConstants() {
    constantsCard.replaceChildren(h("h2", {}, "Constants"), ...(look.constants.length ? [
      h("div", {class: "named", tabindex: 0, role: "region", "aria-label": "The formula with names for its constants", math: look.named}),
      h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "The constants"}, h("table", {}, h("thead", {}, h("tr", {}, h("th", {scope: "col"}, ""), h("th", {scope: "col", class: "n"}, "value"), h("th", {scope: "col", class: "n"}, "standard error"), h("th", {scope: "col", class: "n"}, "95% interval"), look.units ? h("th", {scope: "col"}, "unit") : "")),
        h("tbody", {}, look.constants.map((one) => h("tr", {}, h("th", {scope: "row", math: one.math}), h("td", {class: "n"}, one.in_formula ? `${one.in_formula}, fitted ${one.value}` : one.value), h("td", {class: "n"}, one.error), h("td", {class: "n"}, one.interval), look.units ? h("td", {}, one.unit || "1") : ""))))),
      look.rounded ? h("p", {class: "hint"}, "Some constants are rounded in the formula. Standard errors and intervals are those of the fit in which all are free.") : "",
    ] : [h("p", {class: "soft"}, "The formula has no fitted constants: its numbers are whole, or made of whole ones.")]));
  }

  function fillTies() {
    const mine = front.find((point) => point.key === look.key);
    const ties = mine && (mine.chosen || mine.tie) ? front.filter((point) => (point.tie || point.chosen) && point.key !== look.key) : [];
    tiesCard.replaceChildren(...(ties.length ? [h("h2", {}, "The data hardly tell these from it"), h("p", {class: "hint"}, "The odds between them are below 20 to 1, and they predict rows that are left out about as well. Compare them to see what to measure next."),
      h("div", {class: "row"}, ties.map((point) => h("button", {type: "button", class: "button small", onclick: () => compare(point.key)}, point.math ? h("span", {math: point.math}) : point.text)))] : []));
  }

  let edited = null;
  const fitOwn = debounce(async () => {
    const field = by("own"), said = by("own-said"), form = field.value;
    if (!form.trim()) { said.replaceChildren(); by("own-pin").disabled = true; return; }
    said.setAttribute("aria-busy", "true");
    try {
      const found = await post(`${api}/fit`, {form});
      if (form !== by("own").value) return;
      edited = found;
      said.replaceChildren(h("div", {class: "row"}, h("span", {math: found.math}), h("span", {class: "soft"}, `R² ${found.numbers[0][1]} · typical error ${found.numbers[2][1]} · length ${found.numbers[3][1]}`)),
        ...found.notes.map((note) => h("p", {class: "hint"}, note)));
      by("own-pin").disabled = false;
    } catch (problem) {
      if (!(problem instanceof Failure)) throw problem;
      if (form === by("own").value) { said.replaceChildren(h("pre", {}, problem.message)); by("own-pin").disabled = true; }
    } finally {
      said.removeAttribute("aria-busy");
    }
  }, 250);

  function fillEdit() {
    if (!editCard.childElementCount) {
      editCard.append(h("h2", {}, "Change it by hand"),
        h("div", {class: "edit-row"}, h("input", {id: "own", type: "text", spellcheck: "false", autocomplete: "off", "aria-label": "A formula", "aria-describedby": "own-hint", oninput: fitOwn, onkeydown: (event) => { if (event.key === "Enter") by("own-pin").click(); }}),
          h("button", {id: "own-pin", type: "button", class: "button", disabled: true, onclick: async (event) => {
            if (!edited || !(await attempt(() => post(`${api}/pin`, {key: edited.key}), event.target))) return;
            by("own").dataset.touched = "";
            following = false;
            chosenKey = edited.key;
            remember();
            await refreshNow();
            showLook();
          }}, "Pin it to the front")),
        h("div", {id: "own-said", class: "edit-said", "aria-live": "polite"}),
        h("p", {id: "own-hint", class: "hint"}, "As in Python: ", h("code", {}, "a*x**b + c"), ". Names that are no columns, and numbers with a point, are fitted at once; whole numbers stay."));
      by("look").append(editCard);
      by("own").addEventListener("input", () => { by("own").dataset.touched = "yes"; });
    }
    if (by("own") && by("own").dataset.touched === "yes") return;
    const field = editCard.querySelector("#own");
    field.value = look.edit;
    editCard.querySelector("#own-said").replaceChildren();
    editCard.querySelector("#own-pin").disabled = true;
  }

  let way = "latex", notebook = null;
  async function fillWays() {
    const ways = [...look.ways, ["notebook", "Notebook", notebook || "…"]];
    const text = () => (ways.find(([name]) => name === way) || ways[0])[2];
    const pre = h("pre", {tabindex: 0, "aria-label": "The formula as text"}, text());
    const button = h("button", {type: "button", class: "button small", onclick: async () => { await copy(pre.textContent); button.textContent = "Copied"; setTimeout(() => { button.textContent = "Copy"; }, 1500); }}, "Copy");
    const tabs = ways.map(([name, title]) => h("button", {type: "button", class: "button", "aria-pressed": String(name === way), "data-way": name, onclick: () => { way = name; fillWays(); waysCard.querySelector(`[data-way="${name}"]`).focus(); }}, title));
    waysCard.replaceChildren(h("h2", {}, "Take it with you"), h("div", {class: "tabs", role: "group", "aria-label": "Format"}, tabs), h("div", {class: "code"}, pre, button),
      h("p", {class: "hint"}, way === "notebook" ? "The cell that does the same search, with the table in a file beside it." : way === "excel" ? "For the columns in A, B, … with their values from row 2 on." : ""),
      h("div", {class: "row"}, h("button", {type: "button", class: "button", id: "report", onclick: (event) => download(event.target)}, "Download the report"), status.final ? h("a", {class: "button", href: `/searches/${id}/model.json`}, "Download the model") : ""));
    if (way === "notebook" && notebook === null) {
      const found = await attempt(() => get(`${api}/notebook`));
      if (found) { notebook = found.text; if (way === "notebook") waysCard.querySelector("pre").textContent = notebook; }
    }
  }

  async function download(button) {
    const text = button.textContent;
    button.textContent = "Drawing the report …";
    await attempt(async () => {
      const answer = await fetch(`/searches/${id}/report.html`, {credentials: "same-origin"});
      if (!answer.ok) throw new Failure("The report could not be made.");
      const link = h("a", {href: URL.createObjectURL(await answer.blob()), download: `${status.name}.html`});
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }, button);
    button.textContent = text;
  }

  // Two formulas side by side

  async function drawVersus(mine) {
    const [first, second] = [h("section", {class: "card law first"}), h("section", {class: "card law second"})];
    fillLaw(first, look, false);
    fillLaw(second, otherLook, false);
    const names = [...new Set([...look.variables, ...otherLook.variables].map((one) => one.name))];
    const panels = h("div", {class: `effects${names.length > 1 ? "" : " single"}`}, names.map((name) => h("figure", {"data-variable": name})));
    const told = h("p", {class: "soft"}, "…");
    by("look").replaceChildren(
      h("div", {class: "row between"}, h("h2", {}, "Two formulas side by side"), h("button", {type: "button", class: "button", onclick: () => compare("")}, "Back to one")),
      h("div", {class: "versus"}, first, second),
      h("section", {class: "card"}, h("h2", {}, "Where they differ"), told, panels, h("p", {class: "hint"}, "Blue is the first, orange the second. Other variables are at their medians.")),
      residualsVersus());
    const [a, b, apart] = await Promise.all([post(`${api}/formulas/${look.key}/effects`, {at: {}}), post(`${api}/formulas/${otherLook.key}/effects`, {at: {}}), get(`${api}/difference/${look.key}/${otherLook.key}`)]);
    if (mine !== asked) return;
    told.textContent = `On the rows they differ by ${apart.rms} (root mean square).` + (apart.place.length ? ` They differ most, by ${apart.most}, at ${apart.place.map(([name, value]) => `${name} = ${value}`).join(", ")}: a measurement there tells them apart.` : "");
    for (const name of names) {
      const [one, other] = [a, b].map((found) => found.panels.find((panel) => panel.name === name));
      drawEffect(panels.querySelector(`[data-variable="${CSS.escape(name)}"]`), one || {...other, y: other.y.map(() => null), points: other.points}, other && one ? other : other || null);
    }
    drawResidualsVersus();
  }

  function residualsVersus() {
    return h("section", {class: "card", id: "versus-left"}, h("h2", {}, "What each leaves"), h("div", {class: "two"}, h("figure", {}), h("figure", {})));
  }

  function drawResidualsVersus() {
    const all = [look, otherLook].flatMap((it) => residualsOf(it).map(([, value]) => value));
    const domain = Plot.range([...all, 0]);
    by("versus-left").querySelectorAll("figure").forEach((figure, k) => {
      const it = [look, otherLook][k];
      Plot.draw(figure, {title: `Residuals of the ${k ? "second" : "first"} formula`, height: 220, x: {label: `${goal}, predicted`, domain: Plot.range(it.predicted, it.log), log: it.log}, y: {label: leftLabel(it), domain},
        layers: [{type: "level", class: "same", at: 0}, {type: "points", class: "seen", data: residualsOf(it)}]});
    });
  }

  const refreshNow = poll(refresh, () => (status && !BUSY.includes(status.state) ? 1000 : 200));
  onResize(by("front"), () => { drawFront(); drawStructure(); });
  by("structure").firstElementChild.addEventListener("toggle", drawStructure);
  onResize(by("look"), () => { if (look && !otherLook) { drawResiduals(); loadEffects(); } });
})();
