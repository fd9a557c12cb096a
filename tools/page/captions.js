'use strict';
// What happens at a step, in words.

const escapeHtml = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const subscript = (number) => String(number).replace(/\d/g, (digit) => '₀₁₂₃₄₅₆₇₈₉'[digit]);

class Captions {
  constructor(run) { this.run = run; }

  tag(frame) {
    const colour = this.run.colour(frame);
    return `<span class="tag" style="color:${colour};border:1px solid ${colour}">[${this.run.tag(frame)}]</span>`;
  }

  value(text) { return `<b><code>${escapeHtml(text)}</code></b>`; }

  // "n" of a parameter, a variable or a let.
  named(node) { return node.note ? ` <code>${escapeHtml(node.note)}</code>` : ''; }

  beginning() {
    const {run} = this;
    const loops = run.frames.some((frame) => frame.loop !== undefined);
    const split = run.hasProcesses ? ' It is split: each process has a part, and tokens cross along the thick edges.' : '';
    return `This is the whole program as one <b>static graph</b>; nothing is added to it while it runs.${split} The run made
      <b>${run.count} tokens</b>${run.isOnDemand ? ', half of them demands that go backward,' : ''} under <b>${run.frames.length} tags</b>: one for each call${loops
      ? ' and each iteration of a loop' : ''}, and the empty one. Press <kbd>→</kbd> to see them one by one, or
      <kbd>space</kbd> to play.`;
  }

  ending() {
    const {ending, count, frames} = this.run;
    if (ending.error !== undefined) return `The run failed here:<br><code>${escapeHtml(ending.error)}</code>`;
    return `The run is over. <b>Output</b> takes tokens of the empty tag, so the result is
      ${this.value(ending.result.trim().split('\n').join(', '))}. It took ${count} tokens under ${frames.length} tags,
      all through the same ${this.run.nodes.length} nodes.`;
  }

  at(i) {
    const event = this.run.event(i);
    const node = this.run.nodes[event.node];
    const text = event.demand ? this.demand(node, event) : this.of(node, event, i);
    const into = node.backward ? ' <i>(backward)</i>' : '';
    return text + into;
  }

  of(node, event, i) {
    const value = this.value(event.value);
    const tag = this.tag(event.frame);
    const what = node.callee ? escapeHtml(node.callee) : '';
    if (node.copied) return this.copied(node, event, tag);
    switch (node.kind) {
      case 'Send':
        return `<b>Send</b>: ${event.dead ? 'a <b>dead token</b> ∗' : value} goes to process ${node.peer} along channel
          ${node.channel}, with its whole tag ${tag}.`;
      case 'Recv':
        return `<b>Recv</b>: ${event.dead ? 'a <b>dead token</b> ∗' : value} has come from process ${node.peer}, and here
          the state machine has made the tag ${tag}: with both, it goes on.`;
      case 'Input':
        return `The argument${this.named(node)} is ${value}. Its tag is empty: it belongs to the program itself.`;
      case 'Call':
        return `<b>CALL${subscript(node.site)}</b> passes ${value} to <b>${what}</b>, and puts the label
          <b>${node.site}</b> of this call site in front of the tag: ${this.tag(this.run.frames[event.frame].parent)}
          becomes ${tag}. So this call is not mixed up with others, though they all run through the same nodes.`;
      case 'Return':
        return event.dead ? this.deadReturn(node, what, tag) : `The result ${value} comes out of the body of
          <b>${what}</b> to every RETURN. Its tag begins with <b>${node.site}</b>, so it is for
          <b>RETURN${subscript(node.site)}</b>, which takes that label away: the tag is ${tag} again, that of the
          caller. All other RETURNs let it pass.`;
      case 'Merge':
        return this.merge(node, event, value, tag);
      case 'Switch':
        return this.switched(node, event, value, tag);
      case 'Const':
        return event.dead ? `The constant is on a side that is not taken: dead under ${tag}.`
          : `A token of tag ${tag} came along the control edge: the constant ${value} starts.`;
      case 'Enter':
        return event.dead ? 'Dead: the loop is not entered.' : node.constant ? `<b>Enter</b>:${this.named(node)} ${value}
          is the same in every iteration: here it comes into the one of tag ${tag}.` : `<b>Enter</b>:${this.named(node)} ${value} goes into
          the loop. The number of the iteration comes in front of its tag: ${tag}.`;
      case 'NextIteration':
        return `<b>NextIteration</b>: ${value} is what${this.named(node)} is in the next iteration: its tag becomes
          ${tag}.`;
      case 'Exit':
        return event.dead ? `The loop was not entered: dead under ${tag}.` : `<b>Exit</b>: ${value} leaves the loop;
          the number of the iteration is taken off its tag: ${tag}.`;
      default:
        return this.operation(node, event, i, value, tag);
    }
  }

