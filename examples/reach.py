"""Moves the joints of a body until its hands are where they should be: python examples/reach.py [STEPS]

A body is a tree of joints, each of which turns about an axis and carries what hangs on it. find_hands computes where its hands are, by
recursion and matrices of rotations (forward kinematics); the gradient by the angles tells how to turn the joints (inverse kinematics).
"""

import dataclasses
import math
import random
import sys

import hiaton as hia


@dataclasses.dataclass
class Joint:
    number: int                      # of its angle
    axis: hia.Tensor                 # of length 1
    bone: hia.Tensor                 # from here to what hangs on it
    children: list["Joint"]


def rotation(axis, angle):
    """The formula of Rodrigues: a matrix of tensors, through which gradients go."""
    x, y, z = axis
    cross = hia.tensor([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return hia.eye(3) + hia.sin(angle) * cross + (1 - hia.cos(angle)) * (cross @ cross)


def find_hands(joint, angles, turned, start, found):
    turned = turned @ rotation(joint.axis, angles[joint.number])
    end = start + turned @ joint.bone
    if not joint.children:
        found.append(end)
    for child in joint.children:
        find_hands(child, angles, turned, end, found)


def hands(body, angles):
    found = []
    find_hands(body, angles, hia.eye(3), hia.zeros(3), found)
    return found


def distance(angles, body, wanted):
    return sum(hia.sum((hand - place) ** 2) for hand, place in zip(hands(body, angles), wanted)) / len(wanted)


def random_axis(rng):
    x, y, z = (rng.gauss(0, 1) for _ in range(3))
    length = math.sqrt(x * x + y * y + z * z)
    return hia.tensor([x / length, y / length, z / length])


def random_body(rng, joints, numbers):
    """A chain of so many joints, from which some arms branch off."""
    number, children = next(numbers), []
    if joints > 1:
        children = [random_body(rng, joints - 1, numbers) for _ in range(rng.choice([1, 1, 2]))]
    return Joint(number, random_axis(rng), random_axis(rng), children)


def main(steps):
    rng = random.Random(1)
    gradient = hia.value_and_grad(distance)
    for joints in (4, 6):
        numbers = iter(range(1000))
        body = random_body(rng, joints, numbers)
        count = next(numbers)
        wanted = hands(body, hia.tensor([rng.uniform(-1, 1) for _ in range(count)]))
        angles = hia.zeros(count)
        for step in range(steps):
            found, change = gradient(angles, body, wanted)
            if step in (0, steps - 1):
                print(f"{count} joints, {len(wanted)} hands, step {step}: {math.sqrt(found.item()):.4f} from where they should be")
            angles = angles - 0.1 * change


main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
