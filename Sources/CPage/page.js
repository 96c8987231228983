"use strict";
// Draws a recording, or what is live: tracks of least and greatest values on canvases, the events in rows and in a table.
// Every text of the recording reaches the page as a text node, never as markup.
let meta = null, tracks = [];
const byId = (id) => document.getElementById(id);
// Rules that this script and the SVG share.
const rules = JSON.parse(byId("rules").textContent);
// Heights of a panel with curves, and of one with only states.
const CURVES = 120, NONE = 8;
const LEFT = 58, RIGHT = 44, FACTOR = 4;
const view = { from: 0, to: 1 };
let cursor = null, selected = -1, hovered = -1, tablePage = 0;
const hidden = new Set();
const drawn = [];
// Whether only the panels in the window are drawn, as of what is live.
let onlySeen = false;

// ---- Values

/** The words and the unit of a value's name, as in "turn rate" and "°/s" of "turn_rate_dps". ShownValue.swift has these rules. */
function split(name) {
  const [end, unit] = rules.shown.units.find(([suffix]) => name.endsWith(suffix));
  return { words: name.slice(0, name.length - end.length).replaceAll("_", " "), unit };
}
/** Zero has no sign. */
const fixed = (value, decimals) => { const text = value.toFixed(decimals); return Number(text) === 0 ? text.replace("-", "") : text; };
function significant(value, isAngle = false, most = 3) {
  const size = Math.abs(value), place = [100, 10, 1, .1, .01, 1e-3, 1e-4, 1e-5, 1e-6].findIndex((step) => size >= step);
  return fixed(value, Math.min(most, isAngle ? 1 : size === 0 ? 0 : place < 0 ? 9 : place));
}
/** A value with its unit, in three digits that count, as far as the figure has them; angles in tenths. */
function quantity(value, name) {
  if (typeof value !== "number") return String(value);
  const { unit } = split(name), most = rules.shown.decimals[name];
  return Number.isInteger(value) && most === undefined && !unit ? String(value) : significant(value, unit === "°", most ?? 9) + unit;
}
/** A limit as a value, unless that would round it: in the digits of the configuration. */
function limitText(value, name) {
  const { unit } = split(name), all = [significant(value, unit === "°", rules.shown.decimals[name] ?? 9)].concat([...Array(10).keys()].map((k) => fixed(value, k)));
  return (all.find((text) => Math.abs(text - value) <= 1e-6 * Math.abs(value)) ?? all[0]) + unit;
}
/** A value that is off by no more than another one, as in "353.6° ± 3.9°". */
const within = (value, accuracy, unit) => [value, accuracy].map((v) => fixed(v, accuracy >= 10 ? 0 : 1) + unit).join(" ± ");
/** A direction, rounded as it is written before it is made less than a turn: 359.97° is 0.0°. */
const direction = (value, accuracy = 0) => Number(fixed(value, accuracy >= 10 ? 0 : 1)) % 360;

// ---- Tracks

function bytes(id) {
  const text = atob(byId(id)?.textContent.trim() || "");
  const data = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) data[i] = text.charCodeAt(i);
  return data.buffer;
}

function unite(kind, a, b) {
  if (!(a[0] <= a[1])) return b;
  if (!(b[0] <= b[1])) return a;
  if (kind === "bits") return [a[0] | b[0], a[0] | b[0]];
  if (kind === "value") return [Math.min(a[0], b[0]), Math.max(a[1], b[1])];
  let best = [0, Infinity];
  for (const turn of [0, 360, -360]) {
    const both = [Math.min(a[0], b[0] + turn), Math.max(a[1], b[1] + turn)];
    if (both[1] - both[0] < best[1] - best[0]) best = both;
  }
  const turns = Math.floor(best[0] / 360) * 360;
  return [best[0] - turns, Math.min(best[1] - turns, best[0] - turns + 360)];
}

function load(track, index) {
  const data = bytes("track" + index);
  const n = track.count;
  let offset = 0, times = null;
  if (track.block_s === 0) { times = new Float64Array(data, 0, n); offset = 8 * n; }
  const series = track.series.map((s) => {
    let lo, hi;
    if (times) {
      lo = hi = new Float32Array(data, offset, n);
      offset += 4 * n;
    } else {
      const pairs = new Uint16Array(data, offset, 2 * n);
      offset += 4 * n;
      lo = new Float64Array(n); hi = new Float64Array(n);
      for (let i = 0; i < n; i++) {
        const a = pairs[2 * i], b = pairs[2 * i + 1];
        if (s.kind === "bits") { lo[i] = hi[i] = a + 65536 * b || NaN; }
        else if (a > b) { lo[i] = NaN; hi[i] = NaN; }
        else { lo[i] = s.least + a * s.step; hi[i] = b === 65535 ? s.greatest : s.least + b * s.step; }
      }
    }
    const levels = [{ lo, hi }];
    while (levels[levels.length - 1].lo.length > 64) {
      const below = levels[levels.length - 1], m = Math.ceil(below.lo.length / FACTOR);
      const up = { lo: new Float64Array(m), hi: new Float64Array(m) };
      for (let i = 0; i < m; i++) {
        if (s.kind === "value") {
          // The same as below, without an array for each block. What is NaN is no extreme.
          let a = Infinity, b = -Infinity;
          for (let j = FACTOR * i; j < Math.min(FACTOR * i + FACTOR, below.lo.length); j++) {
            if (below.lo[j] < a) a = below.lo[j];
            if (below.hi[j] > b) b = below.hi[j];
          }
          up.lo[i] = a; up.hi[i] = b;
          continue;
        }
        let found = [Infinity, -Infinity];
        for (let j = FACTOR * i; j < Math.min(FACTOR * i + FACTOR, below.lo.length); j++) {
          found = unite(s.kind, found, [below.lo[j], below.hi[j]]);
        }
        [up.lo[i], up.hi[i]] = found;
      }
      levels.push(up);
    }
    return { kind: s.kind, levels };
  });
  return { ...track, times, series };
}

