'use strict';
// The recorded run: which token was made at each step, under which tag, and on which edges it waits until when.

const FOREVER = Infinity;

class Run {
  constructor(data) {
    Object.assign(this, data);
    this.count = data.events.length / 4;
    this.firings = new Map();  // of a node in a frame: the numbers of its events
    this.children = new Map(); // frames by what made them
    this.readers = new Map();  // of an output: the inputs that it leads to
    this.findReaders();
    this.isOnDemand = false;
    for (let i = 0; i < this.count; ++i) this.isOnDemand ||= this.event(i).demand;
    this.findFrames();
    this.findTokens();
    this.hasGradients = this.nodes.some((node) => node.backward);
    this.hasProcesses = this.nodes.some((node) => node.process !== undefined);
  }

  // Where the run is split, each process has nodes of its own, which the picture names after both numbers.
  prefix(n) { return this.nodes[n].process === undefined ? '' : `p${this.nodes[n].process}_`; }
  number(n) { return this.nodes[n].number ?? n; }

  // Event i: which output of which node sent what, and in which frame. A frame is what a tag stands for.
  event(i) {
    const [node, port, frame, value] = [0, 1, 2, 3].map((k) => this.events[4 * i + k]);
    const demand = value < -1;
    return {node, port, frame, demand, asker: -2 - value, dead: value === -1,
      value: demand ? '?' : value < 0 ? '∗' : this.values[value]};
  }

  // The last value that an output had in a frame before event i; undefined where it was dead or is yet to come.
  valueBefore([node, port], frame, i) {
    if (this.nodes[node].value !== undefined) return this.nodes[node].value;
    const made = (this.firings.get(`${node}:${frame}`) ?? []).filter((j) => j < i && this.event(j).port === port);
    const event = made.length > 0 ? this.event(made[made.length - 1]) : {dead: true};
    return event.dead ? undefined : event.value;
  }

  findReaders() {
    const add = ([node, port], reader) => {
      const key = `${node}:${port}`;
      if (!this.readers.has(key)) this.readers.set(key, []);
      this.readers.get(key).push(reader);
    };
    this.nodes.forEach((node, to) => {
      const [prefix, number] = [this.prefix(to), this.number(to)];
      node.inputs.forEach((from, i) => add(from, {to, edge: `${prefix}e${number}_${i}`, input: i}));
      node.controls.forEach((from, i) => {
        if (node.kind !== 'Return') add(from, {to, edge: `${prefix}c${number}_${i}`});
      });
      if (node.kind === 'Send') add([to, 0], {to: node.receiver, edge: `channel${node.channel}`});
    });
  }

  findFrames() {
    this.frames.forEach((frame, f) => {
      Object.assign(frame, {first: FOREVER, done: FOREVER, arguments: [], results: [], children: [], depth: 0});
      if (f === 0) return;
      const what = frame.site !== undefined ? `c${frame.site}` : `l${frame.loop}:${frame.iteration}`;
      this.children.set(`${frame.parent}:${what}`, f);
      this.frames[frame.parent].children.push(f);
      frame.depth = this.frames[frame.parent].depth + 1;
      // The tag: a list, innermost first, in which equal labels in a row are one element with a count.
      const label = frame.site ?? frame.iteration;
      const outer = this.frames[frame.parent].tag;
      frame.tag = outer?.label === label ? {...outer, count: outer.count + 1} : {label, count: 1, outer};
    });
    for (let i = 0; i < this.count; ++i) {
      const event = this.event(i);
      const node = this.nodes[event.node];
      const key = `${event.node}:${event.frame}`;
      this.frames[event.frame].first = Math.min(this.frames[event.frame].first, i);
      if (event.demand) continue;
      if (!this.firings.has(key)) this.firings.set(key, []);
      this.firings.get(key).push(i);
      const frame = this.frames[event.frame];
      if (node.copied) continue;  // what flows in a state machine is no argument and no result
      if (node.kind === 'Call' || node.kind === 'Input') frame.arguments.push(i);
      const callee = node.kind === 'Return' && !event.dead ? this.child(event.frame, `c${node.site}`) : undefined;
      if (callee !== undefined) {
        this.frames[callee].results.push(i);
        this.frames[callee].done = i;
      }
    }
  }

  child(frame, what) {
    return this.children.get(`${frame}:${what}`);
  }

