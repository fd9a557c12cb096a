# Trees of any JSON for models/syntax.hia: python3 examples/json_trees.py LABEL < LINES
# Each line is an object; its field LABEL is what to learn, all else the tree.
import json, sys

def tree(value):
    if isinstance(value, dict):
        return ["Node", "object", [["Node", key, [tree(field)]] for key, field in value.items()]]
    if isinstance(value, list):
        return ["Node", "array", [tree(element) for element in value]]
    return ["Node", str(value), []]

for record in map(json.loads, sys.stdin):
    print(json.dumps({"returns": record.pop(sys.argv[1]), "tree": tree(record)}))