/** The first sample at or after a time, of those from a place on, which is near it where columns follow one another. */
function firstAt({ times, count }, t, low = 0) {
  let high = low;
  for (let step = 1; high < count && times[high] < t; step *= 2) { low = high + 1; high += step; }
  high = Math.min(high, count);
  while (low < high) { const m = (low + high) >> 1; if (times[m] < t) low = m + 1; else high = m; }
  return low;
}

/** The places of the samples or blocks in a stretch of time, which for samples is behind a place. */
function places(track, a, b, behind = 0) {
  if (track.times) {
    const i = firstAt(track, a, behind);
    // A value that holds until a later time is that of the stretch as well.
    return [track.until?.[i - 1] > a ? i - 1 : i, firstAt(track, b, i)];
  }
  const i = Math.floor((a - track.origin_s) / track.block_s), j = Math.ceil((b - track.origin_s) / track.block_s);
  return [Math.max(0, i), Math.min(track.count, Math.max(j, i + 1))];
}

/** The least and the greatest value of a series between two times; null where there is none. */
const extremes = (track, series, a, b) => extremesAt(track.series[series], places(track, a, b));
/** The same from a place to another one. */
function extremesAt({ kind, levels }, [i, j]) {
  let found = [Infinity, -Infinity];
  while (i < j) {
    let k = 0, per = 1;
    while (k + 1 < levels.length && i % (per * FACTOR) === 0 && i + per * FACTOR <= j) { k++; per *= FACTOR; }
    found = unite(kind, found, [levels[k].lo[i / per], levels[k].hi[i / per]]);
    i += per;
  }
  return found[0] <= found[1] ? found : null;
}

// ---- Canvases

const panels = [];
function canvas(title, height, parent) {
  const heading = document.createElement("h3");
  heading.textContent = title;
  const element = document.createElement("canvas");
  element.style.height = height + "px";
  element.setAttribute("role", "img");
  element.setAttribute("aria-label", title);
  parent.append(heading, element);
  return { heading, element, height };
}

function style(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
const colours = {};
function readColours() {
  for (const name of ["back", "text", "faint", "soft", "mark", "limit", "band", "c0", "c1", "c2", "c3", "none", "shade"]) {
    colours[name] = style("--" + name);
  }
}

function begin(panel) {
  const ratio = window.devicePixelRatio || 1, element = panel.element;
  if (panel.spec) fit(panel);
  const width = Math.max(160, element.clientWidth), size = [width, panel.height].map((v) => Math.round(v * ratio));
  // To set a size, also the same one, gives new pixels, and lays out the page again.
  if (element.width !== size[0] || element.height !== size[1]) [element.width, element.height] = size;
  const g = element.getContext("2d", { willReadFrequently: true });
  g.setTransform(ratio, 0, 0, ratio, 0, 0);
  g.lineWidth = 1;
  g.fillStyle = colours.back;
  g.fillRect(0, 0, width, panel.height);
  g.font = "11px system-ui, sans-serif";
  panel.g = g; panel.width = width; panel.ratio = ratio;
  return g;
}

/** Adapts the height of a panel to its present states. */
function fit(panel) {
  const height = panel.base + rules.state * panel.spec.states.reduce((sum, states) => sum + states.shown.length, 0);
  if (height === panel.height) return;
  panel.height = height;
  panel.element.style.height = height + "px";
}

const x = (panel, t) => LEFT + (t - view.from) / (view.to - view.from) * (panel.width - LEFT - RIGHT);
const timeAt = (panel, px) => view.from + (px - LEFT) / (panel.width - LEFT - RIGHT) * (view.to - view.from);

// Steps of a clock, in seconds.
const CLOCK = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800, 1209600, 2419200, 4838400, 9676800];
/** A time as text: seconds, or the time of the clock, with the date where there are several. */
function clock(t, decimals, hasDate = meta.duration_s > 90_000) {
  if (meta.begin_ms === undefined) return t.toFixed(decimals) + " s";
  const two = (v) => String(Math.floor(v)).padStart(2, "0"), scale = 10 ** decimals, at = new Date(meta.begin_ms + Math.round(t * scale) / scale * 1000);
  return (hasDate ? two(at.getMonth() + 1) + "-" + two(at.getDate()) + " " : "") + two(at.getHours()) + ":" + two(at.getMinutes())
    + ":" + (at.getSeconds() + at.getMilliseconds() / 1000).toFixed(decimals).padStart(decimals ? decimals + 3 : 2, "0");
}

