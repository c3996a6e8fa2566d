/* SHAKE256 against Python's hashlib, message by message.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "base/posix.h"
#include "../t.h"

#include "common/hash/shake.h"

/* One line a hash: messages of 0..300 bytes, (13 i + n) mod 256, at every output length of the list. */
static const char script[] = "python3 -c '"
                             "import hashlib\n"
                             "for n in range(301):\n"
                             "  m = bytes((13 * i + n) & 255 for i in range(n))\n"
                             "  for k in (1, 8, 16, 32, 135, 136, 137, 272, 500):\n"
                             "    print(hashlib.shake_256(m).hexdigest(k))\n"
                             "' 2>/dev/null";
static const size_t out_lens[] = {1, 8, 16, 32, 135, 136, 137, 272, 500};

TEST(every_length_to_300_agrees_with_hashlib) {
#ifdef __EMSCRIPTEN__
    SKIP("no child processes here");
#else
    FILE *f = popen(script, "r");
    char line[1100], hex[1100];
    uint8_t in[300], out[500];
    int first = 1;
    REQUIRE(f != NULL);
    for (size_t n = 0; n <= 300; n++) {
        for (size_t i = 0; i < n; i++)
            in[i] = (uint8_t)(13 * i + n);
        for (size_t k = 0; k < sizeof out_lens / sizeof *out_lens; k++) {
            if (fgets(line, sizeof line, f) == NULL) {
                int status = pclose(f);
                if (first && status != 0)
                    SKIP("no python3 here");
                CHECK(n > 300); /* python3 ended early */
                return;
            }
            first = 0;
            shake256_once(out, out_lens[k], in, n);
            for (size_t i = 0; i < out_lens[k]; i++)
                snprintf(hex + 2 * i, 3, "%02x", out[i]);
            line[strcspn(line, "\r\n")] = '\0';
            CHECK_STR(line, hex);
        }
    }
    CHECK(fgets(line, sizeof line, f) == NULL);
    CHECK_EQ_INT(pclose(f), 0);
#endif
}

T_MAIN()
