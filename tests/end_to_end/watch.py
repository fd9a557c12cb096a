#!/usr/bin/env python3
"""The pages that `hiaton watch` writes, in a real browser: Chromium without a window."""

import json
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

import harness

ROOT = pathlib.Path(__file__).resolve().parents[2]
HIATON = "hiaton"
TIMEOUT_S = 120
SKIPPED = 77

# Runs in the page after it has loaded; leaves what it found where the test can read it.
DRIVER = """<script>
const found = {};
const press = (key) => document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
const position = () => document.getElementById('position').textContent;
const shown = () => [...document.querySelectorAll('.token')].map((token) =>
  `${token.getAttribute('transform')} ${token.getAttribute('class')} ${token.textContent}`).sort().join('\\n') +
  document.getElementById('caption').innerHTML + document.getElementById('calls').innerHTML +
  [...document.querySelectorAll('.node.now')].map((node) => node.id);
%s
const report = document.createElement('pre');
report.id = 'report';
report.textContent = JSON.stringify(found);
document.body.append(report);
</script></body>"""


def hiaton(*words):
    return subprocess.run([HIATON, *words], cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_S)


def pixels(png):
    """Width, height and the rows of a PNG as bytes, three a pixel."""
    data = png.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack(">IIBB", data[at + 8:at + 18])
            assert depth == 8 and colours in (2, 6)
            step = 3 if colours == 2 else 4
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    raw = zlib.decompress(packed)
    rows, before = [], bytearray(width * step)
    for y in range(height):
        start = y * (width * step + 1)
        how, row = raw[start], bytearray(raw[start + 1:start + 1 + width * step])
        for x in range(width * step if how else 0):
            left = row[x - step] if x >= step else 0
            up = before[x]
            corner = before[x - step] if x >= step else 0
            if how == 4:
                guess = min((left, up, corner), key=lambda value: abs(left + up - corner - value))
            else:
                guess = (0, left, up, (left + up) // 2)[how]
            row[x] = (row[x] + guess) & 255
        rows.append(row)
        before = row
    return width, height, [bytes(byte for x in range(width) for byte in row[x * step:x * step + 3]) for row in rows]


class WatchTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)

    def path(self, name):
        return pathlib.Path(self.directory.name) / name

    def file(self, text):
        self.path("program.hia").write_text(text, encoding="utf-8")
        return str(self.path("program.hia"))

    def page(self, *words, status=0):
        page = self.path("run.html")
        done = hiaton("watch", *words, "--out", str(page))
        self.assertEqual(done.returncode, status, done.stderr)
        return page

    def chromium(self, page, *options, step=None):
        """What it prints; no script may fail and nothing may be fetched."""
        address = page.as_uri() + (f"#step={step}" if step is not None else "")
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1400,900",
             "--enable-logging=stderr", "--host-resolver-rules=MAP * ~NOTFOUND", "--virtual-time-budget=4000",
             f"--user-data-dir={self.path('profile')}", *options, address],
            capture_output=True, text=True, timeout=TIMEOUT_S)
        self.assertEqual([line for line in done.stderr.splitlines() if "CONSOLE" in line], [])
        return done.stdout

    def text_of(self, dom, element):
        end = "</section>" if element == "calls" else "</(p|output|pre)>"
        found = re.search(rf'id="{element}"[^>]*>(.*?){end}', dom, re.S)
        self.assertIsNotNone(found, element)
        return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", found.group(1))).strip()

    def drive(self, page, script):
        driven = self.path("driven.html")
        driven.write_text(page.read_text(encoding="utf-8").replace("</body>", DRIVER % script), encoding="utf-8")
        return json.loads(self.text_of(self.chromium(driven, "--dump-dom"), "report").replace("&gt;", ">"))

    def screenshot(self, page, step):
        path = self.path(f"{step}.png")
        self.chromium(page, f"--screenshot={path}", step=step)
        return pixels(path)