function ticks(lo, hi, most, isClock = false) {
  const raw = (hi - lo) / most, power = 10 ** Math.floor(Math.log10(raw));
  const step = isClock && CLOCK.find((s) => s >= raw) && raw > .5 ? CLOCK.find((s) => s >= raw)
    : [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) || 10 * power;
  const found = [];
  for (let k = Math.ceil(lo / step - 1e-9); k * step <= hi + step * 1e-9; k++) found.push(k * step);
  return { values: found, decimals: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

function timeGrid(panel, g, bottom, withText) {
  const { values, decimals } = ticks(view.from, view.to, Math.max(2, (panel.width - LEFT - RIGHT) / 90), meta.begin_ms !== undefined);
  g.strokeStyle = colours.faint; g.fillStyle = colours.soft; g.textAlign = "center"; g.textBaseline = "top";
  for (const t of values) {
    const px = Math.round(x(panel, t)) + .5;
    g.beginPath(); g.moveTo(px, 0); g.lineTo(px, bottom); g.stroke();
    if (withText) g.fillText(clock(t, decimals), px, bottom + 3);
  }
}

function hatch(g, left, top, width, height, colour) {
  if (width <= 0 || height <= 0) return;
  g.save(); g.beginPath(); g.rect(left, top, width, height); g.clip();
  g.strokeStyle = colour; g.lineWidth = 1; g.beginPath();
  for (let d = -height; d < width; d += 7) { g.moveTo(left + d, top + height); g.lineTo(left + d + height, top); }
  g.stroke(); g.restore();
}

/** Hatches where samples are missing, as gap and samples.lost report it. */
function drawGaps(panel, g, bottom) {
  for (const gap of meta.gaps) {
    if (gap[1] < view.from || gap[0] > view.to) continue;
    const left = Math.max(LEFT, x(panel, gap[0])), right = Math.min(panel.width - RIGHT, Math.max(x(panel, gap[1]), left + 2));
    hatch(g, left, 0, right - left, bottom, colours.none);
    if (right - left > 34) { g.fillStyle = colours.soft; g.textAlign = "left"; g.textBaseline = "top"; g.fillText(gap[2], left + 3, 2); }
  }
}

function columns(panel, track, series) {
  const count = Math.floor(panel.width - LEFT - RIGHT), found = new Array(count);
  const step = (view.to - view.from) / count, all = tracks[track];
  for (let i = 0, place = [0, 0]; i < count; i++) {
    place = places(all, view.from + i * step, view.from + (i + 1) * step, place[1]);
    found[i] = extremesAt(all.series[series], place);
  }
  return found;
}

/** The columns that may be without a value between two samples. */
const bridged = (found) => Math.max(1, Math.ceil(meta.gap_s / ((view.to - view.from) / found.length)) + 1);

/**
 * Fills the columns between two values that have no sample, a direction the shorter way round, unless samples are missing
 * or a state says why there is no value.
 */
function bridge(curve, stops) {
  const { found, band, isAngle } = curve, joins = bridged(found);
  let last = -1;
  for (let i = 0; i < found.length; i++) {
    if (!found[i]) { if (stops.some((states) => states[i])) last = -1; continue; }
    if (last >= 0 && i - last > 1 && i - last <= joins) {
      const before = found[last], after = found[i], turn = isAngle ? Math.round((before[0] - after[0]) / 360) * 360 : 0;
      for (let k = last + 1; k < i; k++) {
        const share = (k - last) / (i - last), mix = (a, b) => a + (b - a) * share;
        found[k] = [mix(before[0], after[0] + turn), mix(before[1], after[1] + turn)];
        if (band) band[k] = band[last];
      }
    }
    last = i;
  }
}

/** Draws a curve: the least to the greatest value of each column, joined with the column before, and its band behind it. */
function drawCurve(g, { found, band, isAngle }, y, colour) {
  const bar = (i, lo, hi) => g.fillRect(LEFT + i, y(hi) - .5, 1, Math.max(1, y(lo) - y(hi) + 1));
  for (let i = 0; i < found.length; i++) {
    if (!found[i]) continue;
    let [lo, hi] = found[i];
    const before = found[i - 1];
    for (const turn of isAngle ? [-360, 0, 360] : [0]) {
      if (band) { g.fillStyle = colours.none; bar(i, lo - (band[i] ? band[i][1] : 0) + turn, hi + (band[i] ? band[i][1] : 0) + turn); }
    }
    if (before && !isAngle) { if (before[1] < lo) lo = before[1]; else if (before[0] > hi) hi = before[0]; }
    g.fillStyle = colour;
    for (const turn of isAngle ? [-360, 0, 360] : [0]) bar(i, lo + turn, hi + turn);
  }
}

/** Draws the states of a panel, each in a row of its own: a state lasts until the next sample, in the SVG as well. */
function drawStates(panel, g, top) {
  for (const states of panel.spec.states) {
    const found = columns(panel, states.track, states.series), joins = bridged(found);
    const samples = [...found.keys()].filter((i) => found[i]);
    for (const place of states.shown) {
      g.fillStyle = colours.text; g.textAlign = "left"; g.textBaseline = "top"; g.fillText(states.names[place], LEFT + 2, top);
      g.fillStyle = colours.soft; g.beginPath();
      samples.forEach((i, k) => {
        const next = samples[k + 1];
        if (found[i][0] & (1 << place)) g.rect(LEFT + i, top + 13, next - i <= joins ? next - i : 1, 5);
      });
      g.fill();
      top += rules.state;
    }
  }
}

/** The range of a panel's values: that of its curves, and of the marks that are near them. `range` in the SVG has this rule. */
function reach(spec, curves) {
  if (spec.range) return spec.range;
  let lo = Infinity, hi = -Infinity;
  for (const curve of curves) if (curve) { lo = Math.min(lo, curve.least); hi = Math.max(hi, curve.greatest); }
  const near = (hi - lo) * rules.reach, [low, high] = [lo - near, hi + near];
  for (const mark of spec.marks) {
    // The limits of motion stay in view; a far one, such as of shocks, would flatten the curve.
    if (!mark.near && !(mark.lines[0] <= high && mark.lines[0] >= low)) continue;
    for (const value of mark.lines.concat(mark.areas.flatMap((area) => area.slice(0, 2)))) {
      lo = Math.min(lo, value); hi = Math.max(hi, value);
    }
  }
  if (!(lo <= hi)) { lo = 0; hi = 1; }
  const margin = (hi > lo ? hi - lo : Math.max(Math.abs(hi), 1)) * rules.margin;
  return [lo - margin, hi + margin];
}

function drawMark(g, mark, y, width, bottom) {
  for (const [from, to, isHatched] of mark.areas) {
    const top = Math.min(y(from), y(to)), height = Math.abs(y(from) - y(to));
    if (isHatched) hatch(g, LEFT, top, width, height, colours.band);
    else { g.fillStyle = colours.band; g.fillRect(LEFT, top, width, height); }
  }
  g.strokeStyle = colours.limit; g.fillStyle = colours.limit; g.setLineDash([6, 4]);
  for (const value of mark.lines) { g.beginPath(); g.moveTo(LEFT, y(value)); g.lineTo(LEFT + width, y(value)); g.stroke(); }
  g.setLineDash([]); g.textAlign = "left";
  const place = y(mark.lines[0]);
  if (place < 0 || place > bottom) return;
  g.textBaseline = place < 16 ? "top" : "bottom";
  g.fillText(mark.label + " " + mark.value, LEFT + 4, place + (place < 16 ? 2 : -1));
}

function drawPanel(panel) {
  const g = begin(panel), { spec } = panel, bottom = panel.base - 4, width = panel.width - LEFT - RIGHT;
  const record = { title: spec.title, curves: [] };
  const curves = spec.curves.map((curve, k) => {
    if (hidden.has(panel.index + "." + k)) return null;
    const found = columns(panel, curve.track, curve.series), pairs = found.filter(Boolean);
    const least = Math.min(...pairs.map((pair) => pair[0])), greatest = Math.max(...pairs.map((pair) => pair[1]));
    record.curves[k] = { label: curve.label, least, greatest, count: pairs.length };
    return { found, least, greatest, band: curve.band === null ? null : columns(panel, curve.track, curve.band),
      isAngle: tracks[curve.track].series[curve.series].kind === "angle" };
  });
  const [lo, hi] = reach(spec, curves);
  const y = (v) => 4 + (hi - v) / (hi - lo) * (bottom - 8);
  Object.assign(record, { least: lo, greatest: hi, top: 4, bottom: bottom - 4 });
  panel.y = y;
  timeGrid(panel, g, bottom, false);
  drawGaps(panel, g, bottom);
  const { values, decimals } = ticks(lo, hi, 5);
  const grid = record.grid = spec.curves.length === 0 ? [] : spec.range ? spec.ticks : values.map((v) => [v, v.toFixed(decimals)]);
  g.fillStyle = colours.soft; g.textAlign = "right"; g.textBaseline = "middle"; g.strokeStyle = colours.faint;
  for (const [v, text] of grid) {
    g.beginPath(); g.moveTo(LEFT, y(v)); g.lineTo(panel.width - RIGHT, y(v)); g.stroke();
    // A label that the edge would cut is omitted.
    if (spec.range || y(v) >= 7 && y(v) <= bottom - 5) g.fillText(text, LEFT - 5, Math.min(bottom - 5, Math.max(7, y(v))));
  }
  g.save(); g.beginPath(); g.rect(LEFT, 0, width, bottom); g.clip();
  for (const mark of spec.marks) if (mark.lines.some((v) => v >= lo && v <= hi)) drawMark(g, mark, y, width, bottom);
  const stops = spec.states.map((states) => columns(panel, states.track, states.series));
  const names = [];
  curves.forEach((curve, k) => {
    if (!curve) return;
    bridge(curve, stops);
    const colour = colours["c" + (spec.curves.length === 1 ? 3 : k % 4)];
    drawCurve(g, curve, y, colour);
    const last = curve.found.findLast(Boolean);
    if (last && spec.curves[k].label) names.push({ text: spec.curves[k].label, y: y((last[0] + last[1]) / 2), colour });
  });
  g.restore();
  // The name beside the end of the curve, none over another, as in the SVG: colour is not its only sign.
  names.sort((a, b) => a.y - b.y);
  g.textAlign = "left"; g.textBaseline = "middle";
  names.forEach((name, k) => {
    const most = bottom - 6 - 12 * (names.length - 1 - k);
    name.y = Math.min(most, Math.max(8, name.y, k > 0 ? names[k - 1].y + 12 : 0));
    g.fillStyle = name.colour; g.fillText(name.text, panel.width - RIGHT + 4, name.y);
  });
  drawn[panel.index] = record;
  drawStates(panel, g, panel.base);
  drawCursor(panel, g, panel.height);
}

const number = (v) => Math.abs(v) >= 100 ? v.toFixed(1) : Math.abs(v) >= 1 ? v.toFixed(3) : v.toFixed(4);

function drawCursor(panel, g, bottom) {
  for (const [t, dash] of [[cursor, [2, 3]], [selected >= 0 ? meta.events[selected].t : null, []]]) {
    if (t === null || t < view.from || t > view.to) continue;
    g.strokeStyle = colours.mark; g.setLineDash(dash);
    const px = Math.round(x(panel, t)) + .5;
    g.beginPath(); g.moveTo(px, 0); g.lineTo(px, bottom); g.stroke(); g.setLineDash([]);
  }
}

const forms = rules.forms.map((form) => new Path2D("M0,0" + form));
/** Fills a row's form at a place. */
function drawForm(g, row, px, py) {
  g.save(); g.translate(px, py); g.fill(forms[row % forms.length]); g.restore();
}

function drawEvents(panel) {
  const g = begin(panel), bottom = panel.height - 20;
  timeGrid(panel, g, bottom, true);
  g.textBaseline = "middle";
  panel.marks = [];
  const busy = meta.rows.map(() => new Set());
  meta.events.forEach((event, index) => {
    if (event.t < view.from || event.t > view.to) return;
    const px = x(panel, event.t), py = event.r * rules.row + rules.mark;
    panel.marks.push({ index, x: px, y: py });
    // Marks at one pixel are one mark.
    if (index !== selected && busy[event.r].has(Math.round(px))) return;
    busy[event.r].add(Math.round(px));
    g.fillStyle = index === selected ? colours.mark : colours.c2;
    drawForm(g, event.r, px, py);
  });
  if (meta.events_end_s !== null && meta.events_end_s < view.to) {
    const left = Math.max(LEFT, x(panel, meta.events_end_s));
    hatch(g, left, 0, panel.width - RIGHT - left, bottom, colours.limit);
  }
  meta.rows.forEach((row, k) => {
    g.fillStyle = colours.text; g.textAlign = "left"; g.fillText(row[1] + " " + row[0], 2, k * rules.row + 7);
  });
  if (meta.rows.length === 0) { g.fillStyle = colours.soft; g.textAlign = "left"; g.fillText("no event", 2, 7); }
  drawCursor(panel, g, bottom);
}

// ---- Spectrum

function spectrumOf(s, from, to) {
  const sum = new Float64Array(s.bins);
  let count = 0, start = Infinity, end = -Infinity;
  s.cells.forEach((cell, k) => {
    if (cell[1] < from || cell[0] > to) return;
    for (let i = 0; i < s.bins; i++) sum[i] += 10 ** (s.data[k * s.bins + i] / 1000) * cell[2];
    count += cell[2]; start = Math.min(start, cell[0]); end = Math.max(end, cell[1]);
  });
  if (!count) return null;
  // An amplitude density, from 1 on: what is left of the mean is no vibration.
  return { count, start, end, values: sum.map((v) => Math.sqrt(v / count * s.density)) };
}

/** Draws powers of ten over frequencies up to `top`; returns the places of both. */
function logAxes(panel, g, lo, hi, top, bottom) {
  const [a, b] = [Math.floor(Math.log10(lo)), Math.ceil(Math.log10(hi))], width = panel.width - LEFT - RIGHT;
  const px = (f) => LEFT + f / top * width, y = (v) => 4 + (b - Math.log10(Math.max(v, 10 ** a))) / (b - a || 1) * (bottom - 8);
  g.strokeStyle = colours.faint; g.fillStyle = colours.soft; g.textAlign = "right"; g.textBaseline = "middle";
  for (let k = a; k <= b; k++) {
    g.beginPath(); g.moveTo(LEFT, y(10 ** k)); g.lineTo(panel.width - RIGHT, y(10 ** k)); g.stroke();
    g.fillText("1e" + k, LEFT - 5, y(10 ** k));
  }
  const grid = ticks(0, top, Math.max(2, width / 90));
  g.textAlign = "center"; g.textBaseline = "top";
  for (const f of grid.values) {
    g.beginPath(); g.moveTo(px(f), 0); g.lineTo(px(f), bottom); g.stroke();
    g.fillText(f.toFixed(grid.decimals) + " Hz", px(f), bottom + 3);
  }
  return { px, y };
}

function drawSpectrum(panel) {
  const g = begin(panel), s = panel.spectrum, bottom = panel.height - 20;
  const found = spectrumOf(s, view.from, view.to);
  panel.text.textContent = "";
  if (!found) { panel.text.textContent = "No spectrum: fewer than " + s.length + " samples in a row in this stretch."; return; }
  const values = found.values;
  let lo = Infinity, hi = 0, peak = 1;
  for (let i = 1; i < s.bins; i++) {
    if (values[i] > 0) lo = Math.min(lo, values[i]);
    hi = Math.max(hi, values[i]);
    if (values[i] > values[peak]) peak = i;
  }
  if (!(lo < hi)) { lo = hi > 0 ? hi / 10 : 1e-6; hi = hi > 0 ? hi * 10 : 1; }
  const { px, y } = logAxes(panel, g, lo, hi, s.rate_hz / 2, bottom);
  g.strokeStyle = colours.c2; g.lineWidth = 1.5; g.beginPath();
  for (let i = 1; i < s.bins; i++) g.lineTo(px(i * s.rate_hz / s.length), y(values[i]));
  g.stroke();
  panel.peak = { hz: peak * s.rate_hz / s.length, value: values[peak] };
  panel.text.textContent = "m/s² per √Hz of the three axes together, by Welch's method: " + found.count + " segments of " + s.length
    + " samples, half overlapped, their mean removed, Hann window, from " + found.start.toFixed(2) + " s to " + found.end.toFixed(2)
    + " s, at " + s.rate_hz.toFixed(2) + " samples a second. Strongest at " + panel.peak.hz.toFixed(2) + " Hz: "
    + values[peak].toExponential(2) + ".";
}

// ---- The page

/** Draws all panels, or those alone that are in the window. */
function draw(shown = onlySeen) {
  for (const panel of panels) if (!shown || panel.isSeen) panel.draw(panel);
  byId("range").textContent = clock(view.from, 3, true) + " to " + clock(view.to, 3, true) + (meta.begin_ms === undefined ? " of " + meta.duration_s.toFixed(3) + " s" : "");
  const width = panels.length ? panels[0].width - LEFT - RIGHT : 1;
  const coarse = tracks.filter((t) => t.block_s > 0 && t.block_s > (view.to - view.from) / width);
  byId("blocks").textContent = coarse.length === 0 ? ""
    : "Blocks are shown: nearer than " + Math.max(...coarse.map((t) => t.block_s)).toPrecision(3)
      + " s there are only the least and the greatest value. --from and --to make a page with every sample.";
  readout();
}

let waiting = false;
function redraw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => { waiting = false; draw(); });
}

