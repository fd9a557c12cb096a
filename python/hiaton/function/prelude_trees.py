"""What dicts with items that are no numbers are made of, in the Python that is converted in their place: a search tree, balanced by the
sizes of its sides (S. Adams, Efficient sets: a balancing act, 1993). Each node has a key, the item of the key, and the number that the key had
among all that were set, by which keys come in the order of Python."""

from hiaton.function.prelude_lists import before, head, tail

_HEAVY = 3   # how many times as large as the other one a side may be
_SINGLE = 2  # up to how many times as large as the outer part the inner part of such a side may be, for one rotation


def tree_left(tree):
    """The converter has operations for this and for what follows up to keys_ordered."""
    return tree.left


def tree_right(tree):
    return tree.right


def tree_size(tree):
    return tree.size if tree else 0


def tree_number(tree):
    return tree.number


def tree_key(tree):
    return tree.key


def tree_item(tree):
    return tree.item


def tree_node(left, key, item, number, right):
    return type(left)(left, key, item, number, right)


def keys_ordered(a, b):
    """Whether a key comes before another one in a tree: the order is none of Python's, since texts are numbers here."""
    return a < b


def place_in_tree(tree, key):
    """The part of the tree whose uppermost key it is; an empty one where there is none."""
    while tree:
        here = tree_key(tree)
        if keys_ordered(key, here):
            tree = tree_left(tree)
        elif keys_ordered(here, key):
            tree = tree_right(tree)
        else:
            return tree
    return tree


def tree_with(tree, key, item, number):
    if not tree:
        return tree_node(tree, key, item, number, tree)
    here = tree_key(tree)
    if keys_ordered(key, here):
        return balanced_tree(tree_with(tree_left(tree), key, item, number), here, tree_item(tree), tree_number(tree), tree_right(tree))
    if keys_ordered(here, key):
        return balanced_tree(tree_left(tree), here, tree_item(tree), tree_number(tree), tree_with(tree_right(tree), key, item, number))
    return tree_node(tree_left(tree), here, item, tree_number(tree), tree_right(tree))


def tree_with_item(tree, key, item):
    """The tree with another item of a key that is in it."""
    here = tree_key(tree)
    if keys_ordered(key, here):
        return tree_node(tree_with_item(tree_left(tree), key, item), here, tree_item(tree), tree_number(tree), tree_right(tree))
    if keys_ordered(here, key):
        return tree_node(tree_left(tree), here, tree_item(tree), tree_number(tree), tree_with_item(tree_right(tree), key, item))
    return tree_node(tree_left(tree), here, item, tree_number(tree), tree_right(tree))


def balanced_tree(left, key, item, number, right):
    """A node whose sides were balanced before one of them got a key more or less."""
    on_left, on_right = tree_size(left), tree_size(right)
    if on_left + on_right > 1:
        if on_right > _HEAVY * on_left:
            return turned_left(left, key, item, number, right)
        if on_left > _HEAVY * on_right:
            return turned_right(left, key, item, number, right)
    return tree_node(left, key, item, number, right)


def turned_left(left, key, item, number, right):
    inner, outer = tree_left(right), tree_right(right)
    if tree_size(inner) < _SINGLE * tree_size(outer):
        return tree_node(tree_node(left, key, item, number, inner), tree_key(right), tree_item(right), tree_number(right), outer)
    return tree_node(tree_node(left, key, item, number, tree_left(inner)), tree_key(inner), tree_item(inner), tree_number(inner),
                     tree_node(tree_right(inner), tree_key(right), tree_item(right), tree_number(right), outer))


def turned_right(left, key, item, number, right):
    outer, inner = tree_left(left), tree_right(left)
    if tree_size(inner) < _SINGLE * tree_size(outer):
        return tree_node(outer, tree_key(left), tree_item(left), tree_number(left), tree_node(inner, key, item, number, right))
    return tree_node(tree_node(outer, tree_key(left), tree_item(left), tree_number(left), tree_left(inner)), tree_key(inner), tree_item(inner),
                     tree_number(inner), tree_node(tree_right(inner), key, item, number, right))


def tree_without(tree, key):
    """The tree without a key that is in it."""
    here = tree_key(tree)
    if keys_ordered(key, here):
        return balanced_tree(tree_without(tree_left(tree), key), here, tree_item(tree), tree_number(tree), tree_right(tree))
    if keys_ordered(here, key):
        return balanced_tree(tree_left(tree), here, tree_item(tree), tree_number(tree), tree_without(tree_right(tree), key))
    return trees_together(tree_left(tree), tree_right(tree))


def trees_together(left, right):
    """Of two trees of which all keys of the one come before those of the other, and which were balanced with a key between them."""
    if not left:
        return right
    if not right:
        return left
    if tree_size(left) > tree_size(right):
        last = last_of_tree(left)
        return balanced_tree(tree_without(left, tree_key(last)), tree_key(last), tree_item(last), tree_number(last), right)
    first = first_of_tree(right)
    return balanced_tree(left, tree_key(first), tree_item(first), tree_number(first), tree_without(right, tree_key(first)))


def first_of_tree(tree):
    while tree_left(tree):
        tree = tree_left(tree)
    return tree


def last_of_tree(tree):
    while tree_right(tree):
        tree = tree_right(tree)
    return tree


def are_keys_ascending(pairs, last):
    for key, _ in pairs:
        if not keys_ordered(last, key):
            return False
        last = key
    return True


def tree_of_ascending(pairs, count, number, none):
    """A tree of the first pairs of a list whose keys are in the order of trees, and the pairs behind these."""
    if count == 0:
        return none, pairs
    left, rest = tree_of_ascending(pairs, count // 2, number, none)
    key, item = head(rest)
    right, rest = tree_of_ascending(tail(rest), count - count // 2 - 1, number + count // 2 + 1, none)
    return tree_node(left, key, item, number + count // 2, right), rest


def tree_of_pairs(pairs, none):
    """A tree of the keys and items of a dict."""
    if pairs:
        key, item = head(pairs)
        if are_keys_ascending(tail(pairs), key):
            return tree_of_ascending(pairs, len(pairs), 0, none)[0]
    number = 0
    for key, item in pairs:
        none = tree_with(none, key, item, number)
        number += 1
    return none


def entries_before(tree, entries):
    """What is in the tree, in the order of the keys there, before other entries: the number, the key and the item of each."""
    if not tree:
        return entries
    rest = entries_before(tree_right(tree), entries)
    return entries_before(tree_left(tree), before((tree_number(tree), tree_key(tree), tree_item(tree)), rest))


def number_of_entry(entry):
    return entry[0]


def keys_of_entries(entries):
    return [key for _, key, _ in entries]


def items_of_entries(entries):
    return [item for _, _, item in entries]


def pairs_of_entries(entries):
    return [(key, item) for _, key, item in entries]
