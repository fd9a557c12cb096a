"""Programs on lists of numbers, as graphs and in plain Python."""

from collections import deque

from measuring import beside_python


def primes(n):
    is_prime = [True] * n
    is_prime[0] = is_prime[1] = False
    for i in range(2, int(n ** 0.5) + 1):
        if is_prime[i]:
            for multiple in range(i * i, n, i):
                is_prime[multiple] = False
    count = 0
    for i in range(n):
        if is_prime[i]:
            count += 1
    return count


def edit_distance(a, b):
    above = [j for j in range(len(b) + 1)]
    for i in range(len(a)):
        row = [i + 1] * (len(b) + 1)
        for j in range(len(b)):
            change = above[j] if a[i] == b[j] else above[j] + 1
            row[j + 1] = min(change, above[j + 1] + 1, row[j] + 1)
        above = row
    return above[len(b)]


def place_of(xs, x, low, high):
    if low == high:
        return low
    middle_one = (low + high) // 2
    if xs[middle_one] < x:
        return place_of(xs, x, middle_one + 1, high)
    return place_of(xs, x, low, middle_one)


def searches(xs, wanted):
    total = 0
    for x in wanted:
        total += place_of(xs, x, 0, len(xs))
    return total


def heap_sort(numbers):
    xs = list(numbers)
    size = len(xs)
    for begin in range(size // 2 - 1, -1, -1):
        sift(xs, begin, size)
    for end in range(size - 1, 0, -1):
        xs[0], xs[end] = xs[end], xs[0]
        sift(xs, 0, end)
    return xs[0], xs[size // 2], xs[size - 1]


def sift(xs, parent, size):
    child = 2 * parent + 1
    while child < size:
        if child + 1 < size and xs[child + 1] > xs[child]:
            child += 1
        if xs[child] > xs[parent]:
            xs[child], xs[parent] = xs[parent], xs[child]
        parent, child = child, 2 * child + 1


def fullest(weights, values, most):
    best = [0.0] * (most + 1)
    for k in range(len(weights)):
        for load in range(most, weights[k] - 1, -1):
            best[load] = max(best[load], best[load - weights[k]] + values[k])
    return best[most]


def spread(grid, seen, r, c):
    if r < 0 or r >= len(grid) or c < 0 or c >= len(grid[0]) or seen[r][c] or grid[r][c] == 0:
        return 0
    seen[r][c] = True
    return 1 + spread(grid, seen, r + 1, c) + spread(grid, seen, r - 1, c) + spread(grid, seen, r, c + 1) + spread(grid, seen, r, c - 1)


def islands(grid):
    seen = [[False] * len(grid[0]) for _ in range(len(grid))]
    count = 0
    for r in range(len(grid)):
        for c in range(len(grid[0])):
            if spread(grid, seen, r, c) > 0:
                count += 1
    return count


def readings(words, n):
    """How many trees a sentence has, by the spans that its words may begin and end."""
    ways = [[0] * n for _ in range(n)]
    for i in range(n):
        ways[i][i] = words[i]
    for size in range(1, n):
        for i in range(n - size):
            for k in range(i, i + size):
                ways[i][i + size] = (ways[i][i + size] + ways[i][k] * ways[k + 1][i + size]) % 1000003
    return ways[0][n - 1]


def levels(n):
    """How deep the nodes of a heap of this size are together, from its root on."""
    waiting, depths = deque([(0, 0)]), 0
    while waiting:
        node, depth = waiting.popleft()
        depths += depth
        for child in (2 * node + 1, 2 * node + 2):
            if child < n:
                waiting.append((child, depth + 1))
    return depths


def rises(heights):
    """By how much each height is below the next one that is greater, all together."""
    waiting, total = [], 0
    for height in heights:
        while waiting and waiting[-1] < height:
            total += height - waiting.pop()
        waiting.append(height)
    return total, len(waiting)


def alternating(xs):
    """The sum of a list, every other element subtracted, by recursion."""
    return xs[0] - alternating(xs[1:]) if xs else 0


def small_primes(n):
    """The first primes, each found by those before it."""
    found, x = [2], 3
    while len(found) < n:
        for p in found:
            if p * p > x:
                found.append(x)
                break
            if x % p == 0:
                break
        x += 2
    return found[-1]


def longest_rise(numbers):
    """How long the longest rising part is, whose elements need not be neighbors."""
    ends = []
    for number in numbers:
        low, high = 0, len(ends)
        while low < high:
            middle_one = (low + high) // 2
            if ends[middle_one] < number:
                low = middle_one + 1
            else:
                high = middle_one
        if low == len(ends):
            ends.append(number)
        else:
            ends[low] = number
    return len(ends)


def lists(bench):
    """Elements of lists that are looked up and set by computed indices, and lists that change at their ends."""
    def numbers(count, below):
        return [(k * 7919 + count) % below for k in range(count)]
    size = 20 if bench.smoke else 400
    grid = [[int(number > 3) for number in numbers(size // 8, 9 + row % 3)] for row in range(size // 8)]
    programs = [(primes, size * 200), (edit_distance, numbers(size // 2, 5), numbers(size // 2, 4)),
                (searches, list(range(0, size * 30, 3)), numbers(size * 5, size * 30)), (heap_sort, numbers(size * 5, 10007)),
                (fullest, numbers(40, 13), [float(k % 7) for k in range(40)], size * 3), (islands, grid),
                (readings, [1] * (size // 10), size // 10), (levels, size * 25), (rises, numbers(size * 25, 10007)),
                (alternating, numbers(size, 97)), (small_primes, size * 5), (longest_rise, numbers(size * 10, 1000003))]
    beside_python(bench, "lists", "Programs on lists of numbers", programs)