function show(from, to) {
  const least = Math.min(meta.duration_s, 1e-3);
  let width = Math.min(meta.duration_s, Math.max(least, to - from));
  const middle = (from + to) / 2;
  from = Math.max(0, Math.min(meta.duration_s - width, middle - width / 2));
  view.from = from; view.to = from + width;
  redraw();
}
const zoom = (factor, at = (view.from + view.to) / 2) => show(at - (at - view.from) * factor, at + (view.to - at) * factor);
const pan = (share) => { const d = (view.to - view.from) * share; show(view.from + d, view.to + d); };

function readout() {
  const parts = [];
  if (cursor !== null) {
    parts.push(clock(cursor, 4));
    const half = (view.to - view.from) / 2000;
    const read = (states) => {
      const bits = extremes(tracks[states.track], states.series, cursor - half, cursor + half);
      return bits ? states.names.filter((_, k) => bits[0] & (1 << k)) : [];
    };
    for (const panel of panels) {
      if (!panel.spec) continue;
      panel.spec.curves.forEach((curve) => {
        const at = (series) => extremes(tracks[curve.track], series, cursor - half, cursor + half);
        const pair = at(curve.series), band = curve.band === null ? null : at(curve.band);
        if (!pair) return;
        const value = band ? direction(pair[0]).toFixed(1) : number(pair[0]) === number(pair[1]) ? number(pair[0]) : number(pair[0]) + " to " + number(pair[1]);
        parts.push((curve.label || panel.spec.title) + " " + value + (band ? " ± " + band[1].toFixed(1) : "") + " " + panel.spec.unit);
      });
      parts.push(...panel.spec.states.flatMap(read));
    }
  }
  const shown = hovered >= 0 ? hovered : selected;
  if (shown >= 0) {
    const event = meta.events[shown];
    parts.push("event " + meta.rows[event.r][1] + " at " + clock(event.t, 3) + ": " + event.f);
  }
  byId("readout").textContent = parts.join(" · ");
}

