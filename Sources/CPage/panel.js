"use strict";
// The instruments of the live page: a card for each detector and each sensor. What a card has follows from the lanes, figures, measures and
// limits that come, not from the kind of detector. Dials move with each reading; words and sparklines change every 0.4 s.
const TICK_S = .4, SLOTS = 75;

/** A text whose controls, also those of direction, are seen and not obeyed. */
const plain = (text) => text.replace(/[\p{Cc}\p{Cf}]/gu, (c) => c === "\n" ? c : "\\u{" + c.codePointAt(0).toString(16) + "}");
function make(parent, name, className = "", text = null) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== null) node.textContent = plain(text);
  return parent.appendChild(node);
}
/** Changes only a text that differs: the browser lays out nothing again otherwise. */
function put(node, text) { const safe = plain(text); if (node.textContent !== safe) node.textContent = safe; }
function set(node, name, value) { if (node.getAttribute(name) !== value) node.setAttribute(name, value); }

function shape(parent, name, attributes = {}, text = null) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== null) node.textContent = text;
  return parent.appendChild(node);
}
const onDial = (r, degrees) => [r * Math.sin(degrees * Math.PI / 180), -r * Math.cos(degrees * Math.PI / 180)].map((v) => v.toFixed(2)).join(" ");
/** A part of a ring, in degrees clockwise from above. */
function arc(inner, outer, a, b) {
  const large = b - a > 180 ? 1 : 0;
  return `M${onDial(outer, a)}A${outer} ${outer} 0 ${large} 1 ${onDial(outer, b)}L${onDial(inner, b)}A${inner} ${inner} 0 ${large} 0 ${onDial(inner, a)}Z`;
}
function ticksOn(parent, inner, outer, degrees, isMajor = () => false) {
  const path = (some) => some.map((a) => `M${onDial(inner, a)}L${onDial(outer, a)}`).join("");
  shape(parent, "path", { class: "tick", d: path(degrees.filter((a) => !isMajor(a))) });
  shape(parent, "path", { class: "tick major", d: path(degrees.filter(isMajor)) });
}

// ---- Dials: each says for which detectors it is; `turn` follows every reading, `tell` makes its words.

/** A compass card under a lubber line, with the accuracy as a sector; grey when there is no valid heading. */
function rose(svg, d, layer) {
  const lane = d.lanes.find((l) => l.direction);
  if (!lane) return null;
  const [name, accuracy] = lane.direction;
  shape(svg, "circle", { class: "face", r: 116 });
  const wedge = shape(svg, "path", { class: "wedge" }), card = layer("turning"), fixed = layer("");
  for (const [, from, to] of lane.sectors) shape(card, "path", { class: "sector", d: arc(76, 82, from, to) });
  ticksOn(card, 105, 114, [...Array(72).keys()].map((k) => 5 * k), (a) => a % 30 === 0);
  for (let a = 0; a < 360; a += 30) {
    shape(card, "text", { class: a % 90 ? "figure" : "cardinal", transform: `rotate(${a})`, y: -89 }, a % 90 ? String(a) : "NESW"[a / 90]);
  }
  shape(fixed, "path", { class: "lubber", d: "M0-118L-7-103H7Z" });
  const [value, more, reference] = [["value", -4], ["more", 22], ["soft", 44]].map(([style, y]) => shape(fixed, "text", { class: style, y }));
  const figure = (d) => ({ heading: d.figures[name], off: d.figures[accuracy], isValid: d.figures[name] !== undefined && d.figures.age_s === undefined });
  return {
    names: [name, accuracy, "reference", "age_s", "reason"],
    turn(d) {
      const { heading, off, isValid } = figure(d), wide = isValid && off ? Math.min(179, off) : 0;
      if (heading !== undefined) card.style.transform = `rotate(${-heading.toFixed(1)}deg)`;
      set(wedge, "d", wide ? arc(46, 104, -wide, wide) : "");
    },
    tell(d) {
      const { heading, off, isValid } = figure(d), why = d.figures.reason, age = d.figures.age_s;
      const texts = heading === undefined ? ["–", ""] : off === undefined ? [quantity(direction(heading), name), ""] : within(direction(heading, off), off, "°").split(" ± ");
      svg.parentNode.classList.toggle("untrusted", !isValid);
      put(value, texts[0]); put(more, texts[1] && "± " + texts[1]); put(reference, heading === undefined ? "" : d.figures.reference || "magnetic");
      const trouble = isValid ? "" : age === undefined ? "no heading: " + (why || "not found yet") : "held for " + quantity(age, "age_s") + (why ? ": " + why : "");
      return { isDrawn: true, words: heading === undefined ? "" : "heading " + texts.filter(Boolean).join(" ± ") + " " + reference.textContent, trouble };
    },
  };
}

