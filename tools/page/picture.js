'use strict';
// The drawn graph: nodes that light up, and tokens on the edges.

const SVG = 'http://www.w3.org/2000/svg';
const REST = 0.7;        // how far along its edge a token waits
const MOST_PILLS = 3;    // on one edge; the others are counted
const CROWD = 30;        // so many tokens wait: one on each edge is enough
const PILL_HEIGHT = 16;

function svgElement(name, attributes = {}) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

class Picture {
  constructor(run, place) {
    this.run = run;
    this.place = place;
    this.svg = place.querySelector('svg');
    this.svg.querySelectorAll('title').forEach((title) => title.remove());
    // Waiting tokens lie over the edges and below the nodes, new ones over all.
    this.waiting = svgElement('g');
    this.moving = svgElement('g');
    this.svg.querySelector('.graph').append(this.waiting, ...this.svg.querySelectorAll('.node'), this.moving);
    this.count = 0;           // tokens on edges
    this.paths = new Map();   // by edge
    this.onEdge = new Map();  // by edge: the tokens there now
    this.pills = new Map();   // by edge: what shows them
    this.index = -1;          // the event that was made last
    this.lit = [];
    run.nodes.forEach((node, n) => {
      if (node.backward) this.node(n)?.classList.add('backward');
      this.center(n);
    });
    this.natural = {width: this.svg.viewBox.baseVal.width, height: this.svg.viewBox.baseVal.height};
  }

  node(n) { return document.getElementById(`${this.run.prefix(n)}n${this.run.number(n)}`); }

  // Labels were placed with the fonts of whoever drew the graph.
  center(n) {
    const shape = this.node(n)?.querySelector('path, polygon, ellipse')?.getBBox();
    const texts = [...(this.node(n)?.querySelectorAll('text') ?? [])];
    if (this.run.nodes[n].kind === 'Switch') texts.splice(-2);  // the names of its sides
    for (const text of shape ? texts : []) {
      text.setAttribute('text-anchor', 'middle');
      text.setAttribute('x', shape.x + shape.width / 2);
    }
  }

  path(edge) {
    if (!this.paths.has(edge)) this.paths.set(edge, document.getElementById(edge)?.querySelector('path'));
    return this.paths.get(edge);
  }

  // Shows what is there when event i has just been made; -1: before all. `moving`: new tokens travel so many ms.
  show(i, moving) {
    const changed = new Set();
    const set = (tokens, there) => tokens.forEach((t) => {
      const {edge} = this.run.tokens[t];
      if (!this.onEdge.has(edge)) this.onEdge.set(edge, new Set());
      if (there) this.onEdge.get(edge).add(t); else this.onEdge.get(edge).delete(t);
      this.count += there ? 1 : -1;
      changed.add(edge);
    });
    while (this.index < i) {
      ++this.index;
      set(this.run.endsAt[this.index], false);
      set(this.run.startsAt[this.index] ?? [], true);
    }
    while (this.index > i) {
      set(this.run.startsAt[this.index] ?? [], false);
      set(this.run.endsAt[this.index].filter((t) => this.run.tokens[t].event < this.index), true);
      --this.index;
    }
    const now = i >= 0 && i < this.run.count ? this.run.startsAt[i] : [];
    for (const t of [...now, ...(this.now ?? [])]) changed.add(this.run.tokens[t].edge);
    this.now = now;
    const most = this.count > CROWD ? 1 : MOST_PILLS;
    if (most !== this.most) for (const edge of this.onEdge.keys()) changed.add(edge);
    this.most = most;
    changed.forEach((edge) => this.drawPills(edge, i));
    this.light(i);
    this.travel(moving);
  }

  light(i) {
    this.lit.forEach((element) => element.classList.remove('now', 'before'));
    this.lit = [];
    const mark = (element, name) => {
      element?.classList.add(name);
      if (element) this.lit.push(element);
    };
    if (i >= 0 && i < this.run.count) {
      if (i > 0) mark(this.node(this.run.event(i - 1).node), 'before');
      mark(this.node(this.run.event(i).node), 'now');
      this.now.forEach((t) => mark(document.getElementById(this.run.tokens[t].edge), 'now'));
    } else if (i === this.run.count) {
      this.run.nodes.forEach((node, n) => node.kind === 'Output' && mark(this.node(n), 'now'));
    }
    this.follow();
  }

