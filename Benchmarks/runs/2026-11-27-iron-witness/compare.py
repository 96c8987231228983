"""Compares two outputs of ../2026-11-26-headings/table.py: the cases of each group with more than 1 % of the headings off by more than three times
what is stated ("x 3"), and stated within 20° and off by more ("sure"), and the share of all rows that these are.

usage: compare.py BEFORE AFTER, from the project's folder
"""

import re
import sys

ROW = re.compile(r"(\w+) +(\d\d) (.{30}) +([\d.]+)% +\S+ +\S+ +\S+ +\S+ +(\S+) +([\d.]+|nan)% +([\d.]+|nan)%")


def load(path):
    with open(path) as lines:
        found = [match.groups() for match in map(ROW.match, lines) if match]
    return {(group, trial, case.strip()): (float(valid), float(stated), 0 if wrong == "nan" else float(wrong), 0 if sure == "nan" else float(sure))
            for group, trial, case, valid, stated, wrong, sure in found}


before, after = load(sys.argv[1]), load(sys.argv[2])
for group in dict.fromkeys(group for group, _, _ in after):
    for name, wanted in (("all", (0, 1)), ("even", (0,)), ("odd", (1,))):
        keys = [key for key in after if key in before and key[0] == group and int(key[1]) % 2 in wanted]
        if not keys:
            continue
        parts = []
        for column, title in ((2, "x 3"), (3, "sure")):
            for rows in (before, after):
                many = sum(rows[key][column] > 1 for key in keys)
                share = sum(rows[key][0] * rows[key][column] / 100 for key in keys) / len(keys)
                parts.append(f"{title} > 1 %: {many:2}, worst {max(rows[key][column] for key in keys):4.1f} %, of all rows {share:5.3f} %")
        print(f"{group:9} {name:4} trials, {len(keys):3} cases | before {parts[0]} | after {parts[1]} | before {parts[2]} | after {parts[3]}")
