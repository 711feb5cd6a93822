/* The front of the report, drawn by `Plot`: click a point or a row, see its plot. */
for (const place of document.querySelectorAll("[data-front]")) {
  const found = JSON.parse(place.dataset.front);
  const [picture, pick] = place.querySelectorAll("figure");
  const rows = [...document.querySelectorAll(`[data-of="${place.id}"] tr[data-row]`)];
  let key = found.points.find((point) => point.chosen).key;

  const show = () => {
    Plot.front(picture, found.points.map((point) => ({...point, selected: point.key === key})), choose, 300);
    for (const row of rows) row.classList.toggle("picked", row.dataset.row === key);
    const point = found.points.find((one) => one.key === key);
    const formula = rows.find((row) => row.dataset.row === key).querySelector(".says").cloneNode(true);
    const drawing = document.createElement("div");
    pick.replaceChildren(formula, drawing);
    if (found.grid) {
      const y = Plot.range([...found.observed, ...point.curve].filter((value) => value !== null));
      const near = Plot.range(found.observed, false, 0.5);
      Plot.draw(drawing, {title: `${found.target} against ${found.name}`, height: 250, x: {label: found.name, domain: Plot.range(found.x, found.log), log: found.log},
        y: {label: found.target, domain: [Math.max(y[0], near[0]), Math.min(y[1], near[1])]},
        layers: [{type: "points", data: found.x.map((value, k) => [value, found.observed[k]])}, {type: "line", x: found.grid, y: point.curve}]});
    } else {
      const data = found.observed.map((value, k) => [value, point.predicted[k]]).filter(([, value]) => value !== null);
      const span = Plot.range(found.observed, false, 0.15);
      Plot.draw(drawing, {title: `Predicted against observed ${found.target}`, height: 250, x: {label: `${found.target}, observed`, domain: span}, y: {label: "predicted", domain: span},
        layers: [{type: "line", class: "same", x: span, y: span}, {type: "points", class: "seen", data}]});
    }
  };
  const choose = (other, focus) => {
    key = other;
    show();
    if (focus) picture.querySelector(`[data-key="${key}"]`).focus();
  };
  pick.hidden = false;
  for (const row of rows) row.addEventListener("click", () => choose(row.dataset.row));
  addEventListener("resize", show);
  show();
}
