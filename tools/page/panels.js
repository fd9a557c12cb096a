'use strict';
// What stands beside the picture: the caption, the tree of calls, the program.

const MOST_ROWS = 60;      // a tree of calls that will have more is shown around the call that runs
const MOST_CHILDREN = 6;

class Panels {
  constructor(run) {
    this.run = run;
    this.captions = new Captions(run);
    this.bytes = run.source === undefined ? undefined : new TextEncoder().encode(run.source);
    this.element = (id) => document.getElementById(id);
    this.element('title').textContent = run.title;
    this.element('summary').textContent =
      `${run.nodes.length} nodes, ${run.count} tokens, ${run.frames.length} tags`;
    this.element('program').hidden = this.bytes === undefined;
    document.body.classList.toggle('has-gradients', run.hasGradients);
    document.body.classList.toggle('is-on-demand', run.isOnDemand);
    document.body.classList.toggle('has-processes', run.hasProcesses);
  }

  // Event i has just been made; -1: before all; run.count: all is over.
  show(i) {
    const {run} = this;
    const isEvent = i >= 0 && i < run.count;
    const event = isEvent ? run.event(i) : undefined;
    const caption = this.element('caption');
    caption.classList.toggle('backward', isEvent && Boolean(run.nodes[event.node].backward));
    caption.classList.toggle('dead', isEvent && event.dead);
    this.element('step').textContent = isEvent ? `Step ${i + 1} of ${run.count}: ${this.place(event)}`
      : i < 0 ? 'Before the run' : 'After the run';
    this.element('text').innerHTML = isEvent ? this.captions.at(i) : i < 0 ? this.captions.beginning()
      : this.captions.ending();
    this.isOver = i === run.count;
    this.showCalls(Math.min(i, run.count - 1), event?.frame ?? 0);
    this.showProgram(isEvent ? run.nodes[event.node].span : undefined);
  }

  place(event) {
    const node = this.run.nodes[event.node];
    const process = node.process === undefined ? '' : `, process ${node.process}`;
    return `%${this.run.number(event.node)} ${node.label} in ${this.run.functions[node.function].name}${process}`;
  }

  showCalls(i, current) {
    const path = new Set();
    for (let f = current; ; f = this.run.frames[f].parent) {
      path.add(f);
      if (f === 0) break;
    }
    const list = this.element('calls');
    list.replaceChildren(this.call(0, i, current, this.run.frames.length > MOST_ROWS ? path : undefined));
    list.querySelector('.now')?.scrollIntoView({block: 'nearest'});
  }

  // Deep trees are no deep recursion here: only a part of the path is shown.
  call(f, i, current, path) {
    const row = this.row(f, i, current);
    let children = this.run.frames[f].children.filter((child) => this.run.frames[child].first <= i);
    const list = document.createElement('ul');
    const leaveOut = (count, what) => {
      const more = document.createElement('li');
      more.className = 'more';
      more.textContent = `… ${count} ${what}`;
      list.append(more);
    };
    if (path) {
      const onPath = children.find((child) => path.has(child));
      const skipped = this.run.frames[current].depth - this.run.frames[f].depth;
      if (onPath !== undefined && this.run.frames[f].depth === 3 && skipped > 12) {
        leaveOut(skipped - 8, 'levels');
        let from = current;
        for (let k = 0; k < 8; ++k) from = this.run.frames[from].parent;
        list.append(this.call(from, i, current, path));
        children = [];
      } else if (children.length > MOST_CHILDREN) {
        const kept = children.slice(-MOST_CHILDREN);
        if (onPath !== undefined && !kept.includes(onPath)) kept[0] = onPath;
        leaveOut(children.length - kept.length, 'before');
        children = kept;
      }
      if (!path.has(f)) {
        if (children.length > 0) leaveOut(children.length, 'inside');
        children = [];
      }
    }
    children.forEach((child) => list.append(this.call(child, i, current, path)));
    if (list.children.length > 0) row.append(list);
    return row;
  }

  row(f, i, current) {
    const {run} = this;
    const frame = run.frames[f];
    const ofProgram = f === 0 && this.isOver && run.ending.result;
    const results = ofProgram ? ofProgram.trim().split('\n')
      : frame.results.filter((j) => j <= i).map((j) => run.event(j).value);
    const row = document.createElement('li');
    row.classList.toggle('now', f === current);
    row.classList.toggle('done', frame.done <= i);
    const name = escapeHtml(run.frameName(f, i));
    const result = results.length > 0 ? ` = <b>${escapeHtml(results.join(', '))}</b>` : '';
    row.innerHTML = `<span><code>${name}</code>${result}</span> ${f > 0 ? this.captions.tag(f) : ''}`;
    return row;
  }

  showProgram(span) {
    if (this.bytes === undefined) return;
    const text = (begin, end) => new TextDecoder().decode(this.bytes.subarray(begin, end));
    const [begin, end] = span ?? [0, 0];
    const mark = document.createElement('mark');
    mark.textContent = text(begin, end);
    const place = this.element('source');
    place.replaceChildren(text(0, begin), mark, text(end));
    if (span) {
      place.scrollTop = mark.offsetTop - place.offsetTop - place.clientHeight / 2;
    }
  }
}
