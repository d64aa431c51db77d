// The head of what is hovered over is a line of its own: see `head`.
const NO_TITLE = '<span style="font-size:1px"> </span>';

// One figure of the page: its legend, panels, zoom and files.
class Chart {
  constructor(element, figure) {
    Object.assign(this, { element, figure, settings: figure.settings, filters: {}, ranges: null });
    this.by = this.settings.by || "predictions";
    this.names = Object.keys(this.settings.styles);
    this.off = new Set(this.names.filter((name) => this.settings.styles[name].off));
    this.shaded = Boolean(this.settings.shade);
    this.log = Boolean(this.settings.xAxis.log);
    this.label = element.closest("section").querySelector("h2").textContent;
    const panel = this.settings.panel;
    this.panels = panel ? [...new Set(figure.columns[panel])] : [null];
    this.plots = this.panels.map((_, k) => this.addPanel(k));
    this.addLegend();
    this.addTools();
  }

  addPanel(k) {
    const panel = document.createElement("div"), plot = document.createElement("div");
    panel.className = "panel";
    plot.className = "plot";
    plot.setAttribute("role", "img");
    if (this.settings.titles) {
      const title = document.createElement("h3");
      title.textContent = this.settings.titles[k];
      panel.append(title);
    }
    panel.append(plot);
    this.element.querySelector(".panels").append(panel);
    return plot;
  }

  addLegend() {
    const legend = this.element.querySelector(".legend");
    for (const name of this.names) {
      legend.append(this.toggle(name, swatch(this.settings.styles[name]), !this.off.has(name), (on) => {
        if (on) this.off.delete(name); else this.off.add(name);
      }));
    }
    if (this.shaded) {
      legend.append(this.toggle("chance limit", swatch(null), true, (on) => { this.shaded = on; }));
    }
  }

  toggle(name, picture, on, change) {
    const button = document.createElement("button");
    button.type = "button";
    button.innerHTML = picture;
    button.append(name);
    button.setAttribute("aria-pressed", on);
    button.addEventListener("click", () => {
      const now = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", now);
      change(now);
      this.draw();
    });
    return button;
  }