  demand(node, event) {
    const asker = this.run.nodes[event.asker];
    const name = ({label}) => `<b>${escapeHtml(label)}</b>`;
    const tag = this.tag(event.frame);
    const where = {
      Call: `The function asks for its argument${this.named(node)}: the demand goes back to where it was called from,
        and the label <b>${node.site}</b> is taken off its tag ${tag}.`,
      Return: `The demand goes into the body of <b>${escapeHtml(node.callee ?? '')}</b>, with the label
        <b>${node.site}</b> in front of its tag ${tag}.`,
      Merge: `What comes out of ${name(node)} is asked for under ${tag}.`,
    }[node.kind] ?? `The value of ${name(node)}${this.named(node)} is asked for under ${tag}.`;
    const by = asker.kind === 'Output' ? 'A result of the program' : name(asker);
    return `${by} sends a <b>demand</b> backward. ${where}`;
  }

  copied(node, event, tag) {
    return `A copy of <b>${escapeHtml(node.label)}</b>, part of the <b>state machine</b> that makes in process
      ${node.process} the tags of calls that another process begins. Its token is ${event.dead ? 'dead ∗' : 'a bool'},
      as what it stands for is ${event.dead ? 'dead' : 'alive'} under ${tag}.`;
  }

  deadReturn(node, what, tag) {
    return `The call of <b>${what}</b> at call site ${node.site} is on a side that is not taken. Nothing enters the
      function, or the recursion would never end; <b>RETURN${subscript(node.site)}</b> is dead under ${tag} at once.`;
  }

  merge(node, event, value, tag) {
    const {nodes} = this.run;
    const fromCalls = node.inputs.some(([from]) => nodes[from].kind === 'Call');
    const fromLoop = node.inputs.some(([from]) => nodes[from].kind === 'NextIteration');
    if (fromCalls) {
      return `<b>Merge</b> passes on the parameter${this.named(node)} = ${value}, from whichever call it came. From
        here on the body runs under the tag ${tag}.`;
    }
    if (fromLoop) {
      return `<b>Merge</b>: the loop variable${this.named(node)} is ${value} in iteration
        ${this.run.frames[event.frame].iteration}, tag ${tag}.`;
    }
    return event.dead ? `<b>Merge</b>: both sides are dead under ${tag}, and so is what comes out.`
      : `<b>Merge</b>: ${value} comes from the side that was taken, and passes. Tag ${tag}.`;
  }

  switched(node, event, value, tag) {
    const side = event.port === 0 ? 'T' : 'F';
    const is = event.port === 0 ? 'true' : 'false';
    return event.dead ? `On its <b>${side}</b> side <b>Switch</b> sends a <b>dead token</b> ∗: under ${tag} no value
      will come there.` : `The condition is ${is}, so <b>Switch</b> sends${this.named(node)} ${value} to its
      <b>${side}</b> side. Tag ${tag}.`;
  }

  operation(node, event, i, value, tag) {
    if (event.dead) {
      return `<b>${escapeHtml(node.symbol || node.label)}</b> has a dead operand under ${tag}: it is not computed, and
        its result is dead, too.`;
    }
    const operands = node.inputs.map((from) => this.run.valueBefore(from, event.frame, i) ?? '?').map(escapeHtml);
    const sum = node.symbol && operands.length === 2 ? `${operands[0]} ${escapeHtml(node.symbol)} ${operands[1]}`
      : `${escapeHtml(node.symbol || node.label)}(${operands.join(', ')})`;
    const waited = operands.length === 2 && node.inputs.every(([from]) => this.run.nodes[from].value === undefined);
    const decides = (this.run.readers.get(`${event.node}:0`) ?? []).some(({to, input}) =>
      this.run.nodes[to].kind === 'Switch' && input === 1);
    const then = decides ? ' It decides which side of each <b>Switch</b> is taken.' : '';
    const why = waited ? ` Both operands have come under the <b>same tag</b> ${tag}.` : ` Tag ${tag}.`;
    return `<code>${sum}</code> is ${value}.${why}${then}`;
  }
}