/** An artificial horizon, with the limits of roll on its scale. */
function horizon(svg, d) {
  if (!d.lanes.some((l) => l.curves.some(([, name]) => name === "roll_deg"))) return null;
  const scale = 2.2, tilted = shape(shape(svg, "g", { class: "round" }), "g"), world = shape(tilted, "g");
  shape(world, "rect", { class: "sky", x: -200, y: -400, width: 400, height: 400 });
  shape(world, "rect", { class: "ground", x: -200, y: 0, width: 400, height: 400 });
  shape(world, "path", { class: "level", d: "M-200 0H200" });
  for (let a = -80; a <= 80; a += 10) {
    if (!a) continue;
    shape(world, "path", { class: "ladder", d: a % 20 ? `M-12 ${-a * scale}H12` : `M-26 ${-a * scale}H26` });
    if (a % 20 === 0) for (const px of [-38, 38]) shape(world, "text", { class: "ladder", x: px, y: -a * scale }, String(Math.abs(a)));
  }
  shape(tilted, "path", { class: "pointer", d: "M0-91L-6-79H6Z" });
  ticksOn(svg, 95, 108, [-60, -45, -30, -20, -10, 0, 10, 20, 30, 45, 60], (a) => a % 30 === 0);
  for (const limit of d.limits) if (limit.of === "roll_deg") ticksOn(shape(svg, "g", { class: "limit" }), 94, 112, [-limit.begin], () => true);
  shape(svg, "circle", { class: "rim", r: 92 });
  shape(svg, "path", { class: "craft", d: "M-58 0H-22L-12 10M58 0H22L12 10M-2 0H2" });
  return {
    names: ["roll_deg", "pitch_deg", "tilt_accuracy_deg", "reason"],
    turn({ figures: f }) {
      if (f.roll_deg === undefined) return;
      set(tilted, "transform", `rotate(${-f.roll_deg.toFixed(1)})`);
      set(world, "transform", `translate(0 ${(f.pitch_deg * scale * (f.frame === "enu" ? -1 : 1)).toFixed(1)})`);
    },
    tell({ figures: f }) {
      svg.parentNode.classList.toggle("untrusted", f.roll_deg === undefined);
      if (f.roll_deg === undefined) return { words: "", trouble: "no attitude: " + (f.reason || "not found yet") };
      const [roll, pitch] = [f.roll_deg, f.pitch_deg].map((v) => within(v, f.tilt_accuracy_deg ?? 0, "°").split(" ± ")[0]);
      const off = f.tilt_accuracy_deg === undefined ? "" : " ± " + quantity(f.tilt_accuracy_deg, "tilt_accuracy_deg");
      return { words: `roll ${roll}, pitch ${pitch}${off}`, trouble: f.reason || "" };
    },
  };
}

const has = (d, prefix) => d.lanes.some((l) => l.states.some(([begin]) => begin === prefix));

/** A device from its front, with the bottom edge below. */
function handset(parent) {
  shape(parent, "rect", { class: "device", x: -48, y: -78, width: 96, height: 156, rx: 10 });
  shape(parent, "path", { class: "glass", d: "M-40-66H40V62H-40Z" });
  shape(parent, "circle", { class: "glass", cy: 70, r: 3.5 });
}