  addTools() {
    const tools = this.element.querySelector(".tools");
    const add = (text, act, label = text) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = text;
      button.setAttribute("aria-label", label);
      button.addEventListener("click", act);
      tools.append(button);
    };
    add("Zoom in", () => this.zoom(.5, 0));
    add("Zoom out", () => this.zoom(2, 0));
    add("Left", () => this.zoom(1, -.5));
    add("Right", () => this.zoom(1, .5));
    add("Reset", () => { this.ranges = null; this.draw(); });
    if (this.settings.xAxis.canBeLog) {
      tools.append(this.toggle("Log axis", "", this.log, (on) => { this.log = on; this.ranges = null; }));
    }
    add("CSV", () => save(`${this.figure.name}.csv`, "text/csv", csv(this.figure.columns)),
      "CSV: download the numbers of this figure");
    add("JSON", () => save(`${this.figure.name}.json`, "application/json", JSON.stringify(this.figure.columns)),
      "JSON: download the numbers of this figure");
    this.table = document.createElement("details");
    this.table.className = "data";
    this.table.innerHTML = "<summary>Numbers as a table</summary>";
    this.table.addEventListener("toggle", () => this.fill());
    tools.after(this.table);
  }

  /** Zoom about the middle, or move, by shares of what is shown. */
  zoom(factor, shift) {
    this.ranges = this.plots.map((plot) => {
      const axis = plot._fullLayout.xaxis;
      const [low, high] = axis.range.map((one) => axis.r2l(one));
      const middle = (low + high) / 2 + shift * (high - low), half = factor * (high - low) / 2;
      return [middle - half, middle + half].map((one) => axis.l2r(one));
    });
    this.draw();
  }

  draw() {
    this.plots.forEach((plot, k) => this.drawPanel(plot, k));
    this.fill();
  }

  drawPanel(plot, k) {
    const { settings } = this;
    const rows = this.rows(k);
    const times = rows.map((row) => row[settings.x]);
    const axis = new Axis(settings.xAxis, settings.xAxis.date ? [] : times, this.log);
    const whole = wholeRange(settings, rows, axis);
    const range = this.ranges ? this.ranges[k] : whole;
    const lines = this.names.map((name) => [name, rows.filter((row) => row[this.by] === name)])
      .filter(([, own]) => own.length);
    const data = lines.flatMap(([name, own]) =>
      traces(name, own, settings, axis, settings.styles[name], !this.off.has(name)));
    const first = lines.find(([name]) => !this.off.has(name));
    if (this.shaded && first) data.unshift(shade(first[1], settings, axis));
    if (settings.xAxis.name && first) data.unshift(head(first[1], settings, axis));
    Plotly.react(plot, data, this.layout(axis, range, k), { displayModeBar: false, responsive: true,
      doubleClick: false, scrollZoom: false, showTips: false });
    plot.setAttribute("aria-label", this.summary(lines, k));
    this.listen(plot, k);
  }

  layout(axis, range, k) {
    const { settings } = this, ink = color("--text"), time = Boolean(settings.xAxis.name);
    const y = settings.yAxis, limits = y.limits ? y.limits[k] : y.range;
    const lined = { gridcolor: color("--grid"), linecolor: color("--line"), tickcolor: color("--line"), automargin: true };
    const touch = matchMedia("(pointer: coarse)").matches;
    return {
      ...(paper ? { autosize: false, ...(settings.small ? SMALL_PAPER : PAPER) } : { autosize: true }),
      showlegend: false, hovermode: time ? "x unified" : "closest", paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 10, r: 8, t: 8, b: 10 },
      // A finger scrolls the page, until the figure is zoomed.
      dragmode: touch ? (this.ranges ? "pan" : false) : "zoom",
      font: { family: getComputedStyle(document.body).fontFamily, size: 13, color: ink },
      hoverlabel: { bgcolor: color("--card"), bordercolor: color("--line"), font: { color: ink, size: 13 }, align: "left" },
      xaxis: { ...lined, ...axis.layout(range), unifiedhovertitle: { text: NO_TITLE } },
      yaxis: { ...lined, title: { text: y.title, standoff: 8 }, zeroline: false, fixedrange: true,
        ...(limits ? { range: limits } : { rangemode: "tozero" }) },
      shapes: references(settings, k),
    };
  }

  listen(plot, k) {
    if (plot.dataset.listens) return;
    plot.dataset.listens = "yes";
    plot.on("plotly_relayout", (change) => {
      if (!("xaxis.range[0]" in change)) return;
      this.ranges = this.ranges || this.plots.map((one) => [...one._fullLayout.xaxis.range]);
      this.ranges[k] = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
      this.drawPanel(plot, k);
    });
    plot.on("plotly_doubleclick", () => { this.ranges = null; this.draw(); });
  }

  rows(k) {
    const own = this.settings.panel ? { [this.settings.panel]: this.panels[k] } : {};
    return rowsOf(this.figure, { ...this.filters, ...own });
  }

  /** The figure in words, for those who do not see it. */
  summary(lines, k) {
    const { x, y } = this.settings;
    const said = lines.filter(([name]) => !this.off.has(name)).map(([name, rows]) => {
      const at = (row) => `${words(row, this.settings)} at ${place(row, this.settings)}`;
      const most = rows.reduce((one, other) => (other[y] > one[y] ? other : one));
      return `${name}: from ${at(rows[0])} to ${at(rows.at(-1))}, the largest ${at(most)}`;
    });
    const title = this.settings.titles ? `${this.label}, ${this.settings.titles[k]}` : this.label;
    return `${title}. ${said.join(". ")}. The numbers are in the table below the figure.`;
  }

  /** Write the rows that are shown into the table, once it is opened. */
  fill() {
    if (!this.table.open) return;
    const table = document.createElement("table"), names = Object.keys(this.figure.columns);
    const head = table.createTHead().insertRow();
    for (const name of names) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = name.replaceAll("_", " ");
      head.append(cell);
    }
    const body = table.createTBody();
    for (const row of rowsOf(this.figure, this.filters)) {
      const line = body.insertRow();
      for (const name of names) {
        const value = row[name], float = typeof value === "number" && !Number.isInteger(value);
        line.insertCell().textContent = float ? Number(value.toPrecision(5)) : String(value ?? "-");
      }
    }
    this.table.querySelector("table")?.remove();
    this.table.tabIndex = 0;
    this.table.append(table);
  }
}

