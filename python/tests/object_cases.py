"""Functions with arguments, for tests that compare graphs with plain Python."""


def cases_of():
    """A list, and a decorator that adds a function to it with the arguments of some calls."""
    cases = []

    def case(*calls):
        def add(function):
            cases.append((function, calls))
            return function
        return add
    return cases, case
