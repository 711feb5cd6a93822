/* Small plots as SVG, drawn in the browser: points, lines, bands and steps on linear or logarithmic axes.
   Colours are classes of the style sheet, so that light and dark are its business. Used by the studio and the report. */
const Plot = (() => {
  const sample = document.createElement("template");
  sample.innerHTML = "<svg></svg>";
  const SVG = sample.content.firstChild.namespaceURI; // by its own word, since a page of ours has no address in it
  const SUPERSCRIPT = {"-": "⁻", 0: "⁰", 1: "¹", 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶", 7: "⁷", 8: "⁸", 9: "⁹"};
  const raised = (power) => String(power).replace(/./g, (sign) => SUPERSCRIPT[sign]);

  function make(tag, attributes = {}, ...children) {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== undefined && value !== null && value !== false) node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  }

  /* A number for an axis: few digits, and a power of ten where it is long. */
  function short(value, digits = 4) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e-3 && size < 1e5) return String(Number(value.toPrecision(digits))).replace("-", "−");
    const power = Math.floor(Math.log10(size) + 1e-9);
    const lead = Number((value / 10 ** power).toPrecision(Math.max(digits - 1, 1)));
    return (lead === 1 ? "10" : lead === -1 ? "−10" : `${String(lead).replace("-", "−")} × 10`) + raised(power);
  }

  function linear(low, high, from, to) {
    const scale = (value) => from + (to - from) * (value - low) / (high - low);
    scale.ticks = (count) => {
      const rough = (high - low) / Math.max(count, 1);
      const base = 10 ** Math.floor(Math.log10(rough));
      let found = [];
      // The widest step that is not much closer than asked for, and has three ticks at least.
      for (const step of [10, 5, 2, 1, 0.5].map((k) => k * base).filter((k) => k <= 2.5 * rough)) {
        found = [];
        for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k += 1) found.push(k * step);
        if (found.length >= 3 || (found.length >= 2 && step < rough)) break;
      }
      return found;
    };
    scale.label = short;
    scale.back = (place) => low + (high - low) * (place - from) / (to - from);
    return scale;
  }

  function logarithmic(low, high, from, to) {
    const [a, b] = [Math.log10(low), Math.log10(high)];
    const inner = linear(a, b, from, to);
    const scale = (value) => inner(Math.log10(value));
    scale.ticks = (count) => {
      const [first, last] = [Math.ceil(a - 1e-9), Math.floor(b + 1e-9)];
      const found = [];
      const step = Math.max(1, Math.ceil((last - first + 1) / Math.max(count, 1)));
      for (let k = first; k <= last; k += step) found.push(10 ** k);
      if (found.length >= 3) return found;
      const more = [];
      for (let k = Math.floor(a); k <= last; k += 1) {
        for (const lead of b - a > 1 ? [1, 3] : [1, 2, 5]) {
          const value = lead * 10 ** k;
          if (value >= low * 0.999 && value <= high * 1.001) more.push(value);
        }
      }
      return more.length >= 2 ? more : linear(low, high, from, to).ticks(count);
    };
    scale.label = short;
    scale.back = (place) => 10 ** inner.back(place);
    return scale;
  }

  /* The range of some values, with room around them. */
  function range(values, log = false, room = 0.05) {
    const known = values.filter((value) => Number.isFinite(value) && (!log || value > 0));
    if (!known.length) return log ? [1, 10] : [0, 1];
    let low = known.reduce((one, other) => Math.min(one, other));
    let high = known.reduce((one, other) => Math.max(one, other));
    if (log) {
      const spread = Math.max(Math.log10(high / low), 0.2);
      return [10 ** (Math.log10(low) - room * spread), 10 ** (Math.log10(high) + room * spread)];
    }
    if (low === high) [low, high] = [low - (Math.abs(low) / 2 || 1), high + (Math.abs(high) / 2 || 1)];
    const spare = room * (high - low);
    return [low - spare, high + spare];
  }

  const LAYERS = {
    region(layer, x, y, box) {
      const [from, to] = [Math.max(x(layer.from), box.left), Math.min(x(layer.to), box.right)];
      return to > from ? [make("rect", {class: layer.class, x: from, y: box.top, width: to - from, height: box.bottom - box.top})] : [];
    },
    band(layer, x, y) {
      return pieces(layer.x.map((_, k) => layer.low[k] !== null && layer.high[k] !== null && layer.y[k] !== null)).map(([a, b]) => {
        const there = [], back = [];
        for (let k = a; k < b; k += 1) {
          there.push(`${x(layer.x[k]).toFixed(1)},${bounded(y(layer.low[k]))}`);
          back.unshift(`${x(layer.x[k]).toFixed(1)},${bounded(y(layer.high[k]))}`);
        }
        return make("polygon", {class: layer.class || "band", points: [...there, ...back].join(" ")});
      });
    },
    line(layer, x, y, box) {
      const known = layer.x.map((_, k) => layer.y[k] !== null && Number.isFinite(y(layer.y[k])));
      // No line goes through a pole, from above the picture to below it.
      const side = layer.y.map((value, k) => known[k] && (y(value) < box.top ? -1 : y(value) > box.bottom ? 1 : 0));
      side.forEach((one, k) => { if (one && one === -side[k + 1]) known[k] = false; });
      return pieces(known).map(([a, b]) => {
        const path = [];
        for (let k = a; k < b; k += 1) path.push(`${x(layer.x[k]).toFixed(1)},${bounded(y(layer.y[k]))}`);
        return make("polyline", {class: layer.class || "curve", points: path.join(" ")});
      });
    },
    points(layer, x, y) {
      const many = layer.data.length > 300;
      return layer.data.filter(([a, b]) => Number.isFinite(x(a)) && Number.isFinite(y(b))).map(([a, b]) =>
        make("circle", {class: layer.class || "row", cx: x(a).toFixed(1), cy: bounded(y(b)), r: layer.r || (many ? 1.8 : 3)}));
    },
    upright(layer, x, y, box) {
      return [make("line", {class: layer.class, x1: x(layer.at), x2: x(layer.at), y1: box.top, y2: box.bottom})];
    },
    level(layer, x, y, box) {
      return [make("line", {class: layer.class, x1: box.left, x2: box.right, y1: y(layer.at), y2: y(layer.at)})];
    },
    bars(layer, x, y, box) {
      const width = (layer.high - layer.low) / layer.counts.length || 1;
      return layer.counts.map((count, k) => {
        const [a, b] = [x(layer.low + k * width), x(layer.low + (k + 1) * width)];
        return make("rect", {class: "bar", x: a + 0.5, y: y(count), width: Math.max(b - a - 1, 1), height: Math.max(box.bottom - y(count), 0)});
      });
    },
  };

  const bounded = (value) => Math.max(-4000, Math.min(8000, value)).toFixed(1);

  /* Where values are known without a gap: [from, to). */
  function pieces(known) {
    const found = [];
    let start = -1;
    known.forEach((one, k) => {
      if (one && start < 0) start = k;
      if (!one && start >= 0) { found.push([start, k]); start = -1; }
    });
    if (start >= 0) found.push([start, known.length]);
    return found.filter(([a, b]) => b - a > 1);
  }

  let count = 0;

  /* A plot in an element. spec: x and y {label, log, domain}, layers, height, title (for those who can't see it). */
  function draw(element, spec) {
    const width = Math.max(element.clientWidth || 320, 120);
    const height = spec.height || Math.round(width * 0.62);
    const small = spec.small;
    const scale = (axis, from, to) => (axis.log ? logarithmic : linear)(...axis.domain, from, to);
    const margin = small ? {left: 8, right: 6, top: 6, bottom: 6} : {left: 58, right: 14, top: 12, bottom: spec.x.label ? 44 : 28};
    if (!small) { // room for the longest number beside the axis, and the axis' name before it
      const numbers = scale(spec.y, height - margin.bottom, margin.top).ticks(Math.max(Math.floor((height - 56) / 40), 2)).map((value) => (spec.y.format || short)(value));
      margin.left = Math.max(margin.left, 32 + 6.4 * Math.max(...numbers.map((text) => text.length)));
    }
    const box = {left: margin.left, right: width - margin.right, top: margin.top, bottom: height - margin.bottom};
    const x = scale(spec.x, box.left, box.right), y = scale(spec.y, box.bottom, box.top);
    const svg = make("svg", {class: "plot", viewBox: `0 0 ${width} ${height}`, width, height, role: spec.role || "img", "aria-label": spec.title});
    if (!small) drawAxes(svg, spec, x, y, box);
    const id = `clip${(count += 1)}`;
    const clip = make("clipPath", {id}, make("rect", {x: box.left - 4, y: box.top - 4, width: box.right - box.left + 8, height: box.bottom - box.top + 8}));
    const inside = make("g", {"clip-path": `url(#${id})`});
    for (const layer of spec.layers) inside.append(...LAYERS[layer.type](layer, x, y, box));
    svg.append(clip, inside);
    element.replaceChildren(svg);
    return {svg, x, y, box};
  }

  function drawAxes(svg, spec, x, y, box) {
    const axes = make("g", {class: "axes"});
    const across = x.ticks(Math.max(Math.floor((box.right - box.left) / 62), 2));
    const up = y.ticks(Math.max(Math.floor((box.bottom - box.top) / 40), 2));
    for (const value of across) {
      axes.append(make("line", {class: "grid", x1: x(value), x2: x(value), y1: box.top, y2: box.bottom}),
        make("text", {x: x(value), y: box.bottom + 17, "text-anchor": "middle"}, (spec.x.format || x.label)(value)));
    }
    for (const value of up) {
      axes.append(make("line", {class: "grid", x1: box.left, x2: box.right, y1: y(value), y2: y(value)}),
        make("text", {x: box.left - 8, y: y(value) + 4, "text-anchor": "end"}, (spec.y.format || y.label)(value)));
    }
    axes.append(make("line", {class: "axis", x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom}));
    if (spec.x.label) axes.append(make("text", {class: "label", x: (box.left + box.right) / 2, y: box.bottom + 37, "text-anchor": "middle"}, cut(spec.x.label)));
    if (spec.y.label) {
      const middle = (box.top + box.bottom) / 2;
      axes.append(make("text", {class: "label", x: 13, y: middle, "text-anchor": "middle", transform: `rotate(-90 13 ${middle})`}, cut(spec.y.label)));
    }
    svg.append(axes);
  }

  const cut = (text, most = 40) => text.length > most ? `${text.slice(0, most - 1)}…` : text;

  /* The front: each formula a point that can be clicked and reached by keys. Points have key, complexity, error, text,
     and what they are: chosen, tie, pinned, selected, other. */
  function front(element, points, choose, height, label = "typical error") {
    const known = points.filter((point) => point.error !== null && point.error >= 0);
    const positive = known.map((point) => Math.sqrt(point.error)).filter((error) => error > 0);
    const errors = range(positive, true, 0.1);
    const floor = known.some((point) => point.error === 0) ? errors[0] / 10 : errors[0];
    const height_of = (point) => Math.max(Math.sqrt(point.error), floor || 1e-300);
    const most = Math.max(8, ...known.map((point) => point.complexity));
    const along = known.filter((point) => point.front !== false);
    const steps = {type: "line", class: "steps", x: [], y: []};
    let best = Infinity;
    along.forEach((point) => {
      if (height_of(point) < best) {
        if (best < Infinity) { steps.x.push(point.complexity); steps.y.push(best); }
        best = height_of(point);
        steps.x.push(point.complexity);
        steps.y.push(best);
      }
    });
    if (steps.x.length) { steps.x.push(most + 1); steps.y.push(best); }
    const focused = element.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const drawn = draw(element, {
      x: {label: "complexity: longer formulas to the right", domain: [0, most + 1]},
      y: {label, domain: [floor, errors[1]], log: true},
      layers: steps.x.length > 1 ? [steps] : [], height, role: "group", title: `The front: ${known.length} formulas by complexity and error`,
    });
    const {svg, x, y} = drawn;
    known.forEach((point, k) => {
      const mark = make("g", {
        class: ["mark", ...["chosen", "tie", "pinned", "selected", "other", "fresh"].filter((name) => point[name])].join(" "),
        transform: `translate(${x(point.complexity).toFixed(1)},${y(height_of(point)).toFixed(1)})`, role: "button",
        tabindex: point.selected || (k === 0 && !known.some((one) => one.selected)) ? 0 : -1, "data-key": point.key,
        "aria-label": `complexity ${point.complexity}, typical error ${short(Math.sqrt(point.error), 3)}: ${point.text}`,
        "aria-pressed": point.selected ? "true" : "false",
      }, make("title", {}, point.text), make("circle", {class: "reach", r: 14}), make("circle", {class: "ring", r: 10}),
      point.pinned ? make("path", {class: "dot", d: "M0,-7 L2.1,-2.4 7,-2.1 3.2,1.2 4.4,6 0,3.4 -4.4,6 -3.2,1.2 -7,-2.1 -2.1,-2.4Z"}) : make("circle", {class: "dot", r: 5.5}));
      mark.addEventListener("click", () => choose(point.key));
      mark.addEventListener("keydown", (event) => {
        const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
        const to = event.key === "Enter" || event.key === " " ? k : step ? Math.min(Math.max(k + step, 0), known.length - 1) : -1;
        if (to >= 0) { event.preventDefault(); choose(known[to].key, true); }
      });
      svg.append(mark);
      if (point.key === focused) mark.focus();
    });
    return drawn;
  }

  return {draw, front, range, short, make};
})();