/** A short piece of a line, as it is drawn. */
function swatch(style) {
  if (!style) return '<svg viewBox="0 0 36 16" aria-hidden="true"><rect y="3" width="36" height="10" fill="var(--shade)" stroke="var(--quiet)" stroke-dasharray="2 2"/></svg>';
  const dashes = { dash: "8 4", dot: "2 3", dashdot: "8 3 2 3", longdash: "12 4" }[style.dash] || "none";
  const ink = `stroke="var(${style.color})" fill="var(${style.color})"`;
  const marks = { circle: '<circle cx="18" cy="8" r="4"/>', square: '<rect x="14" y="4" width="8" height="8"/>',
    "triangle-up": '<path d="M18 3l5 9h-10z"/>', diamond: '<path d="M18 3l5 5-5 5-5-5z"/>',
    "triangle-down": '<path d="M18 13l5-9h-10z"/>', cross: '<path d="M16 3h4v3h3v4h-3v3h-4v-3h-3v-4h3z"/>',
    x: '<path d="M14 4l8 8m0-8l-8 8" stroke-width="3"/>' };
  const line = style.dash ? `<path d="M0 8h36" stroke-width="2.5" stroke-dasharray="${dashes}"/>` : "";
  return `<svg viewBox="0 0 36 16" aria-hidden="true"><g ${ink}>${line}${marks[style.marker] || ""}</g></svg>`;
}

/** Columns as text, quoted where needed; numbers with all their digits. */
function csv(columns) {
  const names = Object.keys(columns);
  const quoted = (value) => {
    const text = value === null ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const count = names.length ? columns[names[0]].length : 0;
  const lines = [names.map(quoted).join(",")];
  for (let k = 0; k < count; k++) lines.push(names.map((name) => quoted(columns[name][k])).join(","));
  return lines.join("\r\n") + "\r\n";
}

function save(name, type, text) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

const figures = JSON.parse(document.getElementById("figures").textContent);
for (const { columns } of Object.values(figures)) {
  for (const [name, column] of Object.entries(columns)) {
    if (column.levels) columns[name] = column.codes.map((code) => column.levels[code]);
  }
}
const charts = Object.fromEntries([...document.querySelectorAll("[data-figure]")].map((element) =>
  [element.dataset.figure, new Chart(element, figures[element.dataset.figure])]));

// One class of several, in all figures that have classes.
const tabs = [...document.querySelectorAll(".tabs button")];
function showClass(name) {
  tabs.forEach((tab) => tab.setAttribute("aria-pressed", tab.dataset.class === name));
  for (const chart of Object.values(charts)) {
    if (!("class" in chart.figure.columns) || chart.settings.panel) continue;
    chart.filters.class = name;
    chart.draw();
  }
}
tabs.forEach((tab) => tab.addEventListener("click", () => showClass(tab.dataset.class)));

// The slider along time.
const slider = document.getElementById("when");
const timeRows = document.querySelectorAll("#time-bins tbody tr");
function moveSlider() {
  const at = Number(slider.value), text = timeRows[at].cells[0].textContent;
  timeRows.forEach((row, k) => row.classList.toggle("here", k === at));
  document.getElementById("when-text").textContent = text;
  slider.setAttribute("aria-valuetext", text);
  charts.reliability.filters.time_bin = at;
  charts.reliability.draw();
}
slider.addEventListener("input", moveSlider);

function drawAll() {
  Object.values(charts).forEach((chart) => chart.draw());
}
// On paper: light, and as wide as the sheet.
const PAPER = { width: 630, height: 330 }, SMALL_PAPER = { width: 300, height: 190 };
let paper = false;
function usePaper(now) {
  paper = now;
  document.documentElement.classList.toggle("paper", now);
  for (const plot of document.querySelectorAll(".plot")) {
    const size = plot.closest(".small") ? SMALL_PAPER : PAPER;
    plot.style.width = now ? `${size.width}px` : "";
    plot.style.height = now ? `${size.height}px` : "";
  }
  drawAll();
  if (!now) document.querySelectorAll(".plot").forEach((plot) => Plotly.Plots.resize(plot));
}
addEventListener("beforeprint", () => usePaper(true));
addEventListener("afterprint", () => usePaper(false));

if (tabs.length) showClass(tabs[0].dataset.class);
moveSlider(); // a browser may keep the slider where it was
drawAll();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
