# Images of digits for models/lenet.hia: python3 examples/digits.py COUNT FOLDER
#
# Strokes of a seven-segment display, leaning, shifted, of any size and width, with noise. The folder gets image.npy
# (u8[COUNT, 28, 28]) and digit.npy (u8[COUNT]), as numpy.save writes them.
import pathlib, random, sys

CORNERS = {"a": (0, 0, 1, 0), "b": (1, 0, 1, 1), "c": (1, 1, 1, 2), "d": (0, 2, 1, 2), "e": (0, 1, 0, 2), "f": (0, 0, 0, 1),
           "g": (0, 1, 1, 1)}
SEGMENTS = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"]


def image(digit, draw):
    pixels = bytearray(draw.randrange(40) for _ in range(28 * 28))
    width, height, lean = draw.uniform(6, 12), draw.uniform(7, 10), draw.uniform(-3, 3)
    left, top, pen = draw.uniform(4, 22 - width), draw.uniform(3, 24 - 2 * height), draw.uniform(0.8, 1.6)
    for x0, y0, x1, y1 in (CORNERS[segment] for segment in SEGMENTS[digit]):
        for step in range(41):
            x, y = x0 + (x1 - x0) * step / 40, y0 + (y1 - y0) * step / 40
            column, row = left + x * width + lean * (1 - y), top + y * height
            for near in range(max(0, int(row - pen)), min(27, int(row + pen)) + 1):
                for beside in range(max(0, int(column - pen)), min(27, int(column + pen)) + 1):
                    pixels[28 * near + beside] = max(pixels[28 * near + beside], draw.randrange(180, 256))
    return bytes(pixels)


def save(file, shape, elements):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    file.write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + elements)


count, folder = int(sys.argv[1]), pathlib.Path(sys.argv[2])
draw = random.Random(1)
digits = bytes(draw.randrange(10) for _ in range(count))
folder.mkdir(parents=True, exist_ok=True)
save(folder / "image.npy", (count, 28, 28), b"".join(image(digit, draw) for digit in digits))
save(folder / "digit.npy", (count,), digits)
