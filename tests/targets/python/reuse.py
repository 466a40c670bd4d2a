# SPDX-License-Identifier: Apache-2.0
"""reuse.py THREADS US - code objects that are made, run for US of CPU time, and thrown away.

Generation g of a thread lives in work_g -> inner_g, in the file /made/up/gen-g.py at lines that depend on g: a name
that is kept for an address which was used again shows as a stack of two generations.

    work_g  lines 10 * (g % 90) + 1 and + 2      inner_g  + 5 to + 8
"""
import sys
import threading

import truth

SOURCE = """def work_{0}(limit):
    inner_{0}(limit)


def inner_{0}(limit):
    i = 0
    while clock() < limit:
        i += 1
"""


def one(generation, lasts_ns):
    text = "\n" * (10 * (generation % 90)) + SOURCE.format(generation)
    space = {"clock": truth.thread_cpu_ns}
    exec(compile(text, "/made/up/gen-%d.py" % generation, "exec"), space)
    space["work_%d" % generation](truth.thread_cpu_ns() + lasts_ns)


def churn(first, step, lasts_ns, generations):
    generation = first
    while not truth.stop[0]:
        one(generation, lasts_ns)
        generation += step
    generations[first] = generation // step


def main():
    threads, lasts_ns = int(sys.argv[1]), int(float(sys.argv[2]) * 1000)
    generations = [0] * threads
    others = [threading.Thread(target=churn, args=(number, threads, lasts_ns, generations))
              for number in range(1, threads)]
    truth.ready()
    for thread in others:
        thread.start()
    churn(0, threads, lasts_ns, generations)
    for thread in others:
        thread.join()
    truth.finish({"generations": sum(generations)})


if __name__ == "__main__":
    main()