const PAGE = 200;
/** Fills the page of the table with its events, or with those from one on. */
function fillTable(from = tablePage * PAGE) {
  const body = byId("events");
  if (from === tablePage * PAGE) body.textContent = "";
  meta.events.slice(from, (tablePage + 1) * PAGE).forEach((event, k) => {
    const index = from + k, row = body.insertRow();
    row.id = "event" + index;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = clock(event.t, 3);
    button.addEventListener("click", () => select(index, false));
    row.insertCell().append(button);
    row.insertCell().textContent = meta.rows[event.r][1];
    const source = document.createElement("bdi");
    source.textContent = meta.rows[event.r][0];
    row.insertCell().append(source);
    const figures = document.createElement("bdi");
    figures.textContent = event.f;
    row.insertCell().append(figures);
    if (index === selected) row.setAttribute("aria-current", "true");
  });
  const pages = Math.max(1, Math.ceil(meta.events.length / PAGE));
  byId("pageText").textContent = "page " + (tablePage + 1) + " of " + pages;
  byId("earlier").disabled = tablePage === 0;
  byId("later").disabled = tablePage + 1 >= pages;
  byId("pager").hidden = pages === 1;
}

function select(index, scrolls) {
  if (index < 0 || index >= meta.events.length) return;
  selected = index;
  const page = Math.floor(index / PAGE), t = meta.events[index].t;
  if (page !== tablePage) { tablePage = page; fillTable(); }
  for (const row of byId("events").rows) row.removeAttribute("aria-current");
  const row = byId("event" + index);
  row.setAttribute("aria-current", "true");
  cursor = t;
  if (t < view.from || t > view.to) { const half = (view.to - view.from) / 2; show(t - half, t + half); } else redraw();
  if (scrolls) row.scrollIntoView({ block: "nearest" });
}

