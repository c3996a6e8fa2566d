/* A program that has libsheaf_verify.a and its header, and nothing else.  SPDX-License-Identifier: MIT OR Apache-2.0 */
#include "sheaf_verify.h"
#include "t.h"

TEST(the_verifying_archive_links_alone) {
    CHECK_STR(sheaf_status_text(SHEAF_OK), "ok");
    CHECK_STR(sheaf_check_name(SHEAF_CHECK_BUS_LAYER), "bus_layer");
}

T_MAIN()
