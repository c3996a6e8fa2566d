#!/usr/bin/env bash
# Installs a build into a folder of its own and uses it as a stranger would: by pkg-config, and by CMake.
# SPDX-License-Identifier: MIT OR Apache-2.0
#     install.sh BUILD_FOLDER
set -euo pipefail
build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0 failed=0

check() { # name, command...
    local name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL install: %s\n' "$name"
        tail -n 15 "$work/log"
    fi
}

cat >"$work/use.c" <<'END'
#ifdef VERIFY_ONLY
#include <sheaf_verify.h>
#else
#include <sheaf.h>
#endif
#include <stdio.h>
int main(void) { return puts(sheaf_status_text(SHEAF_OK)) < 0; }
END

by_pkg_config() { # package, extra flag
    local flags
    flags=$(PKG_CONFIG_PATH=$pc_folder pkg-config --cflags --libs "$1") || return 1
    # shellcheck disable=SC2086
    cc -std=c17 ${2:+"$2"} "$work/use.c" -o "$work/$1" $flags && "$work/$1"
}

by_cmake() {
    mkdir -p "$work/project"
    cp "$work/use.c" "$work/project/"
    cat >"$work/project/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(use C)
find_package(sheaf 0.1 REQUIRED)
add_executable(use use.c)
target_link_libraries(use PRIVATE sheaf::sheaf)
add_executable(use_verify use.c)
target_compile_definitions(use_verify PRIVATE VERIFY_ONLY)
target_link_libraries(use_verify PRIVATE sheaf::verify)
END
    cmake -S "$work/project" -B "$work/project/b" -DCMAKE_PREFIX_PATH="$work/prefix" && cmake --build "$work/project/b" &&
        "$work/project/b/use" && "$work/project/b/use_verify"
}

has_files() { # each below the prefix
    local file
    for file in "$@"; do [ -f "$work/prefix/$file" ] || { echo "no $file"; return 1; }; done
}

check the_build_installs cmake --install "$build" --prefix "$work/prefix"
pc=$(find "$work/prefix" -name sheaf.pc | head -n 1)
pc_folder=${pc%/*}
# pkg-config finds the prefix that the build was configured with; here it was moved.
if [ -n "$pc" ]; then sed -i "s|^prefix=.*|prefix=$work/prefix|" "$pc_folder"/sheaf*.pc; fi
check the_licences_and_headers_are_installed has_files include/sheaf.h include/sheaf_verify.h \
    share/licenses/sheaf/LICENSE-MIT share/licenses/sheaf/LICENSE-APACHE share/licenses/sheaf/LICENSE-BearSSL
check a_program_builds_by_pkg_config by_pkg_config sheaf
check a_verifying_program_builds_by_pkg_config by_pkg_config sheaf_verify -DVERIFY_ONLY
check a_project_builds_by_find_package by_cmake
if [ -x "$build/sheaf" ]; then
    check the_command_is_installed_and_runs "$work/prefix/bin/sheaf" --version
fi
for header in sheaf.h sheaf_verify.h; do
    printf '#include <%s>\nint main(void) { return 0; }\n' "$header" >"$work/header.c"
    check "${header%.h}_h_stands_alone_in_c11" \
        cc -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$work/prefix/include" -fsyntax-only "$work/header.c"
    if command -v c++ >/dev/null 2>&1; then
        check "${header%.h}_h_is_good_for_cpp" \
            c++ -x c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -I"$work/prefix/include" -fsyntax-only "$work/header.c"
    fi
done

printf 'test_install: %d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ]
