"""Reads files of safetensors, which problems keep recorded inputs in: the length of a header, the header as
JSON, and the bytes of all tensors one after the other. Takes nothing that the format does not promise.
"""

import json
import math

from .problem import Refused

MOST_HEADER = 1 << 20  # bytes
MOST_TENSORS = 4096
MOST_AXES = 8
TYPES = {"BOOL": "bool", "U8": "uint8", "I8": "int8", "I16": "int16", "U16": "uint16", "F16": "float16",
         "BF16": "bfloat16", "I32": "int32", "U32": "uint32", "F32": "float32", "I64": "int64",
         "U64": "uint64", "F64": "float64", "F8_E4M3": "float8_e4m3", "F8_E5M2": "float8_e5m2"}
BYTES = {"bool": 1, "uint8": 1, "int8": 1, "float8_e4m3": 1, "float8_e5m2": 1, "int16": 2, "uint16": 2,
         "float16": 2, "bfloat16": 2, "int32": 4, "uint32": 4, "float32": 4}  # all others: 8


def tensors_in(content, path):
    """Element type, shape and bytes of each tensor, by name."""
    try:
        return checked(content)
    except ValueError as error:
        raise Refused(f"{path}: no safetensors file that can be read: {error}; get the file anew") from error


def checked(content):
    length = int.from_bytes(content[:8], "little")
    if len(content) < 8 or length > len(content) - 8:
        raise ValueError(f"its header would end at byte {8 + length}, and it has {len(content)}")
    if length > MOST_HEADER:
        raise ValueError(f"its header has {length} bytes, and {MOST_HEADER} are the most")
    data = memoryview(content)[8 + length:]
    found, end = {}, 0
    for name, one in sorted(header_of(content[8:8 + length]).items(), key=place_of):
        kind, shape, begin, after = TYPES.get(one["dtype"]), one["shape"], *one["data_offsets"]
        if kind is None:
            raise ValueError(f"the tensor {name!r} has the element type {one['dtype']!r}, which is none of "
                             f"{', '.join(TYPES)}")
        if len(shape) > MOST_AXES:
            raise ValueError(f"the tensor {name!r} has {len(shape)} axes, and {MOST_AXES} are the most")
        size = math.prod(shape) * BYTES.get(kind, 8)
        if after - begin != size:
            raise ValueError(f"the tensor {name!r} has bytes {begin} to {after}, and its shape needs {size}")
        if begin != end:
            raise ValueError(f"the tensor {name!r} begins at byte {begin} of the data, and the one before it "
                             f"ends at {end}")
        if after > len(data):
            raise ValueError(f"the tensor {name!r} ends at byte {after} of the data, which has {len(data)}")
        found[name], end = (kind, shape, bytes(data[begin:after])), after
    if end != len(data):
        raise ValueError(f"its tensors end at byte {end} of the data, which has {len(data)}")
    return found


def place_of(item):
    return item[1]["data_offsets"]


def header_of(text):
    """What the header says of each tensor, of the right types."""
    def once(pairs):
        if len(dict(pairs)) < len(pairs):
            raise ValueError("a name occurs twice in its header")
        return dict(pairs)
    try:
        header = json.loads(text, object_pairs_hook=once)
    except RecursionError as error:
        raise ValueError("its header is nested too deep") from error
    if not isinstance(header, dict):
        raise ValueError("its header is no object")
    header.pop("__metadata__", None)
    if len(header) > MOST_TENSORS:
        raise ValueError(f"it has {len(header)} tensors, and {MOST_TENSORS} are the most")
    for name, one in header.items():
        if not isinstance(one, dict) or not isinstance(one.get("dtype"), str) or \
                not numbers(one.get("shape")) or not numbers(one.get("data_offsets")) or \
                len(one["data_offsets"]) != 2:
            raise ValueError(f"the tensor {name!r} needs a dtype, a shape and two data_offsets of whole numbers "
                             "that are not negative")
    return header


def numbers(value):
    return isinstance(value, list) and all(type(one) is int and 0 <= one < 1 << 62 for one in value)
