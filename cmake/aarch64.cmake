# Debian's cross compiler for arm64; the tests run under qemu (tools/setup-aarch64.sh brings both).
# SPDX-License-Identifier: MIT OR Apache-2.0
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu ${CMAKE_CURRENT_LIST_DIR}/../.deps/aarch64)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

find_program(SHEAF_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
if(SHEAF_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${SHEAF_QEMU} -L /usr/aarch64-linux-gnu)
endif()

# The command needs arm64's libcjson; without it all else is built.
get_filename_component(sysroot ${CMAKE_CURRENT_LIST_DIR}/../.deps/aarch64 ABSOLUTE)
if(EXISTS ${sysroot}/usr/include/cjson/cJSON.h)
  set(ENV{PKG_CONFIG_SYSROOT_DIR} ${sysroot})
  set(ENV{PKG_CONFIG_LIBDIR} ${sysroot}/usr/lib/aarch64-linux-gnu/pkgconfig)
else()
  set(SHEAF_BUILD_CLI OFF CACHE BOOL "Build the command")
endif()