/** A screen as it is held: the edge that is up is above. */
function edges(svg, d) {
  if (!has(d, "orientation: ")) return null;
  shape(svg, "path", { class: "tick", d: "M-100 104H100" });
  const screen = shape(svg, "g");
  handset(screen);
  const edge = shape(svg, "path", { class: "sector", d: "" }), arrow = shape(svg, "path", { class: "pointer", d: "M0-34L-14-10H-5V26H5V-10H14Z" });
  const turns = { normal: 0, "left-up": 90, "right-up": -90, "bottom-up": 180 };
  return {
    isCalm: true, names: ["tilt"],
    turn(d) {
      const turn = turns[d.state];
      svg.parentNode.classList.toggle("untrusted", turn === undefined);
      set(screen, "transform", `rotate(${turn || 0})`);
      set(edge, "d", turn === undefined ? "" : turn % 180 ? "M-76-51H76V-45H-76Z" : "M-46-81H46V-75H-46Z");
      set(arrow, "visibility", turn === undefined ? "hidden" : "visible");
    },
    tell: (d) => ({ words: "tilt " + (d.figures.tilt || "unknown"), trouble: d.state ? "" : "no edge is up" }),
  };
}

/** A laptop from its side, with the angles at which it counts as set up otherwise. */
function hinge(svg, d) {
  if (!has(d, "posture: ")) return null;
  // The keyboard lies to the right, and the lid opens counter-clockwise from it.
  ticksOn(shape(svg, "g", { class: "limit" }), 84, 96, d.limits.filter((l) => l.of === "angle_deg").map((l) => 90 - l.begin), () => true);
  const sweep = shape(svg, "path", { class: "wedge" });
  shape(svg, "path", { class: "board", d: "M0 0H88" });
  const lid = shape(svg, "path", { class: "board lid", d: "M0 0H88" });
  shape(svg, "circle", { class: "device", r: 7 });
  // A posture is beyond one of the limits, without anything wrong.
  return {
    isCalm: true, names: ["angle_deg"],
    turn({ figures: f }) {
      svg.parentNode.classList.toggle("untrusted", f.angle_deg === undefined);
      set(lid, "transform", `rotate(${-(f.angle_deg ?? 110)})`);
      set(sweep, "d", f.angle_deg > 1 ? arc(0, 30, 90 - Math.min(359, f.angle_deg), 90) : "");
    },
    tell: ({ figures: f }) => f.angle_deg === undefined ? { words: "", trouble: "no angle: a switch alone, or no sample yet" }
      : { words: "angle " + quantity(f.angle_deg, "angle_deg"), trouble: "" },
  };
}

// ---- Sparklines

/** The last thirty seconds of a value: its least and greatest in each 0.4 s, with its limits. */
function sparkline(parent, label) {
  const row = make(parent, "div", "row"), name = make(row, "span", "name"), value = make(row, "span", "reading"), height = 38;
  make(name, "bdi", "", label);
  // An image of paths, because each canvas costs something in every frame.
  const image = shape(row, "svg", { viewBox: `0 0 ${SLOTS} ${height}`, preserveAspectRatio: "none", role: "img", class: "spark" });
  const [areas, inside, beyond, lines] = ["area", "inside", "beyond", "line"].map((style) => shape(image, "path", { class: style }));
  const note = make(row, "span", "soft"), lo = new Float32Array(SLOTS).fill(NaN), hi = new Float32Array(SLOTS).fill(NaN);
  let slot = -1;
  return {
    value, note, last: null,
    add(span, t) {
      const now = Math.floor(t / TICK_S);
      if (now < slot || now - slot > SLOTS) { lo.fill(NaN); hi.fill(NaN); slot = now; }
      while (slot < now) { slot++; lo[slot % SLOTS] = hi[slot % SLOTS] = NaN; }
      if (!span) return;
      this.last = span;
      const k = slot % SLOTS;
      lo[k] = lo[k] <= span[0] ? lo[k] : span[0]; hi[k] = hi[k] >= span[1] ? hi[k] : span[1];
    },
    draw(limits, describe, isCalm = false) {
      let least = Infinity, greatest = -Infinity;
      for (let k = 0; k < SLOTS; k++) { if (lo[k] < least) least = lo[k]; if (hi[k] > greatest) greatest = hi[k]; }
      set(image, "aria-label", label + (least <= greatest ? `, from ${describe(least)} to ${describe(greatest)} in 30 seconds` : ", no value"));
      if (!(least <= greatest)) { inside.setAttribute("d", ""); beyond.setAttribute("d", ""); return; }
      const [low, high] = reach({ marks: limits.map((l) => ({ near: l.always_shown, lines: [l.begin], areas: [] })) }, [{ least, greatest }]);
      const y = (v) => (1 + (high - Math.min(high, Math.max(low, v))) / (high - low) * (height - 2)).toFixed(1);
      const shown = limits.filter((l) => l.begin > low && l.begin < high), paths = ["", ""];
      set(areas, "d", limits.map((l) => `M0 ${y(l.begin)}H${SLOTS}V${l.side === "above" ? 0 : height}H0Z`).join(""));
      set(lines, "d", shown.map((l) => `M0 ${y(l.begin)}H${SLOTS}`).join(""));
      // Joined with the value before it, which for what is measured once a second is a second back.
      for (let k = 0, last = -1, from = 0; k < SLOTS; k++) {
        const now = (slot + 1 + k) % SLOTS;
        if (!(lo[now] <= hi[now])) continue;
        if (last < 0 || k - from > 4) { last = now; from = k - 1; }
        const top = Math.max(hi[now], lo[last]), bottom = Math.min(lo[now], hi[last]);
        const isBeyond = !isCalm && limits.some((l) => l.side === "above" ? hi[now] > l.begin : lo[now] < l.begin);
        paths[Number(isBeyond)] += `M${from + 1} ${y(lo[last])}V${y(hi[last])}H${k}V${y(top)}h1V${y(bottom)}h-1Z`;
        last = now; from = k;
      }
      set(inside, "d", paths[0]); set(beyond, "d", paths[1]);
    },
  };
}

