/* The grand product, verifier.   docs/protocol.md 7.   SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "bus.h"

/* a at z = 0, b at z = 1 */
static gf192 between(gf192 a, gf192 b, gf192 z) {
    return gf192_add(a, gf192_mul(z, gf192_add(a, b)));
}

gf192 bus_children_at(const gf192 *child, const gf192 *z, unsigned vars) {
    gf192 low = between(child[0], child[1], z[0]);
    return vars == 1 ? low : between(low, between(child[2], child[3], z[0]), z[1]);
}

static gf192 product(const gf192 *a, unsigned n) {
    gf192 p = a[0];
    for (unsigned i = 1; i < n; i++)
        p = gf192_mul(p, a[i]);
    return p;
}

/* One layer's i rounds, highest variable first: claim becomes the cofactor's value, r_n goes to point[n]. */
static int layer_rounds(rx *c, gf192 *claim, gf192 *point, const gf192 *z, unsigned i) {
    for (unsigned n = i; n-- > 0;) {
        gf192 g[5];
        if (rx_recv_e(c, MSG_BUS_ROUND, g + 1, 4) != 0)
            return -1;
        /* claim = (1 + z_n) g(0) + z_n g(1) */
        gf192 rest = gf192_add(gf192_add(g[1], g[2]), gf192_add(g[3], g[4]));
        g[0] = gf192_add(*claim, gf192_mul(z[n], rest));
        transcript_squeeze(&c->t, &point[n], 1);
        gf192 r = point[n], v = g[4];
        for (unsigned k = 4; k-- > 0;)
            v = gf192_add(g[k], gf192_mul(r, v));
        *claim = v;
    }
    return 0;
}

int bus_verify(rx *c, bus_claim *claim, gf192 push_extra, unsigned h) {
    if (h < 3 || h > BUS_MAX_HEIGHT)
        return rx_reject(c, SHEAF_CHECK_HEADER, 0, "no grand product of this height");

    /* 1. The root. */
    unsigned i = h % 2 == 1 ? 1 : 2;
    const unsigned children = 1u << i;
    gf192 child[8], squeezed[3];
    if (rx_recv_e(c, MSG_BUS_TAIL, child, 2 * (size_t)children) != 0)
        return -1;
    if (!gf192_equal(gf192_mul(push_extra, product(child, children)), product(child + children, children)))
        return rx_reject(c, SHEAF_CHECK_BUS_BALANCE, 0, "the bus does not balance");
    transcript_squeeze(&c->t, squeezed, i + 1);
    memset(claim, 0, sizeof *claim);
    memcpy(claim->zeta, squeezed, i * sizeof(gf192));
    gf192 delta = squeezed[i];
    claim->push = bus_children_at(child, claim->zeta, i);
    claim->pull = bus_children_at(child + children, claim->zeta, i);

    /* 2. The layers. */
    for (uint64_t layer = 1; i < h; i += 2, layer++) {
        gf192 point[BUS_MAX_HEIGHT];
        gf192 v = gf192_add(claim->push, gf192_mul(delta, claim->pull));
        if (layer_rounds(c, &v, point, claim->zeta, i) != 0 || rx_recv_e(c, MSG_BUS_TAIL, child, 8) != 0)
            return -1;
        if (!gf192_equal(v, gf192_add(product(child, 4), gf192_mul(delta, product(child + 4, 4)))))
            return rx_reject(c, SHEAF_CHECK_BUS_LAYER, layer, "a layer of the grand product is wrong");
        transcript_squeeze(&c->t, squeezed, 3);
        memcpy(claim->zeta, point, i * sizeof(gf192));
        claim->zeta[i] = squeezed[0];
        claim->zeta[i + 1] = squeezed[1];
        delta = squeezed[2];
        claim->push = bus_children_at(child, squeezed, 2);
        claim->pull = bus_children_at(child + 4, squeezed, 2);
    }
    return 0;
}
