#!/usr/bin/env python3
"""Search the free frame choices of keccak_f1600.py for the fewest explicit rotations.  search.py SEED SECONDS"""
import random, sys, time
import keccak_f1600 as gen

def cost(v):
    n = 0
    def count(line, c=''):
        nonlocal n
        n += line.startswith('ror ')
    gen.e, gen.note = count, lambda c: None
    g = gen.Gen(v)
    for rnd in range(4): g.round(rnd, rnd == 3)
    return n, g.bit.n

rnd, end = random.Random(int(sys.argv[1])), time.time() + float(sys.argv[2])
v = gen.CHOICES; best, nbits = cost(v)
if not v: v = rnd.getrandbits(nbits); best = cost(v)[0]
while best and time.time() < end:
    w = v
    for _ in range(rnd.choice((1, 1, 2, 3, 4))): w ^= 1 << rnd.randrange(nbits)
    c = cost(w)[0]
    if c <= best: v, best = w, c
print(best, nbits, hex(v))