/** The spectrum of a vibration: the bands shaded, with their limits as a lone sine would reach them. */
function drawLiveSpectrum(panel, d) {
  const g = begin(panel), s = d.spectrum, bottom = panel.height - 18, n = s.values.length, width = panel.width - LEFT - RIGHT;
  if (!n) { g.fillStyle = colours.soft; g.textAlign = "left"; g.textBaseline = "top"; g.fillText(s.time_ns ? "not measured: samples were lost, or unevenly spaced" : "no second has been measured yet", 4, 4); return; }
  const top = s.from_hz + n * s.step_hz, used = s.values.filter((v) => v > 0);
  const curves = s.bands.flatMap((band) => d.limits.filter((l) => l.of === band.of).map((l) => ({ band, limit: l,
    at: (f) => l.begin * band.scale[0] * (band.unit === "g" ? 1 : f / band.from_hz) })));
  const all = used.concat(curves.flatMap((c) => [c.at(c.band.from_hz), c.at(c.band.to_hz)]));
  const { px, y } = logAxes(panel, g, all.length ? Math.min(...all) : 1e-5, all.length ? Math.max(...all) : 1, top, bottom);
  for (const band of s.bands) { g.fillStyle = colours.shade; g.fillRect(px(band.from_hz), 0, px(band.to_hz) - px(band.from_hz), bottom); }
  g.fillStyle = colours.c2;
  s.values.forEach((v, k) => { const left = px(s.from_hz + k * s.step_hz); if (v > 0) g.fillRect(left, y(v), Math.max(1, width * s.step_hz / top - .5), bottom - y(v)); });
  g.strokeStyle = colours.limit; g.fillStyle = colours.limit; g.textAlign = "left"; g.textBaseline = "bottom"; g.setLineDash([5, 3]);
  for (const { band, limit, at } of curves) {
    g.beginPath();
    for (let k = 0; k <= 32; k++) { const f = band.from_hz + (band.to_hz - band.from_hz) * k / 32; g.lineTo(px(f), y(at(f))); }
    g.stroke();
    g.fillText(limit.name, px(band.from_hz) + 3, y(at(band.from_hz)) - 2);
  }
  g.setLineDash([]);
}

// ---- Cards