function nextEvent(step) {
  if (selected >= 0) return select(selected + step, false);
  const at = meta.events.findIndex((event) => event.t >= view.from);
  select(step > 0 ? at : (at < 0 ? meta.events.length : at) - 1, false);
}

/** Makes the panels of the curves and that of the events, in place of those that were there. */
function layPanels(plot) {
  plot.textContent = "";
  panels.length = drawn.length = 0;
  hidden.clear();
  meta.panels.forEach((spec, index) => {
    const panel = canvas(spec.title + (spec.unit ? ", " + spec.unit : ""), 0, plot);
    Object.assign(panel, { spec, index, base: spec.curves.length ? CURVES : NONE, draw: drawPanel });
    if (spec.curves.length > 1) {
      spec.curves.forEach((curve, k) => {
        const label = document.createElement("label"), box = document.createElement("input");
        box.type = "checkbox"; box.checked = true;
        box.addEventListener("change", () => { if (box.checked) hidden.delete(index + "." + k); else hidden.add(index + "." + k); redraw(); });
        label.append(box, " " + curve.label);
        panel.heading.append(" ", label);
      });
    }
    panels.push(panel);
  });
  const events = canvas("events", Math.max(1, meta.rows.length) * rules.row + 22, plot);
  events.draw = drawEvents; events.isEvents = true; events.marks = []; panels.push(events);
}

