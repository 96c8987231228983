"""Work done side by side: everybody takes a turn in each pass, and everybody has to find the same."""

import statistics
import time

# Whether each program has all processors and as many threads as it takes by itself. Then the time until the end counts;
# else that of the processor, of all threads: what else the machine does does not count.
takes_all_processors = False


def timed(work):
    """Makes work that returns what it found into work that returns nanoseconds and what it found."""
    clock = time.perf_counter_ns if takes_all_processors else time.process_time_ns

    def run():
        start = clock()
        found = work()
        return clock() - start, found

    return run


def measure(contenders, passes):
    """Measures contenders, by name; returns for each the times of the passes, in nanoseconds.

    contenders: name -> work that returns (nanoseconds, found). The first one is ours.
    """
    expected = None
    for name, work in contenders.items():  # warms up, and compares what is found before a time means anything
        _, found = work()
        if expected is None:
            expected = found
        elif found != expected:
            raise SystemExit(f"compare: {name} finds {found}, and binnacle {expected}")
    times = {name: [] for name in contenders}
    for _ in range(passes):
        for name, work in contenders.items():
            times[name].append(work()[0])
    return times


def rows(times, unit_count, ours_count=1):
    """Rows of a table: name, median a unit in ns, spread of the passes, and how many times as long as ours."""
    medians = {name: statistics.median(values) for name, values in times.items()}
    best_ours = [medians[name] for name in list(times)[:ours_count]]
    for name, values in times.items():
        spread = f"{min(values) / unit_count:.2f}…{max(values) / unit_count:.2f}"
        yield [name, f"{medians[name] / unit_count:.2f}", spread] + [f"{medians[name] / ours:.1f}" for ours in best_ours]
