"use strict";
// Live readings and a day's events, drawn by page.js, which is loaded once the tracks are known.
// Every text reaches the page as a text node, never as markup.
(() => {
  const token = new URLSearchParams(location.search).get("token");
  const address = (path, more = "") => path + "?" + (token ? "token=" + encodeURIComponent(token) + "&" : "") + more;
  const element = (id) => document.getElementById(id);
  const SPAN = 60, MOST = 4000;

  /** The elements that page.js expects in the page of a recording. */
  function put(meta) {
    const base = { title: "Binnacle", facts: [], configuration: "", notes: [], start_ns: "0", duration_s: SPAN, gap_s: 2,
      tracks: [], panels: [], spectra: [], rows: [], events: [], event_count: 0, event_note: "0 events", events_end_s: null, gaps: [] };
    const script = (id, type, text) => {
      const s = document.createElement("script");
      s.id = id; s.type = type; s.textContent = text;
      document.body.append(s);
    };
    const whole = Object.assign(base, meta);
    script("meta", "application/json", JSON.stringify(whole));
    whole.tracks.forEach((_, k) => script("track" + k, "text/plain", ""));
    return new Promise((done) => {
      const s = document.createElement("script");
      s.src = address("/page.js");
      s.addEventListener("load", () => done(window.binnacle));
      document.body.append(s);
    });
  }

  function say(text) { element("state").textContent = text; }

  function figures(event) {
    const known = new Set(["seq", "kind", "detector", "sensor", "time_ns", "wall_time", "identity", "simulated"]);
    return Object.entries(event).filter(([key]) => !known.has(key) && !key.endsWith("_ns")).map(([key, v]) => key + " " + v).join(", ");
  }
  const sourceOf = (event) => event.detector || event.sensor || "";

  // ---- A day

  async function day() {
    const field = element("date");
    const wanted = new URLSearchParams(location.search).get("date");
    const today = new Date();
    const text = wanted && /^\d{4}-\d{2}-\d{2}$/.test(wanted) ? wanted
      : today.getFullYear() + "-" + String(today.getMonth() + 1).padStart(2, "0") + "-" + String(today.getDate()).padStart(2, "0");
    field.value = text;
    const start = new Date(text + "T00:00:00");
    const end = new Date(start); end.setDate(end.getDate() + 1);
    const answer = await fetch(address("/events", "since_ns=" + BigInt(start.getTime()) * 1000000n + "&until_ns=" + BigInt(end.getTime()) * 1000000n));
    const body = await answer.text();
    if (!answer.ok) { say(body); return; }
    const rows = [], events = [];
    // The last line says what the list leaves out.
    let note = "; the answer was cut off: load the page again";
    for (const line of body.split("\n")) {
      // An answer that is cut off may end within a line.
      if (!line || line.at(-1) !== "}") continue;
      const event = JSON.parse(line);
      if (event.end) note = event.end.note && "; " + event.end.note;
      if (!event.wall_time) continue;
      let row = rows.findIndex((r) => r[0] === sourceOf(event) && r[1] === event.kind);
      if (row < 0) { row = rows.length; rows.push([sourceOf(event), event.kind]); }
      events.push({ t: (Date.parse(event.wall_time) - start) / 1000, r: row, f: figures(event) });
    }
    await put({ title: "Events of " + text, duration_s: (end - start) / 1000, rows, events, event_count: events.length,
      event_note: events.length + " events" + note, is_day: true, facts: [["times", "of this browser's clock"]] });
    say(events.length + " events" + note);
  }

  // ---- Live

  /** The tracks and panels for what the first readings contain. */
  function plan(readings) {
    const tracks = [], panels = [], sources = [], words = [], { circle } = JSON.parse(element("rules").textContent);
    const add = (source, kinds, panel) => {
      panels.push(Object.assign({ marks: [], states: [], curves: [], range: null, ticks: [] }, panel(tracks.length)));
      tracks.push({ origin_s: 0, block_s: 0, count: 0, series: kinds.map((kind) => ({ kind })) });
      sources.push(source);
    };
    // States become bits in the order of their first occurrence.
    const bits = (names, prefix) => (word) => {
      if (!word) return null;
      let place = names.indexOf(prefix + word);
      if (place < 0 && names.length < 16) place = names.push(prefix + word) - 1;
      return place < 0 ? null : [1 << place, 1 << place];
    };
    for (const detector of readings.detectors) {
      const find = (r) => r.detectors.find((d) => d.detector === detector.detector && d.kind === detector.kind);
      /** A value of a detector: its state, the span of a measure, or a figure. */
      const value = (found, name) => {
        if (!found) return null;
        if (name === "state") return found.state;
        const measure = found.measures.find((m) => m.name === name);
        if (measure) return measure.span;
        const figure = found.figures[name];
        return figure === undefined ? null : typeof figure === "number" ? [figure, figure] : figure;
      };
      for (const lane of detector.lanes) {
        const names = lane.curves.map((curve) => curve[1]), first = panels.length;
        const own = lane.states.map(([prefix, name]) => { const list = []; words.push({ panel: first, names: list }); return { name, list, bits: bits(list, prefix) }; });
        const count = names.length + (lane.direction ? 2 : 0);
        const marks = detector.limits.filter((limit) => names.includes(limit.of)).map((limit) => ({
          label: limit.name + " " + limit.side, value: limit.begin + " " + lane.unit, near: !!limit.always_shown, lines: [limit.begin],
          areas: [[limit.begin, limit.end, false], [limit.begin, limit.end, true]] }));
        for (const [label, from, to, margin] of lane.sectors) {
          for (const turn of [-360, 0, 360]) {
            if (to + margin + turn <= 0 || from - margin + turn >= 360) continue;
            marks.push({ label, value: "", near: false, lines: [from + turn, to + turn], areas: [[from - margin + turn, to + margin + turn, false],
              [from - margin + turn, from + turn, true], [to + turn, to + margin + turn, true]] });
          }
        }
        add((r) => {
          const found = find(r), values = names.map((name) => value(found, name));
          // A direction that is held is not valid.
          const isValid = found && found.figures.age_s === undefined;
          if (lane.direction) values.push(...lane.direction.map((name) => isValid ? value(found, name) : null));
          return values.concat(own.map((states) => lane.direction && isValid && value(found, lane.direction[0]) ? null : states.bits(value(found, states.name))));
        }, names.map(() => "value").concat(lane.direction ? ["angle", "value"] : [], own.map(() => "bits")), (k) => ({
          title: lane.title, unit: lane.unit, marks, range: lane.direction ? [0, 360] : null, ticks: lane.direction ? circle : [],
          curves: lane.curves.map(([label], series) => ({ label, track: k, series, band: null }))
            .concat(lane.direction ? [{ label: "", track: k, series: names.length, band: names.length + 1 }] : []),
          states: own.map((states, place) => ({ track: k, series: count + place, names: states.list, shown: [] })) }));
      }
    }
    for (const stream of readings.streams) {
      add((r) => {
        const found = r.streams.find((s) => s.sensor === stream.sensor && s.kind === stream.kind);
        return found ? [found.x, found.y, found.z, found.length] : [];
      }, ["value", "value", "value", "value"], (k) => ({ title: stream.kind + " of " + stream.sensor, unit: stream.unit,
        curves: ["x", "y", "z", "|v|"].map((label, series) => ({ label, track: k, series, band: null })) }));
    }
    return { tracks, panels, sources, words };
  }

  function table(readings) {
    const place = element("now");
    place.textContent = "";
    const made = document.createElement("table"), body = document.createElement("tbody");
    const row = (...texts) => {
      const line = body.insertRow();
      for (const text of texts) { const isolated = document.createElement("bdi"); isolated.textContent = text; line.insertCell().append(isolated); }
    };
    for (const s of readings.streams) {
      row(s.sensor, s.kind, s.active ? (s.rate_hz === null ? "no samples" : s.rate_hz.toFixed(1) + " Hz") : "inactive",
        "lost " + s.lost_samples + ", gaps " + s.gaps);
    }
    for (const d of readings.detectors) {
      const f = d.figures;
      row(d.detector, d.kind, d.running ? d.state || "unknown" : "does not run",
        Object.entries(f).map(([key, value]) => key + " " + value).join(", "));
    }
    made.append(body);
    place.append(made);
  }

  function live() {
    let partial = 0, drawing = null, sources = [], words = [], start = null, isLoading = false;
    const points = [], lanes = new Map();
    const events = [];
    const stream = new EventSource(address("/stream"));
    // The reason reported before a connection ended stays visible.
    let trouble = "";
    stream.addEventListener("error", () => say(trouble || "the connection is lost; it is tried again"));
    stream.addEventListener("trouble", (e) => { trouble = JSON.parse(e.data); say(trouble); });
    stream.addEventListener("missed", (e) => say("missed: " + JSON.parse(e.data)));
    let leftOut = "";
    stream.addEventListener("left-out", (e) => { leftOut = "; " + JSON.parse(e.data); if (drawing) noteEvents(); });
    stream.addEventListener("event", (e) => { events.push({ event: JSON.parse(e.data), at: Date.now() }); if (drawing) take(); });
    let shown = 0;

    function take() {
      for (const { event, at } of events.splice(0)) {
        let row = meta.rows.findIndex((r) => r[0] === sourceOf(event) && r[1] === event.kind);
        if (row < 0) { row = meta.rows.length; meta.rows.push([sourceOf(event), event.kind]); }
        // By its own stamp, which for devices is of the readings' clock; else by its time of arrival.
        const last = points.length ? points[points.length - 1].t : 0;
        const came = last - (Date.now() - at) / 1000, own = event.time_ns === undefined ? NaN : event.time_ns / 1e9 - start;
        meta.events.push({ t: Math.max(0, Math.abs(own - came) < 5 ? own : came), r: row, f: figures(event) });
        meta.event_count++;
      }
      const panel = panels.find((p) => p.isEvents);
      panel.height = Math.max(1, meta.rows.length) * rules.row + 22;
      panel.element.style.height = panel.height + "px";
      tablePage = Math.max(0, Math.ceil(meta.events.length / PAGE) - 1);
      fillTable();
      noteEvents();
    }

    function noteEvents() { byId("eventNote").textContent = meta.event_count + " events since this page was opened" + leftOut; }

    stream.addEventListener("readings", async (e) => {
      const readings = JSON.parse(e.data);
      const t = Number(BigInt(readings.time_ns)) / 1e9;
      trouble = "";
      // They come with the first readings, and again when they have changed.
      for (const d of readings.detectors) {
        const key = JSON.stringify([d.kind, d.detector]);
        d.lanes = d.lanes || lanes.get(key) || [];
        lanes.set(key, d.lanes);
      }
      table(readings);
      if (readings.skipped) say(readings.skipped + " intervals skipped"); else say("live");
      if (!drawing) {
        // Measures exist from the first samples on; a silent one gets no curve after two seconds.
        const isWhole = readings.streams.every((s) => !s.active || s.length);
        if (isLoading || !readings.streams.some((s) => s.length) || (!isWhole && ++partial < 20)) return;
        isLoading = true;
        start = t;
        const planned = plan(readings);
        sources = planned.sources;
        words = planned.words;
        drawing = await put({ title: "Binnacle, live", tracks: planned.tracks, panels: planned.panels, duration_s: 1e9 });
        take();
      }
      points.push({ t: t - start, values: sources.map((source) => source(readings)) });
      if (points.length > MOST) points.shift();
      const times = Float64Array.from(points, (p) => p.t);
      drawing.tracks.forEach((track, k) => {
        track.times = times; track.count = times.length;
        track.series.forEach((series, n) => {
          const at = (place) => Float64Array.from(points, (p) => { const span = p.values[k][n]; return span ? span[place] : NaN; });
          series.levels = [{ lo: at(0), hi: at(1) }];
        });
      });
      const groups = new Map();
      for (const { panel, names } of words) {
        const place = groups.get(panel) || 0;
        Object.assign(meta.panels[panel].states[place], { names, shown: names.map((_, k) => k) });
        groups.set(panel, place + 1);
      }
      const now = t - start;
      meta.duration_s = Math.max(SPAN, now);
      // A zoomed view stays where it is.
      if (shown === 0 || Math.abs(view.to - shown) < 1e-6) { view.from = Math.max(0, now - SPAN); view.to = Math.max(now, view.from + 1); shown = view.to; }
      redraw();
    });
  }

  fetch(address("/status")).then(async (answer) => {
    const body = await answer.text();
    if (!answer.ok) { say(body); return; }
    const status = JSON.parse(body);
    const facts = element("facts");
    const fact = (name, value) => {
      const term = document.createElement("dt"), text = document.createElement("dd");
      term.textContent = name; text.textContent = value; facts.append(term, text);
    };
    fact("state", status.state + (status.problems.length ? ": " + status.problems.join("; ") : ""));
    fact("version", status.version);
    fact("running for", Math.round(status.uptime_s) + " s");
  });
  element("date").addEventListener("change", (e) => { if (e.target.value) location.href = address("/day", "date=" + e.target.value); });
  if (location.pathname === "/day") { element("day").setAttribute("aria-current", "page"); day(); }
  else { element("live").setAttribute("aria-current", "page"); live(); }
})();
