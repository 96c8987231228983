"use strict";
// Live readings, the events of some days, and a calibration. Every text reaches the page as a text node, never as markup.
(() => {
  const token = new URLSearchParams(location.search).get("token");
  const address = (path, more = "") => path + "?" + (token ? "token=" + encodeURIComponent(token) + "&" : "") + more;
  const element = (id) => document.getElementById(id);
  // The seconds of the curves, the readings that they keep, and the milliseconds without a reading after which those shown are old.
  const SPAN = 60, MOST = 12000, PATIENCE = 3000;
  // A browser has six connections to a server for all its pages: one that has been hidden for so many milliseconds gives up its own.
  const HIDDEN = 30000;

  /** Draws curves and events by page.js, as those of a recording. */
  function show(recording) {
    start(Object.assign({ title: "Binnacle", facts: [], configuration: "", notes: [], start_ns: "0", duration_s: SPAN, gap_s: 2,
      tracks: [], panels: [], spectra: [], rows: [], events: [], event_count: 0, event_note: "no events", events_end_s: null, gaps: [] }, recording));
  }

  function say(text) { put(element("state"), text); }

  /** The figures of an event in the words of a recording's page. */
  function figures(event) {
    const known = new Set(["seq", "kind", "detector", "sensor", "time_ns", "wall_time", "identity", "simulated", ...rules.shown.hidden]);
    return plain(Object.entries(event).filter(([key]) => !known.has(key) && !key.endsWith("_ns")).map(([key, v]) => {
      const { words, unit } = split(key), most = rules.shown.decimals[key];
      return most === undefined || typeof v !== "number" ? key + " " + v : words + " " + v.toFixed(most) + unit;
    }).join(", "));
  }
  const sourceOf = (event) => plain(event.detector || event.sensor || "");

  // ---- The events of some days

  const asDate = (d) => d.getFullYear() + "-" + String(d.getMonth() + 1).padStart(2, "0") + "-" + String(d.getDate()).padStart(2, "0");
  const dayAfter = (text, days) => { const d = new Date(text + "T12:00:00"); d.setDate(d.getDate() + days); return asDate(d); };

  /** The calendar: from one day to another, of those that the store has. */
  function choose(from, to, store) {
    const [first, last] = ["from", "to"].map(element), today = asDate(new Date());
    const count = Math.round((new Date(to + "T12:00:00") - new Date(from + "T12:00:00")) / 86_400_000) + 1;
    const open = (a, b) => { location.href = address("/day", "from=" + a + "&to=" + (b < a ? a : b)); };
    const actions = { before: () => open(dayAfter(from, -count), dayAfter(to, -count)), after: () => open(dayAfter(from, count), dayAfter(to, count)),
      today: () => open(today, today) };
    for (const [id, action] of Object.entries(actions)) element(id).addEventListener("click", action);
    element("days").addEventListener("submit", (e) => { e.preventDefault(); open(first.value, last.value); });
    [first.value, last.value] = [from, to];
    if (store) first.min = last.min = asDate(new Date(store.oldest));
    first.max = last.max = today;
    put(element("stored"), store ? "the store has events since " + new Date(store.oldest).toLocaleString() : "the store is empty, or there is none");
    element("days").hidden = false;
  }

  async function days(status) {
    const given = new URLSearchParams(location.search);
    // A day that is not in the calendar is not taken, and one beyond what nanoseconds since 1970 reach is the nearest that they do.
    const day = (name, other) => {
      const text = given.get(name) || "";
      if (asDate(new Date(text + "T12:00:00")) !== text) return other;
      return text < "1970-01-01" ? "1970-01-01" : text > "2262-04-10" ? "2262-04-10" : text;
    };
    const first = day("from", day("date", asDate(new Date()))), last = day("to", first), [from, to] = last < first ? [last, first] : [first, last];
    choose(from, to, status?.store?.oldest ? status.store : null);
    const begin = new Date(from + "T00:00:00"), end = new Date(dayAfter(to, 1) + "T00:00:00");
    const answer = await fetch(address("/events", "since_ns=" + BigInt(begin.getTime()) * 1000000n + "&until_ns=" + BigInt(end.getTime()) * 1000000n));
    const body = await answer.text();
    if (!answer.ok) { say(body); return; }
    const rows = [], events = [], courses = new Map(), stops = [], moments = [];
    // The last line says what the list leaves out, and the daemon's time.
    let note = "; the answer was cut off: load the page again", now = Date.now();
    for (const line of body.split("\n")) {
      // An answer that is cut off may end within a line.
      if (!line || line.at(-1) !== "}") continue;
      const event = JSON.parse(line);
      if (event.end) { note = event.end.note && "; " + event.end.note; now = event.end.now_ms; }
      if (!event.wall_time) continue;
      const t = (Date.parse(event.wall_time) - begin) / 1000;
      moments.push(t);
      // Without a valid value none holds any more; one that is held has its age.
      const isHeld = event.age_s !== undefined;
      if (isHeld || /^(heading\.lost|detector\.(failed|unavailable))$/.test(event.kind)) stops.push([sourceOf(event), t]);
      if (rules.shown.course.includes(event.kind)) {
        if (isHeld) continue;
        const key = event.kind + " of " + sourceOf(event);
        if (!courses.has(key)) courses.set(key, []);
        courses.get(key).push(Object.assign(event, { t }));
        continue;
      }
      let row = rows.findIndex((r) => r[0] === sourceOf(event) && r[1] === event.kind);
      if (row < 0) { row = rows.length; rows.push([sourceOf(event), event.kind]); }
      events.push({ t, r: row, f: figures(event) });
    }
    const said = events.length + " events" + note, seconds = (end - begin) / 1000, known = (Math.min(now, end) - begin) / 1000;
    // When the daemon before this one ended is not known, but its last event is. Of this one there is none before its start, within some seconds.
    const started = (now - begin) / 1000 - (status?.uptime_s ?? Infinity) - 10, seen = Math.max(...moments.filter((t) => t < started));
    stops.sort((a, b) => a[1] - b[1]);
    show({ title: "Events of " + (from === to ? from : from + " to " + to), duration_s: seconds, begin_ms: begin.getTime(), rows, events, event_count: events.length,
      event_note: said, gap_s: 0, facts: [["times", "of this browser's clock"]], ...history(courses) });
    // A course is a few arrays of what its events say.
    [...courses.values()].forEach((list, k) => {
      list.sort((a, b) => a.t - b.t);
      const track = tracks[k], own = stops.filter(([name]) => name === sourceOf(list[0])).map(([, t]) => t);
      // A value lasts until the next one, as the detector reports only changes.
      track.until = Float64Array.from(list, ({ t }, i) => Math.min(list[i + 1]?.t ?? Infinity, own.find((s) => s >= t) ?? Infinity, t < started ? seen : known));
      track.times = Float64Array.from(list, (e) => e.t); track.count = list.length;
      track.series.forEach((series, n) => {
        const values = Float64Array.from(list, (e) => e[track.names[n]] ?? NaN);
        series.levels = [{ lo: values, hi: values }];
      });
    });
    redraw();
    say(said);
  }

  /** A panel for each detector with a course: its heading, else its roll and pitch. */
  function history(courses) {
    const recording = { tracks: [], panels: [] };
    for (const [key, list] of courses) {
      const isHeading = list.some((e) => e.heading_deg !== undefined), k = recording.tracks.length;
      const names = isHeading ? ["heading_deg", list.some((e) => e.accuracy_deg !== undefined) ? "accuracy_deg" : "yaw_accuracy_deg"] : ["roll_deg", "pitch_deg"];
      recording.tracks.push({ origin_s: 0, block_s: 0, count: 0, names, series: names.map((_, n) => ({ kind: isHeading && n === 0 ? "angle" : "value" })) });
      recording.panels.push({ title: key, unit: "°", range: isHeading ? [0, 360] : null, ticks: isHeading ? rules.circle : [], marks: [], states: [],
        curves: isHeading ? [{ label: "", track: k, series: 0, band: 1 }] : ["roll", "pitch"].map((label, series) => ({ label, track: k, series, band: null })) });
    }
    return recording;
  }

  // ---- Live

  /** The words of LeftOutHeadings.swift. */
  const left = (count) => `${count} heading${count === 1 ? "" : "s"} or attitude${count === 1 ? "" : "s"} left out: see binnacle events`;

  /** The tracks and panels for what the first readings contain. */
  function plan(readings) {
    const tracks = [], panels = [], sources = [], words = [];
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
          title: plain(lane.title), unit: lane.unit, marks, range: lane.direction ? [0, 360] : null, ticks: lane.direction ? rules.circle : [],
          curves: lane.curves.map(([label], series) => ({ label, track: k, series, band: null }))
            .concat(lane.direction ? [{ label: "", track: k, series: names.length, band: names.length + 1 }] : []),
          states: own.map((states, place) => ({ track: k, series: count + place, names: states.list, shown: [] })) }));
      }
    }
    for (const stream of readings.streams) {
      add((r) => {
        const found = r.streams.find((s) => s.sensor === stream.sensor && s.kind === stream.kind);
        return found ? [found.x, found.y, found.z, found.length] : [];
      }, ["value", "value", "value", "value"], (k) => ({ title: stream.kind + " of " + plain(stream.sensor), unit: stream.unit,
        curves: ["x", "y", "z", "|v|"].map((label, series) => ({ label, track: k, series, band: null })) }));
    }
    return { tracks, panels, sources, words };
  }

  /** The stream of readings and events; one that was closed while the page was hidden goes on behind its last event. */
  function streamWhileSeen() {
    const listeners = [];
    let source = null, last = "", hiding = null;
    const open = () => {
      source = new EventSource(address("/stream", last && "last-event-id=" + encodeURIComponent(last)));
      for (const [name, action] of listeners) source.addEventListener(name, action);
    };
    document.addEventListener("visibilitychange", () => {
      clearTimeout(hiding);
      if (document.hidden) hiding = setTimeout(() => { source.close(); source = null; }, HIDDEN);
      else if (!source) open();
    });
    open();
    return {
      addEventListener(name, action) {
        const both = (e) => { last = e.lastEventId || last; action(e); };
        listeners.push([name, both]);
        source.addEventListener(name, both);
      },
    };
  }

  function live() {
    let heard = performance.now(), isLost = false, seconds = 0, isDue = false;
    let partial = 0, drawing = null, sources = [], words = [], begun = null, latest = null, isWaiting = false, shown = 0, trouble = "", leftOut = 0;
    let count = 0, times = new Float64Array(2 * MOST), told = -1, turned = 0;
    const events = [], cards = new Instruments(element("now")), isStill = matchMedia("(prefers-reduced-motion: reduce)");
    const stream = streamWhileSeen();
    // The reason reported before a connection ended stays visible.
    stream.addEventListener("error", () => say(trouble || "the connection is lost; it is tried again"));
    // What was read last looks like what is read now, whatever the reason.
    setInterval(() => {
      const age = performance.now() - heard, wasLost = isLost;
      isLost = !!latest && age > (drawing?.patience ?? PATIENCE);
      if (isLost !== wasLost) tellState();
      if (isLost || wasLost) cards.lose(isLost ? `no reading for ${Math.round(age / 1000)} s: what is shown is old` : "");
      else if ((++seconds % 30 === 0 || isDue) && !document.hidden) { isDue = false; tellState(); }
    }, 1000);
    stream.addEventListener("trouble", (e) => { trouble = JSON.parse(e.data); say(trouble); });
    stream.addEventListener("missed", (e) => say("missed: " + JSON.parse(e.data)));
    stream.addEventListener("left-out", (e) => { leftOut += JSON.parse(e.data); });
    stream.addEventListener("event", (e) => {
      const event = JSON.parse(e.data);
      events.push({ event, came: count ? times[count - 1] : 0 });
      // The daemon's state may be another one now.
      isDue = isDue || /^(sensor|detector|handler|command|store|events)\./.test(event.kind);
    });

    /** Shows the events that have come, in one go, because each row of the table moves those below it. */
    function take() {
      const before = meta.events.length;
      for (const { event, came } of events.splice(0)) {
        cards.happened(event);
        let row = meta.rows.findIndex((r) => r[0] === sourceOf(event) && r[1] === event.kind);
        if (row < 0) { row = meta.rows.length; meta.rows.push([sourceOf(event), event.kind]); }
        // By its own stamp, which for devices is of the readings' clock; else by the last reading before it.
        const own = event.time_ns === undefined ? NaN : event.time_ns / 1e9 - begun;
        meta.events.push({ t: Math.max(0, Math.abs(own - came) < 5 ? own : came), r: row, f: figures(event) });
        meta.event_count++;
      }
      const panel = panels.find((p) => p.isEvents);
      panel.height = Math.max(1, meta.rows.length) * rules.row + 22;
      panel.element.style.height = panel.height + "px";
      const last = Math.max(0, Math.ceil(meta.events.length / PAGE) - 1), isSame = last === tablePage;
      tablePage = last;
      fillTable(isSame ? before : undefined);
    }

    /** Keeps the readings for the curves: the older half goes when there is no more place. */
    function keep(readings, t) {
      const isFull = count === 2 * MOST;
      if (isFull) { times.copyWithin(0, MOST); count = MOST; }
      times[count] = t;
      tracks.forEach((track, k) => {
        const values = sources[k](readings);
        track.series.forEach((series, n) => {
          const [{ lo, hi }] = series.levels;
          if (isFull) { lo.copyWithin(0, MOST); hi.copyWithin(0, MOST); }
          lo[count] = values[n] ? values[n][0] : NaN;
          hi[count] = values[n] ? values[n][1] : NaN;
        });
        track.count = count + 1;
      });
      count++;
    }

    // A canvas costs something in each frame, changed or not, but without pixels nothing.
    const clear = () => { for (const panel of panels) if (!panel.isSeen) panel.element.width = 0; };
    const watch = new IntersectionObserver((all) => {
      for (const { target, isIntersecting } of all) {
        const panel = panels.find((p) => p.element === target);
        if (!panel) continue;
        panel.isSeen = isIntersecting;
        if (isIntersecting) panel.draw(panel);
      }
      clear();
    });

    /** Makes the curves for what there is, also in place of those before a reload of the daemon; the events stay. */
    function begin(readings) {
      // Measures exist from the first samples on; a silent one gets no curve after two seconds, and without any the page has its events.
      const isWhole = readings.streams.some((s) => s.length) && readings.streams.every((s) => !s.active || s.length);
      if (!drawing && !isWhole && ++partial < 60) return;
      const planned = plan(readings);
      element("recording").hidden = false;
      ({ sources, words } = planned);
      const isFirst = !drawing;
      if (isFirst) show({ title: "Binnacle, live", tracks: planned.tracks, panels: planned.panels, duration_s: 1e9 });
      else {
        Object.assign(meta, { tracks: planned.tracks, panels: planned.panels });
        tracks = drawing.tracks = planned.tracks.map(load);
        count = 0;
        watch.disconnect();
        layPanels(byId("plot"));
        draw(false);
      }
      for (const track of tracks) {
        track.times = times;
        for (const series of track.series) series.levels = [{ lo: new Float32Array(2 * MOST), hi: new Float32Array(2 * MOST) }];
      }
      for (const panel of panels) watch.observe(panel.element);
      if (!isFirst) return;
      drawing = window.binnacle;
      onlySeen = true;
      window.addEventListener("beforeprint", () => { cards.tell(latest); draw(false); });
      window.addEventListener("afterprint", clear);
      Object.assign(drawing, { instruments: cards, latest: () => latest, patience: PATIENCE });
    }

    const timeOf = (r) => Number(BigInt(r.time_ns)) / 1e9 - begun;
    stream.addEventListener("readings", (e) => {
      const readings = JSON.parse(e.data);
      [heard, trouble] = [performance.now(), ""];
      // The machine was started again, and its clock with it.
      if (latest && BigInt(readings.time_ns) < BigInt(latest.time_ns)) { location.reload(); return; }
      // Lanes come with the first readings, and again when they have changed; a spectrum once a second.
      for (const d of readings.detectors) {
        const before = latest?.detectors.find((b) => b.detector === d.detector && b.kind === d.kind);
        d.lanes = d.lanes || before?.lanes || [];
        d.spectrum = d.running ? d.spectrum || before?.spectrum : undefined;
      }
      latest = readings;
      begun = begun ?? Number(BigInt(readings.time_ns)) / 1e9;
      const now = timeOf(readings), { parts, limits, works } = cards;
      cards.add(readings, now);
      isDue = isDue || cards.works !== works;
      // Curves are made for what there is; after a reload of the daemon that may be something else, or have other limits.
      if (!drawing || cards.parts !== parts) begin(readings);
      else if (cards.limits !== limits) plan(readings).panels.forEach(({ marks }, k) => { meta.panels[k].marks = marks; });
      if (drawing) keep(readings, now);
      if (!isWaiting && (mayTurn(performance.now()) || slotOf(readings) !== told)) { isWaiting = true; requestAnimationFrame(frame); }
    });

    new IntersectionObserver((all) => { cards.isSeen = all.at(-1).isIntersecting; told = -1; }).observe(element("now"));
    const slotOf = (r) => Math.floor(timeOf(r) / TICK_S);
    const mayTurn = (now) => cards.isSeen && (!isStill.matches || now - turned > 1000);

    /** What the screen shows next: nothing runs here while the page is hidden. */
    function frame() {
      isWaiting = false;
      if (document.hidden) return;
      const t = timeOf(latest), slot = slotOf(latest), now = performance.now();
      if (mayTurn(now)) { turned = now; cards.turn(latest); }
      if (slot === told) return;
      told = slot;
      if (cards.isSeen) cards.tell(latest);
      say(latest.skipped ? latest.skipped + (latest.skipped === 1 ? " interval" : " intervals") + " skipped" : "live");
      if (!drawing) return;
      if (events.length) take();
      put(byId("eventNote"), meta.event_count + " events since this page was opened" + (leftOut ? "; " + left(leftOut) : ""));
      const groups = new Map();
      for (const { panel, names } of words) {
        const place = groups.get(panel) || 0;
        Object.assign(meta.panels[panel].states[place], { names, shown: names.map((_, k) => k) });
        groups.set(panel, place + 1);
      }
      meta.duration_s = Math.max(SPAN, t);
      // A zoomed view stays where it is.
      if (shown === 0 || Math.abs(view.to - shown) < 1e-6) { view.from = Math.max(0, t - SPAN); view.to = Math.max(t, view.from + 1); shown = view.to; draw(true); }
    }
    document.addEventListener("visibilitychange", () => { if (!document.hidden && latest) frame(); });
  }

  // ---- A calibration

  /** The two halves of the sphere that fills, in the cells of DirectionMap.swift; x to the right, y up. */
  function sphere(parent) {
    const cells = [];
    for (const half of ["upper half", "lower half"]) {
      const figure = make(parent, "figure"), svg = shape(figure, "svg", { viewBox: "-106 -106 212 212", role: "img", "aria-label": half });
      make(figure, "figcaption", "soft", half + (half === "upper half" ? ", towards the screen" : ", towards the back"));
      for (let ring = 0; ring < 4; ring++) {
        const many = 3 * (2 * ring + 1);
        // From -x on, counter-clockwise.
        for (let k = 0; k < many; k++) cells.push(shape(svg, "path", { class: "cell", d: arc(25 * ring, 25 * (ring + 1), 270 - 360 * (k + 1) / many, 270 - 360 * k / many) }));
      }
    }
    return cells;
  }

  /** The six sides that are held up, in the order of Face.swift. */
  function sides(parent, faces) {
    return faces.map((_, k) => {
      const figure = make(parent, "figure"), svg = shape(figure, "svg", { viewBox: "-106 -106 212 212", "aria-hidden": "true" });
      const cell = shape(svg, "rect", { class: "cell", x: -104, y: -104, width: 208, height: 208, rx: 10 });
      const device = shape(svg, "g", { transform: `rotate(${[0, 180, 0, 180, -90, 90][k]})` });
      if (k > 1) handset(device);
      else {
        shape(device, "rect", { class: "device", x: -78, y: -10, width: 156, height: 20, rx: 6 });
        shape(device, "path", { class: "glass", d: "M-68-8H68V-2H-68Z" });
      }
      make(figure, "figcaption", "soft");
      return cell;
    });
  }

  /** What can be calibrated, and what to do for it. */
  const HOW = {
    magnetometer: "Keep away from iron. Start, and turn the device slowly through all directions, until every side of it has faced north, the ground and the sky.",
    accelerometer: "Start, and hold the device still for a second with each of its six sides up, against something level and upright.",
    gyroscope: "Start, and leave the device lying on something that does not move.",
  };

  function calibrate(status) {
    element("recording").hidden = true;
    put(element("title"), "Calibration");
    element("calibrating").hidden = false;
    const sensors = Object.keys(HOW).flatMap((kind) => (status?.sensors || []).filter((s) => s.streams.some((one) => one.kind === kind)).map(({ name }) => ({ name, kind })));
    const [choice, go, how, picture, done, advice, report, save, file, answer] =
      ["sensor", "go", "how", "picture", "done", "advice", "report", "save", "file", "answer"].map(element);
    sensors.forEach(({ name, kind }, k) => { make(choice, "option", "", name + ", " + kind).value = k; });
    go.disabled = !sensors.length;
    let stream = null, state = null, cells = [];
    /** Ends what is measured, and shows what there is to measure. */
    function reset() {
      const kind = sensors[choice.value]?.kind;
      stream?.close();
      state = null; done.value = 0; picture.textContent = advice.textContent = report.textContent = answer.textContent = ""; save.hidden = file.hidden = true;
      put(go, "start"); say(kind ? "ready" : "the daemon has no sensor to calibrate");
      put(how, HOW[kind] || ""); picture.className = kind || "";
      cells = kind === "magnetometer" ? sphere(picture) : [];
    }
    reset();
    choice.addEventListener("change", reset);
    go.form.addEventListener("submit", (e) => {
      e.preventDefault();
      reset();
      const { name, kind } = sensors[choice.value];
      put(go, "start again"); say("measuring " + name);
      stream = new EventSource(address("/calibration/stream", "kind=" + kind + "&sensor=" + encodeURIComponent(name)));
      stream.addEventListener("error", () => { stream.close(); say("the connection is lost: start again"); });
      stream.addEventListener("trouble", (e) => { stream.close(); say(JSON.parse(e.data)); });
      stream.addEventListener("state", (e) => tell(JSON.parse(e.data)));
    });
    function tell(next) {
      state = { ...state, ...next };
      if (next.faces && !cells.length) cells = sides(picture, next.faces);
      const isFull = (k) => next.cells[k] === "1", percent = Math.round(100 * cells.filter((_, k) => isFull(k)).length / cells.length);
      cells.forEach((cell, k) => set(cell, "class", "cell" + (isFull(k) ? " full" : "") + (next.now === k ? " now" : "")));
      if (next.faces) picture.querySelectorAll("figcaption").forEach((text, k) => put(text, next.faces[k] + ": " + (next.now === k ? "done, held now" : isFull(k) ? "done" : "missing")));
      else if (cells.length) picture.querySelector("svg").setAttribute("aria-label", `the sphere of all directions, ${percent} % covered`);
      done.value = next.fraction;
      put(advice, next.advice);
      put(report, (state.report || []).map((line) => line.trim().replace(/ {2,}/, ": ")).join("\n"));
      file.hidden = !state.file;
      if (next.file) {
        URL.revokeObjectURL(file.href);
        Object.assign(file, { href: URL.createObjectURL(new Blob([next.file], { type: "application/toml" })), download: state.sensor.replace(/[^\w.-]/g, "_") + ".toml" });
      }
      save.hidden = !state.path;
      if (state.path) put(save, "save to " + state.path);
    }
    save.addEventListener("click", async () => {
      const ask = (more) => fetch(address("/calibration/save", "run=" + state.run + more), { method: "POST" });
      let reply = await ask(""), text = await reply.text();
      if (reply.status === 409 && / already$/m.test(text) && confirm(text + "\nReplace it?")) { reply = await ask("&replace=1"); text = await reply.text(); }
      put(answer, text);
    });
  }

  const page = { "/day": ["day", days], "/calibration": ["calibration", calibrate] }[location.pathname] || ["live", live];
  element(page[0]).setAttribute("aria-current", "page");
  /** Shows how the daemon is; returns its status, or null when it gives none. */
  async function tellState() {
    const answer = await fetch(address("/status")).catch(() => null), list = element("facts");
    const body = answer ? await answer.text() : "no answer: binnacle web does not run";
    list.textContent = "";
    if (!answer?.ok) { say(body); return null; }
    const status = JSON.parse(body), fact = (name, value) => { make(list, "dt", "", name); make(list, "dd", "", value); };
    fact("state", status.state + (status.problems.length ? ": " + status.problems.join("; ") : ""));
    fact("version", status.version);
    fact("running for", Math.round(status.uptime_s) + " s");
    return status;
  }
  if (page[1] === live) { element("recording").hidden = true; live(); }
  tellState().then((status) => { if (page[1] === days || page[1] === calibrate && status) page[1](status); });
})();