  // The node that fires is in sight.
  follow() {
    const element = this.svg.querySelector('.node.now');
    if (!element || this.place.classList.contains('whole')) return;
    const box = element.getBoundingClientRect();
    const around = this.place.getBoundingClientRect();
    const inside = box.left > around.left + 40 && box.right < around.right - 40 && box.top > around.top + 40 &&
      box.bottom < around.bottom - 40;
    if (!inside) element.scrollIntoView({block: 'center', inline: 'center'});
  }

  drawPills(edge, i) {
    (this.pills.get(edge) ?? []).forEach((pill) => pill.remove());
    this.pills.delete(edge);
    const path = this.path(edge);
    const tokens = [...(this.onEdge.get(edge) ?? [])].sort((a, b) => b - a);
    if (!path || tokens.length === 0) return;
    const pills = tokens.slice(0, this.most).map((t, k) => {
      const left = k === this.most - 1 ? tokens.length - this.most : 0;
      const pill = this.pill(this.run.tokens[t], i, left);
      pill.shift = k * PILL_HEIGHT;
      pill.isDemand = this.run.event(this.run.tokens[t].event).demand;
      this.put(pill, path, this.placeOn(pill, 1));
      return pill;
    });
    this.waiting.append(...pills.filter((pill) => !pill.isNew));
    this.moving.append(...pills.filter((pill) => pill.isNew));
    this.pills.set(edge, pills);
  }

  // `others`: so many more wait on the same edge.
  pill(token, i, others) {
    const event = this.run.event(token.event);
    const colour = this.run.colour(event.frame);
    const classes = ['token'];
    if (event.dead) classes.push('dead');
    if (event.demand) classes.push('demand');
    if (this.run.nodes[event.node].backward) classes.push('backward');
    if (token.event < i) classes.push('old');
    if (token.refused) classes.push('refused');
    const pill = svgElement('g', {class: classes.join(' ')});
    const value = event.value.length > 12 ? event.value.slice(0, 11) + '…' : event.value;
    const tag = this.run.tag(event.frame, 11) + (others > 0 ? ` +${others}` : '');
    const text = svgElement('text', {y: 4, 'text-anchor': 'middle'});
    text.append(value);
    if (tag) {
      const ofTag = svgElement('tspan', {class: 'of-tag', dx: 2.5, dy: 1, fill: event.dead ? '#7b858d' : colour});
      ofTag.textContent = tag;
      text.append(ofTag);
    }
    const width = 6.7 * value.length + (tag ? 4.9 * tag.length + 3 : 0) + 8;
    const rect = svgElement('rect', {x: -width / 2, y: -PILL_HEIGHT / 2, width, height: PILL_HEIGHT, rx: 5,
      stroke: event.dead ? '#9aa3ab' : colour});
    pill.append(rect, text);
    pill.isNew = token.event === i;
    return pill;
  }

  put(pill, path, part) {
    const at = path.getPointAtLength(path.getTotalLength() * part);
    pill.setAttribute('transform', `translate(${at.x} ${at.y - pill.shift})`);
  }

  // Demands go against the arrows.
  placeOn(pill, part) { return pill.isDemand ? 1 - part * REST : part * REST; }

  travel(moving) {
    cancelAnimationFrame(this.frame);
    const travellers = [];
    for (const t of this.now) {
      const {edge} = this.run.tokens[t];
      const path = this.path(edge);
      for (const pill of this.pills.get(edge) ?? []) if (pill.isNew && path) travellers.push({pill, path});
    }
    if (!moving) return;
    const begin = performance.now();
    const move = (time) => {
      const part = Math.min(1, Math.max(0, (time - begin) / moving));
      const eased = part * (2 - part);
      travellers.forEach(({pill, path}) => this.put(pill, path, this.placeOn(pill, eased)));
      if (part < 1) this.frame = requestAnimationFrame(move);
    };
    move(begin);
  }

  // The whole graph, or as large as text is.
  fit(whole) {
    this.place.classList.toggle('whole', whole);
    this.svg.setAttribute('width', whole ? '100%' : `${this.natural.width * 1.4}px`);
    this.svg.setAttribute('height', whole ? '100%' : `${this.natural.height * 1.4}px`);
    this.follow();
  }
}