function build() {
  document.title = meta.title;
  byId("title").textContent = meta.title;
  const facts = byId("facts");
  for (const [name, value] of meta.facts) {
    const term = document.createElement("dt"), text = document.createElement("dd"), isolated = document.createElement("bdi");
    term.textContent = name; isolated.textContent = value; text.append(isolated); facts.append(term, text);
  }
  byId("configuration").textContent = meta.configuration;
  for (const note of meta.notes) { const item = document.createElement("li"); item.textContent = note; byId("notes").append(item); }
  byId("about").hidden = !meta.notes.length && !meta.configuration;
  const plot = byId("plot");
  layPanels(plot);
  meta.spectra.forEach((spectrum, k) => {
    const panel = canvas("spectrum of the " + spectrum.title, 180, byId("spectra"));
    spectrum.data = new Int16Array(bytes("spectrum" + k));
    panel.spectrum = spectrum; panel.draw = drawSpectrum;
    panel.text = document.createElement("p"); panel.text.className = "soft"; byId("spectra").append(panel.text);
    panels.push(panel);
  });
  byId("spectra").hidden = meta.spectra.length === 0;
  byId("eventNote").textContent = meta.event_note;
  fillTable();

  const actions = { in: () => zoom(.5), out: () => zoom(2), left: () => pan(-.25), right: () => pan(.25), all: () => show(0, meta.duration_s),
    previous: () => nextEvent(-1), next: () => nextEvent(1),
    theme: () => byId("theme").click() };
  for (const [id, action] of Object.entries(actions)) if (id !== "theme") byId(id).addEventListener("click", action);
  byId("earlier").addEventListener("click", () => { tablePage--; fillTable(); });
  byId("later").addEventListener("click", () => { tablePage++; fillTable(); });
  const keys = { "+": actions.in, "=": actions.in, "-": actions.out, ArrowLeft: actions.left, ArrowRight: actions.right, "0": actions.all, Home: actions.all,
    n: actions.next, p: actions.previous, t: actions.theme, Escape: () => { selected = -1; cursor = null; redraw(); },
    ",": () => moveCursor(-1), ".": () => moveCursor(1) };
  plot.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.altKey || e.metaKey || !keys[e.key]) return;
    e.preventDefault(); keys[e.key]();
  });
  const panelAt = (e) => panels.find((p) => p.element === e.target);
  /** The event whose mark is at the pointer; -1 for none. */
  const markAt = (panel, e) => {
    let best = { d: 10, index: -1 };
    for (const m of panel.isEvents ? panel.marks : []) {
      const d = Math.hypot(m.x - e.offsetX, m.y - e.offsetY);
      if (d < best.d) best = { d, index: m.index };
    }
    return best.index;
  };
  let drag = null;
  plot.addEventListener("pointerdown", (e) => {
    const panel = panelAt(e);
    if (panel) { drag = { x: e.clientX, from: view.from, to: view.to, moved: false, panel }; panel.element.setPointerCapture(e.pointerId); }
  });
  plot.addEventListener("pointermove", (e) => {
    const panel = drag ? drag.panel : panelAt(e);
    if (!panel) return;
    if (drag) {
      const d = (e.clientX - drag.x) / (panel.width - LEFT - RIGHT) * (drag.to - drag.from);
      if (Math.abs(e.clientX - drag.x) > 3) drag.moved = true;
      if (drag.moved) show(drag.from - d, drag.to - d);
    } else {
      cursor = Math.min(view.to, Math.max(view.from, timeAt(panel, e.offsetX)));
      hovered = markAt(panel, e);
      redraw();
    }
  });
  plot.addEventListener("pointerup", (e) => {
    const was = drag;
    drag = null;
    if (!was || was.moved || !was.panel.isEvents) return;
    const found = markAt(was.panel, e);
    if (found >= 0) select(found, true);
  });
  plot.addEventListener("pointercancel", () => { drag = null; });
  plot.addEventListener("pointerleave", () => { hovered = -1; if (!drag && selected < 0) cursor = null; redraw(); });
  plot.addEventListener("dblclick", (e) => { const panel = panelAt(e); if (panel) zoom(.5, timeAt(panel, e.offsetX)); });
  plot.addEventListener("wheel", (e) => {
    const panel = panelAt(e);
    // The wheel alone scrolls the page.
    if (!panel || !(e.ctrlKey || e.metaKey || e.shiftKey)) return;
    e.preventDefault();
    const d = e.deltaY || e.deltaX;
    if (e.shiftKey) pan(Math.sign(d) * .1); else zoom(d < 0 ? .8 : 1.25, timeAt(panel, e.offsetX));
  }, { passive: false });
  window.addEventListener("resize", redraw);
}