function card(parent, title, kind) {
  const node = make(parent, "div", "card"), head = make(node, "div", "head"), name = make(head, "h3");
  make(name, "bdi", "", title);
  if (kind) make(name, "span", "kind", kind);
  name.id = "card" + document.querySelectorAll(".card").length;
  node.setAttribute("role", "group");
  node.setAttribute("aria-labelledby", name.id);
  return { node, lamp: make(head, "span", "lamp") };
}
function light({ lamp }, style, text) { set(lamp, "class", "lamp " + style); put(lamp, text); }

function detectorCard(parents, first) {
  let face = null;
  // Its layers lie over one another, so that one turns and none is painted again.
  const dial = make(document.createDocumentFragment(), "div", "dial"), layer = (style) => shape(dial, "svg", { viewBox: "-120 -120 240 240", class: style });
  const svg = layer("");
  dial.setAttribute("role", "img");
  for (const one of [rose, horizon, edges, hinge]) face = face || one(svg, first, layer);
  const made = card(parents[face ? 0 : 1], first.detector, first.kind), { node } = made;
  if (face) node.append(dial);
  const big = make(node, "p", "big"), trouble = make(node, "p", "trouble"), list = make(node, "dl", "figures"), rows = make(node, "div");
  const last = make(node, "p", "soft last"), figures = new Map(), sparks = new Map();
  // A tap or a shake has no state that lasts: its lamp stays on for a while.
  let spectrum = null, now = 0, isLit = -1;
  return {
    add(d, t) {
      now = t;
      for (const m of d.measures) if (!sparks.has(m.name)) sparks.set(m.name, sparkline(rows, split(m.name).words));
      sparks.forEach((spark, name) => { if (!d.running) spark.last = null; spark.add(d.measures.find((m) => m.name === name)?.span, t); });
    },
    turn(d) { if (face) face.turn(d); },
    tell(d) {
      const said = face ? face.tell(d) : { words: String(d.figures.total ?? d.figures.machine ?? ""), trouble: d.figures.reason || "" };
      if (d.waiting) light(made, "", "waits for its sensor"); else light(made, d.running ? d.active || now < isLit ? "on" : said.trouble && face ? "warn" : "" : "bad", d.running ? d.state || "unknown" : "does not run");
      put(big, said.words); put(trouble, d.running ? said.trouble : ""); big.hidden = !said.words || said.isDrawn; trouble.hidden = !trouble.textContent;
      set(dial, "aria-label", said.words + (said.trouble ? "; " + said.trouble : "") || d.state || "unknown");
      const taken = (face ? face.names : ["total", "machine", "reason"]).concat(rules.shown.hidden);
      const shown = Object.entries(d.figures).filter(([name]) => !taken.includes(name) && !name.endsWith("_ns"));
      for (const [name, value] of shown) {
        if (!figures.has(name)) { make(list, "dt", "", split(name).words); figures.set(name, make(make(list, "dd"), "bdi")); }
        put(figures.get(name), quantity(value, name));
      }
      figures.forEach((place, name) => { if (!(name in d.figures)) put(place, "–"); });
      sparks.forEach((spark, name) => {
        const limits = d.limits.filter((l) => l.of === name);
        // What is measured once a second is in few of the readings.
        put(spark.value, spark.last ? quantity(spark.last[2], name) : "–");
        put(spark.note, limits.map((l) => l.name + (l.side === "above" ? " > " : " < ") + limitText(l.begin, name)).join(", "));
        spark.draw(limits, (v) => quantity(v, name), face?.isCalm);
      });
      if (spectrum) spectrum.element.style.display = d.spectrum ? "" : "none";
      if (!d.spectrum) return;
      if (!spectrum) {
        spectrum = canvas("spectrum", 170, make(node, "div"));
        spectrum.heading.remove();
        node.classList.add("wide");
      }
      const drawn = [d.spectrum.time_ns, spectrum.element.clientWidth, colours.back].join();
      if (spectrum.drawn === drawn) return;
      spectrum.drawn = drawn;
      drawLiveSpectrum(spectrum, d);
      spectrum.element.setAttribute("aria-label", "spectrum up to " + Math.round(d.spectrum.from_hz + d.spectrum.values.length * d.spectrum.step_hz) + " Hz; bands: "
        + d.spectrum.bands.map((b) => `${b.name} from ${b.from_hz} to ${b.to_hz} Hz`).join(", "));
    },
    happened(event) {
      put(last, "last: " + event.kind + (event.wall_time ? " at " + new Date(event.wall_time).toLocaleTimeString("en-GB") : ""));
      isLit = now + 1.5;
    },
  };
}

