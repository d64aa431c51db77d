"use strict";
// Draws the tables in #figures with plotly.js. A figure is {name, columns, settings}; settings say
// which column is what, and the axes and styles of the lines.

const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const number = (value, digits) => (value === null ? "-" : value.toFixed(digits));

/** Rows of a figure as objects, of one value of its filters. */
function rowsOf(figure, filters) {
  const names = Object.keys(figure.columns);
  const count = names.length ? figure.columns[names[0]].length : 0;
  const rows = [];
  for (let k = 0; k < count; k++) {
    const row = Object.fromEntries(names.map((name) => [name, figure.columns[name][k]]));
    if (Object.entries(filters).every(([name, value]) => !(name in row) || row[name] === value)) rows.push(row);
  }
  return rows;
}

/** Position of a time on the axis: itself, or its logarithm, shifted where times begin at 0. */
class Axis {
  constructor(settings, times, log) {
    this.settings = settings;
    this.log = log && !settings.date;
    const positive = times.filter((time) => time > 0);
    this.first = positive.length ? Math.min(...positive) : 1;
    this.shift = times.some((time) => time <= 0) ? this.first : 0;
  }
  at(time) {
    return this.log ? Math.log2((time + this.shift) / this.first) : time;
  }
  /** Ticks at round times between two positions. */
  ticks(from, to) {
    const back = (position) => this.first * 2 ** position - this.shift;
    const low = Math.max(back(from), 0), high = back(to), found = this.shift && low <= 0 ? [0] : [];
    for (let power = -12; power <= 15; power++) {
      for (const digit of [1, 2, 5]) {
        const time = Number((digit * 10 ** power).toPrecision(1));
        if (time >= Math.max(low, this.first * .999) && time <= high * 1.001) found.push(time);
      }
    }
    return found;
  }
  layout(range) {
    const base = { title: { text: this.settings.title, standoff: 8 }, automargin: true, zeroline: false };
    if (this.settings.date) return { ...base, type: "date", ...(range && { range }) };
    if (!this.log) return { ...base, ...(range && { range }) };
    const ticks = this.ticks(...range);
    return { ...base, range, tickvals: ticks.map((time) => this.at(time)), ticktext: ticks.map(String) };
  }
}

/** What is hovered over: a number with its interval. */
function words(row, settings) {
  const { digits } = settings, hollow = settings.hollow && row[settings.hollow];
  let text = number(row[settings.y], digits);
  if (settings.lower && row[settings.lower] !== null) {
    const [low, high] = [row[settings.lower], row[settings.upper]].map((one) => number(one, digits));
    text += hollow && row[settings.lower] === 0 ? ` (at most ${high})` : ` (${low} to ${high})`;
  }
  return text + (hollow ? ", may be chance" : "");
}

/** The head of what is hovered over: a stretch of time, or a place on the axis. */
function place(row, settings) {
  const { name, unit, title } = settings.xAxis;
  const [from, to] = (settings.span || [settings.x, settings.x]).map((column) => row[column]);
  const short = (one) => (typeof one === "number" ? String(Number(one.toPrecision(4))) : one.replace("T", " ").replace(/( 00:00)?:00$/, ""));
  const span = from === to ? short(from) : `${short(from)} to ${short(to)}`;
  return name ? `${name} ${span}${unit ? " " + unit : ""}` : `${title}: ${number(row[settings.x], 3)}`;
}

/** Polygons around successive points with an interval, as one closed path. */
function band(rows, settings, axis) {
  const x = [], y = [], runs = [[]];
  for (const row of rows) {
    const has = row[settings.lower] !== null && !(settings.hollow && row[settings.hollow]);
    if (has) runs.at(-1).push(row);
    else if (runs.at(-1).length) runs.push([]);
  }
  for (const run of runs.filter((one) => one.length > 1)) {
    if (x.length) { x.push(null); y.push(null); }
    for (const row of run) { x.push(axis.at(row[settings.x])); y.push(row[settings.upper]); }
    for (const row of [...run].reverse()) { x.push(axis.at(row[settings.x])); y.push(row[settings.lower]); }
  }
  return { x, y };
}

/** The traces of one line: its band, the line, and bars where there is an upper bound only. */
function traces(name, rows, settings, axis, style, visible) {
  const tint = color(style.color), card = color("--card");
  const shown = { legendgroup: name, visible, name };
  const made = [];
  if (settings.lower && rows.some((row) => row[settings.lower] !== null)) {
    made.push({ ...band(rows, settings, axis), ...shown, mode: "lines", line: { width: 0 }, fill: "toself",
      fillcolor: tint + "30", hoverinfo: "skip", meta: "band" });
  }
  const hollow = rows.map((row) => Boolean(settings.hollow && row[settings.hollow]));
  const bars = rows.map((row, k) => (hollow[k] ? row[settings.upper] - row[settings.y] : 0));
  made.push({
    ...shown, meta: "line",
    x: rows.map((row) => axis.at(row[settings.x])), y: rows.map((row) => row[settings.y]),
    mode: [style.dash && "lines", style.marker && "markers"].filter(Boolean).join("+"),
    line: { color: tint, width: 2, dash: style.dash || "solid" },
    marker: { color: hollow.map((one) => (one ? card : tint)), symbol: style.marker || "circle",
      size: settings.small ? 5 : 8, line: { color: tint, width: 1.6 } },
    ...(hollow.some(Boolean) && { error_y: { type: "data", array: bars, arrayminus: bars.map(() => 0),
      symmetric: false, color: tint, thickness: 1, width: 3 } }),
    text: rows.map((row) => words(row, settings)),
    hovertemplate: `${escaped(name)}: %{text}<extra></extra>`,
  });
  return made;
}

/** An invisible line that says which time is hovered over, above the numbers of the others. */
function head(rows, settings, axis) {
  return {
    x: rows.map((row) => axis.at(row[settings.x])), y: rows.map((row) => row[settings.y]), mode: "markers",
    marker: { color: "rgba(0,0,0,0)", size: 1 }, meta: "head", name: "",
    text: rows.map((row) => place(row, settings)), hovertemplate: "<b>%{text}</b><extra></extra>",
  };
}

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** The area up to the chance limit of the first visible line. */
function shade(rows, settings, axis) {
  return {
    x: rows.map((row) => axis.at(row[settings.x])), y: rows.map((row) => row[settings.shade]),
    mode: "lines", line: { width: 1, dash: "dot", color: color("--quiet") }, fill: "tozeroy",
    fillcolor: color("--shade"), meta: "shade", name: "chance limit",
    text: rows.map((row) => number(row[settings.shade], settings.digits)),
    hovertemplate: "chance limit: %{text}<extra></extra>",
  };
}

/** Lines that the eye compares with. */
function references(settings, panel) {
  const line = { color: color("--quiet"), width: 1 };
  if (settings.diagonal) return [{ type: "line", x0: 0, y0: 0, x1: 1, y1: 1, layer: "below", line }];
  if (!settings.references) return [];
  const level = settings.references[panel];
  return [{ type: "line", xref: "paper", x0: 0, x1: 1, y0: level, y1: level, layer: "below", line }];
}

/** Margin of half a marker on both sides, so that none is cut. */
function wholeRange(settings, rows, axis) {
  if (settings.xAxis.range) return settings.xAxis.range;
  const places = rows.map((row) => axis.at(row[settings.x]));
  if (settings.xAxis.date) return null;
  const [low, high] = [Math.min(...places), Math.max(...places)];
  const margin = .03 * (high - low || 1);
  return [low - margin, high + margin];
}