  // In which frame the reader of a token fires; undefined where the token is not for it or makes nothing fire.
  frameAfter(reader, frame, dead) {
    const node = this.nodes[reader];
    const {site, loop, iteration, parent} = this.frames[frame];
    switch (node.kind) {
      case 'Call': return dead ? undefined : this.child(frame, `c${node.site}`);
      case 'Return': return frame > 0 && site === node.site ? parent : undefined;
      case 'Enter': return dead ? undefined : this.child(frame, `l${node.loop}:0`);
      case 'NextIteration': return dead ? undefined : this.child(parent, `l${loop}:${iteration + 1}`);
      case 'Exit': return dead ? undefined : parent;  // the dead ones of all iterations but the last end there
      default: return frame;
    }
  }

  // A token of event i stands on an edge until its reader fires.
  findTokens() {
    this.tokens = [];
    this.startsAt = Array.from({length: this.count}, () => []);
    this.endsAt = Array.from({length: this.count + 1}, () => []);
    for (let i = 0; i < this.count; ++i) {
      const {node, port, frame, dead, demand} = this.event(i);
      if (demand) {
        this.findDemand(i);
        continue;
      }
      for (const {to, edge} of this.readers.get(`${node}:${port}`) ?? []) {
        const kind = this.nodes[to].kind;
        const after = this.frameAfter(to, frame, dead);
        const firing = (this.firings.get(`${to}:${after}`) ?? []).find((j) => j > i);
        // On demand, a value goes where it was asked for.
        if (this.isOnDemand && firing === undefined && kind !== 'Output') continue;
        const waits = kind === 'Op' || kind === 'Switch' || kind === 'Output';
        const end = firing ?? (waits ? FOREVER : i + 1);
        const refused = kind === 'Return' && after === undefined;
        this.startsAt[i].push(this.tokens.length);
        if (end <= this.count) this.endsAt[end].push(this.tokens.length);
        this.tokens.push({event: i, edge, to, end, refused});
      }
    }
  }

  // A demand goes backward, from the node that asks, and waits until the value comes.
  findDemand(i) {
    const {node, port, frame, asker} = this.event(i);
    const readers = this.readers.get(`${node}:${port}`) ?? [];
    const asking = readers.filter(({to}) => to === asker);
    // A Merge asks for the predicate of its Switches.
    const shown = asking.length > 0 ? asking : readers.filter(({to, input}) => this.nodes[to].kind === 'Switch' && input === 1);
    const answer = (this.firings.get(`${node}:${frame}`) ?? []).find((j) => j > i && this.event(j).port === port);
    for (const {to, edge} of shown) {
      this.startsAt[i].push(this.tokens.length);
      if (answer !== undefined) this.endsAt[answer].push(this.tokens.length);
      this.tokens.push({event: i, edge, to, end: answer ?? FOREVER, refused: false});
    }
  }

  // The tag of a frame as text: many equal labels in a row are counted, 1×5.
  tag(frame, longest = 24) {
    let text = '';
    for (let part = this.frames[frame].tag; part; part = part.outer) {
      const labels = part.count > 3 ? `${part.label}×${part.count}` : Array(part.count).fill(part.label).join(' ');
      text += (text ? ' ' : '') + labels;
      if (text.length > longest) return text.slice(0, longest - 1) + '…';
    }
    return text;
  }

  // Colours of neighbouring tags are far from each other.
  colour(frame) {
    return frame === 0 ? '#5b6770' : `hsl(${(205 + 137.5 * (frame - 1)) % 360} 62% 38%)`;
  }

  // "fact(n = 2)", "iteration 3"; with what was known before event i.
  frameName(f, i) {
    const frame = this.frames[f];
    if (frame.iteration !== undefined) return `iteration ${frame.iteration}`;
    const {name, params} = this.functions[frame.function];
    const come = frame.arguments.filter((j) => j <= i).map((j) => this.event(j));
    const index = (event) => this.nodes[event.node].index ?? event.node;
    const given = come.sort((a, b) => index(a) - index(b)).map((event) => {
      const node = this.nodes[event.node];
      const param = f === 0 ? node.note : params[node.index];
      return param ? `${param} = ${event.value}` : event.value;
    });
    return `${name}(${given.join(', ')})`;
  }
}
