"""A table of text: the first column is set to the left, the others to the right."""


def lines(head, rows):
    cells = [head] + [list(map(str, row)) for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    for row in cells:
        first = row[0].ljust(widths[0])
        rest = ["  " + cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]
        yield (first + "".join(rest)).rstrip()
