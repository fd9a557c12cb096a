"""What lists consist of, in the Python that is converted: the converter has an operation for each."""


def head(items):
    return items[0]


def tail(items):
    return items[1:]


def before(item, items):
    """A list of such items with one more, which comes first."""
    return [item, *items]