class Fact(WatchTest):
    def test_the_address_names_a_step(self):
        page = self.page("examples/fact.hia", "--n=3")
        dom = self.chromium(page, "--dump-dom", step=12)
        self.assertEqual(self.text_of(dom, "position"), "step 12 of 31")
        self.assertIn("Step 12 of 30: %9 Switch in fact", self.text_of(dom, "step"))
        self.assertIn("The condition is false, so Switch sends n 2 to its F side.", self.text_of(dom, "text"))
        self.assertIn("fact(n = 2) [1 0]", self.text_of(dom, "calls"))
        self.assertNotIn("fact(n = 1)", self.text_of(dom, "calls"), "that call is yet to come")

    def test_the_end_shows_the_result(self):
        dom = self.chromium(self.page("examples/fact.hia", "--n=3"), "--dump-dom", step="end")
        self.assertIn("the result is 11", self.text_of(dom, "text"))
        self.assertIn("fact(n = 3) = 6", self.text_of(dom, "calls"))
        self.assertEqual(re.findall(r'class="token[^"]*".*?<text[^>]*>(.*?)</text>', dom, re.S), ["11"],
                         "one token is left, at the Output")

    def test_the_beginning_explains_the_graph(self):
        dom = self.chromium(self.page("examples/fact.hia", "--n=3"), "--dump-dom")
        self.assertIn("one static graph", self.text_of(dom, "text"))
        self.assertNotIn('class="token', dom)

    def test_dead_tokens_are_marked(self):
        dom = self.chromium(self.page("examples/fact.hia", "--n=3"), "--dump-dom", step=5)
        self.assertIn("dead token", self.text_of(dom, "text"))
        self.assertRegex(dom, r'class="token dead')

    def test_keys_buttons_and_slider(self):
        found = self.drive(self.page("examples/fact.hia", "--n=3"), """
          found.start = position();
          for (let k = 0; k < 5; ++k) press('ArrowRight');
          found.right = position();
          press('ArrowLeft');
          found.left = position();
          press('End');
          found.end = position();
          press('Home');
          found.home = position();
          document.getElementById('next').click();
          found.button = position();
          const slider = document.getElementById('slider');
          slider.value = 20;
          slider.dispatchEvent(new Event('input'));
          found.slider = position();
          press(' ');
          found.playing = document.getElementById('play').textContent;
          press(' ');
          found.paused = document.getElementById('play').textContent;
        """)
        steps = {key: int(value.split()[1]) for key, value in found.items() if value.startswith("step")}
        self.assertEqual(steps, {"start": 0, "right": 5, "left": 4, "end": 31, "home": 0, "button": 1, "slider": 20})
        self.assertNotEqual(found["playing"], found["paused"])

    def test_playing_goes_on_to_the_end(self):
        page = self.page("examples/fact.hia", "--n=3")
        driven = self.path("driven.html")
        script = "document.getElementById('speed').value = 4; press(' ');"
        driven.write_text(page.read_text(encoding="utf-8").replace("</body>", DRIVER % script), encoding="utf-8")
        self.assertEqual(self.text_of(self.chromium(driven, "--dump-dom"), "position"), "step 31 of 31")

    def test_a_step_looks_the_same_from_wherever_one_comes(self):
        for words in (("examples/fact.hia", "--n=3"), ("docs/gradients/power.hia", "--x=2", "--n=2"),
                      ("examples/while_sum.hia", "--n=3"), ("examples/fib.hia", "--n=5")):
            found = self.drive(self.page(*words), """
              const forwards = [], backwards = [], jumped = [];
              for (let k = 0; k <= player.last; ++k) { player.jump(k); forwards.push(shown()); }
              for (let k = player.last; k >= 0; --k) { player.jump(k); backwards[k] = shown(); }
              for (let k = 0; k <= player.last; ++k) {
                player.jump((k * 7) % (player.last + 1));
                player.jump(k);
                jumped.push(shown());
              }
              found.steps = player.last;
              found.different = forwards.flatMap((text, k) => text === backwards[k] && text === jumped[k] ? [] : [k]);
              found.distinct = new Set(forwards).size;
            """)
            self.assertEqual(found["different"], [], words)
            self.assertEqual(found["distinct"], found["steps"] + 1, "each step shows something of its own")

    def test_the_picture_is_there(self):
        page = self.page("examples/fact.hia", "--n=3")
        width, height, end = self.screenshot(page, "end")
        self.assertEqual((width, height), (1400, 900))
        orange = bytes((0xe8, 0x59, 0x0c))
        graph = [row[:3 * 980] for row in end[60:830]]  # without header, panels and buttons
        at = lambda rows, colour: sum(row[x:x + 3] == colour for row in rows for x in range(0, len(row), 3))
        self.assertGreater(len({row[x:x + 3] for row in graph for x in range(0, len(row), 3)}), 50)
        self.assertGreater(at(graph, bytes((0xf8, 0xc4, 0x71))), 1000, "the boxes of CALL and RETURN are filled")
        self.assertGreater(at(graph[-200:], orange), 50, "at the end the Output, below, is lit")
        other = self.screenshot(page, 14)[2]
        self.assertEqual(at([row[:3 * 980] for row in other[660:830]], orange), 0, "and before it is not")

    def test_it_needs_nothing_from_anywhere(self):
        text = self.page("examples/fact.hia", "--n=3").read_text(encoding="utf-8")
        addresses = set(re.findall(r"\bhttps?://[^\s\"'<>)]+", text))
        self.assertLessEqual(addresses, {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"})
        self.assertNotRegex(text, r"<(link|img|iframe)\b|\ssrc=|@import|url\(")


class Processes(WatchTest):
    def test_tokens_cross_between_the_boxes(self):
        found = self.drive(self.page("examples/spread.hia", "--n=3", "--processes=2"), """
          const {run} = player;
          const kinds = (k) => run.nodes[run.event(k).node].kind;
          found.undrawn = run.nodes.flatMap((node, n) => player.picture.node(n) ? [] : [n]);
          found.lost = run.tokens.filter((token) => !player.picture.path(token.edge)).map((token) => token.edge);
          found.crossed = [], found.unread = 0;
          for (let k = 0; k < run.count; ++k) {
            if (kinds(k) !== 'Send') continue;
            const {node, frame, value} = run.event(k);
            found.crossed.push(`${run.nodes[node].process}>${run.nodes[node].peer} [${run.tag(frame)}] ${value}`);
            const tokens = run.startsAt[k].map((t) => run.tokens[t]);
            found.unread += tokens.length === 1 && tokens[0].end < run.count && kinds(tokens[0].end) === 'Recv' ? 0 : 1;
            player.jump(k + 1);
            found.caption = document.getElementById('text').textContent;
            found.lit = [...document.querySelectorAll('.edge.now')].map((edge) => edge.id);
          }
          player.jump(player.last);
          found.calls = document.getElementById('calls').textContent;
          found.help = getComputedStyle(document.querySelector('.of-processes')).display;
        """)
        self.assertEqual(found["undrawn"], [])
        self.assertEqual(found["lost"], [])
        self.assertEqual(found["unread"], 0, "each token that is sent waits on the edge of its channel for its Recv")
        done = hiaton("run", "examples/spread.hia", "--n=3", "--executor=reference", "--processes=2", "--events",
                      str(self.path("crossed.jsonl")))
        self.assertEqual(done.returncode, 0, done.stderr)
        crossed = [json.loads(line) for line in self.path("crossed.jsonl").read_text().splitlines()]
        shown = lambda event: "∗" if event["dead"] else json.dumps(event["value"])
        tag = lambda event: " ".join(str(label) for label in event["tag"])
        self.assertEqual(found["crossed"],
                         [f"{event['from']}>{event['to']} [{tag(event)}] {shown(event)}" for event in crossed])
        self.assertEqual(len(crossed), 12)
        self.assertIn("Send: 6 goes to process 0 along channel 0", re.sub(r"\s+", " ", found["caption"]))
        self.assertEqual(found["lit"], ["channel0"])
        for row in ("fact(n = 3) = 6", "fact(n = 2) = 2", "fact(n = 1) = 1"):
            self.assertIn(row, found["calls"])
        self.assertNotEqual(found["help"], "none")

    def test_loops_and_copies_of_bodies_are_followed(self):
        loop = self.file("fn main(n: i64) -> i64 = with acc = 0 for i in 0..n do acc + on \"process:1\" (i * i)\n")
        for words, result in (((loop, "--n=3"), "5\n"),
                              (("docs/distribution/copies.hia", "--n=4", "--place=fibs=1+2,table=0"), "19\n")):
            found = self.drive(self.page(*words, "--processes=3"), """
              const {run} = player;
              const waits = (token) => run.nodes[run.event(token.event).node].kind === 'Send' && token.end > run.count;
              found.result = run.ending.result;
              found.unread = run.tokens.filter(waits).length;
              found.tagless = run.frames.filter((frame, f) => f > 0 && frame.tag === undefined).length;
            """)
            self.assertEqual((found["result"], found["unread"], found["tagless"]), (result, 0, 0), words)

    def test_names_of_places_need_processes(self):
        done = hiaton("watch", "docs/distribution/copies.hia", "--n=4", "--place=table=0", "--out", str(self.path("x.html")))
        self.assertEqual(done.returncode, 2)
        self.assertIn("--place: expected --processes=N, found one process", done.stderr)


class Others(WatchTest):
    def test_the_backward_phase_has_its_own_colour(self):
        page = self.page("docs/gradients/power.hia", "--x=2", "--n=3")
        found = self.drive(page, """
          const run = player.run;
          found.backward = run.nodes.filter((node) => node.backward).length;
          found.marked = document.querySelectorAll('.node.backward').length;
          player.jump(70);
          found.caption = document.getElementById('caption').className;
          found.tokens = document.querySelectorAll('.token.backward').length;
          found.result = run.ending.result;
        """)
        self.assertGreater(found["backward"], 5)
        self.assertEqual(found["marked"], found["backward"])
        self.assertEqual(found["caption"], "backward")
        self.assertGreater(found["tokens"], 0)
        self.assertEqual(found["result"], "12.0\n")

    def test_the_tree_of_calls_knows_loops(self):
        file = self.file("fn f(n: i64) -> i64 = with acc = 0 for i in 0..n do acc + n\n"
                         "fn main(n: i64) -> i64 = f(f(n)) + f(1)\n")
        dom = self.chromium(self.page(file, "--n=2", "--no-inline"), "--dump-dom", step="end")
        calls = self.text_of(dom, "calls")
        for row in ("main(n = 2) = 17", "f(n = 2) = 4", "f(n = 4) = 16", "f(n = 1) = 1", "iteration 4"):
            self.assertIn(row, calls)

    def test_a_failing_run_can_be_watched_to_its_end(self):
        file = self.file("fn f(n: i64) -> i64 = if n == 0 then 1 / n else f(n - 1)\nfn main(n: i64) -> i64 = f(n) + 1\n")
        dom = self.chromium(self.page(file, "--n=2", status=1), "--dump-dom", step="end")
        self.assertIn("division by zero", self.text_of(dom, "text"))

    def test_demands_go_against_the_arrows(self):
        found = self.drive(self.page("examples/unused.hia", "--x=2", "--y=2", "--evaluation=demand"), """
          const {run, picture} = player;
          const part = (t) => {
            const {edge} = run.tokens[t];
            const path = picture.path(edge);
            const [x, y] = picture.pills.get(edge)[0].getAttribute('transform').match(/-?[\\d.]+/g).map(Number);
            const distance = (p) => { const at = path.getPointAtLength(path.getTotalLength() * p); return Math.hypot(at.x - x, at.y - y); };
            return distance(0.3) < distance(0.7) ? 'near its node' : 'near its reader';
          };
          found.demands = {};
          found.values = {};
          for (let i = 0; i < run.count; ++i) {
            player.jump(i + 1);
            const {demand} = run.event(i);
            for (const t of run.startsAt[i]) {
              const where = demand ? found.demands : found.values;
              where[part(t)] = (where[part(t)] ?? 0) + 1;
            }
          }
          found.events = run.count;
          found.asked = Array.from({length: run.count}, (_, i) => run.event(i)).filter((event) => event.demand).length;
          found.shown = document.querySelector('.of-demands').offsetParent !== null;
          player.jump(1);
          found.caption = document.getElementById('caption').textContent;
          player.jump(player.last);
          found.end = document.getElementById('caption').textContent;
        """)
        self.assertEqual(list(found["demands"]), ["near its node"])
        self.assertEqual(list(found["values"]), ["near its reader"])
        self.assertEqual(found["events"], 2 * found["asked"], "each demand is answered")
        self.assertTrue(found["shown"])
        self.assertIn("A result of the program sends a demand backward.", re.sub(r"\s+", " ", found["caption"]))
        self.assertIn("so the result is 2", re.sub(r"\s+", " ", found["end"]))

    def test_texts_of_programs_stay_texts(self):
        file = self.file("# </script><script>alert(1)</script> & <b>\nfn main(n: i64) -> i64 = n + 1\n")
        dom = self.chromium(self.page(file, "--n=2"), "--dump-dom", step="end")
        self.assertIn("the result is 3", self.text_of(dom, "text"))
        self.assertIn("&lt;/script&gt;&lt;script&gt;alert(1)", self.text_of(dom, "source"))

    def test_too_many_tokens_are_an_error(self):
        done = hiaton("watch", "examples/fib.hia", "--n=30", "--out", str(self.path("x.html")))
        self.assertEqual(done.returncode, 1)
        self.assertIn("the run makes more than 50000 tokens", done.stderr)
        self.assertFalse(self.path("x.html").exists())

    def test_fifty_thousand_tokens_are_smooth(self):
        page = self.page("examples/fib.hia", "--n=16")
        tokens = json.loads(re.search(r'id="run">(.*?)</script>', page.read_text(encoding="utf-8"), re.S).group(1))
        self.assertGreater(len(tokens["events"]) / 4, 35_000)
        begin = time.monotonic()
        found = self.drive(page, """
          for (let k = 0; k < 200; ++k) player.jump(k);
          for (let k = 0; k < 200; ++k) player.jump(player.last - k);
          for (let k = 0; k < 40; ++k) player.jump((k * 104729) % player.last);
          found.done = true;
        """)
        self.assertTrue(found["done"])
        self.assertLess(time.monotonic() - begin, 440 * 0.1, "a step takes less than a tenth of a second")


def main():
    global CHROMIUM
    CHROMIUM = shutil.which("chromium")
    if CHROMIUM is None:
        print("the command 'chromium' is missing: scripts/install.sh installs it", file=sys.stderr)
        sys.exit(SKIPPED)
    harness.main(globals())


if __name__ == "__main__":
    main()
