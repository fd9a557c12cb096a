'use strict';
// Steps: 0 is before the run, i the i-th token, the last one after the run. The address may name one: #step=12.

const PAUSES_MS = [1600, 900, 450, 150, 20];  // between steps, by speed
const TRAVEL_MS = 420;

class Player {
  constructor(run) {
    this.run = run;
    this.last = run.count + 1;
    this.picture = new Picture(run, document.getElementById('picture'));
    this.panels = new Panels(run);
    this.slider = document.getElementById('slider');
    this.slider.max = this.last;
    this.listen();
    const {width, height} = this.picture.natural;
    const space = document.getElementById('picture').getBoundingClientRect();
    document.getElementById('fit').checked = Math.min(space.width / width, space.height / height) > 0.55;
    this.picture.fit(document.getElementById('fit').checked);
    this.go(this.stepInAddress());
  }

  stepInAddress() {
    const found = /^#step=(\d+|end)$/.exec(location.hash);
    if (!found) return 0;
    return found[1] === 'end' ? this.last : Number(found[1]);
  }

  go(step, moving = 0) {
    this.step = Math.max(0, Math.min(this.last, step));
    this.picture.show(this.step - 1, moving);
    this.panels.show(this.step - 1);
    this.slider.value = this.step;
    document.getElementById('position').textContent = `step ${this.step} of ${this.last}`;
    if (this.step === this.last) this.pause();
    clearTimeout(this.naming);  // browsers bear only some changes of the address a second
    this.naming = setTimeout(() => history.replaceState(null, '', `#step=${this.step}`), 300);
  }

  get pauseMs() { return PAUSES_MS[document.getElementById('speed').value]; }

  play() {
    if (this.step === this.last) this.go(0);
    const tick = () => {
      this.go(this.step + 1, Math.min(TRAVEL_MS, 0.7 * this.pauseMs));
      if (this.timer) this.timer = setTimeout(tick, this.pauseMs);
    };
    this.timer = setTimeout(tick, 0);
    document.getElementById('play').textContent = '❚❚';
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = undefined;
    document.getElementById('play').textContent = '▶';
  }

  toggle() { if (this.timer) this.pause(); else this.play(); }

  jump(step, moving) {
    this.pause();
    this.go(step, moving);
  }

  listen() {
    const actions = {
      first: () => this.jump(0),
      back: () => this.jump(this.step - 1),
      play: () => this.toggle(),
      next: () => this.jump(this.step + 1, TRAVEL_MS),
      last: () => this.jump(this.last),
    };
    for (const [id, action] of Object.entries(actions)) document.getElementById(id).addEventListener('click', action);
    const keys = {Home: actions.first, ArrowLeft: actions.back, ' ': actions.play, ArrowRight: actions.next,
      End: actions.last};
    document.addEventListener('keydown', (event) => {
      if (event.target.id === 'speed' || !keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
    this.slider.addEventListener('input', () => this.jump(Number(this.slider.value)));
    document.getElementById('fit').addEventListener('change', (event) => this.picture.fit(event.target.checked));
    addEventListener('hashchange', () => this.jump(this.stepInAddress()));
  }
}

const player = new Player(new Run(JSON.parse(document.getElementById('run').textContent)));