const darkness = matchMedia("(prefers-color-scheme: dark)");
function paint(isDark) {
  document.documentElement.dataset.theme = isDark ? "dark" : "light";
  readColours();
  if (meta) redraw();
}
darkness.addEventListener("change", () => paint(darkness.matches));
byId("theme").addEventListener("click", () => paint(document.documentElement.dataset.theme === "light"));

function moveCursor(step) {
  const d = (view.to - view.from) / 200 * step;
  cursor = Math.min(view.to, Math.max(view.from, (cursor === null ? (view.from + view.to) / 2 : cursor) + d));
  redraw();
}

function start(recording) {
  const began = performance.now();
  meta = recording;
  view.to = meta.duration_s;
  tracks = meta.tracks.map(load);
  performance.measure("binnacle: tracks unpacked", { start: began });
  build();
  performance.mark("binnacle: built");
  draw();
  performance.measure("binnacle: drawn", { start: "binnacle: built" });
  // From opening the page until its first picture is on the screen.
  requestAnimationFrame(() => requestAnimationFrame(() => performance.measure("binnacle: shown", { start: 0 })));
  // For tests: the drawn shapes and their places.
  window.binnacle = { meta, start_ns: meta.start_ns, view, drawn, panels, tracks, extremes, x, show, select, draw, ready: performance.now() };
}

paint(darkness.matches);
if (byId("meta")) start(JSON.parse(byId("meta").textContent));
