"""The tree of the transform. Node k stands for x^2m - v and is split by a root w of v, into node 2k for x^m - w and node 2k + 1
for x^m + w. Which root is taken decides only about the order of the blocks: up to node 7 it is the specification's, and from
node 8 on, whose products are in a loop of the inverse, one for which they need no more than 16 bits."""
Q = 769
HIGH = (61, 33, 17)                             # largest high bytes in the three layers of the loop

def digits(z, hmax):
    """z = x0 + 256*y0 and 256*z = x1 + 256*y1 with lo*x0 + hi*x1 in 16 bits, and the least value of the product; or None"""
    found = []
    for y0 in range(4):
        for y1 in range(4):
            x0, x1 = (z - 256*y0) % Q, 256*(z - y1) % Q
            t = 255*x0 + hmax*x1
            if max(x0, x1) < 256 and t < 65536: found.append((-(t >> 8) - 255*y0 - hmax*y1, (x0, y0, x1, y1)))
    return max(found)[::-1] if found else None

def factor(k):
    """what the inverse multiplies by at node k >= 8, as a third: 1/w, and 3/w for what the others get by a reduction"""
    return pow(ROOT[k], -1, Q)*(1 if k < 16 else pow(3, -1, Q)) % Q

def fits(k, w):
    ROOT[k] = w
    return digits(factor(k), HIGH[k.bit_length() - 4])

ROOT = {}
for k in range(1, 64):
    v = Q - 1 if k == 1 else (1 if k % 2 == 0 else -1)*ROOT[k // 2] % Q
    if k < 8: ROOT[k] = pow(5, int(f'{k:06b}'[::-1], 2), Q)
    else: ROOT[k] = next(w for w in range(Q) if w*w % Q == v and fits(k, w))
    assert ROOT[k]**2 % Q == v
