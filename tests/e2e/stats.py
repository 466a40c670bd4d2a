# SPDX-License-Identifier: Apache-2.0
"""stats.py - how far from the truth an honest sampler may be, for a given number of samples.

A bar of the acceptance table is for the full count. With fewer samples it is widened by four
standard errors, and the output says so: no row depends on luck, none is softer than its count.
(About a hundred shares are compared in a run. Three would let one in four honest runs fail.)
"""
import math

SIGMAS = 4.0
SLICE_SECONDS = 0.006  # for which a thread that lost its CPU stays where it was


def effective(samples, rate, waited):
    """How many of the samples are independent. While a thread waits for a CPU, `waited` of the time, all its
    samples are the same: they come in clusters."""
    waited = min(max(waited, 0), 0.98)
    return max(1, samples / (1 - waited + waited * max(1, rate * SLICE_SECONDS)))


def share_sigma(share, samples):
    """Standard error of a share, in points."""
    return 100 * math.sqrt(max(share * (1 - share), 0.25 / max(samples, 1)) / max(samples, 1))


def share_bar(points, share, samples):
    return points + SIGMAS * share_sigma(share, samples)


def least_bar(percent, samples):
    """A share that is to be reached, for so few samples."""
    return percent - SIGMAS * share_sigma(percent / 100, samples)


def poisson_bar(ppm, samples):
    """An allowed rate in ppm, widened for `samples`."""
    rate = ppm / 1e6
    return ppm + 1e6 * SIGMAS * math.sqrt(max(rate, 1 / samples) / samples)


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def median_error(values):
    """Standard error of a median, from the median absolute deviation."""
    centre = median(values)
    spread = 1.4826 * median([abs(value - centre) for value in values])
    return 1.2533 * spread / math.sqrt(len(values))


def worst(errors):
    """The entry of {name: (figure, bar)} that comes nearest to its bar, or past it."""
    return max(errors.items(), key=lambda item: abs(item[1][0]) / item[1][1])


def variation(ours, theirs):
    """Total variation distance of two {name: share}."""
    names = set(ours) | set(theirs)
    return sum(abs(ours.get(name, 0) - theirs.get(name, 0)) for name in names) / 2
