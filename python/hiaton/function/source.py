"""The syntax tree of a function, where its text is what runs."""

import ast
import copy
import inspect
import linecache
import types

from hiaton.function.errors import ConversionError
from hiaton.function.generators import as_list_function
from hiaton.function.queues import with_queues
from hiaton.function.rewrite import rewritten


class _File:
    """The text of a file, and its functions by the line where they begin and their name."""

    def __init__(self, text, name):
        self.text = text
        self.name = name
        self.codes = {}
        self.nodes = _functions_of(text, name)
        self.found = {}
        self.unchanged = None  # the same nodes once more, which nobody rewrites
        for code in _codes(compile(text, name, "exec", dont_inherit=True)):
            self.codes.setdefault((code.co_firstlineno, code.co_name), []).append(code)

    def unchanged_nodes(self):
        if self.unchanged is None:
            self.unchanged = _functions_of(self.text, self.name)
        return self.unchanged


def _functions_of(text, name):
    nodes = {}
    for node in ast.walk(ast.parse(text, name)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            line = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            nodes.setdefault((line, node.name), []).append(node)
        elif isinstance(node, ast.Lambda):
            nodes.setdefault((node.lineno, "<lambda>"), []).append(node)
    return nodes


_files = {}


class Text:
    """The texts of files as one, in which places are numbers of bytes."""

    def __init__(self):
        self.name = ""
        self.whole = ""
        self.size = 0
        self.lines = {}  # by file: where each of its lines begins; none where the file has no text

    def add(self, name):
        """Whether the text grew."""
        if name in self.lines:
            return False
        text = "".join(linecache.getlines(name))
        self.lines[name] = []
        if not text or "\n#file \"" in text:  # as a text names its files
            return False
        if self.whole:
            self._append(f'\n#file "{name}"\n')
        else:
            self.name = name
        for line in text.splitlines(keepends=True):
            self.lines[name].append(self.size)
            self._append(line)
        return True

    def _append(self, text):
        self.whole += text
        self.size += len(text.encode())

    def span_of(self, name, node):
        """Where a syntax tree stands in a file: (begin, end); (0, 0) where that is not known."""
        lines, end = self.lines.get(name), getattr(node, "end_lineno", None)
        if not lines or end is None or end > len(lines):
            return 0, 0
        return lines[node.lineno - 1] + node.col_offset, lines[end - 1] + node.end_col_offset


def _file(name):
    lines = linecache.getlines(name)
    if not lines:
        linecache.checkcache(name)
        lines = linecache.getlines(name)
    text = "".join(lines)
    if not text:
        raise OSError
    if name not in _files or _files[name].text != text:
        _files[name] = _File(text, name)
    return _files[name]


def _codes(code):
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)


def _same(a, b):
    """Whether two code objects do the same; their places may differ."""
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return (a.co_code == b.co_code and a.co_names == b.co_names and a.co_varnames == b.co_varnames
                and a.co_freevars == b.co_freevars and a.co_name == b.co_name
                and len(a.co_consts) == len(b.co_consts) and all(map(_same, a.co_consts, b.co_consts)))
    return type(a) is type(b) and (a == b or repr(a) == repr(b))


def place(function):
    code = function.__code__
    return f"{code.co_filename}:{code.co_firstlineno}"


def tree_of(function):
    """The FunctionDef or Lambda of a function of Python.

    Raises ConversionError where there is no text, or the text is not what runs.
    """
    code = function.__code__
    file = _file_of(function)
    if code in file.found:
        return file.found[code]
    tree = with_queues(rewritten(_node_of(function)), function)
    file.found[code] = as_list_function(tree) if is_generator(function) and isinstance(tree, ast.FunctionDef) else tree
    return file.found[code]


def generator_tree_of(function):
    """A tree of its own of a generator, where every `yield` stands as it is written."""
    return with_queues(rewritten(copy.deepcopy(_node_of(function))), function)


def note_tree(function, tree):
    """From then on, this is the tree of a function that was made of another one of the same file."""
    _file(function.__code__.co_filename).found[function.__code__] = tree


def _gone(function):
    return f"{place(function)}: '{function.__code__.co_name}' was defined by exec or changed on disk"


def _file_of(function):
    # A file inside of another one, as of a program that is a zip file, is read by what has loaded it.
    linecache.lazycache(function.__code__.co_filename, function.__globals__)
    try:
        return _file(function.__code__.co_filename)
    except (OSError, SyntaxError, ValueError):
        raise ConversionError(f"{_gone(function)}: expected its text, found none that compiles; define it in a file") from None


def written_tree_of(function):
    """A tree of its own of a function, as it is written. Raises ConversionError as `tree_of` does."""
    return copy.deepcopy(_node_of(function, _File.unchanged_nodes))


def _node_of(function, nodes_of=lambda file: file.nodes):
    code, file = function.__code__, _file_of(function)
    key = code.co_firstlineno, code.co_name
    if not any(_same(code, other) for other in file.codes.get(key, ())):
        raise ConversionError(f"{_gone(function)}: expected the text that runs; reload the module")
    nodes = nodes_of(file).get(key, ())
    if len(nodes) > 1:
        nodes = [node for node in nodes if isinstance(node, ast.Lambda) and _is_of(node, code)]
    if len(nodes) != 1:
        raise ConversionError(f"{place(function)}: expected one function on this line, found {len(nodes)}; "
                              "give each a line of its own")
    return nodes[0]


def _is_of(node, code):
    """Whether the code is that of this lambda of its line. Of one that gives a constant, Python 3.12 tells no place."""
    place = _place_of_body(code)
    if place is None and isinstance(node.body, ast.Constant):
        return any(_same(code, other) for other in _codes(compile(ast.Expression(node), code.co_filename, "eval")))
    return _place_in_line(node.body) == place


def _place_in_line(node):
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def _place_of_body(code):
    """Where what the code of a lambda gives stands in the text."""
    places = [place for place in code.co_positions() if None not in place and (place[0], place[2]) != (place[1], place[3])]
    begins, ends = [(place[0], place[2]) for place in places], [(place[1], place[3]) for place in places]
    return (*min(begins), *max(ends)) if places else None


def is_generator(function):
    return bool(function.__code__.co_flags & inspect.CO_GENERATOR)


def is_coroutine(function):
    return bool(function.__code__.co_flags & (inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR))