function sensorCard(parent, name) {
  const made = card(parent, name, ""), rows = make(made.node, "div"), sparks = new Map();
  return {
    add(streams, t) {
      for (const s of streams) {
        if (!sparks.has(s.kind)) sparks.set(s.kind, sparkline(rows, s.kind));
        sparks.get(s.kind).add(s.length, t);
      }
    },
    tell(streams) {
      const lost = streams.reduce((sum, s) => sum + s.lost_samples, 0), isActive = streams.some((s) => s.active), holes = streams.reduce((sum, s) => sum + s.gaps, 0);
      light(made, !isActive ? "bad" : lost || holes ? "warn" : "good", (isActive ? streams.some((s) => s.simulated) ? "simulated" : "active" : "inactive")
        + (lost || holes ? `, lost ${lost}, gaps ${holes}` : ", no loss"));
      for (const s of streams) {
        const spark = sparks.get(s.kind), unit = " " + s.unit, last = (axis) => s[axis] ? significant(s[axis][2]) : "–";
        put(spark.value, last("length") + unit);
        put(spark.note, `${s.rate_hz === null ? "no samples" : s.rate_hz.toFixed(1) + " Hz"} · x ${last("x")}  y ${last("y")}  z ${last("z")}`);
        spark.draw([], (v) => significant(v) + unit);
      }
    },
  };
}

/** All cards, made again when other sensors or detectors come. */
class Instruments {
  constructor(place) { this.place = place; place.className = "instruments"; this.key = ""; this.frames = 0; }
  build(readings) {
    this.place.textContent = "";
    const section = (title, style) => { const part = make(this.place, "section"); part.setAttribute("aria-label", title); make(part, "h2", "", title); return make(part, "div", style); };
    const parents = [section("Instruments", "cards dials"), section("Detectors", "cards")];
    this.detectors = new Map(readings.detectors.map((d) => [d.detector + "\n" + d.kind, detectorCard(parents, d)]));
    const sensors = section("Sensors", "cards");
    this.sensors = new Map([...new Set(readings.streams.map((s) => s.sensor))].map((name) => [name, sensorCard(sensors, name)]));
    for (const part of [...this.place.children]) if (!part.lastChild.children.length) part.remove();
  }
  each(readings, detect, sense) {
    for (const d of readings.detectors) detect(this.detectors.get(d.detector + "\n" + d.kind), d);
    this.sensors.forEach((made, name) => sense(made, readings.streams.filter((s) => s.sensor === name)));
  }
  add(readings, t) {
    // What there is and how it is drawn, the limits that are drawn over it, and what the daemon's state depends on.
    this.parts = JSON.stringify([readings.detectors.map((d) => [d.detector, d.kind, d.lanes]), readings.streams.map((s) => [s.sensor, s.kind])]);
    this.limits = JSON.stringify(readings.detectors.map((d) => d.limits));
    this.works = [...readings.detectors.map((d) => d.running), ...readings.streams.map((s) => s.active)].join();
    const key = this.parts + JSON.stringify(readings.detectors.map((d) => d.limits.filter((l) => ["roll_deg", "angle_deg"].includes(l.of))));
    if (key !== this.key) { this.key = key; this.build(readings); }
    this.each(readings, (made, d) => made.add(d, t), (made, streams) => made.add(streams, t));
  }
  /** Greys all cards, which show what was read before; an empty text takes that back. */
  lose(text) {
    this.place.classList.toggle("lost", text !== "");
    const note = byId("lost");
    note.hidden = text === "";
    put(note, text);
  }
  turn(readings) { this.frames++; this.each(readings, (made, d) => made.turn(d), () => {}); }
  tell(readings) { this.each(readings, (made, d) => made.tell(d), (made, streams) => made.tell(streams)); }
  happened(event) { this.detectors?.forEach((made, key) => { if (key.split("\n")[0] === event.detector) made.happened(event); }); }
}
