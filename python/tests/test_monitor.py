"""What training shows while it runs: files for TensorBoard, and progress bars."""

import io
import struct
import subprocess
import sys

import pytest

import hiaton as hia


def varint(data, at):
    number, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 127) << shift
        if byte < 128:
            return number, at
        shift += 7


def fields(data):
    """The fields of a message in the encoding of protobuf."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size, form = {1: (8, "<d"), 5: (4, "<f")}[key & 7]
            value, at = struct.unpack(form, data[at:at + size])[0], at + size
        yield key >> 3, value


def scalars(path):
    """(name, step, value) of each number in an event file."""
    data, at, found = path.read_bytes(), 0, []
    while at < len(data):
        size = struct.unpack("<Q", data[at:at + 8])[0]
        event = dict(fields(data[at + 12:at + 12 + size]))
        at += 12 + size + 4
        if 5 in event:
            value = dict(fields(dict(fields(event[5]))[1]))
            found.append((value[1].decode(), event[2], value[2]))
    return found


def test_event_files_hold_the_numbers(tmp_path):
    with hia.EventWriter(tmp_path / "runs/first") as events:
        for step in range(3):
            events.add_scalar("loss", hia.tensor(1.5 - step), step)
        events.add_scalars({"accuracy": 0.25, "rate": 0.5}, 7)
        events.flush()
        file, = (tmp_path / "runs/first").iterdir()
        assert len(scalars(file)) == 5
        events.add_scalar("loss", 9, 8)
    assert file.name.startswith("events.out.tfevents.")
    assert scalars(file) == [("loss", 0, 1.5), ("loss", 1, 0.5), ("loss", 2, -0.5), ("accuracy", 7, 0.25), ("rate", 7, 0.5),
                             ("loss", 8, 9.0)]
    with pytest.raises(ValueError, match="not closed"):
        events.add_scalar("loss", 1, 9)
    hia.EventWriter(tmp_path / "runs/first", first_step=9).close()
    assert len(list((tmp_path / "runs/first").iterdir())) == 2


def test_a_directory_that_cannot_be_written_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError):
        hia.EventWriter(tmp_path / "file")


def test_tensorboard_reads_the_files(tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    with hia.EventWriter(tmp_path) as events:
        events.add_scalars({"loss": 0.5}, 3)
    read = accumulator.EventAccumulator(str(tmp_path)).Reload()
    assert [(event.step, event.value) for event in read.Scalars("loss")] == [(3, 0.5)]


def test_progress_shows_a_bar():
    pytest.importorskip("tqdm")
    shown = io.StringIO()
    bar = hia.progress(range(4), file=shown, desc="training", mininterval=0)
    seen = []
    for item in bar:
        seen.append(item)
        bar.show(loss=hia.tensor(0.25), step=item)
    assert seen == [0, 1, 2, 3] and len(bar) == 4
    assert "training: 100%" in shown.getvalue() and "4/4" in shown.getvalue() and "loss=0.25, step=3" in shown.getvalue()
    shown = io.StringIO()
    assert sum(hia.progress((n for n in range(5)), total=5, file=shown)) == 10 and "5/5" in shown.getvalue()


def test_progress_without_tqdm_shows_nothing(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    bar = hia.progress([1, 2], desc="training")
    for item in bar:
        bar.show(loss=item)
    assert len(bar) == 2
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_the_package_is_there_without_tqdm():
    code = "import sys; sys.modules['tqdm'] = sys.modules['tqdm.auto'] = None; import hiaton; print(list(hiaton.progress('ab')))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "['a', 'b']\n"


def test_tqdm_is_not_imported_before_there_is_a_bar():
    code = "import hiaton, sys; print('tqdm' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
