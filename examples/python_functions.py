import ast, itertools, json, pathlib, sys

def tree(node):
    return ["Node", type(node).__name__, [tree(child) for child in ast.iter_child_nodes(node)]]

files = sorted(pathlib.Path(ast.__file__).parent.glob("*.py"))
nodes = (node for file in files for node in ast.walk(ast.parse(file.read_bytes())))
for function in itertools.islice((node for node in nodes if isinstance(node, ast.FunctionDef)), int(sys.argv[1])):
    returns = any(isinstance(node, ast.Return) and node.value is not None for node in ast.walk(function))
    print(json.dumps({"tree": tree(function), "returns": returns}))
